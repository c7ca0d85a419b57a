//! The bounding box of particles.

use inselberg_comm::{Comm, CommError};
use inselberg_io::particles::Positions;
use inselberg_kernels::fof::record::Real;
use rayon::prelude::*;

/// Least and greatest coordinates of some particles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Least coordinates; infinite without particles.
    pub low: [f64; 3],
    /// Greatest coordinates; minus infinity without particles.
    pub high: [f64; 3],
    /// Whether all coordinates are finite.
    pub is_finite: bool,
}

impl Bounds {
    /// Of no particles.
    pub const NONE: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3], is_finite: true };

    /// The bounds of the particles of this rank.
    pub fn from_positions(positions: &Positions) -> Self {
        match positions {
            Positions::Single(list) => spread(list),
            Positions::Double(list) => spread(list),
        }
    }

    /// The bounds of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            low: [0, 1, 2].map(|a| self.low[a].min(other.low[a])),
            high: [0, 1, 2].map(|a| self.high[a].max(other.high[a])),
            is_finite: self.is_finite && other.is_finite,
        }
    }

    /// Collective: the bounds of the particles of all ranks; 0 to 0 if there are none.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn over_ranks(self, comm: &Comm) -> Result<Self, CommError> {
        let [x, y, z] = self.high;
        let all = comm.all_max(&[x, y, z, -self.low[0], -self.low[1], -self.low[2]])?;
        if all[0] == f64::NEG_INFINITY {
            return Ok(Self { low: [0.0; 3], high: [0.0; 3], ..self });
        }
        Ok(Self { low: [-all[3], -all[4], -all[5]], high: [all[0], all[1], all[2]], ..self })
    }

    /// The extent along an axis.
    pub fn extent(&self, axis: usize) -> f64 {
        self.high[axis] - self.low[axis]
    }

    /// The greatest extent along an axis.
    pub fn widest(&self) -> f64 {
        (0..3).map(|axis| self.extent(axis)).fold(0.0, f64::max)
    }

    /// The middle between the ends.
    pub fn middle(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| (self.high[axis] + self.low[axis]) / 2.0)
    }
}

fn spread<T: Real>(list: &[[T; 3]]) -> Bounds {
    let of = |part: &[[T; 3]]| {
        let (mut low, mut high, mut zero) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], [0.0; 3]);
        for position in part {
            for a in 0..3 {
                let x = position[a].wide();
                low[a] = if x < low[a] { x } else { low[a] };
                high[a] = if x > high[a] { x } else { high[a] };
                // Becomes NaN, and stays so, if a coordinate is not finite.
                zero[a] += x * 0.0;
            }
        }
        Bounds { low, high, is_finite: zero == [0.0; 3] }
    };
    list.par_chunks(1 << 14).map(of).reduce(|| Bounds::NONE, Bounds::join)
}
