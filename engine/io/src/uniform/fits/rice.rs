//! Rice-compressed integers, as FITS tiles have them (RICE_1; White et al. 1999).
//!
//! The first number is stored as it is. Then come differences of neighbours, in blocks: a number of low bits
//! that are stored as they are, and for each difference its high bits in unary. Differences are folded, so
//! that small ones of either sign are small: 0, -1, 1, -2, 2, ...

/// Bits that are read from the highest of each byte on.
struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits that are read.
    at: usize,
}

impl Bits<'_> {
    /// The next `n` bits, at most 32, as a number; `None` past the end.
    fn take(&mut self, n: u32) -> Option<u32> {
        let mut value = 0_u64;
        let mut left = n as usize;
        while left > 0 {
            let byte = *self.bytes.get(self.at / 8)?;
            let here = (8 - self.at % 8).min(left);
            let shifted = byte >> (8 - self.at % 8 - here);
            value = value << here | u64::from(shifted) & ((1 << here) - 1);
            self.at += here;
            left -= here;
        }
        Some(value as u32)
    }

    /// Zeros before the next one, which is read as well; `None` past the end.
    fn zeros(&mut self) -> Option<u32> {
        let mut n = 0;
        loop {
            let byte = *self.bytes.get(self.at / 8)?;
            let (seen, left) = (self.at % 8, 8 - (self.at % 8) as u32);
            let zeros = (byte << seen).leading_zeros().min(left);
            n += zeros;
            self.at += zeros as usize;
            if zeros < left {
                self.at += 1;
                return Some(n);
            }
        }
    }
}

/// The `n` numbers of `bytes`, in blocks of `block`, each of 1, 2 or 4 bytes before compression; `None` if
/// they are damaged. Numbers of one byte have no sign.
pub(super) fn decode(bytes: &[u8], n: usize, block: usize, width: u8) -> Option<Vec<i32>> {
    // Bits of the count of low bits, the count that says "as they are", and bits of a number.
    let (count_bits, as_is) = match width {
        1 => (3, 6),
        2 => (4, 14),
        4 => (5, 25),
        _ => return None,
    };
    let bits_of_number = 8 * u32::from(width);
    let mut bits = Bits { bytes, at: 0 };
    let mut last = bits.take(bits_of_number)?;
    let mut numbers = Vec::new();
    // Each block has at least the bits of its count.
    numbers.try_reserve(n.min(bytes.len().saturating_mul(8).saturating_mul(block))).ok()?;
    while numbers.len() < n {
        let low = bits.take(count_bits)?;
        for _ in 0..block.min(n - numbers.len()) {
            let folded = match low {
                0 => 0,
                low if low > as_is => bits.take(bits_of_number)?,
                low => {
                    let high = bits.zeros()?;
                    high.checked_shl(low - 1)? | bits.take(low - 1)?
                }
            };
            let difference = if folded & 1 == 0 { folded >> 1 } else { !(folded >> 1) };
            last = last.wrapping_add(difference);
            numbers.push(match width {
                1 => i32::from(last as u8),
                2 => i32::from(last as i16),
                _ => last.cast_signed(),
            });
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_from_the_highest_on() {
        let mut bits = Bits { bytes: &[0b1010_0000, 0b0000_0001, 0xff, 0xff, 0xff, 0xff], at: 0 };
        assert_eq!((bits.take(3), bits.zeros(), bits.take(32)), (Some(0b101), Some(12), Some(u32::MAX)));
        assert_eq!((bits.take(1), bits.zeros()), (None, None));
    }

    /// By hand: the number 5, then a block of differences 0, 1 and -1 with no low bits, and one of zeros.
    #[test]
    fn differences_are_summed() {
        // 00000101 | 001 (0 low bits) | 1, 001, 01 | 000
        let bytes = [0b0000_0101, 0b0011_0010, 0b1000_0000];
        assert_eq!(decode(&bytes, 5, 3, 1), Some(vec![5, 6, 5, 5, 5]));
        assert_eq!(decode(&bytes[..1], 2, 3, 1), None);
        assert_eq!(decode(&bytes, 5, 3, 3), None);
    }
}
