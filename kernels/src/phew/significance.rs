//! Significance: does the part of a peak above its saddle stand out from the shot noise of particles?
//!
//! Place in the flow: the hierarchy uses it together with [`super::persistence`], for densities made from
//! particles. It uses sums over cells, no tree.
//!
//! A density of particles is bumpy. Bumps of a few particles in a smooth halo have high ratios of peak to
//! saddle. With persistence alone, one of them may own a large part of the halo. Let M and V be mass and
//! volume of the cells above the saddle of density s at which a peak dies, and m the mean mass of particles
//! there. A smooth density of s would have s V of mass in that volume, with a scatter of sqrt(m s V):
//!
//! ```text
//!     S = (M - s V) / sqrt(m s V)                 f = M / (mass of the whole clump)
//!
//!           /\        M: above the line, in the patches of the peak and of all peaks that die into it above s
//!     -----/--\------ s
//!       __/    \____
//!      /            \   the clump: the patch of the peak, and all patches of noise that end there
//! ```
//!
//! A small S alone does not mean noise: real subhaloes of 20 to 50 particles also have one. But they are not
//! much larger than their part above the saddle. So a part is noise if S and f are both small, or if S is
//! below 1. The smaller f is, the greater S may be: the greatest of the many bumps in a flat core reaches 6.
//!
//! A saddle has two sides. In a flat core the densest peak of all may be a bump of a few particles. The core
//! then dies into that bump, with a large S of its own. So the part of the elder above the same saddle is
//! tested as well, with the clump of the elder. If either part is noise, the dying peak is not a separate
//! clump:
//!
//! ```text
//!       E /\                        E, a bump: the elder
//!        /  \    __________ d       d, the core: dies into E at s
//!     --/----\__/----------\-- s
//! ```

/// The threshold that densities of particles have by default.
pub const LEAST_SIGNIFICANCE: f64 = 3.0;

/// A peak of up to twice the threshold is noise if a smaller part of the mass of its clump lies above its
/// saddle.
pub const LEAST_FRACTION: f64 = 0.02;

/// A peak below the threshold is noise if a smaller part of the mass of its clump lies above its saddle.
pub const FRACTION_OF_DOUBT: f64 = 0.03;

/// A peak of lower significance is noise, however much of its clump lies above its saddle.
pub const ONE_DEVIATION: f64 = 1.0;

/// The part of a peak above the saddle at which it dies, in any units in which density is mass per volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartAbove {
    /// Mass of the cells above the saddle.
    pub mass: f64,
    /// Volume of these cells.
    pub volume: f64,
    /// Mean mass of the particles in them.
    pub particle_mass: f64,
}

/// How far a peak stands out from shot noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prominence {
    /// The excess of mass above the saddle, in units of the Poisson scatter of a smooth density as high as
    /// the saddle.
    pub significance: f64,
    /// Mass above the saddle.
    pub mass: f64,
}

impl PartAbove {
    /// The significance above a saddle of this density, or above the density threshold for a peak that never
    /// dies. 0 if no cell is denser, as among equal cells.
    pub fn significance(&self, saddle: f64) -> f64 {
        if self.volume == 0.0 {
            return 0.0;
        }
        let smooth = saddle * self.volume;
        (self.mass - smooth) / (self.particle_mass * smooth).sqrt()
    }
}

impl Prominence {
    /// The significance of a part that was not examined. It is not noise.
    pub const UNKNOWN: Self = Self { significance: f64::NAN, mass: f64::NAN };

    /// Whether there is a mass of its clump for which it is noise.
    #[inline]
    pub fn may_be_noise(&self, least: f64) -> bool {
        self.is_noise(f64::INFINITY, least)
    }

    /// Whether a dying peak is noise if its clump has this mass. `least` is the threshold of the
    /// significance; with 0 no peak is noise.
    #[inline]
    pub fn is_noise(&self, mass_of_clump: f64, least: f64) -> bool {
        let is_less_than = |fraction: f64| self.mass < fraction * mass_of_clump;
        let needed = match () {
            () if is_less_than(LEAST_FRACTION) => 2.0 * least,
            () if is_less_than(FRACTION_OF_DOUBT) => least,
            () => least.min(ONE_DEVIATION),
        };
        self.significance < needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bump_is_noise_if_it_is_insignificant_and_owns_a_large_clump() {
        // 20 particles in a volume where 16 are expected: an excess of one standard deviation.
        let bump = PartAbove { mass: 20.0, volume: 4.0, particle_mass: 1.0 };
        assert_eq!(bump.significance(4.0), 1.0);
        let bump = Prominence { significance: 1.0, mass: 20.0 };
        assert!(bump.is_noise(2000.0, LEAST_SIGNIFICANCE));
        assert!(!bump.is_noise(2000.0, 0.5) && !bump.is_noise(2000.0, 0.0));
        assert!(!bump.is_noise(100.0, LEAST_SIGNIFICANCE));
        let lower = Prominence { significance: 0.9, mass: 20.0 };
        assert!(lower.is_noise(100.0, LEAST_SIGNIFICANCE) && !lower.is_noise(100.0, 0.0));
    }

    #[test]
    fn a_part_without_cells_has_no_significance() {
        let part = PartAbove { mass: 0.0, volume: 0.0, particle_mass: 1.0 };
        assert_eq!(part.significance(4.0), 0.0);
        assert!(!Prominence::UNKNOWN.is_noise(2000.0, LEAST_SIGNIFICANCE));
    }

    #[test]
    fn heavier_particles_are_noisier() {
        let part = PartAbove { mass: 20.0, volume: 4.0, particle_mass: 4.0 };
        assert_eq!(part.significance(4.0), 0.5);
    }
}
