//! The distribution of the work over the ranks: the quantities of the paper's Table 2, and those of the test cells.

use crate::phew::peak_comm::PeakComm;
use crate::phew::test_links::TestLinks;
use inselberg_comm::{Comm, CommError, Reduce};

/// Counts over all ranks. Active peaks are those that a rank owns, its ghost peaks those of other ranks that it
/// knows. (paper, table 2)
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Balance {
    /// Number of ranks.
    pub n_ranks: u64,
    /// Sums over all ranks.
    pub sum: Counts,
    /// The maximum over the ranks, for each count by itself.
    pub most: Counts,
    /// Active and ghost peaks of the rank that has the most.
    pub most_peaks: u64,
    /// The largest ratio of ghost peaks to active peaks on any rank.
    pub most_ghosts_over_active: f64,
}

/// The counts of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// Own test cells.
    pub test_cells: u64,
    /// Ghosts among the test cells.
    pub ghost_tests: u64,
    /// Ranks that share test cells with it.
    pub neighbours: u64,
    /// Active peaks.
    pub active: u64,
    /// Ghost peaks.
    pub ghosts: u64,
    /// Entries of the sparse matrix of saddles: two per contact that is kept.
    pub sparse: u64,
}

impl Counts {
    fn list(&self) -> [u64; 6] {
        [self.test_cells, self.ghost_tests, self.neighbours, self.active, self.ghosts, self.sparse]
    }

    fn new(list: &[u64]) -> Self {
        let [test_cells, ghost_tests, neighbours, active, ghosts, sparse] = std::array::from_fn(|i| list[i]);
        Self { test_cells, ghost_tests, neighbours, active, ghosts, sparse }
    }
}

impl Balance {
    /// Collective: from the number of test cells on this rank, with ghosts, and the number of contacts kept.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        links: &TestLinks,
        n_tests: usize,
        peaks: &PeakComm,
        n_contacts: usize,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let own = Counts {
            test_cells: (n_tests - links.shared.len()) as u64,
            ghost_tests: links.shared.len() as u64,
            neighbours: links.shared.links().len() as u64,
            active: peaks.own.len() as u64,
            ghosts: (peaks.n_slots() - peaks.own.len()) as u64,
            sparse: 2 * n_contacts as u64,
        };
        let mut most = own.list().to_vec();
        most.push(peaks.n_slots() as u64);
        let most = comm.all_reduce_counts(&most, Reduce::Max)?;
        Ok(Self {
            n_ranks: comm.n_ranks() as u64,
            sum: Counts::new(&comm.all_reduce_counts(&own.list(), Reduce::Sum)?),
            most: Counts::new(&most),
            most_peaks: most[6],
            most_ghosts_over_active: comm.all_max(&[ratio(own.ghosts, own.active)])?[0],
        })
    }

    /// Maximum over mean of the peaks per rank.
    pub fn load_imbalance(&self) -> f64 {
        ratio(self.most_peaks * self.n_ranks, self.sum.active + self.sum.ghosts)
    }

    /// Maximum over mean of the test cells per rank.
    pub fn test_imbalance(&self) -> f64 {
        ratio(self.most.test_cells * self.n_ranks, self.sum.test_cells)
    }

    /// Ghost peaks over active ones.
    pub fn surface_effect(&self) -> f64 {
        ratio(self.sum.ghosts, self.sum.active)
    }

    /// Entries of the sparse matrix over peaks.
    pub fn connectivity(&self) -> f64 {
        ratio(self.sum.sparse, self.sum.active + self.sum.ghosts)
    }
}

/// 0 where `b` is 0: a rank or a run without peaks has no imbalance.
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
