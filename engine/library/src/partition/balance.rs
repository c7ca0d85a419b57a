//! Splits of the leaves that ranks hold, by their weights.

use super::held_cells::HeldCells;
use super::oct_record::OctRecord;
use super::splits::Splits;
use super::test_rule::TestRule;
use super::weights::Weights;
use inselberg_comm::{Comm, CommError, Reduce};

/// Work per leaf, and additional work per test cell: to segment a test cell takes about twice as long as to
/// bring a leaf to its owner and its neighbours.
const WORK: [u32; 2] = [1, 2];
/// The part of the mean work by which a rank may deviate, so that regions are compact.
const SLACK: f64 = 0.1;
/// No slack: shares as even as octs allow.
const EVEN: f64 = 0.0;

/// Collective: splits of the leaves that ranks hold. `levels` has bit l set where any rank has cells of level
/// l; `tests` says which leaves are test cells. Costs what [`Splits::by_weight`] does, and nothing on a
/// rank alone.
///
/// # Errors
/// When another rank fails.
pub(super) fn balance(
    held: &HeldCells,
    levels: u32,
    tests: &TestRule,
    weights: Weights,
    comm: &Comm,
) -> Result<Splits, CommError> {
    // Without any cell, any grid will do.
    let deepest = levels.checked_ilog2().unwrap_or(0) as u8;
    if comm.n_ranks() == 1 {
        return Ok(Splits::one(deepest));
    }
    let n_leaves = |oct: &OctRecord| oct.leaf.count_ones();
    let n_tests = |oct: &OctRecord| oct.test_cells(tests).count_ones();
    let by_leaves = || Splits::by_weight(deepest, held.weighted(deepest, n_leaves), EVEN, comm);
    match weights {
        Weights::Leaves => by_leaves(),
        Weights::TestCells => {
            let octs = held.weighted(deepest, n_tests);
            let n_octs = comm.all_reduce_counts(&[octs.len() as u64], Reduce::Sum)?[0];
            if n_octs > 0 { Splits::by_weight(deepest, octs, EVEN, comm) } else { by_leaves() }
        }
        Weights::Work => {
            let work = |oct: &OctRecord| WORK[0] * n_leaves(oct) + WORK[1] * n_tests(oct);
            Splits::by_weight(deepest, held.weighted(deepest, work), SLACK, comm)
        }
    }
}
