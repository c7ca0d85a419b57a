//! Which cells of a mesh of one level are beside a place without a cell?

use super::Mesh;
use super::local::{bit_of, bits, offset_of};

impl Mesh {
    /// The leaves of a brick that share a face with a place in the box without a cell of their level, one bit
    /// each.
    pub fn beside_absent(&self, level: u8, brick: usize) -> u64 {
        let here = self.bricks()[brick];
        let bricks = self.domain().extent(level).map(|n| (n + 3) / 4);
        // The cells of the brick on a side of this one; all beyond a wall.
        let exists = |axis: usize, step: i64| {
            let mut place = here.position.map(i64::from);
            place[axis] += step;
            if self.domain().periodic[axis] {
                place[axis] = place[axis].rem_euclid(bricks[axis]);
            }
            match (0..bricks[axis]).contains(&place[axis]) {
                true => {
                    self.brick_at(level, place.map(|x| x as u32)).map_or(0, |b| self.bricks()[b.at()].exists)
                }
                false => u64::MAX,
            }
        };
        let beside: [[u64; 2]; 3] = [0, 1, 2].map(|axis| [exists(axis, -1), exists(axis, 1)]);
        let is_full = |mask: &u64| *mask == u64::MAX;
        if here.exists == u64::MAX && beside.iter().flatten().all(is_full) {
            return 0;
        }
        let extent = self.domain().extent(level);
        let is_beside = |bit: &u32| {
            let offset = offset_of(*bit);
            (0..3).any(|axis| {
                let at = i64::from(here.position[axis]) * 4 + i64::from(offset[axis]);
                [-1, 1].into_iter().any(|step| {
                    // Beyond a wall nothing is absent.
                    if !(0..extent[axis]).contains(&(at + step)) && !self.domain().periodic[axis] {
                        return false;
                    }
                    let (mut to, x) = (offset, i64::from(offset[axis]) + step);
                    to[axis] = x.rem_euclid(4) as u32;
                    let mask = match x {
                        0..4 => here.exists,
                        _ => beside[axis][usize::from(x > 0)],
                    };
                    mask >> bit_of(to) & 1 == 0
                })
            })
        };
        bits(here.leaf).filter(is_beside).fold(0, |mask, bit| mask | 1 << bit)
    }
}
