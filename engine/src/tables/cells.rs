//! `cells`: every leaf with its clump and halo.

use super::column;
use crate::catalogue::{Dimension, Table, Values};
use crate::phew::Segmentation;
use crate::structures::Structures;
use inselberg_kernels::mesh::{Mesh, local};

/// The leaves in the order of the cells; 0 where there is no clump.
pub fn cells_table(mesh: &Mesh, segmentation: &Segmentation, structures: &Structures) -> Table {
    let n = mesh.n_leaves();
    let (mut level, mut ijk) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let (mut clump, mut halo) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let level_here = mesh.level_of_super(s);
        for b in mesh.bricks_of(super_brick) {
            for bit in local::bits(mesh.bricks()[b].leaf) {
                let patch = segmentation.tests.at(b, bit).map(|t| segmentation.labels[t.at()].at());
                level.push(level_here);
                ijk.push(local::position_of(mesh.bricks()[b].position, bit));
                clump.push(patch.map_or(0, |p| structures.clump_of_patch[p]));
                halo.push(patch.map_or(0, |p| structures.halo_of_patch[p]));
            }
        }
    }
    let none = Dimension::NONE;
    let columns = vec![
        column("level", none, "level of the leaf", Values::U8(level)),
        column("ijk", none, "integer position on the grid of its level", Values::U32x3(ijk)),
        column("clump", none, "identifier of its clump; 0 for none", Values::U64(clump)),
        column("halo", none, "identifier of its halo; 0 for none", Values::U64(halo)),
    ];
    Table { name: "cells".into(), columns }
}
