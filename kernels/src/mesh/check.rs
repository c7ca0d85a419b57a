//! Is this set of cells an octree?

use super::{Brick, COARSER, Mesh, MeshError, for_each_coarser, local, place_of};
use crate::ids::BrickIdx;
use std::ops::Range;

/// The cells, of the 4x4x4 about a finer brick, that touch each of the brick's octs; x fastest.
const AROUND_OCT: [u64; 8] = {
    let mut table = [0; 8];
    let mut oct = 0;
    while oct < 8 {
        let mut k = 0;
        while k < 64 {
            let d = [k & 3, k >> 2 & 3, k >> 4];
            let low = [oct & 1, oct >> 1 & 1, oct >> 2];
            let near = low[0] <= d[0]
                && d[0] <= low[0] + 2
                && low[1] <= d[1]
                && d[1] <= low[1] + 2
                && low[2] <= d[2]
                && d[2] <= low[2] + 2;
            if near {
                table[oct] |= 1 << k;
            }
            k += 1;
        }
        oct += 1;
    }
    table
};

/// Whether the [coarser cells](Mesh::coarser_cells) have all around the octs in `own` of the brick at `bit` of their super-brick. Not
/// so at the border of a box that does not wrap.
fn are_covered(coarser: &[u64; 64], bit: u32, own: u64) -> bool {
    let octs = (0..8).filter(|oct| own >> (8 * oct) & 0xff != 0);
    let around = &local::AROUND_OCT[bit as usize % 8];
    let needed = octs.fold([0; 8], |mut needed: [u64; 8], oct| {
        needed.iter_mut().zip(around[oct]).for_each(|(needed, cells)| *needed |= cells);
        needed
    });
    COARSER[bit as usize]
        .iter()
        .zip(needed)
        .all(|(place, needed)| needed & !coarser[usize::from(*place)] == 0)
}

impl Mesh {
    /// Checks that a whole octree is sound in the given super-bricks: every split cell has its oct,
    /// every oct its split parent. Callers split [`Mesh::supers`] as they like.
    ///
    /// # Errors
    /// The first cell at which it is not.
    pub fn check_octree(&self, supers: Range<usize>) -> Result<(), MeshError> {
        self.check_cells(supers, |b| self.bricks[b].exists, |level| !self.supers_of(level).is_empty())
    }

    /// [`Mesh::check_octree`] for a part of an octree: for the cells in `own` alone, a mask a brick, whose
    /// ancestors and, where split, whose octs must be in this mesh. Bit l of `levels` is set where the
    /// whole octree has cells of level l.
    ///
    /// # Errors
    /// The first cell at which it is not sound.
    pub fn check_part(&self, supers: Range<usize>, own: &[u64], levels: u32) -> Result<(), MeshError> {
        self.check_cells(supers, |b| own[b], |level| levels >> level & 1 == 1)
    }

    fn check_cells(
        &self,
        supers: Range<usize>,
        own: impl Fn(usize) -> u64,
        has_level: impl Fn(u8) -> bool,
    ) -> Result<(), MeshError> {
        for s in supers {
            let level = self.level_of_super(s);
            for b in self.bricks_of(&self.supers[s]) {
                let (brick, own) = (&self.bricks[b], own(b));
                for bit in local::bits(own & !brick.leaf) {
                    let cell = local::position_of(brick.position, bit);
                    if self.find(level + 1, cell.map(|x| x << 1)).is_none() {
                        return Err(MeshError::Childless(level, cell));
                    }
                }
                if level == 0 || !has_level(level - 1) {
                    continue;
                }
                for oct in (0..64).step_by(8).filter(|o| own >> o & 0xff != 0) {
                    self.check_parent(level, local::position_of(brick.position, oct))?;
                }
            }
        }
        Ok(())
    }

    fn check_parent(&self, level: u8, cell: [u32; 3]) -> Result<(), MeshError> {
        let parent = cell.map(|x| x >> 1);
        match self.find_brick(level - 1, parent) {
            Some((brick, bit)) if self.bricks[brick.at()].leaf >> bit & 1 == 1 => {
                Err(MeshError::InsideLeaf(level, cell))
            }
            Some((brick, bit)) if self.bricks[brick.at()].exists >> bit & 1 == 1 => Ok(()),
            _ => Err(MeshError::Orphan(level - 1, parent)),
        }
    }

    /// Whether every oct in the given super-bricks has cells of the next coarser level all around it, so
    /// that no leaf there touches one coarser by more than a level. For whole octrees.
    pub fn check_graded(&self, supers: Range<usize>) -> bool {
        self.are_graded(supers, |b| self.bricks[b].exists)
    }

    /// [`Mesh::check_graded`] for a part of an octree: for the octs with cells in `own` alone, a mask a
    /// brick; what is around their parents must be in this mesh.
    pub fn check_part_graded(&self, supers: Range<usize>, own: &[u64]) -> bool {
        self.are_graded(supers, |b| own[b])
    }

    fn are_graded(&self, mut supers: Range<usize>, own: impl Fn(usize) -> u64) -> bool {
        supers.all(|s| {
            let (level, super_brick) = (self.level_of_super(s), &self.supers[s]);
            if self.supers_of(level).start == 0 {
                return true;
            }
            let coarser = self.coarser_cells(level - 1, super_brick.position);
            self.bricks_of(super_brick).zip(local::bits(super_brick.bricks)).all(|(b, bit)| {
                are_covered(&coarser, bit, own(b)) || self.is_brick_graded(level, &self.bricks[b], own(b))
            })
        })
    }

    /// The cells of each of the 4x4x4 bricks of `level` in and around a super-brick of the next.
    fn coarser_cells(&self, level: u8, finer: [u32; 3]) -> [u64; 64] {
        let mut cells = [0; 64];
        if self.domain.extent(level).iter().all(|n| n % 4 == 0) {
            let mut put = |near, brick: BrickIdx| cells[place_of(near)] = self.bricks[brick.at()].exists;
            for_each_coarser(self, level, finer, &mut put);
        }
        cells
    }

    /// One by one, and whatever the box.
    fn is_brick_graded(&self, level: u8, brick: &Brick, own: u64) -> bool {
        if own == 0 {
            return true;
        }
        // Octs of the brick are cells of its 2x2x2 part of the coarser grid; those around lie in 4x4x4.
        let around = self.exists_around(level - 1, brick.position);
        (0..8).filter(|oct| own >> (8 * oct) & 0xff != 0).all(|oct| {
            let need = AROUND_OCT[oct as usize];
            around & need == need
        })
    }

    /// Which of the 4x4x4 cells about the 2x2x2 that a finer brick covers exist, x fastest; those
    /// outside the box count as existing.
    fn exists_around(&self, level: u8, brick: [u32; 3]) -> u64 {
        let along = [0, 1, 2].map(|a| {
            let first = 2 * i64::from(brick[a]) - 1;
            [0, 1, 2, 3].map(|d| self.domain.wrap_along(level, a, first + d))
        });
        let mut blocks: [Option<([u32; 3], u64)>; 8] = [None; 8];
        let mut mask = 0;
        for k in 0..64 {
            let at = [along[0][k & 3], along[1][k >> 2 & 3], along[2][k >> 4]];
            let exists = match at {
                [Some(x), Some(y), Some(z)] => {
                    let block = [x >> 2, y >> 2, z >> 2];
                    let slot = (block[0] & 1 | (block[1] & 1) << 1 | (block[2] & 1) << 2) as usize;
                    let cells = match blocks[slot] {
                        Some((at, cells)) if at == block => cells,
                        _ => {
                            let cells = self.brick_at(level, block).map_or(0, |b| self.bricks[b.at()].exists);
                            blocks[slot].insert((block, cells)).1
                        }
                    };
                    cells >> local::bit_of([x, y, z]) & 1
                }
                _ => 1,
            };
            mask |= exists << k;
        }
        mask
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
