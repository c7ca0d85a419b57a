//! Leaves that do not take part in a search: their densities are lowered to the threshold, and kept.

use super::test_rule::TestRule;
use crate::field::AmrField;
use inselberg_kernels::ids::CellIdx;
use inselberg_kernels::mesh::local;
use rayon::prelude::*;

/// Leaves whose density is lowered, in the order of the cells.
#[derive(Debug, Clone, Default)]
pub struct LoweredLeaves {
    cell: Vec<CellIdx>,
    /// Their true densities.
    rho: Vec<f64>,
}

impl LoweredLeaves {
    /// Lowers the density of the leaves that do not take part to at most the threshold, so that they are no
    /// test cells.
    pub(super) fn of(field: &mut AmrField, tests: &TestRule) -> Self {
        let &TestRule { threshold, takes_part: Some(takes_part) } = tests else { return Self::default() };
        let (mesh, rho) = (&field.mesh, &field.rho);
        let of_super = |s: usize| {
            let (level, bricks) = (mesh.level_of_super(s), mesh.bricks_of(&mesh.supers()[s]));
            bricks.flat_map(move |b| local::bits(mesh.bricks()[b].leaf).map(move |bit| (level, b, bit)))
        };
        let mut cell: Vec<CellIdx> = (0..mesh.supers().len())
            .into_par_iter()
            .flat_map_iter(of_super)
            .filter(|(level, b, bit)| {
                !takes_part(*level, local::position_of(mesh.bricks()[*b].position, *bit))
            })
            .map(|(_, b, bit)| mesh.bricks()[b].cell(bit).expect("a leaf exists"))
            .filter(|cell| rho[cell.at()] > threshold)
            .collect();
        cell.par_sort_unstable();
        let lowered = cell.iter().map(|cell| std::mem::replace(&mut field.rho[cell.at()], threshold));
        let rho = lowered.collect();
        Self { cell, rho }
    }

    /// The density of a cell of the field, also of one whose density is lowered.
    pub(super) fn density(&self, field: &AmrField, cell: CellIdx) -> f64 {
        self.cell.binary_search(&cell).map_or(field.rho[cell.at()], |i| self.rho[i])
    }

    /// Gives all leaves of the field their own densities again.
    pub(super) fn raise(self, field: &mut AmrField) {
        self.cell.into_iter().zip(self.rho).for_each(|(cell, rho)| field.rho[cell.at()] = rho);
    }
}
