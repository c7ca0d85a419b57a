//! Which walls divide voids, and which voids are listed?

use crate::error::RunError;
use crate::graph::GraphField;
use crate::phew::params::{Persistence, Thresholds};
use std::f64::consts::PI;

/// Which walls divide voids, and which voids are listed. Densities are in units of the mean density.
///
/// ```
/// use inselberg::VoidParams;
///
/// let params = VoidParams::default().wall(0.3).radius(2.5);
/// assert_eq!((params.relevance, params.wall, params.radius), (2.0, Some(0.3), 2.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VoidParams {
    /// Only particles less dense than this take part; `None`: all do.
    pub density: Option<f64>,
    /// A zone with a smaller ratio of the density of the wall over which it overflows to its least density is noise.
    pub relevance: f64,
    /// Zones that meet below this density are one void; `None`: every zone is a void.
    pub wall: Option<f64>,
    /// Voids up to this effective radius, in units of the positions, are not listed.
    pub radius: f64,
    /// Voids of fewer particles are not listed.
    pub min_particles: u64,
    /// Whether the catalogue lists every particle with its zone and void.
    pub with_particles: bool,
    /// Also keeps the density for [`Voids::maps`](crate::Voids::maps).
    pub keep_density: bool,
}

impl Default for VoidParams {
    /// All particles, a ratio of at least 2, and walls of 0.2 mean densities.
    fn default() -> Self {
        Self {
            density: None,
            relevance: 2.0,
            wall: Some(0.2),
            radius: 0.0,
            min_particles: 0,
            with_particles: false,
            keep_density: false,
        }
    }
}

impl VoidParams {
    /// Only particles less dense than this take part.
    #[must_use]
    pub fn density(self, density: f64) -> Self {
        Self { density: Some(density), ..self }
    }

    /// Zones with a smaller ratio of wall to least density are noise.
    #[must_use]
    pub fn relevance(self, relevance: f64) -> Self {
        Self { relevance, ..self }
    }

    /// Zones that meet below this density are one void.
    #[must_use]
    pub fn wall(self, wall: f64) -> Self {
        Self { wall: Some(wall), ..self }
    }

    /// Voids up to this radius are not listed.
    #[must_use]
    pub fn radius(self, radius: f64) -> Self {
        Self { radius, ..self }
    }

    /// Voids of fewer particles are not listed.
    #[must_use]
    pub fn min_particles(self, min_particles: u64) -> Self {
        Self { min_particles, ..self }
    }

    /// The catalogue lists every particle with its zone and void.
    #[must_use]
    pub fn with_particles(self) -> Self {
        Self { with_particles: true, ..self }
    }

    /// Keeps the density for [`Voids::maps`](crate::Voids::maps).
    #[must_use]
    pub fn keep_density(self) -> Self {
        Self { keep_density: true, ..self }
    }
}

impl VoidParams {
    /// Checks the thresholds against each other.
    ///
    /// # Errors
    /// When one is not a positive number, or the wall is denser than all particles that take part.
    pub(super) fn check(&self) -> Result<(), RunError> {
        let is_positive = |x: f64| x.is_finite() && x > 0.0;
        let densities = [("density threshold", self.density), ("wall threshold", self.wall)];
        for (name, value) in densities.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            if !is_positive(value) {
                return Err(RunError::VoidThreshold { name, value });
            }
        }
        let others = [("relevance threshold", self.relevance), ("least radius", self.radius)];
        if let Some((name, value)) = others.into_iter().find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            return Err(RunError::VoidThreshold { name, value });
        }
        match (self.wall, self.density) {
            (Some(wall), Some(density)) if wall > density => {
                Err(RunError::WallAboveDensity { wall, density })
            }
            _ => Ok(()),
        }
    }

    /// The field whose peaks are the emptiest places.
    pub(crate) fn field(&self) -> GraphField {
        GraphField::SpecificVolume { threshold: self.thresholds().density }
    }

    /// The thresholds of the specific volume, and of volumes for masses.
    pub(crate) fn thresholds(&self) -> Thresholds {
        Thresholds {
            density: self.density.map_or(0.0, f64::recip),
            persistence: Persistence::Ratio(self.relevance),
            significance: None,
            saddle: self.wall.map(f64::recip),
            mass: volume_of(self.radius),
            min_cells: self.min_particles,
        }
    }
}

/// The volume of a sphere.
pub(super) fn volume_of(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

/// The radius of the sphere with a volume.
pub(super) fn radius_of(volume: f64) -> f64 {
    (volume * 3.0 / (4.0 * PI)).cbrt()
}
