//! Splits of the leaves that ranks hold, by their weights.

use super::held_cells::HeldCells;
use super::oct_record::OctRecord;
use super::splits::Splits;
use super::weights::Weights;
use inselberg_comm::{Comm, CommError, Reduce};

/// Work per leaf, and additional work per test cell: to segment a test cell takes about twice as long as to bring a leaf
/// to its owner and its neighbours.
const WORK: [u32; 2] = [1, 2];
/// The part of the mean work by which a rank may deviate, so that regions are compact.
const SLACK: f64 = 0.1;

/// Collective: splits of the leaves that ranks hold. `levels` has bit l set where any rank has cells of level l; leaves
/// denser than `threshold` are test cells. Costs what [`Splits::balanced`] or [`Splits::compact`] does,
/// and nothing on a rank alone.
///
/// # Errors
/// When another rank fails.
pub(super) fn balance(
    held: &HeldCells,
    levels: u32,
    threshold: f64,
    weights: Weights,
    comm: &Comm,
) -> Result<Splits, CommError> {
    // Without any cell, any grid will do.
    let deepest = levels.checked_ilog2().unwrap_or(0) as u8;
    if comm.n_ranks() == 1 {
        return Ok(Splits::one(deepest));
    }
    let test_cells = |oct: &OctRecord| oct.test_cells(threshold);
    match weights {
        Weights::Leaves => Splits::balanced(deepest, held.keys(deepest, |oct| oct.leaf), comm),
        Weights::TestCells => {
            let keys = held.keys(deepest, test_cells);
            let n_tests = comm.all_reduce_counts(&[keys.len() as u64], Reduce::Sum)?[0];
            let keys = if n_tests > 0 { keys } else { held.keys(deepest, |oct| oct.leaf) };
            Splits::balanced(deepest, keys, comm)
        }
        Weights::Work => {
            let work =
                |oct: &OctRecord| WORK[0] * oct.leaf.count_ones() + WORK[1] * test_cells(oct).count_ones();
            Splits::compact(deepest, held.weighted(deepest, work), SLACK, comm)
        }
    }
}
