//! Points with mass on this rank by cells of a uniform grid, for spheres.

use bytemuck::{Pod, Zeroable};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::graph::PointBox;
use inselberg_kernels::packed_key::{key_bits, place_of, word};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// Mean number of particles per cell of the grid.
const PER_CELL: usize = 8;
/// Most cells along an axis.
const MOST_CELLS: usize = 256;

/// A particle, or a leaf by its centre. Lengths are in units of the level-0 cell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct PointMass {
    /// Position.
    pub position: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Type: 0 gas, 1 dark matter, 4 stars, others above.
    pub particle_type: u64,
}

/// Particles sorted by cell, in a box around them that the grid divides.
pub struct PointGrid {
    domain: Domain,
    points: Vec<PointMass>,
    /// First point of each cell, x fastest, and the number of points.
    first: Vec<u32>,
    n: usize,
    bounds: PointBox,
    /// Side of a cell along each axis.
    cell: [f64; 3],
}

impl PointGrid {
    /// Sorts the particles. Particles outside a box that is not periodic may be among them.
    pub fn new(points: Vec<PointMass>, domain: Domain) -> Self {
        let with = |mut bounds: PointBox, position| {
            bounds.add(position);
            bounds
        };
        let bounds = points.par_iter().map(|point| point.position).fold(|| PointBox::EMPTY, with);
        let bounds = bounds.reduce(|| PointBox::EMPTY, PointBox::join);
        let n = ((points.len() / PER_CELL) as f64).cbrt().ceil().clamp(1.0, MOST_CELLS as f64) as usize;
        let cell =
            std::array::from_fn(|a| ((bounds.high[a] - bounds.low[a]) / n as f64).max(f64::MIN_POSITIVE));
        let mut grid = Self { domain, points: Vec::new(), first: vec![0; n * n * n + 1], n, bounds, cell };
        let word_of = |(i, point): (usize, &PointMass)| word(grid.cell_of(point.position) as u32, i as u32);
        let mut words: Vec<u64> = points.par_iter().enumerate().map(word_of).collect();
        words.par_sort_unstable();
        words.iter().for_each(|word| grid.first[key_bits(*word) as usize + 1] += 1);
        (0..n * n * n).for_each(|cell| grid.first[cell + 1] += grid.first[cell]);
        grid.points = words.par_iter().map(|word| points[place_of(*word)]).collect();
        grid
    }

    /// The least box around the particles.
    pub fn bounds(&self) -> &PointBox {
        &self.bounds
    }

    fn cell_of(&self, position: [f64; 3]) -> usize {
        let [x, y, z]: [usize; 3] = std::array::from_fn(|a| self.along(a, position[a]));
        (z * self.n + y) * self.n + x
    }

    /// The cell of a coordinate along an axis, or the nearest one. A conversion of reals never leaves the
    /// integers.
    fn along(&self, axis: usize, x: f64) -> usize {
        (((x - self.bounds.low[axis]) / self.cell[axis]) as usize).min(self.n - 1)
    }

    /// Calls `visit` with each point nearer to `centre` than `radius`, and the vector to it. A point has one
    /// image inside if the radius is at most half of the shortest periodic side; a larger radius visits each
    /// image inside.
    pub fn visit(&self, centre: [f64; 3], radius: f64, mut visit: impl FnMut(&PointMass, [f64; 3])) {
        let images: [Vec<(f64, RangeInclusive<usize>)>; 3] =
            std::array::from_fn(|axis| self.images(axis, centre[axis], radius));
        for (z, along_z) in &images[2] {
            for (y, along_y) in &images[1] {
                for (x, along_x) in &images[0] {
                    for row in
                        along_z.clone().flat_map(|k| along_y.clone().map(move |j| (k * self.n + j) * self.n))
                    {
                        let cells = row + along_x.start()..row + along_x.end() + 1;
                        let points = self.first[cells.start] as usize..self.first[cells.end] as usize;
                        for point in &self.points[points] {
                            let d = [point.position[0] - x, point.position[1] - y, point.position[2] - z];
                            let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                            if square < radius * radius {
                                visit(point, d);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The images of a coordinate whose surroundings meet the grid, with the cells that they meet.
    fn images(&self, axis: usize, x: f64, radius: f64) -> Vec<(f64, RangeInclusive<usize>)> {
        let side = f64::from(self.domain.coarse[axis]);
        let shifts: &[f64] = if self.domain.periodic[axis] { &[-1.0, 0.0, 1.0] } else { &[0.0] };
        let high = self.bounds.low[axis] + self.cell[axis] * self.n as f64;
        let images = shifts.iter().map(|shift| x + shift * side);
        // A cell more on each side, for rounding.
        let margin = radius + self.cell[axis];
        let meeting = images.filter(|x| x + margin >= self.bounds.low[axis] && x - margin <= high);
        meeting.map(|x| (x, self.along(axis, x - margin)..=self.along(axis, x + margin))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_all(points: &[PointMass], domain: &Domain, centre: [f64; 3], radius: f64) -> Vec<u64> {
        let near = |point: &&PointMass| {
            let d = domain.displacement(centre, point.position);
            d.iter().map(|d| d * d).sum::<f64>().sqrt() < radius
        };
        let mut ids: Vec<u64> = points.iter().filter(near).map(|point| point.mass as u64).collect();
        ids.sort_unstable();
        ids
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        #[test]
        fn spheres_hold_what_a_search_of_all_finds(
            // Multiples of 1/64, so that distances are exact enough for a strict comparison.
            places in prop::collection::vec([0..128_u32, 0..64, 0..64], 0..300),
            centre in [0..128_u32, 0..64, 0..64],
            radius in 0.001..0.5_f64,
            periodic in any::<[bool; 3]>(),
        ) {
            let place = |x: [u32; 3]| x.map(|x| f64::from(x) / 64.0);
            let point = |(id, x): (usize, &[u32; 3])| PointMass { position: place(*x), mass: id as f64, particle_type: 1 };
            let points: Vec<PointMass> = places.iter().enumerate().map(point).collect();
            let domain = Domain { coarse: [2, 1, 1], periodic };
            let grid = PointGrid::new(points.clone(), domain);
            let mut found = Vec::new();
            grid.visit(place(centre), radius, |point, _| found.push(point.mass as u64));
            found.sort_unstable();
            prop_assert_eq!(found, by_all(&points, &domain, place(centre), radius));
        }
    }
}
