//! The mass of leaves around a centre, as a profile of distances.
//!
//! A leaf much smaller than the sphere is a point at its centre. A larger one is cut into equal cubes. These
//! are sorted by distance and joined to shells with equal mass, at the mean distance of their cubes:
//!
//! ```text
//!     . . . .  |                          4 x 4 x 4 cubes of a leaf: 8 shells of 8 cubes each
//!     . . . .  |   centre
//!     . . . .  |     +                    1 2 3 4 5 6 7 8
//!     . . . .  |                         -|-|-|-|-|-|-|-|--> distance
//! ```

use crate::bound::point_grid::{PointGrid, PointMass};
use inselberg_kernels::geom::{Domain, cell_side};
use inselberg_kernels::graph::PointBox;

/// Cubes are no larger than this part of the radius of the search, as long as a leaf has no more than
/// [`MOST_PARTS`] per axis.
const LARGEST_PART: f64 = 1.0 / 32.0;
/// Most cubes of a leaf along an axis.
const MOST_PARTS: usize = 8;

/// Leaves of one level. Lengths are in units of the level-0 cell.
pub struct LeafGrid {
    side: f64,
    centres: PointGrid,
}

impl LeafGrid {
    /// Sorts leaves of a level, given by their centres.
    pub fn new(level: u8, leaves: Vec<PointMass>, domain: Domain) -> Self {
        Self { side: cell_side(level), centres: PointGrid::new(leaves, domain) }
    }

    /// The least box around the leaves.
    pub fn bounds(&self) -> PointBox {
        self.centres.bounds().around(0.5 * self.side)
    }

    /// Calls `visit` with distance and mass of each shell nearer to `centre` than `radius`, which is at most
    /// half of the shortest periodic side.
    pub fn visit(&self, centre: [f64; 3], radius: f64, mut visit: impl FnMut(f64, f64)) {
        let n = n_parts(self.side, radius);
        if n == 1 {
            return self.centres.visit(centre, radius, |leaf, offset| visit(length(offset), leaf.mass));
        }
        let reach = radius + length([0.5 * self.side; 3]);
        let mut distances = Vec::new();
        self.centres.visit(centre, reach, |leaf, offset| {
            fill_distances(offset, self.side, n, &mut distances);
            let shells = distances.chunks_exact(n * n / 2);
            let mass = leaf.mass / shells.len() as f64;
            for shell in shells {
                let distance = shell.iter().sum::<f64>() / shell.len() as f64;
                if distance < radius {
                    visit(distance, mass);
                }
            }
        });
    }
}

/// Cubes per axis: the least power of two that makes them small enough.
fn n_parts(side: f64, radius: f64) -> usize {
    let mut n = 1;
    while n < MOST_PARTS && side > LARGEST_PART * radius * n as f64 {
        n *= 2;
    }
    n
}

/// The distances of the cubes of a leaf at `offset`, ascending.
fn fill_distances(offset: [f64; 3], side: f64, n: usize, distances: &mut Vec<f64>) {
    let along = |axis: usize, i: usize| offset[axis] + side * ((i as f64 + 0.5) / n as f64 - 0.5);
    distances.clear();
    for z in 0..n {
        for y in 0..n {
            distances.extend((0..n).map(|x| length([along(0, x), along(1, y), along(2, z)])));
        }
    }
    distances.sort_unstable_by(f64::total_cmp);
}

/// The length of a vector.
pub fn length(x: [f64; 3]) -> f64 {
    (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Leaves of level 3 that fill a periodic box of mass 1.
    fn full() -> LeafGrid {
        let side = cell_side(3);
        let places = (0..512).map(|i| [i % 8, i / 8 % 8, i / 64].map(|x| (f64::from(x) + 0.5) * side));
        let leaves =
            places.map(|position| PointMass { position, mass: 1.0 / 512.0, particle_type: 0 }).collect();
        LeafGrid::new(3, leaves, Domain::CUBE)
    }

    #[test]
    fn shells_of_a_uniform_gas_have_its_mass() {
        let grid = full();
        for centre in [[0.5; 3], [0.01, 0.52, 0.97], [0.3, 0.3, 0.06]] {
            // The smallest has a radius of only 1.6 sides.
            for (radius, tolerance) in [(0.2, 0.03), (0.3, 0.01), (0.45, 0.01)] {
                let (mut mass, mut outside) = (0.0, 0);
                grid.visit(centre, 0.5, |distance, of_shell| {
                    mass += if distance < radius { of_shell } else { 0.0 };
                    outside += usize::from(distance >= 0.5);
                });
                let volume = 4.0 / 3.0 * PI * radius * radius * radius;
                assert!((mass / volume - 1.0).abs() < tolerance, "{centre:?} {radius}: {mass} {volume}");
                assert_eq!(outside, 0);
            }
        }
    }

    #[test]
    fn small_leaves_are_points() {
        assert_eq!([0.01, 0.016, 0.03, 0.1, 1.0].map(|side| n_parts(side, 0.5)), [1, 2, 2, 8, 8]);
        let leaf = PointMass { position: [0.5; 3], mass: 3.0, particle_type: 0 };
        let grid = LeafGrid::new(7, vec![leaf], Domain::CUBE);
        let mut found = Vec::new();
        grid.visit([0.25, 0.5, 0.5], 0.5, |distance, mass| found.push((distance, mass)));
        assert_eq!(found, [(0.25, 3.0)]);
    }
}
