//! Concentration: how steep is the mass profile within a sphere? From its first moment (Wang et al. 2024, by SOAP's fit).
//!
//! ```text
//!     R1 = sum m r / (M R)        log10 c = polynomial of log10 R1, with c from 1 to 1000
//! ```

use super::super::elementary::{exp, ln};
use std::f64::consts::LN_10;

/// Fewest members for a concentration.
pub const FEWEST: usize = 10;

/// The coefficients by rising power.
const FIT: [f64; 6] = [-5.07, -43.59, -140.17, -250.14, -222.46, -79.71];

/// The concentration of a sphere of this mass and radius. `radii` and `masses` are those of the members inside. Mass that
/// is missing in their sum is put at the radius. `None` for fewer than [`FEWEST`] members or without mass.
pub fn concentration(radii: &[f64], masses: &[f64], mass: f64, radius: f64) -> Option<f64> {
    if radii.len() < FEWEST || mass <= 0.0 || radius <= 0.0 {
        return None;
    }
    let (mut sum, mut moment) = (0.0, 0.0);
    for (r, m) in radii.iter().zip(masses) {
        sum += m;
        moment += m * r;
    }
    let first = (moment + (mass - sum) * radius) / (mass * radius);
    if first <= 0.0 {
        return Some(1000.0);
    }
    let y = ln(first) / LN_10;
    let log = FIT.iter().rev().fold(0.0, |sum, coefficient| sum * y + coefficient);
    Some(exp(log.clamp(0.0, 3.0) * LN_10))
}
