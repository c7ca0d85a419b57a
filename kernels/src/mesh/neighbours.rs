//! Neighbours: which bricks are around a brick or a super-brick?
//!
//! Each super-brick stores the 27 super-bricks around it, and the eight of the next coarser level that it
//! lies in or may touch. Neighbouring bricks follow from these by shifts and popcounts:
//!
//! ```text
//!     along one axis, in bricks from the first brick of the super-brick
//!
//!     -4 .. -1 | 0  1  2  3 | 4 .. 7         the super-brick is slot 1 of 3
//!      slot 0  |   slot 1   | slot 2
//!
//!     for_each_near:     bricks -1 to 4, as places 0 to 5
//!     for_each_coarser:  a super-brick is 2 coarser bricks wide; with one on either side, places 0 to 3
//! ```
//!
//! A box wraps inside a super-brick if its width along a periodic axis is not a whole number of super-bricks.
//! On such levels every brick is looked up by its position. Beyond open walls there are no cells, so open
//! walls may cut super-bricks and bricks anywhere.

use super::{Mesh, RecentBlocks, local};
use crate::ids::BrickIdx;
use bytemuck::{Pod, Zeroable};

/// A super-brick (slot 13) and the 26 around it, x fastest; [`NO_SUPER`] where there is none.
type Beside = [u32; 27];

/// The super-bricks of the next coarser level that a super-brick lies in or may touch, by the corners of
/// [`local::AROUND_OCTANT`]; [`NO_SUPER`] where there is none.
type Coarser = [u32; 8];

/// The super-bricks around a super-brick.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct SuperLinks {
    beside: Beside,
    coarser: Coarser,
}

/// The slots of a 3x3x3 neighbourhood.
const ALL_SLOTS: [usize; 27] = {
    let (mut slots, mut slot) = ([0; 27], 0);
    while slot < 27 {
        slots[slot] = slot;
        slot += 1;
    }
    slots
};

/// No super-brick.
const NO_SUPER: u32 = u32::MAX;

impl Mesh {
    /// The links of a super-brick, from the blocks of all levels.
    pub(super) fn links_of(&self, s: usize, recent: &mut RecentBlocks) -> SuperLinks {
        let (level, position) = (self.level_of_super(s), self.supers[s].position);
        SuperLinks {
            beside: supers_around(self, recent, level, position, ALL_SLOTS),
            coarser: coarser_around(self, recent, level, position),
        }
    }
}

/// The super-bricks around one, found once and used for all of its bricks.
#[derive(Debug, Clone)]
pub struct Neighbourhood {
    level: u8,
    position: [u32; 3],
    supers: Beside,
    /// Whether the box is a whole number of super-bricks wide along periodic axes, so that wrapping
    /// super-bricks wraps cells.
    regular: bool,
}

impl Neighbourhood {
    /// The neighbourhood of the super-brick at `position` of `level`, which need not exist. One hash look-up;
    /// 27 if it does not exist.
    #[inline]
    pub fn around(mesh: &Mesh, level: u8, position: [u32; 3]) -> Self {
        match mesh.super_at(level, position) {
            Some(found) => Self::of_super(mesh, level, found as usize),
            None => {
                let recent = &mut RecentBlocks::default();
                let supers = supers_around(mesh, recent, level, position, ALL_SLOTS);
                Self { level, position, supers, regular: is_regular(mesh, level) }
            }
        }
    }

    /// The neighbourhood of an existing super-brick of `level`.
    #[inline]
    pub fn of_super(mesh: &Mesh, level: u8, s: usize) -> Self {
        let (position, supers) = (mesh.supers[s].position, mesh.links[s].beside);
        Self { level, position, supers, regular: is_regular(mesh, level) }
    }

    /// The brick at `position` (slot 13) and the 26 around it, x fastest; `NONE` where there is none. Only
    /// for levels that are whole bricks wide along periodic axes.
    #[inline]
    pub fn bricks(&self, mesh: &Mesh, position: [u32; 3]) -> [BrickIdx; 27] {
        let local: [i32; 3] = std::array::from_fn(|a| (position[a] - (self.position[a] << 2)) as i32);
        std::array::from_fn(|slot| self.brick(mesh, std::array::from_fn(|a| local[a] + step(slot, a) as i32)))
    }

    /// The brick at `local` bricks from the first of the super-brick, -4 to 7 along each axis; `NONE` where
    /// there is none.
    #[inline(always)]
    pub fn brick(&self, mesh: &Mesh, local: [i32; 3]) -> BrickIdx {
        if !self.regular {
            return brick_in_small_box(mesh, self.level, self.position.map(|x| x << 2), local);
        }
        let s = ((local[0] >> 2) + 1) + 3 * ((local[1] >> 2) + 1) + 9 * ((local[2] >> 2) + 1);
        match self.supers[s as usize] {
            NO_SUPER => BrickIdx::NONE,
            found => mesh.supers[found as usize]
                .brick(local::bit_of(local.map(|x| x as u32)))
                .unwrap_or(BrickIdx::NONE),
        }
    }

    /// Calls `visit(place, brick)` for every brick in the super-brick or beside it. Places are 0 to 5 along
    /// each axis, from the brick before the first of the super-brick.
    #[inline(always)]
    pub fn for_each_near(&self, mesh: &Mesh, mut visit: impl FnMut([usize; 3], BrickIdx)) {
        if !self.regular {
            return self.for_each_near_in_small_box(mesh, &mut visit);
        }
        for (slot, found) in self.supers.iter().enumerate().filter(|(_, found)| **found != NO_SUPER) {
            let found = &mesh.supers[*found as usize];
            for bit in local::bits(found.bricks & NEAR[slot]) {
                let offset = local::offset_of(bit);
                let place = std::array::from_fn(|a| (offset[a] as i64 + 4 * step(slot, a) + 1) as usize);
                visit(place, BrickIdx(found.first + local::rank(found.bricks, bit)));
            }
        }
    }

    #[cold]
    fn for_each_near_in_small_box(&self, mesh: &Mesh, visit: &mut impl FnMut([usize; 3], BrickIdx)) {
        for i in 0..216 {
            let place: [usize; 3] = [i % 6, i / 6 % 6, i / 36];
            let first = self.position.map(|x| x << 2);
            let brick = brick_in_small_box(mesh, self.level, first, place.map(|x| x as i32 - 1));
            if !brick.is_none() {
                visit(place, brick);
            }
        }
    }
}

/// Calls `visit(place, brick)` for every brick of the next coarser level that a super-brick of `level` lies
/// in or touches. Places are 0 to 3 along each axis, from the brick before those that it lies in.
#[inline(always)]
pub fn for_each_coarser(mesh: &Mesh, level: u8, s: usize, mut visit: impl FnMut([usize; 3], BrickIdx)) {
    let finer = mesh.supers[s].position;
    if !is_regular(mesh, level - 1) {
        return for_each_coarser_in_small_box(mesh, level - 1, finer, &mut visit);
    }
    let octant = octant_of(finer);
    let coarser = mesh.links[s].coarser.iter().zip(&local::AROUND_OCTANT[octant]).enumerate();
    for (corner, (found, around)) in coarser.filter(|(_, (found, _))| **found != NO_SUPER) {
        let steps = local::step_beside(octant, corner);
        let found = &mesh.supers[*found as usize];
        for bit in local::bits(found.bricks & around) {
            let offset = local::offset_of(bit);
            let place = std::array::from_fn(|a| {
                (i64::from(offset[a]) + 4 * steps[a] + 1 - 2 * i64::from(finer[a] & 1)) as usize
            });
            visit(place, BrickIdx(found.first + local::rank(found.bricks, bit)));
        }
    }
}

/// The super-bricks of the next coarser level that the super-brick at `finer` of `level` lies in or may
/// touch.
fn coarser_around(mesh: &Mesh, recent: &mut RecentBlocks, level: u8, finer: [u32; 3]) -> Coarser {
    let Some(coarser) = level.checked_sub(1) else { return [NO_SUPER; 8] };
    let octant = octant_of(finer);
    let slots = std::array::from_fn(|corner| slot_beside(octant, corner));
    supers_around(mesh, recent, coarser, finer.map(|x| x >> 1), slots)
}

/// The octant of its parent that the block at `position` is.
#[inline(always)]
fn octant_of(position: [u32; 3]) -> usize {
    local::bit_of(position.map(|x| x & 1)) as usize
}

/// The slot of the block beside a corner of an octant.
#[inline(always)]
fn slot_beside(octant: usize, corner: usize) -> usize {
    let [x, y, z] = local::step_beside(octant, corner);
    (13 + x + 3 * y + 9 * z) as usize
}

/// The index of a place of [`for_each_coarser`], x fastest.
#[inline(always)]
pub fn place_of(near: [usize; 3]) -> usize {
    near[0] + 4 * near[1] + 16 * near[2]
}

/// For each brick of a super-brick, the [places](place_of) of the coarser bricks that it lies in or touches,
/// in the order of [`local::AROUND_OCTANT`].
pub const COARSER: [[u8; 8]; 64] = {
    let (mut table, mut i) = ([[0; 8]; 64], 0);
    while i < 8 * 64 {
        let (bit, corner) = (i / 8, i % 8);
        let step = local::step_beside(bit % 8, corner);
        let own = [bit >> 3 & 1, bit >> 4 & 1, bit >> 5 & 1];
        let at = [own[0] as i64 + step[0], own[1] as i64 + step[1], own[2] as i64 + step[2]];
        table[bit][corner] = ((at[0] + 1) + 4 * (at[1] + 1) + 16 * (at[2] + 1)) as u8;
        i += 1;
    }
    table
};

#[cold]
fn for_each_coarser_in_small_box(
    mesh: &Mesh,
    level: u8,
    finer: [u32; 3],
    visit: &mut impl FnMut([usize; 3], BrickIdx),
) {
    for i in 0..64 {
        let place: [usize; 3] = [i % 4, i / 4 % 4, i / 16];
        let brick = brick_in_small_box(mesh, level, finer.map(|x| x << 1), place.map(|x| x as i32 - 1));
        if !brick.is_none() {
            visit(place, brick);
        }
    }
}

/// Whether the box is a whole number of super-bricks of a level wide along periodic axes.
fn is_regular(mesh: &Mesh, level: u8) -> bool {
    mesh.domain.wraps_blocks(level, 16)
}

/// The super-bricks of `level` in some slots around a position. None on levels that are not
/// [regular](is_regular).
fn supers_around<const N: usize>(
    mesh: &Mesh,
    recent: &mut RecentBlocks,
    level: u8,
    position: [u32; 3],
    slots: [usize; N],
) -> [u32; N] {
    if !is_regular(mesh, level) {
        return [NO_SUPER; N];
    }
    let along = |a: usize, step: i64| {
        let x = mesh.domain.wrap_along(level, a, (i64::from(position[a]) + step) << 4);
        x.map(|x| x >> 4)
    };
    // Each axis is wrapped once, not once per slot.
    let at: [[Option<u32>; 3]; 3] = std::array::from_fn(|a| [-1, 0, 1].map(|step| along(a, step)));
    slots.map(|slot| {
        let [x, y, z] = std::array::from_fn(|a| at[a][(step(slot, a) + 1) as usize]);
        let (Some(x), Some(y), Some(z)) = (x, y, z) else { return NO_SUPER };
        mesh.super_near(recent, level, [x, y, z]).unwrap_or(NO_SUPER)
    })
}

/// The brick at `local` bricks from the one at `first`, by position.
#[cold]
fn brick_in_small_box(mesh: &Mesh, level: u8, first: [u32; 3], local: [i32; 3]) -> BrickIdx {
    let at = std::array::from_fn(|a| (i64::from(first[a]) + i64::from(local[a])) << 2);
    let wrapped = mesh.domain.wrap(level, at);
    wrapped.and_then(|p| mesh.brick_at(level, p.map(|x| x >> 2))).unwrap_or(BrickIdx::NONE)
}

/// For each slot, the bricks of that super-brick that are in the middle one or beside it.
const NEAR: [u64; 27] = {
    let (mut table, mut slot) = ([0; 27], 0);
    while slot < 27 {
        table[slot] = local::facing([step(slot, 0), step(slot, 1), step(slot, 2)]);
        slot += 1;
    }
    table
};

/// The step along axis `a` of slot `slot` of a 3x3x3 neighbourhood.
#[inline(always)]
const fn step(slot: usize, a: usize) -> i64 {
    [slot % 3, slot / 3 % 3, slot / 9][a] as i64 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::random::random_mesh;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// Bricks around super-bricks, from the links between these, are those that are looked up by their
        /// position.
        #[test]
        fn linked_bricks_are_those_at_their_positions(of in random_mesh()) {
            let mesh = &of.mesh;
            for s in 0..mesh.supers().len() {
                let (level, position) = (mesh.level_of_super(s), mesh.supers()[s].position);
                let around = Neighbourhood::of_super(mesh, level, s);
                let first = position.map(|x| x << 2);
                let mut near = vec![BrickIdx::NONE; 216];
                around.for_each_near(mesh, |[x, y, z], brick| near[x + 6 * y + 36 * z] = brick);
                for i in 0..12 * 12 * 12 {
                    let local = [i % 12, i / 12 % 12, i / 144].map(|x| x - 4);
                    let expected = brick_in_small_box(mesh, level, first, local);
                    prop_assert_eq!(around.brick(mesh, local), expected, "{:?} {:?}", local, mesh.domain);
                    if local.iter().all(|x| (-1..=4).contains(x)) {
                        let place = local.map(|x| (x + 1) as usize);
                        prop_assert_eq!(near[place[0] + 6 * place[1] + 36 * place[2]], expected);
                    }
                }
                if level == 0 {
                    continue;
                }
                let mut coarser = vec![BrickIdx::NONE; 64];
                for_each_coarser(mesh, level, s, |near, brick| coarser[place_of(near)] = brick);
                let mut expected = vec![BrickIdx::NONE; 64];
                for_each_coarser_in_small_box(mesh, level - 1, position, &mut |near, brick| {
                    expected[place_of(near)] = brick;
                });
                prop_assert_eq!(&coarser, &expected);
            }
        }
    }
}
