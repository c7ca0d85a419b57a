//! Elementary functions with the same bits on every system, without the system's mathematical library.
//!
//! Only additions, multiplications and divisions occur, in one order.

use std::f64::consts::{LN_2, SQRT_2};

/// The natural logarithm of a positive, normal number. Relative error below 1e-15.
pub(super) fn ln(x: f64) -> f64 {
    let mut exponent = ((x.to_bits() >> 52) as i32 - 1023) as f64;
    let mut mantissa = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // ln m = 2 (t + t³/3 + t⁵/5 + ...) with t = (m - 1)/(m + 1), below 0.172.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let t2 = t * t;
    let series = (0..12).rev().fold(0.0, |sum, i| sum * t2 + 2.0 / f64::from(2 * i + 1));
    exponent * LN_2 + t * series
}

/// The exponential of a number below 700 in magnitude. Relative error below 1e-15.
pub(super) fn exp(x: f64) -> f64 {
    let n = (x / LN_2).round();
    // LN_2 in two parts, the first with few bits, so that n times it is exact.
    const HIGH: f64 = 0.693_147_180_369_123_8;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    let rest = (x - n * HIGH) - n * LOW;
    let series = (1..=16).rev().fold(1.0, |sum, i| 1.0 + rest / f64::from(i) * sum);
    series * f64::from_bits(((1023 + n as i64) as u64) << 52)
}

/// `base` to the power of `exponent`, for a positive, normal base.
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    exp(exponent * ln(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_system() {
        for i in 1..2000 {
            let x = 1.013f64.powi(i - 1000);
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "{x}");
            let y = 0.3 * f64::from(i - 1000);
            assert!((exp(y) / y.exp() - 1.0).abs() < 1e-15, "{y}");
            assert!((power(x, 0.37) / x.powf(0.37) - 1.0).abs() < 4e-15, "{x}");
        }
    }
}
