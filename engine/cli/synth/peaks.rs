//! The seeded clumps: positions, radii, slopes, and the depth of the mesh around them.

use super::stream::{Purpose, RandomStream};

/// A seeded clump: density falls from its centre as 1/(r² + core²), reaches the threshold at
/// `radius` and its own end at twice that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clump {
    /// Centre of a cell of the deepest level; box side 1.
    pub centre: [f64; 3],
    /// Where its density alone is the threshold.
    pub radius: f64,
    /// Radius of its flat core.
    pub core: f64,
}

/// Share of the box inside the radii of the clumps.
const FILLING: f64 = 0.05;

/// The largest radius: the end of a clump, at twice that, must not reach its own image.
const MAX_RADIUS: f64 = 0.2;

/// Centre-to-cell distances below `SMALLEST_KAPPA` cell sides are always split: 1.3 sides more than
/// the next level (for the grading) and the 1.3 of that.
pub(super) const SMALLEST_KAPPA: f64 = 2.7;

/// Radii of `n` clumps in groups of a parent and three satellites, before they are placed.
pub(super) fn radii(n: u64, seed: u64) -> Vec<f64> {
    let mut radii: Vec<f64> = Vec::new();
    for i in 0..n {
        let u = RandomStream::new(seed, Purpose::Clump, i).unit();
        radii.push(match i % 4 {
            0 => 1.0 / (1.0 - u * (26.0 / 27.0)).cbrt(),
            _ => radii[(i - i % 4) as usize] * (0.25 + 0.2 * u),
        });
    }
    let filled: f64 = radii.iter().map(|r| 4.19 * r.powi(3)).sum();
    let scale = (FILLING / filled).cbrt();
    radii.iter().map(|r| (r * scale).min(MAX_RADIUS)).collect()
}

/// Places clumps of these radii; centres are snapped to cells of `levelmax`.
pub(super) fn place(radii: &[f64], levelmax: u8, seed: u64) -> Vec<Clump> {
    let side = (0.5f64).powi(i32::from(levelmax));
    let mut clumps: Vec<Clump> = Vec::with_capacity(radii.len());
    for (i, &radius) in radii.iter().enumerate() {
        let mut stream = RandomStream::new(seed, Purpose::Clump, i as u64);
        stream.unit();
        let wanted = if i % 4 == 0 {
            [stream.unit(), stream.unit(), stream.unit()]
        } else {
            let parent = clumps[i - i % 4];
            let (away, far) = (stream.direction(), parent.radius * stream.within(0.4, 1.1));
            [0, 1, 2].map(|a| parent.centre[a] + far * away[a])
        };
        let centre = wanted.map(|x| ((x.rem_euclid(1.0) / side).floor() + 0.5) * side);
        clumps.push(Clump { centre, radius, core: side });
    }
    clumps
}

/// Within which distance of a clump's centre the cells of each level from `levelmin` to
/// `levelmax - 1` are split, by the cell's centre.
///
/// Each is at least 1.3 cell sides more than the next: a split cell's neighbours of the next coarser
/// level have their centres within 0.75 √3 < 1.3 coarse sides of its own, so they are split too.
/// That makes the mesh graded across faces, edges and corners by construction.
pub(super) fn split_radii(radius: f64, kappa: f64, levelmin: u8, levelmax: u8) -> Vec<f64> {
    let mut radii = vec![0.0; usize::from(levelmax - levelmin)];
    let mut next = 0.0f64;
    for level in (levelmin..levelmax).rev() {
        let side = (0.5f64).powi(i32::from(level));
        next = (kappa * side).min(1.1 * radius).max(next + 1.3 * side);
        radii[usize::from(level - levelmin)] = next;
    }
    radii
}

/// About how many cells lie inside the radii of the clumps, at most `MAX_SAMPLE` of them looked at.
pub(super) fn expected_cells(radii: &[f64], kappa: f64, levelmin: u8, levelmax: u8) -> f64 {
    let sample = &radii[..radii.len().min(MAX_SAMPLE)];
    let sum: f64 = sample.iter().map(|&r| cells_of_one(r, kappa, levelmin, levelmax)).sum();
    sum * radii.len() as f64 / sample.len().max(1) as f64
}

const MAX_SAMPLE: usize = 4096;

fn cells_of_one(radius: f64, kappa: f64, levelmin: u8, levelmax: u8) -> f64 {
    let ball = |r: f64| 4.19 * r.min(radius).powi(3);
    let split = split_radii(radius, kappa, levelmin, levelmax);
    let mut cells = 0.0;
    let mut outer = radius;
    for level in levelmin..=levelmax {
        let inner = split.get(usize::from(level - levelmin)).copied().unwrap_or(0.0);
        cells += (ball(outer) - ball(inner)) * (8.0f64).powi(i32::from(level));
        outer = inner;
    }
    cells
}

/// The `kappa` at which `expected_cells` is `wanted`, or the nearest end of what is possible.
pub(super) fn solve_kappa(radii: &[f64], wanted: f64, levelmin: u8, levelmax: u8) -> f64 {
    let (mut low, mut high) = (SMALLEST_KAPPA, (2.0f64).powi(i32::from(levelmax)));
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if expected_cells(radii, middle, levelmin, levelmax) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
