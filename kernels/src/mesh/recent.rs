//! Recent blocks of super-bricks: most look-ups near each other need no hash.
//!
//! It stores the last block, existing or not, for each place in a 4x4x4 block of blocks. The 27 blocks around
//! a block have 27 different places, so none replaces another.

use super::{Mesh, SuperBlock, local};
use crate::ids::BrickIdx;

/// The last block of 4x4x4 super-bricks that was looked up, for each [`local::bit_of`] its position.
#[derive(Debug, Clone)]
pub(crate) struct RecentBlocks([Recent; 64]);

#[derive(Debug, Clone, Copy)]
struct Recent {
    level: u8,
    position: [u32; 3],
    found: Option<SuperBlock>,
}

impl Default for RecentBlocks {
    /// None so far: no mesh has this level.
    fn default() -> Self {
        Self([Recent { level: u8::MAX, position: [0; 3], found: None }; 64])
    }
}

impl Mesh {
    /// [`Mesh::brick_at`] without a hash if `recent` has the block. All look-ups with one `recent` must be in
    /// one mesh.
    #[inline]
    pub(crate) fn brick_near(
        &self,
        recent: &mut RecentBlocks,
        level: u8,
        position: [u32; 3],
    ) -> Option<BrickIdx> {
        let found = self.super_near(recent, level, position.map(|x| x >> 2))?;
        self.supers[found as usize].brick(local::bit_of(position))
    }

    /// [`Mesh::super_at`], in the same way.
    #[inline]
    pub(super) fn super_near(&self, recent: &mut RecentBlocks, level: u8, position: [u32; 3]) -> Option<u32> {
        let block = position.map(|x| x >> 2);
        let last = &mut recent.0[local::bit_of(block) as usize];
        if (last.level, last.position) != (level, block) {
            *last = Recent { level, position: block, found: self.super_block(level, block) };
        }
        last.found?.super_at(local::bit_of(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::random::random_mesh;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        /// Reference: one look-up each, for bricks that exist and for those around them, near and far.
        #[test]
        fn bricks_are_those_of_single_look_ups(of in random_mesh(), step in 1..200usize) {
            let mesh = &of.mesh;
            let mut recent = RecentBlocks::default();
            for i in 0..mesh.supers().len() * step {
                let s = i * step % mesh.supers().len();
                let (level, super_brick) = (mesh.level_of_super(s), &mesh.supers()[s]);
                let steps = [i, i / 7, i / 49].map(|i| (i % 7) as u32);
                let near: [u32; 3] = std::array::from_fn(|a| (super_brick.position[a] << 2) + steps[a]);
                for (level, position) in [(level, near), (level + 1, near), (level, near.map(|x| x ^ 64))] {
                    prop_assert_eq!(mesh.brick_near(&mut recent, level, position), mesh.brick_at(level, position));
                }
            }
        }
    }
}
