//! Boxes around particles: one, and eight at once.

use super::points::{LANES, PointBlock};
use crate::simd::larger;

/// The least box around some particles.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PointBox {
    /// Lower corner.
    pub low: [f64; 3],
    /// Upper corner.
    pub high: [f64; 3],
}

impl PointBox {
    /// The box around nothing.
    pub const EMPTY: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// The box enlarged to contain `position`.
    #[inline]
    pub fn add(&mut self, position: [f64; 3]) {
        for (a, x) in position.into_iter().enumerate() {
            self.low[a] = self.low[a].min(x);
            self.high[a] = self.high[a].max(x);
        }
    }

    /// The least box around both.
    #[inline]
    pub fn join(mut self, other: Self) -> Self {
        self.add(other.low);
        self.add(other.high);
        self
    }

    /// The box enlarged by `reach` on all sides.
    pub fn around(&self, reach: f64) -> Self {
        Self { low: self.low.map(|x| x - reach), high: self.high.map(|x| x + reach) }
    }

    /// The largest distance between a point of this box and one of `other`, not across a periodic border.
    pub(super) fn farthest(&self, other: &Self) -> f64 {
        let apart = |a: usize| (self.high[a] - other.low[a]).max(other.high[a] - self.low[a]);
        let [x, y, z] = [apart(0), apart(1), apart(2)];
        (x * x + y * y + z * z).sqrt()
    }
}

/// Eight boxes, axis by axis. Distances of places without a box are undefined.
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

    /// Lower bounds of the squared distances from a box or, with equal corners, a position: 0 where they
    /// touch. In a box that wraps around, to the nearest image.
    #[inline(always)]
    pub fn squares<const PERIODIC: bool>(&self, of: &PointBox) -> [f64; LANES] {
        let mut squares = [0.0; LANES];
        for a in 0..3 {
            for (lane, square) in squares.iter_mut().enumerate() {
                let (low, high) = (self.low[a][lane], self.high[a][lane]);
                let near = larger(larger(low - of.high[a], of.low[a] - high), 0.0);
                let apart = match PERIODIC {
                    // The farthest pair of points may have near images. Touching boxes have distance 0.
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
