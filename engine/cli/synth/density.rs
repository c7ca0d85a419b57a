//! The density of a cell, by formula.

use super::Clump;
use super::noise::Noise;

/// The density threshold that the synthetic fields are made for: test cells are denser than this.
pub const THRESHOLD: f64 = 80.0;

/// Background over threshold; with the strongest wave and the highest lift it stays below 1.
const BACKGROUND: f64 = 0.15;

/// How densities are made.
#[derive(Debug, Clone)]
pub(super) enum Profile {
    /// Clumps on waves, times noise.
    Clumps(Noise),
    /// Every fourth cell along each axis a peak of one height, the rest a plain.
    Lattice,
    /// A path of cells that winds through the box and rises, every second cell a peak.
    Chain,
}

impl Profile {
    /// The eight densities of an oct whose cells are on `level`. `near` are the clumps that reach
    /// it. Split cells too carry the formula's value at their own centre, with their own noise.
    pub(super) fn oct(&self, level: u8, position: [u32; 3], near: &[&Clump]) -> [f64; 8] {
        let cell = |i: usize| [0, 1, 2].map(|a| 2 * position[a] + (i >> a & 1) as u32);
        match self {
            Self::Lattice => std::array::from_fn(|i| lattice(cell(i))),
            Self::Chain => std::array::from_fn(|i| chain(level, cell(i))),
            Self::Clumps(noise) => {
                let factors = noise.factors(level, position);
                let side = (0.5f64).powi(i32::from(level));
                std::array::from_fn(|i| {
                    let centre = cell(i).map(|x| (f64::from(x) + 0.5) * side);
                    clumps(centre, side, near, factors[i])
                })
            }
        }
    }
}

/// Shortest distance squared on the periodic unit box.
pub(super) fn distance2(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3)
        .map(|i| {
            let d = (a[i] - b[i]).abs();
            let d = d.min(1.0 - d);
            d * d
        })
        .sum()
}

fn clumps(centre: [f64; 3], side: f64, near: &[&Clump], factor: f64) -> f64 {
    let mut density = BACKGROUND * (1.0 + 0.25 * waves(centre));
    let mut factor = factor;
    for clump in near {
        let r2 = distance2(centre, clump.centre);
        density += profile(clump, r2);
        // The cell of the seeded centre is a peak whatever the noise around it.
        if r2 < 1e-4 * side * side {
            factor = super::noise::LIFT.1;
        }
    }
    THRESHOLD * density * factor
}

/// Density over threshold at distance √`r2`: 1 at the radius, nothing from twice that on.
pub(super) fn profile(clump: &Clump, r2: f64) -> f64 {
    let scale = 1.0 / (clump.radius * clump.radius);
    let (x2, core2) = (r2 * scale, clump.core * clump.core * scale);
    let window = (1.0 - 0.25 * x2).max(0.0);
    window * window * (16.0 / 9.0) * (1.0 + core2) / (x2 + core2)
}

/// Smooth periodic waves, between -3 and 3.
fn waves(x: [f64; 3]) -> f64 {
    let wave = |phase: f64| {
        let t = 2.0 * phase.rem_euclid(1.0) - 1.0;
        (1.0 - t.abs()) * t * 4.0
    };
    wave(x[0] + 2.0 * x[1]) + wave(x[1] - x[2] + 0.3) + wave(2.0 * x[2] + x[0] + 0.7)
}

fn lattice(cell: [u32; 3]) -> f64 {
    THRESHOLD * if cell.iter().all(|x| x % 4 == 0) { 6.0 } else { 1.5 }
}

fn chain(level: u8, cell: [u32; 3]) -> f64 {
    match place_on_chain(1 << level, cell) {
        Some((s, length)) => {
            let rise = 1.0 + 2.0 * s as f64 / length as f64;
            THRESHOLD * (1.1 + rise * if s % 2 == 0 { 1.2 } else { 1.0 })
        }
        None => 0.1 * THRESHOLD,
    }
}

/// Place along the path, and its length, of a cell of a grid of side `n`. Rows run along x on even
/// y and z, one column short of the box so that their ends do not touch around it; one cell joins
/// each row to the next, in y within a layer and in z to the next layer, which is walked backwards.
fn place_on_chain(n: u32, [x, y, z]: [u32; 3]) -> Option<(u64, u64)> {
    let (width, rows) = (n - 1, n / 2);
    let length = u64::from(rows) * u64::from(rows) * u64::from(width + 1) - 1;
    let layer = z / 2;
    let row_at = |y: u32| {
        let row = y / 2;
        layer * rows + if layer.is_multiple_of(2) { row } else { rows - 1 - row }
    };
    let start = |row: u32| u64::from(row) * u64::from(width + 1);
    let end = |row: u32| if row.is_multiple_of(2) { width - 1 } else { 0 };
    match (y % 2, z % 2) {
        (0, 0) if x < width => {
            let row = row_at(y);
            let along = if row.is_multiple_of(2) { x } else { width - 1 - x };
            Some((start(row) + u64::from(along), length))
        }
        (1, 0) if y + 1 < n => {
            let row = row_at(y).min(row_at(y + 1));
            (x == end(row)).then(|| (start(row) + u64::from(width), length))
        }
        (0, 1) if z + 1 < n => {
            let row = row_at(y);
            let last = row % rows == rows - 1;
            (last && x == end(row)).then(|| (start(row) + u64::from(width), length))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_one_path_whose_neighbours_touch() {
        for n in [4u32, 8, 16] {
            let mut cells = Vec::new();
            for z in 0..n {
                for y in 0..n {
                    cells.extend((0..n).filter_map(|x| Some((place_on_chain(n, [x, y, z])?, [x, y, z]))));
                }
            }
            cells.sort_unstable();
            let length = cells[0].0.1;
            assert_eq!(cells.len() as u64, length);
            for (s, &((place, _), cell)) in cells.iter().enumerate() {
                assert_eq!(place, s as u64);
                for &((other, _), far) in &cells[s + 1..] {
                    let touch = (0..3).all(|a| {
                        let d = cell[a].abs_diff(far[a]);
                        d.min(n - d) <= 1
                    });
                    // Around a bend the cell after next touches at a corner.
                    assert!(touch == (other == place + 1) || (touch && other == place + 2));
                }
            }
        }
    }

    #[test]
    fn a_profile_is_the_threshold_at_its_radius_and_ends_at_twice_that() {
        let clump = Clump { centre: [0.5; 3], radius: 0.1, core: 0.01 };
        assert!((profile(&clump, 0.01) - 1.0).abs() < 1e-12);
        assert!(profile(&clump, 0.04 - 1e-9) < 1e-6);
        assert!(profile(&clump, 0.0) > 100.0);
    }
}
