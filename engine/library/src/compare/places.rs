//! Pairs of objects that are at the same place, for catalogues without members.

use super::scaled::LevelObjects;
use std::collections::HashMap;

/// Cells of the grid per side: no more than this.
const MOST_CELLS: f64 = 256.0;

/// Objects in a grid of cells.
struct Grid<'a> {
    positions: &'a [[f64; 3]],
    side: Option<f64>,
    cell: f64,
    /// Cells per side of a periodic box.
    per_side: i64,
    rows: HashMap<[i64; 3], Vec<u32>>,
    /// The lowest and the highest cell with an object, along each axis.
    occupied: [(i64, i64); 3],
}

impl<'a> Grid<'a> {
    /// `side` is that of a periodic box.
    fn new(positions: &'a [[f64; 3]], side: Option<f64>) -> Self {
        let extent = side.unwrap_or_else(|| {
            let all = || positions.iter().flatten().copied().filter(|x| x.is_finite());
            all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min)
        });
        let per_side = (positions.len() as f64).cbrt().clamp(1.0, MOST_CELLS).floor();
        let cell = if extent > 0.0 && extent.is_finite() { extent / per_side } else { 1.0 };
        let occupied = [(i64::MAX, i64::MIN); 3];
        let mut grid =
            Self { positions, side, cell, per_side: per_side as i64, rows: HashMap::new(), occupied };
        // Others are near nothing, and their cells would be far away.
        let finite = |(_, position): &(usize, &[f64; 3])| position.iter().all(|x| x.is_finite());
        for (row, position) in positions.iter().enumerate().filter(finite) {
            let key = grid.inside(grid.key(&position.map(|x| grid.wrapped(x))));
            for (ends, i) in grid.occupied.iter_mut().zip(key) {
                *ends = (ends.0.min(i), ends.1.max(i));
            }
            grid.rows.entry(key).or_default().push(row as u32);
        }
        grid
    }

    fn wrapped(&self, x: f64) -> f64 {
        self.side.map_or(x, |side| x.rem_euclid(side))
    }

    fn key(&self, position: &[f64; 3]) -> [i64; 3] {
        position.map(|x| (x / self.cell).floor() as i64)
    }

    /// A cell of the periodic box for one outside of it.
    fn inside(&self, key: [i64; 3]) -> [i64; 3] {
        key.map(|i| if self.side.is_some() { i.rem_euclid(self.per_side) } else { i })
    }

    /// The cells along an axis that a sphere may reach: no more than are occupied, or than a periodic box
    /// has.
    fn reach(&self, at: [f64; 3], radius: f64, axis: usize) -> std::ops::RangeInclusive<i64> {
        let radius = self.side.map_or(radius, |side| radius.min(0.5 * side));
        let end = |sign: f64| self.key(&at.map(|x| x + sign * radius))[axis];
        match (self.side, self.occupied[axis]) {
            (None, (lowest, highest)) => end(-1.0).max(lowest)..=end(1.0).min(highest),
            (Some(_), _) => end(-1.0)..=end(1.0),
        }
    }

    /// Rows within `radius` of a place, ascending.
    fn within(&self, at: [f64; 3], radius: f64) -> Vec<u32> {
        let at = at.map(|x| self.wrapped(x));
        let mut found = Vec::new();
        for x in self.reach(at, radius, 0) {
            for y in self.reach(at, radius, 1) {
                for z in self.reach(at, radius, 2) {
                    let rows = self.rows.get(&self.inside([x, y, z])).into_iter().flatten().copied();
                    found.extend(
                        rows.filter(|row| distance(at, self.positions[*row as usize], self.side) <= radius),
                    );
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The distance of two places; `side` is that of a periodic box.
pub fn distance(a: [f64; 3], b: [f64; 3], side: Option<f64>) -> f64 {
    let along = |i: usize| {
        let d = a[i] - b[i];
        side.map_or(d, |side| d - side * (d / side).round())
    };
    (0..3).map(|i| along(i).powi(2)).sum::<f64>().sqrt()
}

/// Pairs whose distance is no more than `least` or the reach of one of them: rows of both, by ascending rows.
pub fn near(a: &LevelObjects, b: &LevelObjects, least: f64, side: Option<f64>) -> Vec<(u32, u32)> {
    let radius = |level: &LevelObjects, row: usize| {
        let own = level.reach.as_ref().map_or(0.0, |radii| radii[row]);
        if own.is_finite() { own.max(least) } else { least }
    };
    let mut pairs = Vec::new();
    let of_b = Grid::new(&b.position, side);
    for row in 0..a.id.len() {
        let found = of_b.within(a.position[row], radius(a, row));
        pairs.extend(found.into_iter().map(|other| (row as u32, other)));
    }
    if b.reach.is_some() {
        let of_a = Grid::new(&a.position, side);
        for row in 0..b.id.len() {
            let found = of_a.within(b.position[row], radius(b, row));
            pairs.extend(found.into_iter().map(|other| (other, row as u32)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence of places that look random.
    fn places(n: usize, seed: u64) -> Vec<[f64; 3]> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31) * 3.0
        };
        (0..n).map(|_| [next(), next(), next()]).collect()
    }

    #[test]
    fn the_grid_finds_what_a_loop_over_all_pairs_finds() {
        let level = |position: Vec<[f64; 3]>, radius: Option<f64>| LevelObjects {
            id: (0..position.len() as u64).collect(),
            reach: radius.map(|radius| (0..position.len()).map(|i| radius * (i % 7) as f64).collect()),
            position,
            ..LevelObjects::default()
        };
        for side in [None, Some(3.0)] {
            for radii in [(Some(0.05), None), (Some(0.02), Some(0.1)), (None, Some(0.4))] {
                let (a, b) = (level(places(90, 1), radii.0), level(places(140, 2), radii.1));
                let own =
                    |level: &LevelObjects, row: usize| level.reach.as_ref().map_or(0.0, |r| r[row]).max(0.06);
                let mut expected = Vec::new();
                for i in 0..90 {
                    for j in 0..140 {
                        let reach = own(&a, i).max(own(&b, j));
                        if distance(a.position[i], b.position[j], side) < reach {
                            expected.push((i as u32, j as u32));
                        }
                    }
                }
                assert!(!expected.is_empty());
                assert_eq!(near(&a, &b, 0.06, side), expected, "{side:?} {radii:?}");
            }
        }
    }
}
