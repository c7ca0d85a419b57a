//! Density lookup: what is the density next to a cell?
//!
//! A place is as large as the cell: it holds a cell of the same level, lies in a coarser leaf, or contains
//! finer ones. It has three coordinates from 0 to 2, along each axis before, at and after the cell.

use crate::ids::CellIdx;
use crate::mesh::{Mesh, RecentBlocks, local};

/// Looks up densities. Places near the last ones need no hash.
pub(super) struct DensityLookup<'a> {
    mesh: &'a Mesh,
    rho: &'a [f64],
    recent: RecentBlocks,
}

/// The 27 places around a cell, x fastest.
pub(super) const PLACES: [[usize; 3]; 27] = {
    let mut places = [[0; 3]; 27];
    let mut i = 0;
    while i < 27 {
        places[i] = [i % 3, i / 3 % 3, i / 9];
        i += 1;
    }
    places
};

impl<'a> DensityLookup<'a> {
    /// `rho` has one density per cell of the mesh.
    pub fn new(mesh: &'a Mesh, rho: &'a [f64]) -> Self {
        Self { mesh, rho, recent: RecentBlocks::default() }
    }

    /// The mesh.
    pub fn mesh(&self) -> &'a Mesh {
        self.mesh
    }

    /// The density of the cell of `level` at `position`, split or not.
    #[inline]
    pub fn cell(&mut self, level: u8, position: [u32; 3]) -> Option<f64> {
        let brick = self.mesh.brick_near(&mut self.recent, level, position.map(|x| x >> 2))?;
        let cell: CellIdx = self.mesh.bricks()[brick.at()].cell(local::bit_of(position))?;
        Some(self.rho[cell.at()])
    }

    /// The density at a place beside a cell of `level`. `position` is where the place is, in cells of that
    /// level.
    ///
    /// It is that of the cell there, or of the leaf around it. For finer leaves in a mesh without split
    /// cells, it is a mean. If leaves up to a threshold may be missing, this is [`Self::mean_of_touching`].
    /// Otherwise all leaves count, and `None` means that one of them is missing.
    pub fn beside(&mut self, level: u8, position: [u32; 3], place: [usize; 3]) -> Option<f64> {
        let farthest = if self.mesh.is_graded() { level.min(1) } else { level };
        let around = (0..=farthest).find_map(|up| self.cell(level - up, position.map(|x| x >> up)));
        around.or_else(|| match self.mesh.leaves_above() {
            Some(threshold) => Some(self.mean_of_touching(level, position, place, threshold).0),
            None => self.mean_of_leaves(level, position),
        })
    }

    /// The mean over the children of a place that touch the cell, and whether a leaf in any of them does. A
    /// child counts with its value if it is a leaf, else with the mean of its own children that touch the
    /// cell, and so on. Where no leaf touches the cell, the threshold counts.
    ///
    /// ```text
    ///     the cell c and a place to its right, in two dimensions; t is the threshold
    ///
    ///           | +-+-+-------+
    ///           | |a|.|       |     upper child: mean of a and b, which touch c; the others do not count
    ///     +-----+ |b|.|   .   |     lower child: d
    ///     |     | +-+-+-------+
    ///     |  c  | |   |       |     value: ((a + b) / 2 + d) / 2
    ///     |     | | d |   .   |     without a and b: (t + d) / 2
    ///     +-----+ +---+-------+
    /// ```
    ///
    /// Only leaves that touch the cell count. Every rank has those around its own leaves, so all ranks find
    /// the same value.
    fn mean_of_touching(
        &mut self,
        level: u8,
        position: [u32; 3],
        place: [usize; 3],
        threshold: f64,
    ) -> (f64, bool) {
        let mesh = self.mesh;
        // Of two finer cells along an axis, only the one on the side of the cell touches it.
        let touches = |child: u32, a: usize| place[a] == 1 || (child >> a & 1 == 1) == (place[a] == 0);
        // The eight children are one oct of a brick.
        let brick = match mesh.brick_near(&mut self.recent, level + 1, position.map(|x| x >> 1)) {
            None if mesh.is_graded() => return (threshold, false),
            found => found.map(|brick| &mesh.bricks()[brick.at()]),
        };
        let first = local::bit_of(position.map(|x| x << 1));
        let (mut sum, mut n, mut has_leaves) = (0.0, 0.0, false);
        for child in (0..8).filter(|child| (0..3).all(|a| touches(*child, a))) {
            let at = local::child_of(position, child);
            let value = match brick.and_then(|brick| brick.cell(first + child)) {
                Some(leaf) => Some(self.rho[leaf.at()]),
                None if !mesh.is_graded() && mesh.has_finer(level + 1, at) => {
                    let (mean, has_leaves) = self.mean_of_touching(level + 1, at, place, threshold);
                    has_leaves.then_some(mean)
                }
                None => None,
            };
            sum += value.unwrap_or(threshold);
            n += 1.0;
            has_leaves |= value.is_some();
        }
        (sum / n, has_leaves)
    }

    /// The mean over the children of a place, each with its value if it is a leaf, else with the mean of its
    /// own children, and so on; `None` if a leaf is missing.
    fn mean_of_leaves(&mut self, level: u8, position: [u32; 3]) -> Option<f64> {
        if level >= self.mesh.n_levels() {
            return None;
        }
        if let Some(rho) = self.cell(level, position) {
            return Some(rho);
        }
        let mut sum = 0.0;
        for i in 0..8 {
            sum += self.mean_of_leaves(level + 1, local::child_of(position, i))?;
        }
        Some(sum / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::random::random_mesh;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// All leaves by level and position.
    fn leaves(mesh: &Mesh, rho: &[f64]) -> BTreeMap<(u8, [u32; 3]), f64> {
        let mut all = BTreeMap::new();
        mesh.for_each_cell(0..mesh.supers().len(), |level, at, cell, _| {
            all.insert((level, at), rho[cell.at()]);
        });
        all
    }

    /// The value of the leaf around a place, or the mean over all cells of level 5 in it that touch the cell.
    /// The place is at `at`.
    fn mean_of_the_finest(
        leaves: &BTreeMap<(u8, [u32; 3]), f64>,
        (level, at): (u8, [u32; 3]),
        place: [usize; 3],
        threshold: f64,
    ) -> f64 {
        let covering = |level: u8, at: [u32; 3]| {
            (0..=level).find_map(|up| leaves.get(&(level - up, at.map(|x| x >> up))).copied())
        };
        if let Some(value) = covering(level, at) {
            return value;
        }
        let side = 1u32 << (5 - level);
        let along = |a: usize| match place[a] {
            0 => side - 1..side,
            1 => 0..side,
            _ => 0..1,
        };
        let (mut sum, mut n) = (0.0, 0.0);
        for z in along(2) {
            for y in along(1) {
                for x in along(0) {
                    let finest = [at[0] * side + x, at[1] * side + y, at[2] * side + z];
                    sum += covering(5, finest).unwrap_or(threshold);
                    n += 1.0;
                }
            }
        }
        sum / n
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// References: means over the finest cells; with leaves that differ by one level at most, the bits of
        /// one mean.
        #[test]
        fn values_beside_a_leaf_are_means_of_what_touches_it(of in random_mesh(), seed in any::<u64>()) {
            let of = of.thinned(seed);
            let (mut mesh, threshold) = (of.mesh.clone(), 0.7);
            mesh.set_leaves_above(threshold);
            let all = leaves(&mesh, &of.rho);
            let density = |mesh: &Mesh, level, position, place| {
                DensityLookup::new(mesh, &of.rho).beside(level, position, place).expect("the threshold at least")
            };
            for &(level, at) in all.keys().step_by(7) {
                for place in PLACES {
                    let position = std::array::from_fn(|a| i64::from(at[a]) + place[a] as i64 - 1);
                    let Some(position) = mesh.domain().wrap(level, position) else { continue };
                    let found = density(&mesh, level, position, place);
                    let expected = mean_of_the_finest(&all, (level, position), place, threshold);
                    prop_assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
                    let is_finer = mesh.has_finer(level, position);
                    let inside = |(l, p): &(u8, [u32; 3])| *l > level && p.map(|x| x >> (l - level)) == position;
                    prop_assert_eq!(is_finer, all.keys().any(inside));
                    if !all.keys().any(|leaf| leaf.0 > level + 1 && inside(leaf)) {
                        mesh.set_graded(true);
                        let graded = density(&mesh, level, position, place);
                        mesh.set_graded(false);
                        let has_far = (2..=level).any(|up| all.contains_key(&(level - up, position.map(|x| x >> up))));
                        prop_assert!(has_far || graded.to_bits() == found.to_bits());
                    }
                }
            }
        }
    }
}
