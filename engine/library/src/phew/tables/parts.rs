//! The rows of a whole table on this rank, and the clump and halo of each patch.

use crate::exchange::firsts_by_level;
use crate::phew::hierarchy::Structures;
use crate::phew::peak_comm::PeakComm;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{PartTable, RowRun, Table};
use inselberg_kernels::ids::PeakName;

/// The clump and the halo of every patch known on this rank, by slot; 0 for none.
#[derive(Debug, Clone, Default)]
pub struct PatchIds {
    /// Identifiers of clumps.
    pub clump: Vec<u64>,
    /// Identifiers of haloes.
    pub halo: Vec<u64>,
}

impl PatchIds {
    /// Collective: from the identifiers of the own patches. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(known: &PeakComm, found: &Structures, comm: &Comm) -> Result<Self, CommError> {
        let mut ids = vec![[0u64; 2]; known.n_slots()];
        for (i, slot) in known.own.iter().enumerate() {
            ids[slot.at()] = [found.clump_of_patch[i], found.halo_of_patch[i]];
        }
        known.push(comm, &mut ids)?;
        Ok(Self { clump: ids.iter().map(|i| i[0]).collect(), halo: ids.iter().map(|i| i[1]).collect() })
    }
}

/// Collective: the row ranges of this rank in a table in the order of (level, Morton key), and the number of
/// all rows. This rank has `counts[l]` rows of level `l`.
///
/// # Errors
/// When another rank fails.
pub fn level_runs(comm: &Comm, counts: &[u64]) -> Result<(Vec<RowRun>, u64), CommError> {
    let (firsts, n_rows) = firsts_by_level(comm, counts)?;
    let runs = firsts.iter().zip(counts).filter(|(_, n)| **n > 0);
    Ok((runs.map(|(&first, &n)| RowRun { first, n: n as usize }).collect(), n_rows))
}

/// The rows of own peaks, each at its number.
pub fn tree_part(table: Table, names: &[PeakName], n_rows: u64) -> PartTable {
    let mut runs: Vec<RowRun> = Vec::new();
    for row in names.iter().map(|name| name.number()) {
        match runs.last_mut() {
            Some(run) if run.first + run.n as u64 == row => run.n += 1,
            _ => runs.push(RowRun { first: row, n: 1 }),
        }
    }
    PartTable { table, runs, n_rows }
}
