//! Softening: the potential of two members that are close.
//!
//! The density of a point is spread over the Wendland C2 kernel, as in SWIFT (Schaller et al. 2024, section
//! 5). Its reach is three softening lengths: beyond it the potential is exactly that of a point, at distance
//! 0 it is -G m / softening. For two members, the larger softening is used, so the potential is symmetric.
//!
//! ```text
//!     u = r / reach        -phi reach / (G m) = 3 - 7 u^2 + 21 u^4 - 28 u^5 + 15 u^6 - 3 u^7    for u < 1
//!                                               1 / u                                           else
//! ```
//!
//! Two members without softening at the same place have no potential: it would be infinite.

/// Reach of the kernel in softening lengths.
pub const REACH: f64 = 3.0;

/// The inverse reach of a member without softening: so large that only members at the same place are within
/// reach.
const NO_SOFTENING: f32 = 1e30;

/// The inverse reach of a softening length, where lengths are in units of `scale`.
pub fn inverse_reach(softening: f32, scale: f64) -> f32 {
    let reach = REACH * f64::from(softening) / scale;
    if reach > 1e-30 { (1.0 / reach) as f32 } else { NO_SOFTENING }
}

/// The reach of an inverse reach.
pub fn reach_of(inverse: f32) -> f64 {
    if inverse < NO_SOFTENING { 1.0 / f64::from(inverse) } else { 0.0 }
}

/// The softened inverse of a distance, from its square and the smaller inverse reach of two members.
#[inline(always)]
pub fn inverse_distance(r2: f64, inverse_reach: f64) -> f64 {
    let r = r2.sqrt();
    let u = r * inverse_reach;
    let within = 3.0 + u * u * (-7.0 + u * u * (21.0 + u * (-28.0 + u * (15.0 - 3.0 * u))));
    let near = if inverse_reach < f64::from(NO_SOFTENING) { within * inverse_reach } else { 0.0 };
    if u < 1.0 { near } else { 1.0 / r }
}

/// [`inverse_distance`] in single precision.
#[inline(always)]
pub fn inverse_distance_single(r2: f32, inverse_reach: f32) -> f32 {
    let r = r2.sqrt();
    let u = r * inverse_reach;
    let within = 3.0 + u * u * (-7.0 + u * u * (21.0 + u * (-28.0 + u * (15.0 - 3.0 * u))));
    let near = if inverse_reach < NO_SOFTENING { within * inverse_reach } else { 0.0 };
    if u < 1.0 { near } else { 1.0 / r }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_meets_the_point_and_the_plummer_value() {
        let inverse = f64::from(inverse_reach(0.5, 1.0));
        assert!((inverse_distance(0.0, inverse) - 2.0).abs() < 1e-6);
        for r in [1.5, 1.50001, 2.0, 1e3] {
            assert!((inverse_distance(r * r, inverse) - 1.0 / r).abs() < 1e-9, "{r}");
        }
        let below = inverse_distance(1.499_999f64.powi(2), inverse);
        assert!((below - 1.0 / 1.499_999).abs() < 1e-9);
        assert_eq!(inverse_distance(0.0, f64::from(inverse_reach(0.0, 1.0))), 0.0);
        assert_eq!(inverse_distance(1e-20, f64::from(inverse_reach(0.0, 1.0))), 1e10);
    }

    /// Poisson's equation: the mass within r is -r^2 dphi/dr; it must be that of the Wendland C2 density.
    #[test]
    fn the_mass_within_is_that_of_the_kernel() {
        let density = |u: f64| 21.0 / (2.0 * std::f64::consts::PI) * (1.0 - u).powi(4) * (1.0 + 4.0 * u);
        let (mut mass, n) = (0.0, 100_000);
        for i in 0..n {
            let u = (f64::from(i) + 0.5) / f64::from(n);
            let shell = 4.0 * std::f64::consts::PI * u * u * density(u) / f64::from(n);
            mass += shell;
            if i % 10_000 == 5_000 {
                let edge = u + 0.5 / f64::from(n);
                let step = 1e-5;
                let slope = (inverse_distance((edge + step).powi(2), 1.0)
                    - inverse_distance((edge - step).powi(2), 1.0))
                    / (2.0 * step);
                assert!((mass + edge * edge * slope).abs() < 1e-6, "{edge}: {mass}");
            }
        }
        assert!((mass - 1.0).abs() < 1e-8);
    }

    #[test]
    fn single_precision_agrees() {
        for i in 0..1000 {
            let r = 0.003 * f64::from(i);
            for inverse in [0.5, 1.0, 2.0f32] {
                let (a, b) = (
                    inverse_distance(r * r, f64::from(inverse)),
                    f64::from(inverse_distance_single((r * r) as f32, inverse)),
                );
                assert!((a - b).abs() < 2e-6 * a, "{r} {a} {b}");
            }
        }
    }
}
