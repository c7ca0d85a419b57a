//! Is this set of cells an octree?

use super::{Mesh, MeshError, local};
use std::ops::Range;

impl Mesh {
    /// Checks that a whole octree is sound in the given super-bricks: every split cell has its oct,
    /// every oct its split parent. Callers split [`Mesh::supers`] as they like.
    ///
    /// # Errors
    /// The first cell at which it is not.
    pub fn check_octree(&self, supers: Range<usize>) -> Result<(), MeshError> {
        for s in supers {
            let level = self.level_of_super(s);
            for brick in &self.bricks[self.bricks_of(&self.supers[s])] {
                for bit in local::bits(brick.exists & !brick.leaf) {
                    let cell = local::position_of(brick.position, bit);
                    if self.find(level + 1, cell.map(|x| x << 1)).is_none() {
                        return Err(MeshError::Childless(level, cell));
                    }
                }
                for oct in (0..64).step_by(8).filter(|o| brick.exists >> o & 0xff != 0) {
                    self.check_parent(level, local::position_of(brick.position, oct))?;
                }
            }
        }
        Ok(())
    }

    fn check_parent(&self, level: u8, cell: [u32; 3]) -> Result<(), MeshError> {
        if level == 0 || self.supers_of(level - 1).is_empty() {
            return Ok(());
        }
        let parent = cell.map(|x| x >> 1);
        match self.find_brick(level - 1, parent) {
            Some((brick, bit)) if self.bricks[brick.at()].leaf >> bit & 1 == 1 => {
                Err(MeshError::InsideLeaf(level, cell))
            }
            Some((brick, bit)) if self.bricks[brick.at()].exists >> bit & 1 == 1 => Ok(()),
            _ => Err(MeshError::Orphan(level - 1, parent)),
        }
    }

    /// Checks that no leaf of a mesh of leaves lies inside another.
    ///
    /// # Errors
    /// The first cell that does.
    pub fn check_leaves(&self, supers: Range<usize>) -> Result<(), MeshError> {
        let mut problem = None;
        self.for_each_cell(supers, |level, position, _, _| {
            let inside = (1..=level).any(|up| self.find(level - up, position.map(|x| x >> up)).is_some());
            if inside && problem.is_none() {
                problem = Some(MeshError::InsideLeaf(level, position));
            }
        });
        problem.map_or(Ok(()), Err)
    }
}
