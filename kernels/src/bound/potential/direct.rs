//! Direct: the potential by all pairs, in double precision. It is the reference, and the fastest method for
//! few members.

use super::super::Gravity;
use super::points::Points;
use super::softening::inverse_distance;
use crate::simd::wide;
use std::ops::Range;

/// The potential of each point, in the order of the points. Time n^2.
pub fn direct(points: &Points, gravity: &Gravity, potential: &mut Vec<f64>) {
    direct_of(points, 0..points.len(), gravity, potential);
}

/// The potential of a run of points from all points.
pub(super) fn direct_of(points: &Points, run: Range<usize>, gravity: &Gravity, potential: &mut Vec<f64>) {
    let scale = points.to_potential(gravity);
    potential.clear();
    wide(
        #[inline(always)]
        || {
            potential.extend(run.map(
                #[inline(always)]
                |i| scale * sum_at(points, i),
            ))
        },
    );
}

/// The sum of mass over softened distance at one point. Eight sums over every eighth point, joined at the
/// end.
#[inline(always)]
fn sum_at(points: &Points, i: usize) -> f64 {
    let (at, reach) = (points.position[i], points.inverse_reach[i]);
    let mut sums = [0.0; 8];
    let n = points.len();
    for first in (0..n).step_by(8) {
        let last = (first + 8).min(n);
        let (position, mass) = (&points.position[first..last], &points.mass[first..last]);
        let reaches = &points.inverse_reach[first..last];
        for lane in 0..last - first {
            let d: [f64; 3] = std::array::from_fn(|a| position[lane][a] - at[a]);
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            let inverse =
                inverse_distance(r2, f64::from(if reaches[lane] < reach { reaches[lane] } else { reach }));
            sums[lane] += if first + lane == i { 0.0 } else { f64::from(mass[lane]) * inverse };
        }
    }
    sums.iter().sum()
}
