//! Cell noise with a chosen number of cells per patch.
//!
//! One cell of every oct is lifted well above its seven sisters. All cells of an oct touch, so no
//! other cell can be a peak; lifted cells of touching octs compete where they touch. If every oct
//! lifts the same corner none compete (about 9 cells a patch); if each picks its own, about one in
//! three wins (about 25 cells a patch); a mix of the two gives anything between. Beyond that, only some
//! octs lift a cell and the others have no noise.

use super::stream::{Purpose, hash};

/// The least and greatest factor of a lifted cell.
pub(super) const LIFT: (f64, f64) = (1.5, 2.25);

/// Peaks an oct if every oct picks its own corner, and how many more if all pick the same; measured
/// on the clumps of `SynthField`, whose steep slopes swallow some.
const PEAKS_IF_FREE: f64 = 0.317;
const PEAKS_IF_COMMON: f64 = 0.525;

/// The noise of one field.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    seed: u64,
    /// Share of the octs that lift a cell; 0 for no noise.
    active: f64,
    /// Share of those that lift the common corner.
    common: f64,
}

/// The factors of one oct's cells.
pub(super) type Factors = [f64; 8];

impl Noise {
    /// `cells_per_peak` as the option has it: 0 for none, else 10 or more.
    pub(super) fn new(seed: u64, cells_per_peak: f64) -> Self {
        if cells_per_peak == 0.0 {
            return Self { seed, active: 0.0, common: 0.0 };
        }
        let peaks = (8.0 / cells_per_peak).min(PEAKS_IF_FREE + PEAKS_IF_COMMON);
        if peaks > PEAKS_IF_FREE {
            let common = ((peaks - PEAKS_IF_FREE) / PEAKS_IF_COMMON).powf(1.0 / 2.3);
            return Self { seed, active: 1.0, common };
        }
        // The fewer octs lift a cell, the fewer rivals each has: peaks = active / (1 + 2.15 active^1.4).
        let active = (0..40).fold(peaks, |active, _| peaks * (1.0 + 2.15 * active.powf(1.4)));
        Self { seed, active: active.min(1.0), common: 0.0 }
    }

    /// The factors of the oct at `position` whose cells are on `level`.
    pub(super) fn factors(&self, level: u8, position: [u32; 3]) -> Factors {
        if self.active == 0.0 {
            return [1.0; 8];
        }
        let [x, y, z] = position.map(u64::from);
        let place = hash(self.seed, Purpose::OctNoise, x | y << 32) ^ (z | u64::from(level) << 40);
        let bits = hash(self.seed, Purpose::OctNoise, place);
        let draw = |shift: u32| (bits >> shift & 0xffff) as f64 / 65536.0;
        if draw(0) >= self.active {
            return [1.0; 8];
        }
        let lifted = if draw(16) < self.common { 0 } else { (bits >> 61) as usize };
        let low = super::stream::mix(bits);
        let mut factors = [0.0; 8];
        for (i, factor) in factors.iter_mut().enumerate() {
            *factor = 0.9 + 0.2 * (low >> (8 * i) & 0xff) as f64 / 256.0;
        }
        factors[lifted] = LIFT.0 + (LIFT.1 - LIFT.0) * draw(32);
        factors
    }
}
