//! By what weights the cells of a mesh are divided among ranks.

use super::record::Cell;
use super::share::Share;
use super::splits::{Splits, key};
use crate::crew::Weights;
use inselberg_comm::{Comm, CommError, Reduce};

/// What a test cell costs, and what each of its faces towards another rank does on top.
const CELL: u64 = 4;
const FACE: u64 = 3;
/// Splits by work are found by trying: the faces depend on the splits.
const TRIALS: usize = 4;

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
    let n_tests = share.cells().filter(|cell| cell.is_test(threshold)).count() as u64;
    let n_tests = comm.all_reduce_counts(&[n_tests], Reduce::Sum)?[0];
    match weights {
        _ if n_tests == 0 => Splits::balanced(deepest, share.weights(deepest, |_| true), comm),
        Weights::Leaves => Splits::balanced(deepest, share.weights(deepest, |_| true), comm),
        Weights::TestCells => {
            Splits::balanced(deepest, share.weights(deepest, |cell| cell.is_test(threshold)), comm)
        }
        Weights::Work => by_work(share, deepest, threshold, comm),
    }
}

/// Of the splits that are tried, those with the least work on the rank with most of it.
fn by_work(share: &Share, deepest: u8, threshold: f64, comm: &Comm) -> Result<Splits, CommError> {
    let mut cells: Vec<(u128, Cell)> = share
        .cells()
        .filter(|cell| cell.is_test(threshold))
        .map(|cell| (key(deepest, cell.level, cell.position), cell))
        .collect();
    cells.sort_unstable_by_key(|(key, _)| *key);
    let mut weights = vec![CELL; cells.len()];
    let mut best: Option<(u64, Splits)> = None;
    for _ in 0..TRIALS {
        let keys = cells.iter().map(|(key, _)| *key).collect();
        let splits = Splits::weighted(deepest, keys, &weights, comm)?;
        let mut loads = vec![0; splits.n_ranks()];
        for ((_, cell), weight) in cells.iter().zip(&mut weights) {
            *weight = CELL + FACE * n_faces(&splits, cell);
            loads[splits.owner(cell.level, cell.position).at()] += *weight;
        }
        let loads = comm.all_reduce_counts(&loads, Reduce::Sum)?;
        let most = loads.into_iter().max().unwrap_or(0);
        if best.as_ref().is_none_or(|(least, _)| most < *least) {
            best = Some((most, splits));
        }
    }
    Ok(best.map_or_else(Splits::one, |(_, splits)| splits))
}

/// Faces of a cell towards other ranks; those at the edge of the box are none.
fn n_faces(splits: &Splits, cell: &Cell) -> u64 {
    let own = splits.owner(cell.level, cell.position);
    let near = (0..3).flat_map(|axis| [(axis, 1), (axis, u32::MAX)]);
    let is_foreign = |(axis, step): (usize, u32)| {
        let mut position = cell.position;
        position[axis] = position[axis].wrapping_add(step);
        position[axis] < u32::MAX / 2 && !splits.owns_all(own, cell.level, position)
    };
    near.filter(|face| is_foreign(*face)).count() as u64
}
