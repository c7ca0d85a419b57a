//! The bricks around a brick or a super-brick, derived from the super-bricks there.

use super::{Mesh, local};
use crate::ids::BrickIdx;
use std::ops::Range;

/// The 27 super-bricks around one, itself at slot 13, x fastest; [`NO_SUPER`] where there is none.
pub(super) type Beside = [u32; 27];

/// No super-brick.
const NO_SUPER: u32 = u32::MAX;

impl Mesh {
    /// What is beside the super-bricks of a level, the last so far. 13 hash look-ups each.
    pub(super) fn link_supers(&mut self, level: u8, supers: Range<usize>) {
        self.beside.resize(supers.end, [NO_SUPER; 27]);
        for s in supers {
            self.beside[s][13] = s as u32;
            for slot in 0..13 {
                let found = is_regular(self, level)
                    .then(|| super_in_slot(self, level, self.supers[s].position, slot));
                if let Some(beside) = found.flatten() {
                    self.beside[s][slot] = beside;
                    self.beside[beside as usize][26 - slot] = s as u32;
                }
            }
        }
    }
}

/// The 27 super-bricks around one, found once and used for each of its bricks.
#[derive(Debug, Clone)]
pub struct Neighbourhood {
    level: u8,
    position: [u32; 3],
    supers: Beside,
    /// Whether wrapping super-bricks wraps cells; not so in boxes narrower than a super-brick.
    regular: bool,
}

impl Neighbourhood {
    /// The surroundings of the super-brick at `position` of `level`, whether it exists or not: one hash look-up or
    /// 27.
    #[inline]
    pub fn around(mesh: &Mesh, level: u8, position: [u32; 3]) -> Self {
        match mesh.super_at(level, position) {
            Some(found) => Self::of_super(mesh, level, found as usize),
            None => {
                let supers = beside_none(mesh, level, position);
                Self { level, position, supers, regular: is_regular(mesh, level) }
            }
        }
    }

    /// The surroundings of a super-brick of `level`.
    #[inline]
    pub fn of_super(mesh: &Mesh, level: u8, s: usize) -> Self {
        let (position, supers) = (mesh.supers[s].position, mesh.beside[s]);
        Self { level, position, supers, regular: is_regular(mesh, level) }
    }

    /// Whether this is around the super-brick at `position` of `level`.
    pub fn is_around(&self, level: u8, position: [u32; 3]) -> bool {
        (self.level, self.position) == (level, position)
    }

    /// The bricks around the one at `position`, itself at slot 13, x fastest; `NONE` where there is
    /// none. Only for levels whose extent is a multiple of four cells.
    #[inline]
    pub fn bricks(&self, mesh: &Mesh, position: [u32; 3]) -> [BrickIdx; 27] {
        let local: [i32; 3] = std::array::from_fn(|a| (position[a] - (self.position[a] << 2)) as i32);
        std::array::from_fn(|slot| self.brick(mesh, std::array::from_fn(|a| local[a] + step(slot, a) as i32)))
    }

    /// The brick at a place from the super-brick's first, from -4 to 7 along each axis.
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

    /// Calls `visit(place, brick)` for every brick of the super-brick and next to it, at places 0 to 5 along each axis:
    /// from the one before the super-brick's first.
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

/// Calls `visit(place, brick)` for every brick of `level` that the super-brick at `finer` of the next level lies in or touches, at
/// places 0 to 3 along each axis: from the one before those it lies in.
#[inline(always)]
pub fn for_each_coarser(
    mesh: &Mesh,
    level: u8,
    finer: [u32; 3],
    mut visit: impl FnMut([usize; 3], BrickIdx),
) {
    if !is_regular(mesh, level) {
        return for_each_coarser_in_small_box(mesh, level, finer, &mut visit);
    }
    let beside = Neighbourhood::around(mesh, level, finer.map(|x| x >> 1)).supers;
    let octant = local::bit_of(finer.map(|x| x & 1)) as usize;
    for (corner, around) in local::AROUND_OCTANT[octant].iter().enumerate() {
        let steps = local::step_beside(octant, corner);
        let found = beside[(13 + steps[0] + 3 * steps[1] + 9 * steps[2]) as usize];
        if found == NO_SUPER {
            continue;
        }
        let found = &mesh.supers[found as usize];
        for bit in local::bits(found.bricks & around) {
            let offset = local::offset_of(bit);
            let place = std::array::from_fn(|a| {
                (i64::from(offset[a]) + 4 * steps[a] + 1 - 2 * i64::from(finer[a] & 1)) as usize
            });
            visit(place, BrickIdx(found.first + local::rank(found.bricks, bit)));
        }
    }
}

/// The number of a place from [`for_each_coarser`].
#[inline(always)]
pub fn place_of(near: [usize; 3]) -> usize {
    near[0] + 4 * near[1] + 16 * near[2]
}

/// The [places](place_of) of the coarser bricks that each brick of a super-brick lies in or touches: its own, and those of
/// [`local::AROUND_OCTANT`].
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

/// Whether wrapping super-bricks of a level wraps their cells.
fn is_regular(mesh: &Mesh, level: u8) -> bool {
    mesh.domain.extent(level).iter().all(|n| n % 16 == 0)
}

/// What is beside a super-brick that does not exist.
#[cold]
fn beside_none(mesh: &Mesh, level: u8, position: [u32; 3]) -> Beside {
    let regular = is_regular(mesh, level);
    let beside = |slot| regular.then(|| super_in_slot(mesh, level, position, slot)).flatten();
    std::array::from_fn(|slot| beside(slot).unwrap_or(NO_SUPER))
}

/// The super-brick in a slot about another one, in boxes where that is [regular](is_regular).
#[inline]
fn super_in_slot(mesh: &Mesh, level: u8, position: [u32; 3], slot: usize) -> Option<u32> {
    let at = std::array::from_fn(|a| (i64::from(position[a]) + step(slot, a)) << 4);
    mesh.super_at(level, mesh.domain.wrap(level, at)?.map(|x| x >> 4))
}

/// The brick some bricks from the one at `first`.
#[cold]
fn brick_in_small_box(mesh: &Mesh, level: u8, first: [u32; 3], local: [i32; 3]) -> BrickIdx {
    let at = std::array::from_fn(|a| (i64::from(first[a]) + i64::from(local[a])) << 2);
    let wrapped = mesh.domain.wrap(level, at);
    wrapped.and_then(|p| mesh.brick_at(level, p.map(|x| x >> 2))).unwrap_or(BrickIdx::NONE)
}

/// The bricks of the super-brick in each slot that are in the middle one or next to it.
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
