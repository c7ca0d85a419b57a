//! Newton step: where is the peak of a quadratic through the 27 cells around a cell?

use crate::geom::cell_side;
use crate::phew::Rules;
use crate::simd::largest;
use std::ops::RangeInclusive;

/// The peak may be at most this fraction of a side away from the centre of the cell.
const LARGEST_STEP: f64 = 0.499_999;

/// The peak of the quadratic through the densities of the 27 cells around the cell of `level` at `position`,
/// x fastest, in units of the level-0 cell. It is not wrapped into the box. The corners do not matter.
#[inline]
pub(super) fn peak_of(cube: &[f64; 27], rules: Rules, level: u8, position: [u32; 3]) -> [f64; 3] {
    let step = newton_step(cube, rules);
    let largest = step.iter().fold(0.0f64, |m, d| m.max(d.abs()));
    let scale = if largest > LARGEST_STEP { LARGEST_STEP / largest } else { 1.0 };
    let side = cell_side(level);
    std::array::from_fn(|a| (f64::from(position[a]) + 0.5 + scale * step[a]) * side)
}

/// If the magnitude of the determinant is in this range, none of its terms has overflowed or underflowed.
const SAFE: RangeInclusive<f64> = 1e-180..=1e180;

#[inline(always)]
fn newton_step(f: &[f64; 27], rules: Rules) -> [f64; 3] {
    step_within(f, rules, SAFE).unwrap_or_else(|| rescaled_step(f, rules))
}

/// The step where products of three densities may leave the range of doubles. Scaling all densities by a
/// power of two does not change it. Zero where the second derivatives are singular.
#[cold]
#[inline(never)]
fn rescaled_step(f: &[f64; 27], rules: Rules) -> [f64; 3] {
    let exponent = largest(f).to_bits() >> 52;
    let scale = f64::from_bits((2046 - exponent).clamp(1, 2046) << 52);
    let not_singular = f64::from_bits(1)..=f64::MAX;
    step_within(&f.map(|rho| rho * scale), rules, not_singular).unwrap_or([0.0; 3])
}

/// The step, if it is finite and the magnitude of the determinant of the second derivatives is in `range`.
/// Densities of any sign and magnitude may lie around a peak.
#[inline(always)]
fn step_within(f: &[f64; 27], rules: Rules, range: RangeInclusive<f64>) -> Option<[f64; 3]> {
    let (h, g) = derivatives(f);
    let det = (0..3).map(|j| h[0][j] * cofactor(&h, 0, j)).sum::<f64>();
    let step = range.contains(&det.abs()).then(|| solve(&h, &g, det, rules));
    step.filter(|step| step.iter().all(|x| x.is_finite()))
}

/// Second derivatives and gradient, per cell side.
#[inline(always)]
fn derivatives(f: &[f64; 27]) -> ([[f64; 3]; 3], [f64; 3]) {
    const STRIDE: [usize; 3] = [1, 3, 9];
    let at = |steps: [i32; 3]| f[(13 + steps[0] + 3 * steps[1] + 9 * steps[2]) as usize];
    let gradient: [f64; 3] = std::array::from_fn(|a| 0.5 * (f[13 + STRIDE[a]] - f[13 - STRIDE[a]]));
    let mut h = [[0.0; 3]; 3];
    for a in 0..3 {
        h[a][a] = f[13 + STRIDE[a]] - 2.0 * f[13] + f[13 - STRIDE[a]];
        for b in 0..a {
            let corner = |sa: i32, sb: i32| {
                let mut steps = [0; 3];
                steps[a] = sa;
                steps[b] = sb;
                at(steps)
            };
            h[a][b] = 0.25 * (corner(1, 1) - corner(1, -1) - corner(-1, 1) + corner(-1, -1));
            h[b][a] = h[a][b];
        }
    }
    (h, gradient)
}

/// The cofactor of `h[i][j]`.
#[inline(always)]
fn cofactor(h: &[[f64; 3]; 3], i: usize, j: usize) -> f64 {
    let (r, s) = ((i + 1) % 3, (i + 2) % 3);
    let (c, d) = ((j + 1) % 3, (j + 2) % 3);
    h[r][c] * h[s][d] - h[r][d] * h[s][c]
}

/// -H⁻¹ g by cofactors. RAMSES leaves out the terms whose sign opposes the step.
#[inline(always)]
fn solve(h: &[[f64; 3]; 3], g: &[f64; 3], det: f64, rules: Rules) -> [f64; 3] {
    std::array::from_fn(|i| {
        let terms = (0..3).map(|j| g[j] * cofactor(h, i, j));
        let sum: f64 = match rules {
            Rules::Paper => terms.sum(),
            Rules::Ramses => terms.filter(|t| *t > 0.0).sum(),
        };
        -sum / det
    })
}
