//! The bricks around a brick or a super-brick, derived from the super-bricks there.

use super::{Mesh, local};
use crate::ids::BrickIdx;

/// The 27 super-bricks around one, found once and used for each of its bricks.
#[derive(Debug, Clone)]
pub struct Neighbourhood {
    level: u8,
    position: [u32; 3],
    supers: [u32; 27],
    /// Whether wrapping super-bricks wraps cells; not so in boxes narrower than a super-brick.
    regular: bool,
}

impl Neighbourhood {
    /// The surroundings of the super-brick at `position` of `level`: 27 hash look-ups.
    pub fn around(mesh: &Mesh, level: u8, position: [u32; 3]) -> Self {
        let regular = is_regular(mesh, level);
        let supers = std::array::from_fn(|slot| {
            let beside = || super_beside(mesh, level, position, std::array::from_fn(|a| step(slot, a)));
            regular.then(beside).flatten().unwrap_or(u32::MAX)
        });
        Self { level, position, supers, regular }
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
            u32::MAX => BrickIdx::NONE,
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
        for (slot, found) in self.supers.iter().enumerate().filter(|(_, found)| **found != u32::MAX) {
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
    let octant = local::bit_of(finer.map(|x| x & 1)) as usize;
    for (corner, around) in local::AROUND_OCTANT[octant].iter().enumerate() {
        let steps = local::step_beside(octant, corner);
        let Some(found) = super_beside(mesh, level, finer.map(|x| x >> 1), steps) else { continue };
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

/// The super-brick that lies some steps from another one, in boxes where that is [regular](is_regular).
#[inline]
fn super_beside(mesh: &Mesh, level: u8, position: [u32; 3], steps: [i64; 3]) -> Option<u32> {
    let at = std::array::from_fn(|a| (i64::from(position[a]) + steps[a]) << 4);
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
