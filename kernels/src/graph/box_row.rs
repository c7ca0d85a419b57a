//! Eight boxes at once.

use super::groups::PointBox;
use super::points::{LANES, PointBlock};
use crate::simd::larger;

/// Eight boxes, axis by axis. Distances of places without a box mean nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoxRow {
    low: PointBlock,
    high: PointBlock,
}

impl BoxRow {
    /// No box at any place.
    pub const NONE: Self = Self { low: [[f64::INFINITY; LANES]; 3], high: [[f64::INFINITY; LANES]; 3] };

    /// Puts a box at one of the places.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, bounds: &PointBox) {
        (0..3).for_each(|a| (self.low[a][lane], self.high[a][lane]) = (bounds.low[a], bounds.high[a]));
    }

    /// Lower bounds of the squared distances from a box or, with equal corners, a position: 0 where they touch. In a box that wraps
    /// around, to the nearest image.
    #[inline(always)]
    pub fn squares<const PERIODIC: bool>(&self, of: &PointBox) -> [f64; LANES] {
        let mut squares = [0.0; LANES];
        for a in 0..3 {
            for (lane, square) in squares.iter_mut().enumerate() {
                let (low, high) = (self.low[a][lane], self.high[a][lane]);
                let near = larger(larger(low - of.high[a], of.low[a] - high), 0.0);
                let apart = match PERIODIC {
                    // The farthest pair of points has the nearest images. Boxes that touch have no distance.
                    true => smaller(near, larger(1.0 - larger(of.high[a] - low, high - of.low[a]), 0.0)),
                    false => near,
                };
                *square += apart * apart;
            }
        }
        squares
    }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
