//! `cells`: every leaf with its clump and halo.

use crate::partition::{LocalField, TakesPart};
use crate::phew::segment::Segmentation;
use crate::phew::tables::{PatchIds, level_runs};
use crate::tables::column;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Dimension, PartTable, Table, Values};
use inselberg_kernels::mesh::local;
use rayon::prelude::*;

/// Collective: the leaves in the order of the cells; 0 for no clump. `own` has the mask of own cells per
/// brick, or is empty where all cells are own. Where a part of the leaves takes part, a column says which.
///
/// # Errors
/// When another rank fails.
pub fn cells_table(
    (part, takes_part): (&LocalField, Option<TakesPart<'_>>),
    own: &[u64],
    segmentation: &Segmentation,
    ids: &PatchIds,
    comm: &Comm,
) -> Result<PartTable, CommError> {
    let mesh = &part.field.mesh;
    let n = if own.is_empty() { mesh.n_leaves() } else { 0 };
    let mut counts = vec![0; usize::from(mesh.n_levels())];
    let (mut level, mut ijk) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let (mut clump, mut halo) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut density = Vec::with_capacity(n);
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let level_here = mesh.level_of_super(s);
        for b in mesh.bricks_of(super_brick) {
            // Without masks all cells are own.
            let own_leaves = mesh.bricks()[b].leaf & own.get(b).copied().unwrap_or(u64::MAX);
            counts[usize::from(level_here)] += u64::from(own_leaves.count_ones());
            for bit in local::bits(own_leaves) {
                let patch = segmentation.test_cells.at(b, bit).map(|t| segmentation.labels[t.at()]);
                level.push(level_here);
                ijk.push(local::position_of(mesh.bricks()[b].position, bit));
                clump.push(patch.map_or(0, |p| ids.clump[p.at()]));
                halo.push(patch.map_or(0, |p| ids.halo[p.at()]));
                density.push(part.density(mesh.bricks()[b].cell(bit).expect("a leaf is a cell")));
            }
        }
    }
    let none = Dimension::NONE;
    let mut columns = vec![
        column("level", none, "level of the leaf", Values::U8(level)),
        column("ijk", none, "integer position on the grid of its level", Values::U32x3(ijk)),
        column("clump", none, "identifier of its clump; 0 for none", Values::U64(clump)),
        column("halo", none, "identifier of its halo; 0 for none", Values::U64(halo)),
        column("density", Dimension::DENSITY, "density of the leaf", Values::F64(density)),
    ];
    if let Some(takes_part) = takes_part {
        let (Values::U8(level), Values::U32x3(ijk)) = (&columns[0].values, &columns[1].values) else {
            unreachable!("level and position are the first columns")
        };
        let is_selected = level.par_iter().zip(ijk).map(|(level, ijk)| takes_part(*level, *ijk).into());
        let text = "1 if the leaf is in the region and levels that were searched, else 0";
        columns.push(column("selected", none, text, Values::U8(is_selected.collect())));
    }
    let (runs, n_rows) = level_runs(comm, &counts)?;
    Ok(PartTable { table: Table { name: "cells".into(), columns }, runs, n_rows })
}
