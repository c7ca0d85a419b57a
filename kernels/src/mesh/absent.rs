//! Which cells of a mesh of one level are beside a place without a cell?

use super::Mesh;
use super::local::{bit_of, bits, position_of};

impl Mesh {
    /// The leaves of a brick that share a face with a place in the box without a cell of their level, one bit
    /// each. Beyond a wall nothing is absent.
    pub fn beside_absent(&self, level: u8, brick: usize) -> u64 {
        let here = self.bricks()[brick];
        let (domain, extent) = (self.domain(), self.domain().extent(level));
        // The cells of the brick on a side of this one; all beyond a wall.
        let on_side = |axis: usize, side: usize| {
            let mut to = here.position.map(|x| i64::from(x) * 4);
            to[axis] = [to[axis] - 1, extent[axis].min(to[axis] + 4)][side];
            let Some(to) = domain.wrap(level, to) else { return u64::MAX };
            self.brick_at(level, to.map(|x| x >> 2)).map_or(0, |b| self.bricks()[b.at()].exists)
        };
        let sides: [[u64; 2]; 3] = [0, 1, 2].map(|axis| [0, 1].map(|side| on_side(axis, side)));
        if sides.as_flattened().iter().chain([&here.exists]).all(|mask| *mask == u64::MAX) {
            return 0;
        }
        let is_absent = |from: [u32; 3], axis: usize, side: usize| {
            let mut to = from.map(i64::from);
            to[axis] += [-1, 1][side];
            let Some(to) = domain.wrap(level, to) else { return false };
            let is_here = to[axis] >> 2 == here.position[axis];
            let mask = if is_here { here.exists } else { sides[axis][side] };
            mask >> bit_of(to) & 1 == 0
        };
        let is_beside = |bit: &u32| {
            let at = position_of(here.position, *bit);
            (0..3).any(|axis| is_absent(at, axis, 0) || is_absent(at, axis, 1))
        };
        bits(here.leaf).filter(is_beside).fold(0, |mask, bit| mask | 1 << bit)
    }
}

#[cfg(test)]
mod tests {
    use crate::geom::Domain;
    use crate::mesh::local::{bits, position_of};
    use crate::mesh::random::mesh_of;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// Boxes that are no whole number of bricks wide, with walls or without.
        #[test]
        fn leaves_beside_absent_cells_are_those_of_a_search_for_each(
            coarse in prop::array::uniform3(1..=9_u32),
            periodic in prop::array::uniform3(any::<bool>()),
            is_kept in prop::collection::vec(prop::bool::weighted(0.97), 729),
        ) {
            let domain = Domain { coarse, periodic };
            let [nx, ny, nz] = coarse;
            let all = (0..nx * ny * nz).map(|i| [i % nx, i / nx % ny, i / (nx * ny)]);
            let kept = all.zip(is_kept).filter_map(|(at, is_kept)| is_kept.then_some(at));
            let cells: BTreeSet<[u32; 3]> = kept.collect();
            let mesh = mesh_of(domain, cells.iter().map(|at| (0, *at)).collect());
            for (i, brick) in mesh.bricks().iter().enumerate() {
                let beside = mesh.beside_absent(0, i);
                for bit in bits(brick.leaf) {
                    let at = position_of(brick.position, bit).map(i64::from);
                    let is_absent = |(axis, step): (usize, i64)| {
                        let mut to = at;
                        to[axis] += step;
                        domain.wrap(0, to).is_some_and(|to| !cells.contains(&to))
                    };
                    let faces = [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)];
                    let expected = faces.into_iter().any(is_absent);
                    prop_assert_eq!(beside >> bit & 1 == 1, expected, "{:?}", at);
                }
            }
        }
    }
}
