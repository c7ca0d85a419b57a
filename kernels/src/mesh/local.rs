//! The 64 cells of a 4x4x4 block as bits of a word, in Morton order: bit = x0 y0 z0 x1 y1 z1 (lowest first).
//!
//! ```text
//!     plane z = 0           plane z = 1           planes z = 2, 3
//!     y                     y
//!     3 | 18 19 26 27       3 | 22 23 30 31       the same + 32
//!     2 | 16 17 24 25       2 | 20 21 28 29
//!     1 |  2  3 10 11       1 |  6  7 14 15       the eight bits 8 k to 8 k + 7 are one oct
//!     0 |  0  1  8  9       0 |  4  5 12 13
//!        ------------          ------------
//!     x:  0  1  2  3            0  1  2  3
//! ```

/// The bit of a position within its block; only the two lowest bits of each coordinate count.
#[inline(always)]
pub const fn bit_of(position: [u32; 3]) -> u32 {
    let [x, y, z] = position;
    BIT[((x & 3) | (y & 3) << 2 | (z & 3) << 4) as usize] as u32
}

/// What the coordinate along axis `a` contributes to [`bit_of`].
#[inline(always)]
pub const fn bit_along(a: usize, x: u32) -> u32 {
    (x & 1 | (x & 2) << 2) << a
}

/// The position within the block of a bit.
#[inline(always)]
pub const fn offset_of(bit: u32) -> [u32; 3] {
    [bit & 1 | bit >> 2 & 2, bit >> 1 & 1 | bit >> 3 & 2, bit >> 2 & 1 | bit >> 4 & 2]
}

/// The position of a cell: that of its block, on the grid of blocks, and its bit.
#[inline(always)]
pub fn position_of(block: [u32; 3], bit: u32) -> [u32; 3] {
    let offset = offset_of(bit);
    std::array::from_fn(|a| block[a] << 2 | offset[a])
}

/// The position on the next finer grid of one of the eight children of a cell or a block.
#[inline(always)]
pub fn child_of(position: [u32; 3], child: u32) -> [u32; 3] {
    std::array::from_fn(|a| position[a] << 1 | child >> a & 1)
}

/// Number of set bits below `bit`.
#[inline(always)]
pub const fn rank(mask: u64, bit: u32) -> u32 {
    (mask & ((1 << bit) - 1)).count_ones()
}

/// The set bits, lowest first.
#[inline(always)]
pub fn bits(mask: u64) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let bit = left.trailing_zeros();
        left &= left - 1;
        Some(bit)
    })
}

/// Copies the values of the bits in `wanted` to the start of `to`. `from` has one value per bit of `has`, and
/// may be longer; `wanted` must be a subset of `has`.
#[inline(always)]
pub fn pick<T: Copy>(mut from: &[T], has: u64, wanted: u64, to: &mut [T; 64]) {
    if has == wanted {
        let n = has.count_ones() as usize;
        return to[..n].copy_from_slice(&from[..n]);
    }
    let mut n = 0;
    for (has, wanted) in has.to_le_bytes().into_iter().zip(wanted.to_le_bytes()) {
        let (oct, rest) = from.split_at(has.count_ones() as usize);
        from = rest;
        let to = &mut to[n..];
        n += wanted.count_ones() as usize;
        match oct.first_chunk::<8>().filter(|_| wanted == u8::MAX) {
            Some(oct) => to[..8].copy_from_slice(oct),
            None => to
                .iter_mut()
                .zip(bits(wanted.into()))
                .for_each(|(to, bit)| *to = oct[rank(has.into(), bit) as usize]),
        }
    }
}

/// One bit per flag; flags are 0 or 1.
#[inline(always)]
pub fn bits_of(flags: &[u8; 64]) -> u64 {
    let eight = |flags: &[u8; 8]| gathered(u64::from_le_bytes(*flags));
    flags.as_chunks().0.iter().map(eight).rev().fold(0, |bits, eight| bits << 8 | eight)
}

/// One bit for each oct of which any bit is set.
#[inline(always)]
pub fn octs(mask: u64) -> u64 {
    gathered(firsts_of_octs(mask))
}

/// The first bit of each oct of which any bit is set: bits 0, 8, 16, ... 56.
#[inline(always)]
pub fn firsts_of_octs(mask: u64) -> u64 {
    let pairs = mask | mask >> 1;
    let fours = pairs | pairs >> 2;
    (fours | fours >> 4) & 0x0101_0101_0101_0101
}

/// The lowest bits of the eight bytes of a word in which no other bit is set.
#[inline(always)]
const fn gathered(bytes: u64) -> u64 {
    // The product has them in its highest byte.
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The `n`-th set bit, counted from 0 and below 64; 64 if no more than `n` bits are set.
#[inline]
pub fn nth_set_bit(mask: u64, n: u32) -> u32 {
    const ONES: u64 = u64::MAX / 255;
    let pairs = mask - (mask >> 1 & (0x55 * ONES));
    let fours = (pairs & (0x33 * ONES)) + (pairs >> 2 & (0x33 * ONES));
    // In each byte, the number of bits in it and in the bytes below.
    let upto = ((fours + (fours >> 4)) & (0x0f * ONES)).wrapping_mul(ONES);
    let passed = (u64::from(0x80 | n) * ONES - upto) >> 7 & ONES;
    let start = 8 * (passed.wrapping_mul(ONES) >> 56) as u32;
    if start == 64 {
        return 64;
    }
    let before = (upto << 8 >> start) as u32 & 0xff;
    let mut left = mask >> start;
    for _ in before..n {
        left &= left - 1;
    }
    start + left.trailing_zeros()
}

/// The cells whose offset along axis `a` is in `[low, high)`; both at most 4.
#[inline(always)]
pub const fn slab(a: usize, low: u32, high: u32) -> u64 {
    BELOW[a][high as usize] & !BELOW[a][low as usize]
}

/// The cells of a block that touch another block, where `step` (-1, 0 or 1 along each axis) leads from the
/// other block to this one.
#[inline(always)]
pub const fn facing(step: [i64; 3]) -> u64 {
    let (mut mask, mut a) = (u64::MAX, 0);
    while a < 3 {
        mask &= match step[a] {
            -1 => slab(a, 3, 4),
            1 => slab(a, 0, 1),
            _ => u64::MAX,
        };
        a += 1;
    }
    mask
}

/// For each octant of a block and each of the eight blocks around that corner (0 is the block itself): the
/// cells, of twice the size, that the octant lies in or touches.
pub const AROUND_OCTANT: [[u64; 8]; 8] = {
    let (mut table, mut i) = ([[u64::MAX; 8]; 8], 0);
    while i < 3 * 64 {
        let (axis, octant, corner) = (i / 64, i / 8 % 8, i % 8);
        let [low, high] = match [octant >> axis & 1, corner >> axis & 1] {
            [0, 0] => [0, 3],
            [0, _] => [3, 4],
            [_, 0] => [1, 4],
            _ => [0, 1],
        };
        table[octant][corner] &= slab(axis, low, high);
        i += 1;
    }
    table
};

/// The step from a block to the block at `corner` of an octant, as in [`AROUND_OCTANT`].
#[inline(always)]
pub const fn step_beside(octant: usize, corner: usize) -> [i64; 3] {
    let (mut step, mut axis) = ([0; 3], 0);
    while axis < 3 {
        if corner >> axis & 1 == 1 {
            step[axis] = if octant >> axis & 1 == 1 { 1 } else { -1 };
        }
        axis += 1;
    }
    step
}

/// The same for each oct of an octant, by octant and oct.
pub const AROUND_OCT: [[[u64; 8]; 8]; 8] = {
    let (mut table, mut i) = ([[[u64::MAX; 8]; 8]; 8], 0);
    while i < 3 * 512 {
        let (axis, octant, oct, corner) = (i / 512, i / 64 % 8, i / 8 % 8, i % 8);
        let [low, high] = match [octant >> axis & 1, oct >> axis & 1, corner >> axis & 1] {
            [0, 0, 0] => [0, 2],
            [0, 1, 0] => [0, 3],
            [1, 0, 0] => [1, 4],
            [1, 1, 0] => [2, 4],
            [0, 0, 1] => [3, 4],
            [1, 1, 1] => [0, 1],
            _ => [0, 0],
        };
        table[octant][oct][corner] &= slab(axis, low, high);
        i += 1;
    }
    table
};

/// For each axis, the cells whose offset is below 0 to 4.
const BELOW: [[u64; 5]; 3] = {
    let mut table = [[0; 5]; 3];
    let mut n = 1;
    while n < 5 {
        table[0][n] = box_mask([0; 3], [n as u32, 4, 4]);
        table[1][n] = box_mask([0; 3], [4, n as u32, 4]);
        table[2][n] = box_mask([0; 3], [4, 4, n as u32]);
        n += 1;
    }
    table
};

/// The cells whose offsets are in `[low, high)` along every axis.
pub const fn box_mask(low: [u32; 3], high: [u32; 3]) -> u64 {
    let mut mask = 0;
    let mut z = low[2];
    while z < high[2] {
        let mut y = low[1];
        while y < high[1] {
            let mut x = low[0];
            while x < high[0] {
                mask |= 1 << BIT[(x | y << 2 | z << 4) as usize];
                x += 1;
            }
            y += 1;
        }
        z += 1;
    }
    mask
}

/// Bit by x + 4 y + 16 z.
const BIT: [u8; 64] = {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (x, y, z) = (i & 3, i >> 2 & 3, i >> 4);
        table[i] = (x & 1 | (y & 1) << 1 | (z & 1) << 2 | (x & 2) << 2 | (y & 2) << 3 | (z & 2) << 4) as u8;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// References: bit by bit.
        #[test]
        fn words_are_read_bit_by_bit(mask in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], also in any::<u64>()) {
            let plain: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
            prop_assert!(bits(mask).eq(plain.iter().copied()));
            prop_assert_eq!(bits_of(&std::array::from_fn(|bit| (mask >> bit) as u8 & 1)), mask);
            for n in 0..64 {
                prop_assert_eq!(nth_set_bit(mask, n), plain.get(n as usize).copied().unwrap_or(64));
                prop_assert_eq!(rank(mask, n), plain.iter().filter(|bit| **bit < n).count() as u32);
            }
            let sparse = mask & also & also.rotate_left(17);
            let has_oct = |oct: &u32| sparse >> (8 * oct) & 0xff != 0;
            prop_assert!(bits(octs(sparse)).eq((0..8).filter(has_oct)));
            prop_assert!(bits(firsts_of_octs(sparse)).eq((0..8).filter(has_oct).map(|oct| 8 * oct)));
            let (has, mut picked) = (mask | also, [64; 64]);
            pick(&bits(has).chain([99]).collect::<Vec<_>>(), has, mask, &mut picked);
            prop_assert_eq!(&picked[..plain.len()], &plain);
        }
    }

    #[test]
    fn bits_and_offsets_agree() {
        for bit in 0..64 {
            assert_eq!(bit_of(offset_of(bit)), bit);
            let along = |a: usize| bit_along(a, offset_of(bit)[a] + 4);
            assert_eq!(along(0) | along(1) | along(2), bit);
            assert_eq!(position_of([1, 0, 2], bit).map(|x| x & 3), offset_of(bit));
            let o = offset_of(bit);
            assert_eq!(box_mask(o, o.map(|x| x + 1)), 1 << bit);
        }
        for (octant, octs) in AROUND_OCT.iter().enumerate() {
            let any = |corner: usize| octs.iter().fold(0, |any, oct| any | oct[corner]);
            assert_eq!(AROUND_OCTANT[octant], std::array::from_fn(any));
        }
        assert_eq!(box_mask([0; 3], [4; 3]), u64::MAX);
        assert_eq!(box_mask([0; 3], [2; 3]), 0xff);
        assert_eq!(slab(0, 1, 3) & slab(1, 0, 2) & slab(2, 3, 4), box_mask([1, 0, 3], [3, 2, 4]));
    }

    #[test]
    fn walks_set_bits() {
        let mask = 1 << 3 | 1 << 17 | 1 << 63;
        assert_eq!(bits(mask).collect::<Vec<_>>(), [3, 17, 63]);
        assert_eq!(rank(mask, 63), 2);
        assert_eq!(nth_set_bit(mask, 1), 17);
        for mask in [0, 1, mask, 0xfff0_0000_0f00_ff01, 0x8000_0000_0000_0000, u64::MAX] {
            let places: Vec<u32> = (0..64).map(|n| nth_set_bit(mask, n)).collect();
            let expected = bits(mask).chain(std::iter::repeat(64)).take(64);
            assert!(expected.eq(places), "{mask:x}");
            assert_eq!(bits_of(&std::array::from_fn(|bit| (mask >> bit) as u8 & 1)), mask);
            for has in [mask, mask | 0xff_0110, u64::MAX] {
                let from: Vec<u32> = bits(has).chain([99]).collect();
                let mut picked = [64; 64];
                pick(&from, has, mask, &mut picked);
                assert!(
                    picked[..mask.count_ones() as usize].iter().copied().eq(bits(mask)),
                    "{has:x} {mask:x}"
                );
            }
        }
    }
}
