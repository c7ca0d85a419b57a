//! `particles`: every particle with the clump and halo of the leaf that it lies in.

use super::column;
use crate::catalogue::{Dimension, Table, Values};
use crate::io::{ReadResult, Snapshot};
use crate::phew::Segmentation;
use crate::structures::Structures;
use inselberg_kernels::geom::cell_side;
use inselberg_kernels::mesh::Mesh;
use rayon::prelude::*;

/// Identity, clump and halo of a particle.
type Row = (i64, u64, u64);

/// The particles by identity (then clump and halo, where identities repeat); 0 for no clump.
///
/// # Errors
/// When the particles cannot be read.
pub fn particles_table(
    snapshot: &dyn Snapshot,
    mesh: &Mesh,
    segmentation: &Segmentation,
    structures: &Structures,
) -> ReadResult<Table> {
    let side = snapshot.header().boxlen;
    let read = |piece: usize| {
        let mut rows: Vec<Row> = Vec::new();
        snapshot.particles(piece, &mut |block| {
            for (&id, x) in block.id.iter().zip(&block.position) {
                let patch = patch_at(mesh, segmentation, x.map(|x| x / side));
                let clump = patch.map_or(0, |p| structures.clump_of_patch[p]);
                rows.push((id, clump, patch.map_or(0, |p| structures.halo_of_patch[p])));
            }
            Ok(())
        })?;
        Ok(rows)
    };
    let pieces: Vec<Vec<Row>> =
        (0..snapshot.header().n_pieces).into_par_iter().map(read).collect::<ReadResult<_>>()?;
    let mut rows = pieces.concat();
    rows.par_sort_unstable();
    let none = Dimension::NONE;
    let columns = vec![
        column("id", none, "identity of the particle", Values::I64(rows.iter().map(|r| r.0).collect())),
        column(
            "clump",
            none,
            "identifier of its clump; 0 for none",
            Values::U64(rows.iter().map(|r| r.1).collect()),
        ),
        column(
            "halo",
            none,
            "identifier of its halo; 0 for none",
            Values::U64(rows.iter().map(|r| r.2).collect()),
        ),
    ];
    Ok(Table { name: "particles".into(), columns })
}

/// The patch of the leaf around a point, in units of the level-0 cell; none for no point at all.
fn patch_at(mesh: &Mesh, segmentation: &Segmentation, x: [f64; 3]) -> Option<usize> {
    if !x.iter().all(|x| x.is_finite()) {
        return None;
    }
    let deepest = mesh.n_levels().checked_sub(1)?;
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    let position = mesh.domain().wrap(deepest, at)?;
    (0..=deepest).find_map(|up| {
        let (brick, bit) = mesh.find_brick(deepest - up, position.map(|x| x >> up))?;
        let test = segmentation.tests.at(brick.at(), bit)?;
        Some(segmentation.labels[test.at()].at())
    })
}
