//! By what weights the cells of a mesh are divided among ranks.

use super::held_cells::HeldCells;
use super::oct_record::OctRecord;
use super::splits::Splits;
use crate::executor::Weights;
use inselberg_comm::{Comm, CommError, Reduce};

/// What a leaf costs, and what a test cell does on top: so much longer than bringing a leaf to its owner and its neighbours
/// takes segmenting a test cell (`engine/src/domains/README.md`).
const WORK: [u32; 2] = [1, 2];
/// How much of the mean a rank may have more or less of, for the sake of compact domains.
const SLACK: f64 = 0.1;

/// Collective: splits of the leaves that ranks hold, with the same weight on each; by leaves where there is no test
/// cell.
pub(super) fn balance(
    share: &HeldCells,
    levels: u32,
    threshold: f64,
    weights: Weights,
    comm: &Comm,
) -> Result<Splits, CommError> {
    let deepest = levels.checked_ilog2().unwrap_or(0) as u8;
    let test_cells = |oct: &OctRecord| oct.test_cells(threshold);
    match weights {
        Weights::Leaves => Splits::balanced(deepest, share.keys(deepest, |oct| oct.leaf), comm),
        Weights::TestCells => {
            let keys = share.keys(deepest, test_cells);
            let n_tests = comm.all_reduce_counts(&[keys.len() as u64], Reduce::Sum)?[0];
            let keys = if n_tests > 0 { keys } else { share.keys(deepest, |oct| oct.leaf) };
            Splits::balanced(deepest, keys, comm)
        }
        Weights::Work => {
            let work =
                |oct: &OctRecord| WORK[0] * oct.leaf.count_ones() + WORK[1] * test_cells(oct).count_ones();
            Splits::compact(deepest, share.weighted(deepest, work), SLACK, comm)
        }
    }
}
