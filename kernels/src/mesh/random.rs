//! Random meshes of leaves for the property tests of kernels that work on a mesh.

use super::{LeafBricks, Mesh, SuperLinks, UnlinkedMesh, local};
use crate::geom::Domain;
use crate::phew::test_cells::{TestCells, test_masks};
use crate::sfc::morton63;
use bytemuck::Zeroable;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A mesh of leaves that need not be graded, with a density for each.
#[derive(Debug)]
pub struct RandomMesh {
    pub mesh: Mesh,
    pub rho: Vec<f64>,
    threshold: f64,
}

impl RandomMesh {
    /// The leaves above a threshold; a few, half or all of them.
    pub fn test_cells<'a>(&self, rho: &'a [f64]) -> TestCells<'a> {
        let mut mask = vec![0; self.mesh.bricks().len()];
        let greatest = |level: u8| {
            let range = self.mesh.supers_of(level);
            if range.is_empty() { 0.0 } else { rho.iter().copied().fold(0.0, f64::max) }
        };
        test_masks(self.mesh.bricks(), rho, self.threshold, &mut mask);
        TestCells::new(mask, rho, (0..self.mesh.n_levels()).map(greatest).collect())
    }

    /// The same without about a third of the leaves.
    pub fn thinned(&self, seed: u64) -> Self {
        let mut random = Random(seed);
        let is_kept: Vec<bool> = self.rho.iter().map(|_| random.below(3) > 0).collect();
        let mut cells = Vec::new();
        self.mesh.for_each_cell(0..self.mesh.supers().len(), |level, at, cell, _| {
            cells.extend(is_kept[cell.at()].then_some((level, at)));
        });
        let kept = self.rho.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
        Self { mesh: mesh_of(*self.mesh.domain(), cells), rho: kept.map(|(rho, _)| *rho).collect(), ..*self }
    }

    /// The mesh with one more cell.
    pub fn with(&self, cell: (u8, [u32; 3])) -> Mesh {
        let mut cells = vec![cell];
        self.mesh.for_each_cell(0..self.mesh.supers().len(), |level, at, _, _| cells.push((level, at)));
        mesh_of(*self.mesh.domain(), cells)
    }
}

/// Pseudo-random numbers, the same at every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Up to 1, with steps that leave some ties.
    pub fn real(&mut self) -> f64 {
        (1 + self.below(4096)) as f64 / 4096.0
    }
}

/// A mesh of leaves in any order, up to level 9.
pub fn mesh_of(domain: Domain, cells: Vec<(u8, [u32; 3])>) -> Mesh {
    let mut levels = vec![BTreeMap::<u64, u64>::new(); 10];
    for (level, at) in cells {
        *levels[usize::from(level)].entry(morton63(at.map(|x| x >> 2))).or_default() |=
            1 << local::bit_of(at);
    }
    let lists: Vec<(Vec<u64>, Vec<u64>)> =
        levels.into_iter().map(|level| level.into_iter().unzip()).collect();
    let levels: Vec<_> = lists.iter().map(|(key, mask)| vec![LeafBricks { key, mask }]).collect();
    let mesh = UnlinkedMesh::from_leaf_bricks(domain, &levels).expect("few leaves");
    // As threads do it, run by run.
    let mut links = vec![SuperLinks::zeroed(); mesh.n_supers()];
    links.chunks_mut(3).enumerate().for_each(|(run, links)| mesh.link(3 * run, links));
    mesh.with_links(links)
}

/// Boxes of level-0 extents 1 to 3, wrapping or not, refined at random from level 2 down to level 5; or boxes
/// that are no whole number of bricks wide, refined from level 0 down to level 3. Densities have few values,
/// so that many are equal.
pub fn random_mesh() -> impl Strategy<Value = RandomMesh> {
    let any_extents = (1..=18_u32, 1..=9_u32, 1..=6_u32).prop_map(|(x, y, z)| ([x, y, z], 0));
    let extents = prop_oneof![
        1 => Just(([1_u32, 1, 1], 2_u8)),
        1 => Just(([2, 1, 1], 2)),
        1 => Just(([1, 3, 2], 2)),
        2 => any_extents,
    ];
    let periodic = prop::array::uniform3(any::<bool>());
    let split = prop::array::uniform3(0..=4u64);
    (extents, periodic, split, 0..5u32, 1..30u64, any::<u64>()).prop_map(
        |((coarse, first), periodic, split, threshold, n_values, seed)| {
            let domain = Domain { coarse, periodic };
            let mut random = Random(seed);
            // Half of the cells of a level that are asked are split in octs of their own.
            let mut open: Vec<[u32; 3]> = Vec::new();
            let n = coarse.map(|n| n << first);
            for i in 0..n[0] * n[1] * n[2] {
                open.push([i % n[0], i / n[0] % n[1], i / n[0] / n[1]]);
            }
            let mut cells = Vec::new();
            for level in first..first + 4 {
                let mut next = Vec::new();
                for at in open.drain(..) {
                    if level < first + 3 && random.below(10) < split[usize::from(level - first)] {
                        next.extend((0..8).map(|i| local::child_of(at, i)));
                    } else {
                        cells.push((level, at));
                    }
                }
                open = next;
            }
            let mesh = mesh_of(domain, cells);
            let rho =
                (0..mesh.n_cells()).map(|_| 1.0 + random.below(n_values) as f64 / n_values as f64).collect();
            RandomMesh { mesh, rho, threshold: 0.9 + 0.2 * f64::from(threshold) }
        },
    )
}
