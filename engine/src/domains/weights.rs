//! By what weights the cells of a mesh are divided among ranks.

use super::record::Cell;
use super::share::Share;
use super::splits::Splits;
use crate::crew::Weights;
use inselberg_comm::{Comm, CommError, Reduce};

/// What a leaf costs, and what a test cell does on top: bringing a leaf to its owner and its neighbours takes so much
/// longer than segmenting a test cell (`engine/src/scaling/README.md`).
const WORK: [u32; 2] = [3, 2];
/// How much of the mean a rank may have more or less of, for the sake of compact domains.
const SLACK: f64 = 0.1;

/// Collective: splits of the leaves that ranks hold, with the same weight on each; by leaves where there is no test
/// cell.
pub(super) fn balance(
    share: &Share,
    levels: u32,
    threshold: f64,
    weights: Weights,
    comm: &Comm,
) -> Result<Splits, CommError> {
    let deepest = levels.checked_ilog2().unwrap_or(0) as u8;
    let is_test = |cell: &Cell| cell.is_test(threshold);
    match weights {
        Weights::Leaves => Splits::balanced(deepest, share.weights(deepest, |_| true), comm),
        Weights::TestCells => {
            let tests = share.weights(deepest, is_test);
            let n_tests = comm.all_reduce_counts(&[tests.len() as u64], Reduce::Sum)?[0];
            let weights = if n_tests > 0 { tests } else { share.weights(deepest, |_| true) };
            Splits::balanced(deepest, weights, comm)
        }
        Weights::Work => {
            let work = |cell: &Cell| WORK[0] + if is_test(cell) { WORK[1] } else { 0 };
            Splits::compact(deepest, share.weighted(deepest, work), SLACK, comm)
        }
    }
}
