//! The cells of a catalogue, for files of cells.

use crate::catalogue::hdf5::swift::SwiftAttributes;
use crate::catalogue::leaf_tree::{LeafList, NO_ROW};
use crate::catalogue::{Catalogue, Table, Values, WriteError, WriteResult};
use rayon::prelude::*;
use std::path::Path;

/// The leaf cells.
pub struct CellColumns<'a> {
    table: &'a Table,
    /// The leaves.
    pub leaves: LeafList<'a>,
    /// Side of a root cell.
    pub side: f64,
    /// The lower corner of the box.
    pub origin: [f64; 3],
    /// The density above which leaves are test cells.
    threshold: f64,
}

impl<'a> CellColumns<'a> {
    /// Of a catalogue; `folder` is for the message.
    ///
    /// # Errors
    /// The catalogue has no cells, or lacks a column of them.
    pub fn new(folder: &Path, catalogue: &'a Catalogue) -> WriteResult<Self> {
        let table = catalogue.table("cells").ok_or_else(|| {
            let expected = "a catalogue of `inselberg phew --with-cells`, or --vtk-cells none";
            WriteError::content(folder, "cells", "the catalogue has none", expected)
        })?;
        let absent = |what: &str| {
            let expected = "a catalogue that this version of `inselberg phew --with-cells` wrote";
            WriteError::content(folder, what, "not in the catalogue", expected)
        };
        let values = |name: &str| table.column(name).map(|column| &column.values);
        let Some(Values::U8(level)) = values("level") else { return Err(absent("cells/level")) };
        let Some(Values::U32x3(ijk)) = values("ijk") else { return Err(absent("cells/ijk")) };
        let Some(density) = table.reals("density") else { return Err(absent("cells/density")) };
        for name in LABELS {
            table.counts(name).ok_or_else(|| absent(&format!("cells/{name}")))?;
        }
        let attributes = SwiftAttributes(&catalogue.attributes);
        let roots = attributes.root_cells().ok_or_else(|| absent("attribute coarse_cells"))?;
        let real = |name: &str| attributes.real(name).ok_or_else(|| absent(&format!("attribute {name}")));
        let leaves = LeafList { roots, level, ijk, density };
        let (side, threshold) = (real("boxlen")?, real("density_threshold")?);
        leaves.check().map_err(|problem| refused(folder, problem))?;
        Ok(Self { table, leaves, side, origin: attributes.origin(), threshold })
    }

    /// Whether a leaf is a test cell. Outside of the searched region none is.
    pub fn is_test(&self, row: usize) -> bool {
        let selected = self.table.column("selected").map(|column| &column.values);
        let takes_part = !matches!(selected, Some(Values::U8(selected)) if selected[row] == 0);
        takes_part && self.leaves.density[row] > self.threshold
    }

    /// The columns of cells in the order of these rows: labels and density, 0 where there is no leaf.
    pub fn columns<'b>(&'b self, rows: &'b [usize]) -> impl Iterator<Item = (&'static str, Values)> + 'b {
        let labels = LABELS.into_iter().map(|name| {
            let list = self.table.counts(name).expect("it was checked");
            (
                name,
                Values::U64(rows.par_iter().map(|row| if *row == NO_ROW { 0 } else { list[*row] }).collect()),
            )
        });
        let density = self.leaves.density;
        let density =
            move || rows.par_iter().map(|row| if *row == NO_ROW { 0.0 } else { density[*row] }).collect();
        labels.chain(std::iter::once_with(move || ("density", Values::F64(density()))))
    }
}

const LABELS: [&str; 2] = ["clump", "halo"];

/// The error of cells that do not form a tree.
pub fn refused(folder: &Path, problem: String) -> WriteError {
    WriteError::content(folder, "cells", problem, "the leaves of an octree, as `inselberg phew` lists them")
}
