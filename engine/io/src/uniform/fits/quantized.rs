//! Reals that were rounded to integers before compression, with noise against steps (White and Greenfield
//! 1999).
//!
//! A value is `scale * (integer - random + 0.5) + zero`, with the random numbers of the standard, or `scale *
//! integer + zero`.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// How reals were rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Dither {
    /// To the nearest step.
    None,
    /// With random numbers; `seed` is `ZDITHER0`. `keeps_zero`: values of 0 stay (SUBTRACTIVE_DITHER_2).
    Subtractive { seed: i64, keeps_zero: bool },
}

/// The integer that stands for 0 where zeros are kept.
const ZERO: i32 = -2_147_483_646;
/// Numbers of the random sequence.
const N_RANDOM: usize = 10_000;

/// The random sequence of the standard, from 0 to 1. All tiles use it.
static RANDOM: LazyLock<Vec<f32>> = LazyLock::new(random_sequence);

fn random_sequence() -> Vec<f32> {
    const FACTOR: u64 = 16_807;
    const MODULUS: u64 = 2_147_483_647;
    let next = |seed: &mut u64| {
        *seed = FACTOR * *seed % MODULUS;
        Some((*seed as f64 / MODULUS as f64) as f32)
    };
    (0..N_RANDOM).scan(1, |seed, _| next(seed)).collect()
}

/// The values of a tile, the `number`-th of the image from 0. `blank` stands for no value, which becomes NaN.
pub(super) fn values(
    integers: &[i32],
    (scale, zero): (f64, f64),
    dither: Dither,
    number: u64,
    blank: i64,
) -> Vec<f64> {
    let is_blank = |x: i32| blank == i64::from(x);
    let Dither::Subtractive { seed, keeps_zero } = dither else {
        let value = |x: &i32| if is_blank(*x) { f64::NAN } else { f64::from(*x) * scale + zero };
        return integers.iter().map(value).collect();
    };
    let random = &*RANDOM;
    let begin = |first: usize| (random[first] * 500.0) as usize;
    let mut first = (i128::from(number) + i128::from(seed) - 1).rem_euclid(N_RANDOM as i128) as usize;
    let mut next = begin(first);
    let value = |x: &i32| {
        let noise = f64::from(random[next]);
        next += 1;
        if next == N_RANDOM {
            first = (first + 1) % N_RANDOM;
            next = begin(first);
        }
        match *x {
            x if is_blank(x) => f64::NAN,
            ZERO if keeps_zero => 0.0,
            x => (f64::from(x) - noise + 0.5) * scale + zero,
        }
    };
    integers.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard states the last of its ten thousand numbers.
    #[test]
    fn the_random_sequence_is_that_of_the_standard() {
        let last = RANDOM[N_RANDOM - 1];
        assert_eq!(last, (1_043_618_065.0_f64 / 2_147_483_647.0) as f32);
    }

    #[test]
    fn blanks_and_zeros_are_kept() {
        let dither = Dither::Subtractive { seed: 3, keeps_zero: true };
        let found = values(&[ZERO, -7, 2], (0.5, 1.0), dither, 0, -7);
        assert!(found[0] == 0.0 && found[1].is_nan() && (found[2] - 2.0).abs() <= 0.25);
        assert_eq!(values(&[4, 5], (0.5, 1.0), Dither::None, 0, 5)[0], 3.0);
    }
}
