//! The box: how many cells has each level, which axes wrap, and how far apart are two points?
//!
//! All periodic arithmetic on cells is here. It does not depend on which cells exist.

/// Deepest level of cells that a mesh takes; integer coordinates stay below 2³¹.
pub const MAX_LEVEL: u8 = 29;

/// Extent and topology of the box, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domain {
    /// Cells of level 0 along each axis.
    pub coarse: [u32; 3],
    /// Which axes are periodic.
    pub periodic: [bool; 3],
}

impl Domain {
    /// The periodic cube of RAMSES's cosmological runs.
    pub const CUBE: Self = Self { coarse: [1; 3], periodic: [true; 3] };

    /// Number of cells of `level` along each axis.
    #[inline]
    pub fn extent(&self, level: u8) -> [i64; 3] {
        self.coarse.map(|n| i64::from(n) << level)
    }

    /// Whether every coordinate of `level` fits the index types.
    pub fn holds_level(&self, level: u8) -> bool {
        level <= MAX_LEVEL && self.coarse.iter().all(|&n| n > 0 && u64::from(n) << level <= 1 << 31)
    }

    /// `position` wrapped into the box; `None` if it lies outside on an axis that is not periodic.
    #[inline]
    pub fn wrap(&self, level: u8, position: [i64; 3]) -> Option<[u32; 3]> {
        let [x, y, z] = position;
        Some([self.wrap_along(level, 0, x)?, self.wrap_along(level, 1, y)?, self.wrap_along(level, 2, z)?])
    }

    /// [`Self::wrap`] for one coordinate.
    #[inline]
    pub fn wrap_along(&self, level: u8, axis: usize, x: i64) -> Option<u32> {
        let extent = i64::from(self.coarse[axis]) << level;
        match (0..extent).contains(&x) {
            true => Some(x as u32),
            false => self.periodic[axis].then(|| x.rem_euclid(extent) as u32),
        }
    }

    /// Whether blocks of `side` cells of `level` along each axis, from the lower corner on, wrap around as
    /// cells do: along each periodic axis the box is a whole number of them wide. Beyond open walls there is
    /// nothing to wrap.
    #[inline]
    pub fn wraps_blocks(&self, level: u8, side: i64) -> bool {
        let extent = self.extent(level);
        (0..3).all(|a| !self.periodic[a] || extent[a] % side == 0)
    }

    /// `step` along an axis, in cells of `level`, or the step to the nearest periodic image if that is
    /// shorter.
    pub fn shortest_step(&self, level: u8, axis: usize, step: i64) -> i64 {
        let extent = i64::from(self.coarse[axis]) << level;
        match self.periodic[axis] {
            true if step > extent / 2 => step - extent,
            true if step < -extent / 2 => step + extent,
            _ => step,
        }
    }

    /// The shortest vector to `to` from `from` over the periodic images, in units of the level-0
    /// cell.
    #[inline(always)]
    pub fn displacement(&self, from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| {
            let (d, side) = (to[a] - from[a], f64::from(self.coarse[a]));
            let half = if self.periodic[a] { 0.5 * side } else { f64::INFINITY };
            match d {
                d if d > half => d - side,
                d if d <= -half => d + side,
                d => d,
            }
        })
    }

    /// `position`, in units of the level-0 cell, wrapped into the box along the periodic axes.
    pub fn fold(&self, position: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| match self.periodic[a] {
            true => fold(position[a], f64::from(self.coarse[a])),
            false => position[a],
        })
    }
}

/// `x` brought into `[0, side)` along a periodic axis.
#[inline]
pub fn fold(x: f64, side: f64) -> f64 {
    if (0.0..side).contains(&x) {
        return x;
    }
    // Adding zero turns the -0 of a whole number of sides into 0.
    let inside = x.rem_euclid(side) + 0.0;
    // A tiny negative number rounds up to the side, which is the same place as 0.
    if inside < side { inside } else { 0.0 }
}

/// Side of a cell of `level` in units of the level-0 cell; a power of two.
#[inline]
pub fn cell_side(level: u8) -> f64 {
    f64::from_bits((1023 - u64::from(level)) << 52)
}

/// Volume of a cell of `level` in units of the level-0 cell; a power of two.
#[inline]
pub fn cell_volume(level: u8) -> f64 {
    f64::from_bits((1023 - 3 * u64::from(level)) << 52)
}

/// Centre of a cell in units of the level-0 cell; exact.
#[inline]
pub fn cell_centre(level: u8, position: [u32; 3]) -> [f64; 3] {
    let side = cell_side(level);
    position.map(|x| (f64::from(x) + 0.5) * side)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrap_folds_only_periodic_axes() {
        let d = Domain { coarse: [1, 2, 1], periodic: [true, true, false] };
        assert_eq!(d.wrap(2, [-1, 8, 3]), Some([3, 0, 3]));
        assert_eq!(d.wrap(2, [0, 0, 4]), None);
    }

    #[test]
    fn the_shortest_step_takes_the_nearest_image() {
        let d = Domain { coarse: [1, 2, 1], periodic: [true, true, false] };
        let found = [(0, 1), (0, -3), (0, 4), (1, 5), (1, 4), (2, 7)]
            .map(|(axis, step)| d.shortest_step(2, axis, step));
        assert_eq!(found, [1, 1, 0, -3, 4, 7]);
    }

    #[test]
    fn points_come_into_the_box() {
        for (x, to) in [(-0.25, 9.75), (10.0, 0.0), (12.5, 2.5), (3.0, 3.0), (-1e-30, 0.0), (-10.0, 0.0)] {
            assert_eq!(fold(x, 10.0).to_bits(), f64::to_bits(to));
        }
    }

    #[test]
    fn displacement_takes_the_nearest_image() {
        let d = Domain::CUBE;
        let v = d.displacement([0.95, 0.5, 0.1], [0.05, 0.5, 0.2]);
        assert!((v[0] - 0.1).abs() < 1e-15 && v[1] == 0.0 && (v[2] - 0.1).abs() < 1e-15);
        assert_eq!(cell_side(3), 0.125);
        assert_eq!(cell_volume(2), 1.0 / 64.0);
    }
}
