//! Checks: is this set of cells an octree, and is it graded?

use super::{Brick, COARSER, Mesh, MeshError, Neighbourhood, SuperBrick, for_each_coarser, local, place_of};
use std::ops::Range;

/// Whether the [coarser cells](Mesh::coarser_cells) include all cells around the octs in `own`, a mask of the
/// brick at `bit` of the super-brick.
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
    /// Checks that a whole octree is valid in the given super-bricks: every split cell has its oct, and every
    /// oct its split parent. Callers may check [`Mesh::supers`] in any parts.
    ///
    /// # Errors
    /// The first cell at which it is not valid.
    pub fn check_octree(&self, supers: Range<usize>) -> Result<(), MeshError> {
        self.check_cells(supers, |b| self.bricks[b].exists, |level| !self.supers_of(level).is_empty())
    }

    /// [`Mesh::check_octree`] for a part of an octree: checks only the cells in `own`, one mask per brick.
    /// Their ancestors must be in this mesh, and their octs if they are split. Bit l of `levels` says whether
    /// the whole octree has cells of level l.
    ///
    /// # Errors
    /// The first cell at which it is not valid.
    pub fn check_part(&self, supers: Range<usize>, own: &[u64], levels: u32) -> Result<(), MeshError> {
        self.check_cells(supers, |b| own[b], |level| levels >> level & 1 == 1)
    }

    /// Checks the cells `own(brick)` of each brick in the given super-bricks: split cells against their octs,
    /// and octs against their parents, if the octree has the next coarser level.
    fn check_cells(
        &self,
        supers: Range<usize>,
        own: impl Fn(usize) -> u64,
        has_level: impl Fn(u8) -> bool,
    ) -> Result<(), MeshError> {
        for s in supers {
            let (level, super_brick) = (self.level_of_super(s), &self.supers[s]);
            let position = super_brick.position;
            let finer =
                std::array::from_fn(|i| self.super_brick(level + 1, local::child_of(position, i as u32)));
            let has_coarser = level > 0 && has_level(level - 1);
            let coarser = level.checked_sub(1).and_then(|up| self.super_brick(up, position.map(|x| x >> 1)));
            for (b, bit) in self.bricks_of(super_brick).zip(local::bits(super_brick.bricks)) {
                let own = own(b);
                self.check_split_cells(level, b, bit, own, &finer)?;
                if has_coarser {
                    self.check_parents(level, b, own, coarser)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that the split cells of a brick in `own` have their octs. `bit` is that of the brick, `finer`
    /// are the eight super-bricks in its super-brick.
    fn check_split_cells(
        &self,
        level: u8,
        brick: usize,
        bit: u32,
        own: u64,
        finer: &[Option<&SuperBrick>; 8],
    ) -> Result<(), MeshError> {
        let brick = &self.bricks[brick];
        let split = own & !brick.leaf;
        for oct in local::bits(local::octs(split)) {
            // The cells of an oct of cells are the octs of one finer brick.
            let found = finer[bit as usize >> 3].and_then(|finer| finer.brick((bit & 7) << 3 | oct));
            let exists = found.map_or(0, |finer| self.bricks[finer.at()].exists);
            if let Some(cell) = local::bits(split >> (8 * oct) & 0xff).find(|i| exists >> (8 * i) & 1 == 0) {
                return Err(MeshError::Childless(level, local::position_of(brick.position, 8 * oct + cell)));
            }
        }
        Ok(())
    }

    /// Checks that the octs of a brick with cells in `own` have split parents, which are one oct of a brick
    /// of `coarser`.
    fn check_parents(
        &self,
        level: u8,
        brick: usize,
        own: u64,
        coarser: Option<&SuperBrick>,
    ) -> Result<(), MeshError> {
        let position = self.bricks[brick].position;
        let found = coarser.and_then(|coarser| coarser.brick(local::bit_of(position.map(|x| x >> 1))));
        let parents = found.map_or(Brick::default(), |coarser| self.bricks[coarser.at()]);
        let first = 8 * local::bit_of(position.map(|x| x & 1));
        let leaves = parents.leaf >> first;
        let wrong = local::octs(own) & (leaves | !(parents.exists >> first));
        let Some(oct) = local::bits(wrong).next() else { return Ok(()) };
        let cell = local::position_of(position, 8 * oct);
        match leaves >> oct & 1 == 1 {
            true => Err(MeshError::InsideLeaf(level, cell)),
            false => Err(MeshError::Orphan(level - 1, cell.map(|x| x >> 1))),
        }
    }

    /// Whether every oct in the given super-bricks is surrounded by cells of the next coarser level, so that
    /// no leaf there touches one that is coarser by more than one level. For whole octrees.
    pub fn check_graded(&self, supers: Range<usize>) -> bool {
        self.are_graded(supers, |b| self.bricks[b].exists)
    }

    /// [`Mesh::check_graded`] for a part of an octree: checks only octs with cells in `own`, one mask per
    /// brick. The cells around their parents must be in this mesh.
    pub fn check_part_graded(&self, supers: Range<usize>, own: &[u64]) -> bool {
        self.are_graded(supers, |b| own[b])
    }

    fn are_graded(&self, mut supers: Range<usize>, own: impl Fn(usize) -> u64) -> bool {
        supers.all(|s| {
            let (level, super_brick) = (self.level_of_super(s), &self.supers[s]);
            if self.supers_of(level).start == 0 {
                return true;
            }
            let coarser = self.coarser_cells(level, s);
            self.bricks_of(super_brick)
                .zip(local::bits(super_brick.bricks))
                .all(|(b, bit)| are_covered(&coarser, bit, own(b)))
        })
    }

    /// The existing cells of each of the 4x4x4 coarser bricks in and around a super-brick of `level`. Cells
    /// outside the box count as existing.
    fn coarser_cells(&self, level: u8, s: usize) -> [u64; 64] {
        let (coarser, finer) = (level - 1, self.supers[s].position);
        let first = |place: usize| {
            let near = [place & 3, place >> 2 & 3, place >> 4];
            std::array::from_fn(|a| 4 * (2 * i64::from(finer[a]) + near[a] as i64 - 1))
        };
        if self.domain.extent(coarser).iter().any(|n| n % 4 != 0) {
            return std::array::from_fn(|place| self.cells_from(coarser, first(place)));
        }
        let has_walls = self.domain.periodic.contains(&false);
        let is_outside = |place| has_walls && self.domain.wrap(coarser, first(place)).is_none();
        let mut cells = std::array::from_fn(|place| if is_outside(place) { u64::MAX } else { 0 });
        for_each_coarser(self, level, s, |near, brick| {
            cells[place_of(near)] = self.bricks[brick.at()].exists
        });
        cells
    }

    /// The existing cells of a 4x4x4 block from `first` on, found one by one. For boxes that are not a whole
    /// number of bricks wide.
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
        self.check_apart(supers, |b| self.bricks[b].exists)
    }

    /// [`Mesh::check_leaves`] for a part of a mesh of leaves: checks only the cells in `own`, one mask per
    /// brick. Leaves that contain one of these must be in this mesh.
    ///
    /// # Errors
    /// The first cell that is inside another.
    pub fn check_part_leaves(&self, supers: Range<usize>, own: &[u64]) -> Result<(), MeshError> {
        self.check_apart(supers, |b| own[b])
    }

    fn check_apart(&self, supers: Range<usize>, own: impl Fn(usize) -> u64) -> Result<(), MeshError> {
        for s in supers {
            let level = self.level_of_super(s);
            for b in self.bricks_of(&self.supers[s]) {
                let brick = self.bricks[b].position;
                if let Some(bit) = local::bits(own(b) & self.inside_coarser(level, brick)).next() {
                    return Err(MeshError::InsideLeaf(level, local::position_of(brick, bit)));
                }
            }
        }
        Ok(())
    }

    /// The places of a brick of `level` that are inside coarser cells. A look-up per coarser level.
    fn inside_coarser(&self, level: u8, brick: [u32; 3]) -> u64 {
        // A cell that is coarser by two levels or more contains the whole brick.
        let contains = |up: u8| {
            let is_empty = self.supers_of(level - up).is_empty();
            !is_empty && self.find(level - up, brick.map(|x| x >> (up - 2))).is_some()
        };
        if (2..=level).any(contains) {
            return u64::MAX;
        }
        let coarser = level.checked_sub(1).filter(|coarser| !self.supers_of(*coarser).is_empty());
        let coarser = coarser.and_then(|coarser| self.brick_at(coarser, brick.map(|x| x >> 1)));
        let Some(coarser) = coarser else { return 0 };
        let cells = self.bricks[coarser.at()].exists;
        let is_inside = |oct: &u32| {
            let parent = local::position_of(brick, *oct).map(|x| x >> 1);
            cells >> local::bit_of(parent) & 1 == 1
        };
        (0..64).step_by(8).filter(is_inside).fold(0, |inside, oct| inside | 0xff << oct)
    }

    /// Whether no leaf in the given super-bricks touches one that is coarser by more than one level. For
    /// meshes of leaves, of which any may be missing. Super-bricks without much coarser leaves around them
    /// cost 27 look-ups per coarser level.
    pub fn check_leaves_graded(&self, supers: Range<usize>) -> bool {
        self.are_leaves_graded(supers, |b| self.bricks[b].leaf)
    }

    /// [`Mesh::check_leaves_graded`] for a part of a mesh of leaves: checks only the leaves in `own`, one
    /// mask per brick. The leaves that touch these must be in this mesh.
    pub fn check_part_leaves_graded(&self, supers: Range<usize>, own: &[u64]) -> bool {
        self.are_leaves_graded(supers, |b| own[b])
    }

    fn are_leaves_graded(&self, mut supers: Range<usize>, own: impl Fn(usize) -> u64) -> bool {
        supers.all(|s| {
            let level = self.level_of_super(s);
            (2..=level).all(|up| self.supers_of(level - up).is_empty() || self.touches_none(s, up, &own))
        })
    }

    /// Whether no own leaf of a super-brick touches a leaf that is coarser by `up` levels, two or more. First
    /// looks around the super-brick, then around each brick, and only then around single leaves.
    fn touches_none(&self, s: usize, up: u8, own: &impl Fn(usize) -> u64) -> bool {
        let coarser = MuchCoarser::around(self, s, up);
        coarser.is_empty()
            || self.bricks_of(&self.supers[s]).all(|b| {
                let first = self.bricks[b].position.map(|x| x << 2);
                !coarser.touch(first, 4)
                    || local::bits(own(b)).all(|bit| {
                        let leaf = local::position_of(self.bricks[b].position, bit);
                        !coarser.touch(leaf, 1)
                    })
            })
    }
}

/// The leaves in and around a super-brick that are coarser than its cells by `up` levels, two or more.
///
/// ```text
///     a super-brick is 16 cells wide, so it is inside one brick of the coarser level, here with up = 2:
///
///     |  brick before  | brick of the super-brick |  brick after   |      each 4 coarser, 16 finer cells wide
///                  [c]   0 1 2 3 ...           15   [c]                 a leaf touches coarser leaves
///                                                                       at (x - 1) >> up to (x + 1) >> up
/// ```
struct MuchCoarser<'a> {
    mesh: &'a Mesh,
    level: u8,
    up: u8,
    /// Position of the coarser brick around the super-brick.
    brick: [u32; 3],
    /// The leaves of that brick and of the 26 around it, x fastest; `None` on levels that are not whole
    /// bricks wide.
    leaves: Option<[u64; 27]>,
}

impl<'a> MuchCoarser<'a> {
    fn around(mesh: &'a Mesh, s: usize, up: u8) -> Self {
        let level = mesh.level_of_super(s) - up;
        let brick = mesh.supers[s].position.map(|x| x >> (up - 2));
        let is_whole = mesh.domain.extent(level).iter().all(|n| n % 4 == 0);
        let leaves = is_whole.then(|| {
            let bricks = Neighbourhood::around(mesh, level, brick.map(|x| x >> 2)).bricks(mesh, brick);
            bricks.map(|b| if b.is_none() { 0 } else { mesh.bricks[b.at()].leaf })
        });
        Self { mesh, level, up, brick, leaves }
    }

    fn is_empty(&self) -> bool {
        self.leaves.is_some_and(|leaves| leaves == [0; 27])
    }

    /// Whether any touches the cube of `width` finer cells from `first` on, or contains it.
    fn touch(&self, first: [u32; 3], width: i64) -> bool {
        let low = first.map(|x| (i64::from(x) - 1) >> self.up);
        let high = first.map(|x| (i64::from(x) + width) >> self.up);
        (low[2]..=high[2])
            .any(|z| (low[1]..=high[1]).any(|y| (low[0]..=high[0]).any(|x| self.has_leaf([x, y, z]))))
    }

    /// Whether there is a leaf at a position that need not be in the box.
    fn has_leaf(&self, at: [i64; 3]) -> bool {
        let Some(leaves) = &self.leaves else { return self.find_leaf(at) };
        let slot = (0..3).rev().fold(0, |slot, a| 3 * slot + (at[a] >> 2) - i64::from(self.brick[a]) + 1);
        leaves[slot as usize] >> local::bit_of(at.map(|x| x as u32)) & 1 == 1
    }

    #[cold]
    fn find_leaf(&self, at: [i64; 3]) -> bool {
        let wrapped = self.mesh.domain.wrap(self.level, at);
        let place = wrapped.and_then(|at| self.mesh.find_brick(self.level, at));
        place.is_some_and(|(brick, bit)| self.mesh.bricks[brick.at()].leaf >> bit & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::random_mesh;
    use super::*;
    use proptest::prelude::*;

    /// All leaves, with the place of each among the bricks.
    fn leaves(mesh: &Mesh) -> Vec<(u8, [u32; 3], (usize, u32))> {
        let mut all = Vec::new();
        mesh.for_each_cell(0..mesh.supers().len(), |level, at, _, _| {
            let (brick, bit) = mesh.find_brick(level, at).expect("its brick");
            all.push((level, at, (brick.at(), bit)));
        });
        all
    }

    /// Whether two closed cubes share a point, over the periodic images.
    fn touch(mesh: &Mesh, a: (u8, [u32; 3]), b: (u8, [u32; 3])) -> bool {
        let finest = a.0.max(b.0);
        (0..3).all(|axis| {
            let span = |(level, at): (u8, [u32; 3])| {
                let first = i64::from(at[axis]) << (finest - level);
                [first, first + (1 << (finest - level))]
            };
            let (a, b) = (span(a), span(b));
            let image = if mesh.domain.periodic[axis] { mesh.domain.extent(finest)[axis] } else { 0 };
            [-image, 0, image].iter().any(|shift| a[0] <= b[1] + shift && b[0] + shift <= a[1])
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// Reference: all pairs of leaves. Any leaves may be missing.
        #[test]
        fn grading_is_that_of_all_pairs(of in random_mesh(), seed in any::<u64>()) {
            let of_some = of.thinned(seed);
            for mesh in [&of.mesh, &of_some.mesh] {
                let (all, supers) = (leaves(mesh), 0..mesh.supers().len());
                let mut own = vec![0; mesh.bricks().len()];
                let mut jumps = Vec::new();
                for &(level, at, (brick, bit)) in &all {
                    let is_jump = |other: &&(u8, [u32; 3], _)| {
                        other.0 + 1 < level && touch(mesh, (level, at), (other.0, other.1))
                    };
                    match all.iter().find(is_jump) {
                        None => own[brick] |= 1 << bit,
                        Some(_) => jumps.push((brick, bit)),
                    }
                }
                prop_assert_eq!(mesh.check_leaves_graded(supers.clone()), jumps.is_empty());
                prop_assert!(mesh.check_part_leaves_graded(supers.clone(), &own));
                for (brick, bit) in jumps.into_iter().take(40) {
                    let mut one = vec![0; mesh.bricks().len()];
                    one[brick] = 1 << bit;
                    prop_assert!(!mesh.check_part_leaves_graded(supers.clone(), &one));
                }
            }
        }

        /// Reference: every coarser position of every leaf, where a coarser level is added to a sound mesh.
        #[test]
        fn leaves_inside_others_are_found(of in random_mesh(), up in 1..4u8, which in any::<prop::sample::Index>()) {
            let all = leaves(&of.mesh);
            prop_assert_eq!(of.mesh.check_leaves(0..of.mesh.supers().len()), Ok(()));
            let (level, at, _) = *which.get(&all);
            prop_assume!(level > 0);
            let outer = (level - up.min(level), at.map(|x| x >> up.min(level)));
            let mesh = of.with(outer);
            let is_inside = |leaf: &&(u8, [u32; 3], _)| {
                (1..=leaf.0).any(|up| mesh.find(leaf.0 - up, leaf.1.map(|x| x >> up)).is_some())
            };
            let cells = leaves(&mesh);
            let inside: Vec<_> = cells.iter().filter(is_inside).collect();
            let supers = 0..mesh.supers().len();
            let expected = inside.first().map_or(Ok(()), |leaf| Err(MeshError::InsideLeaf(leaf.0, leaf.1)));
            prop_assert!(expected.is_err());
            prop_assert_eq!(mesh.check_leaves(supers.clone()), expected);
            let mut own: Vec<u64> = mesh.bricks().iter().map(|brick| brick.exists).collect();
            inside.iter().for_each(|leaf| own[leaf.2.0] &= !(1 << leaf.2.1));
            prop_assert_eq!(mesh.check_part_leaves(supers.clone(), &own), Ok(()));
            let last = inside.last().expect("the leaf that was chosen");
            own[last.2.0] |= 1 << last.2.1;
            let found = mesh.check_part_leaves(supers, &own);
            prop_assert_eq!(found, Err(MeshError::InsideLeaf(last.0, last.1)));
        }
    }
}
