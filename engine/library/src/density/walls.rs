//! Which densities are imposed beyond the walls of a box?

use crate::density::{DensitySource, LeafValues};
use crate::error::RunError;
use inselberg_comm::Comm;
use inselberg_io::{ReadResult, Snapshot};
use inselberg_kernels::mesh::Beyond;
use rayon::prelude::*;

/// The greatest value beyond each of the 27 sides of the box, and the greatest of the negated values.
type Extremes = [f64; 54];

const NONE: Extremes = [f64::NEG_INFINITY; 54];

/// Collective: the value imposed beyond each side of the box. A side has one if all its leaves have the same
/// value and `values` allows it. Each rank reads some of the pieces. One reduction.
///
/// # Errors
/// When a piece cannot be read, or another rank fails.
pub fn beyond(
    snapshot: &dyn Snapshot,
    source: DensitySource,
    values: LeafValues,
    comm: &Comm,
) -> Result<Beyond, RunError> {
    let header = snapshot.header();
    let DensitySource::Cells(field) = source else { return Ok(Beyond::default()) };
    if header.periodic == [true; 3] {
        return Ok(Beyond::default());
    }
    let pieces: Vec<usize> = (comm.rank().at()..header.n_pieces).step_by(comm.n_ranks()).collect();
    let parts = pieces.into_par_iter().map(|piece| extremes(snapshot, piece, field));
    let here = parts.try_reduce(|| NONE, |a, b| Ok(std::array::from_fn(|i| a[i].max(b[i]))))?;
    let all = comm.all_max(&here)?;
    let imposed = |side: usize| {
        let [most, least] = [all[side], -all[side + 27]];
        (most == least && values.allow(most)).then_some(most)
    };
    Ok(Beyond { imposed: std::array::from_fn(imposed) })
}

fn extremes(snapshot: &dyn Snapshot, piece: usize, field: &str) -> ReadResult<Extremes> {
    let mut extremes = NONE;
    snapshot.beyond_walls(piece, field, &mut |side, value| {
        let side = Beyond::side(side);
        extremes[side] = extremes[side].max(value);
        extremes[side + 27] = extremes[side + 27].max(-value);
    })?;
    Ok(extremes)
}
