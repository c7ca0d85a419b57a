//! The 27 bricks around a brick, derived from the 27 super-bricks around its super-brick.

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
        let extent = mesh.domain.extent(level);
        let regular = extent.iter().all(|n| n % 16 == 0);
        let supers = std::array::from_fn(|slot| {
            let at: [i64; 3] = std::array::from_fn(|a| i64::from(position[a]) + step(slot, a));
            let wrapped = match regular {
                true => mesh.domain.wrap(level, at.map(|x| x << 4)),
                false => None,
            };
            wrapped.and_then(|p| mesh.super_at(level, p.map(|x| x >> 4))).unwrap_or(u32::MAX)
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
            return self.brick_in_small_box(mesh, local);
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
            let brick = self.brick_in_small_box(mesh, place.map(|x| x as i32 - 1));
            if !brick.is_none() {
                visit(place, brick);
            }
        }
    }

    #[cold]
    fn brick_in_small_box(&self, mesh: &Mesh, local: [i32; 3]) -> BrickIdx {
        let at = std::array::from_fn(|a| (i64::from(self.position[a] << 2) + i64::from(local[a])) << 2);
        let wrapped = mesh.domain.wrap(self.level, at);
        wrapped.and_then(|p| mesh.brick_at(self.level, p.map(|x| x >> 2))).unwrap_or(BrickIdx::NONE)
    }
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
