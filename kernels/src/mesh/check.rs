//! Checks: is this set of cells an octree, and is it graded?

use super::{COARSER, Mesh, MeshError, for_each_coarser, local, place_of};
use std::ops::Range;

/// Whether the [coarser cells](Mesh::coarser_cells) include all cells around the octs in `own`, a mask of the brick at `bit`
/// of the super-brick.
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
    /// Checks that a whole octree is valid in the given super-bricks: every split cell has its oct, and every oct its split
    /// parent. Callers may check [`Mesh::supers`] in any parts.
    ///
    /// # Errors
    /// The first cell at which it is not valid.
    pub fn check_octree(&self, supers: Range<usize>) -> Result<(), MeshError> {
        self.check_cells(supers, |b| self.bricks[b].exists, |level| !self.supers_of(level).is_empty())
    }

    /// [`Mesh::check_octree`] for a part of an octree: checks only the cells in `own`, one mask per brick. Their ancestors
    /// must be in this mesh, and their octs if they are split. Bit l of `levels` says whether the whole octree has cells
    /// of level l.
    ///
    /// # Errors
    /// The first cell at which it is not valid.
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

    /// Whether every oct in the given super-bricks is surrounded by cells of the next coarser level, so that no leaf there
    /// touches one that is coarser by more than one level. For whole octrees.
    pub fn check_graded(&self, supers: Range<usize>) -> bool {
        self.are_graded(supers, |b| self.bricks[b].exists)
    }

    /// [`Mesh::check_graded`] for a part of an octree: checks only octs with cells in `own`, one mask per brick. The cells
    /// around their parents must be in this mesh.
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
            self.bricks_of(super_brick)
                .zip(local::bits(super_brick.bricks))
                .all(|(b, bit)| are_covered(&coarser, bit, own(b)))
        })
    }

    /// The existing cells of each of the 4x4x4 bricks of `level` in and around a super-brick of the next finer level. Cells
    /// outside the box count as existing.
    fn coarser_cells(&self, level: u8, finer: [u32; 3]) -> [u64; 64] {
        let first = |place: usize| {
            let near = [place & 3, place >> 2 & 3, place >> 4];
            std::array::from_fn(|a| 4 * (2 * i64::from(finer[a]) + near[a] as i64 - 1))
        };
        if self.domain.extent(level).iter().any(|n| n % 4 != 0) {
            return std::array::from_fn(|place| self.cells_from(level, first(place)));
        }
        let is_outside = |place| self.domain.wrap(level, first(place)).is_none();
        let mut cells = std::array::from_fn(|place| if is_outside(place) { u64::MAX } else { 0 });
        for_each_coarser(self, level, finer, |near, brick| {
            cells[place_of(near)] = self.bricks[brick.at()].exists
        });
        cells
    }

    /// The existing cells of a 4x4x4 block from `first` on, found one by one. For boxes that are not a whole number of bricks
    /// wide.
    #[cold]
    fn cells_from(&self, level: u8, first: [i64; 3]) -> u64 {
        let exists = |bit: &u32| {
            let offset = local::offset_of(*bit);
            let at = self.domain.wrap(level, std::array::from_fn(|a| first[a] + i64::from(offset[a])));
            at.is_none_or(|at| self.find(level, at).is_some())
        };
        (0..64).filter(exists).fold(0, |cells, bit| cells | 1 << bit)
    }

    /// Checks that no leaf of a mesh of leaves is inside another.
    ///
    /// # Errors
    /// The first cell that is.
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
