//! Morton keys: the order of octs, bricks and cells of one level.

/// Interleaves the bits of a position, x lowest: 96 bits in use.
#[inline]
pub fn morton(position: [u32; 3]) -> u128 {
    if (position[0] | position[1] | position[2]) >> 21 == 0 {
        return u128::from(morton63(position));
    }
    let spread = |x: u32| {
        u128::from(spread21(u64::from(x & 0x1f_ffff))) | u128::from(spread21(u64::from(x >> 21))) << 63
    };
    spread(position[0]) | spread(position[1]) << 1 | spread(position[2]) << 2
}

/// [`morton`] for coordinates below 2²¹, in 63 bits. Faster.
#[inline(always)]
pub fn morton63(position: [u32; 3]) -> u64 {
    spread21(u64::from(position[0]))
        | spread21(u64::from(position[1])) << 1
        | spread21(u64::from(position[2])) << 2
}

/// Moves bit i of the 21 lowest bits to bit 3 i.
#[inline(always)]
fn spread21(x: u64) -> u64 {
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// The position from which [`morton63`] made `key`.
#[inline]
pub fn position63(key: u64) -> [u32; 3] {
    [gather21(key), gather21(key >> 1), gather21(key >> 2)]
}

/// Moves bit 3 i to bit i, for i below 21.
#[inline]
fn gather21(x: u64) -> u32 {
    let x = x & 0x1249_2492_4924_9249;
    let x = (x | x >> 2) & 0x10c3_0c30_c30c_30c3;
    let x = (x | x >> 4) & 0x100f_00f0_0f00_f00f;
    let x = (x | x >> 8) & 0x001f_0000_ff00_00ff;
    let x = (x | x >> 16) & 0x001f_0000_0000_ffff;
    ((x | x >> 32) & 0x1f_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// Reference: bit by bit.
        #[test]
        fn keys_are_made_bit_by_bit(position in prop::array::uniform3(any::<u32>()), shift in 0..32u32) {
            let position = position.map(|x| x >> shift);
            let plain = (0..96).fold(0, |key, i| key | u128::from(position[i % 3] >> (i / 3) & 1) << i);
            prop_assert_eq!(morton(position), plain);
            let low = position.map(|x| x & 0x1f_ffff);
            prop_assert_eq!(position63(morton63(low)), low);
        }
    }

    #[test]
    fn interleaves_every_bit() {
        for bit in 0..32 {
            assert_eq!(morton([1 << bit, 0, 0]), 1 << (3 * bit));
            assert_eq!(morton([0, 1 << bit, 0]), 2 << (3 * bit));
            assert_eq!(morton([0, 0, 1 << bit]), 4 << (3 * bit));
        }
        assert_eq!(u128::from(morton63([123_456, 2_097_151, 77])), morton([123_456, 2_097_151, 77]));
        assert_eq!(position63(morton63([123_456, 2_097_151, 77])), [123_456, 2_097_151, 77]);
    }
}
