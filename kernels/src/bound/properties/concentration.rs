//! Concentration: how steep is the mass profile within a sphere? From its first moment (Wang et al. 2024, by
//! SOAP's fit).
//!
//! ```text
//!     R1 = sum m r / (M R)        log10 c = polynomial of log10 R1, with c from 1 to 1000
//! ```

use super::super::elementary::{exp, ln};
use std::f64::consts::LN_10;

/// Fewest points for a concentration.
pub const FEWEST: u64 = 10;

/// The coefficients by rising power.
const FIT: [f64; 6] = [-5.07, -43.59, -140.17, -250.14, -222.46, -79.71];

/// Sums over the points within a radius.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InsideSums {
    /// Number of points.
    pub number: u64,
    /// Of mass.
    pub mass: f64,
    /// Of mass times radius.
    pub moment: f64,
    /// Of the masses of gas, dark matter and stars.
    pub of_type: [f64; 3],
}

/// The concentration of a sphere of this mass and radius, from sums over the points inside. Mass that is
/// missing in their sum counts at the radius. `None` for fewer than [`FEWEST`] points or without mass.
pub fn concentration(inside: &InsideSums, mass: f64, radius: f64) -> Option<f64> {
    if inside.number < FEWEST || mass <= 0.0 || radius <= 0.0 {
        return None;
    }
    let first = (inside.moment + (mass - inside.mass) * radius) / (mass * radius);
    if first <= 0.0 {
        return Some(1000.0);
    }
    let y = ln(first) / LN_10;
    let log = FIT.iter().rev().fold(0.0, |sum, coefficient| sum * y + coefficient);
    Some(exp(log.clamp(0.0, 3.0) * LN_10))
}
