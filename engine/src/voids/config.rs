//! Which walls divide voids, and which voids are listed?

use crate::error::RunError;
use crate::graph::GraphField;
use crate::phew::params::{Persistence, Thresholds};
use std::f64::consts::PI;

/// Everything that the voids of a particle graph depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoidConfig {
    /// Only particles less dense than this, in mean densities, take part. `None`: all do.
    pub density: Option<f64>,
    /// Least ratio of the density of the wall over which a zone overflows to its least density. Other zones are noise.
    pub relevance: f64,
    /// Zones that meet below this density, in mean densities, are one void. `None`: every zone is a void.
    pub wall: Option<f64>,
    /// Voids up to this radius, in code units, are not listed.
    pub radius: f64,
    /// Voids of fewer particles are not listed.
    pub min_particles: u64,
    /// Also list every particle with its zone and void.
    pub with_particles: bool,
    /// Also keep the density on a mesh, for maps.
    pub keep_density: bool,
}

impl VoidConfig {
    /// Checks the thresholds against each other.
    ///
    /// # Errors
    /// When one is not a positive number, or the wall is denser than all particles that take part.
    pub fn check(&self) -> Result<(), RunError> {
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
