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
    // Only images are cut again with their cells.
    let mut labels = Vec::new();
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let level_here = mesh.level_of_super(s);
        for b in mesh.bricks_of(super_brick) {
            // Without masks all cells are own.
            let own_leaves = mesh.bricks()[b].leaf & own.get(b).copied().unwrap_or(u64::MAX);
            counts[usize::from(level_here)] += u64::from(own_leaves.count_ones());
            for bit in local::bits(own_leaves) {
                let patch = segmentation.test_cells.at(b, bit).map(|t| segmentation.labels[t.at()]);
                if segmentation.peaks.pixels.is_some() {
                    labels.push(patch);
                }
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
    if segmentation.peaks.pixels.is_some() {
        let rows = rows_of_peaks(segmentation, comm)?;
        let of_cells = labels.iter().map(|patch| patch.map_or(0, |p| rows[p.at()])).collect();
        let text = "row, from 1, of its peak in the tree; 0 for none";
        columns.push(column(PEAK, none, text, Values::U64(of_cells)));
    }
    let (runs, n_rows) = level_runs(comm, &counts)?;
    Ok(PartTable { table: Table { name: "cells".into(), columns }, runs, n_rows })
}

/// The column with the row of the peak of each cell.
pub const PEAK: &str = "peak";

/// Collective: the row, from 1, of each known peak in the tree, by slot.
fn rows_of_peaks(segmentation: &Segmentation, comm: &Comm) -> Result<Vec<u64>, CommError> {
    let Segmentation { known, peaks, .. } = segmentation;
    let mut rows = vec![0; known.n_slots()];
    known.own.iter().zip(&peaks.name).for_each(|(slot, name)| rows[slot.at()] = name.number() + 1);
    known.push(comm, &mut rows)?;
    Ok(rows)
}
