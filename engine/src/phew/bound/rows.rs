//! Which rank has the row of a clump or halo?

use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::props::Structure;

/// The first listed identifier of each rank that lists one. Rows ascend by identifier from rank to rank.
pub struct RowDirectory(Vec<(u64, Rank)>);

impl RowDirectory {
    /// Collective: of the rows that each rank lists.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(rows: &[Structure], comm: &Comm) -> Result<Self, CommError> {
        let firsts = comm.all_gather(&[rows.first().map_or(0, |row| row.id)])?;
        let ranks = firsts.into_iter().zip((0..).map(Rank));
        Ok(Self(ranks.filter(|(first, _)| *first > 0).collect()))
    }

    /// The rank that has the row, if the identifier is listed at all.
    pub fn holder(&self, id: u64) -> Option<Rank> {
        let after = self.0.partition_point(|(first, _)| *first <= id);
        after.checked_sub(1).map(|i| self.0[i].1)
    }
}
