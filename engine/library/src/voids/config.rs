//! Which walls divide voids, and which voids are listed?

use crate::graph::GraphField;
use crate::phew::params::{Persistence, Thresholds};
use inselberg_io::params;
use inselberg_io::params::{ParamError, check_ranges};
use std::f64::consts::PI;

params! {
    /// Which walls divide voids, and which voids are listed. Densities are in units of the mean density.
    ///
    /// ```
    /// use inselberg::VoidParams;
    ///
    /// let params = VoidParams::default().wall(0.3).radius(2.5);
    /// assert_eq!((params.relevance, params.wall, params.radius), (2.0, Some(0.3), 2.5));
    /// ```
    #[non_exhaustive]
    pub struct VoidParams of "voids" measured in quantities {
        /// Smallest ratio of wall to least density of a zone that is not noise.
        ///
        /// The wall is that over which the zone overflows into an emptier one; ZOBOV calls the ratio r. A
        /// zone with a smaller ratio is merged over that wall. docs/voids.md says how often noise alone
        /// reaches a ratio. 1 or less keeps every zone.
        pub relevance: f64 = 2.0, "relevance_threshold" = real("2", |x| *x >= 0.0, "a finite ratio, 0 or more");
        /// Zones that meet below this density are one void (mean densities); 0: none do.
        ///
        /// VIDE merges zones below 0.2 as well.
        pub wall: Option<f64> = Some(0.2), "wall_threshold" = of_whole(
            ParamKind::Real,
            "0.2",
            |wall: &mut Option<f64>, text, _| match Option::<f64>::from_text(text) {
                Some(given) if given.is_none_or(|given| given >= 0.0) => {
                    assign(wall, Some(given.filter(|given| *given > 0.0)))
                }
                _ => false,
            },
            |wall| Some(wall.unwrap_or(0.0).to_string()),
            "a finite number, 0 or more",
        ).measured(Measure::DENSITY);
        /// Only particles less dense than this take part (mean densities); default: all do.
        ///
        /// At least the wall threshold. Without it every particle belongs to a zone, as for ZOBOV.
        pub density: Option<f64> = None, "density_threshold" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x > 0.0), "a finite number above 0").measured(Measure::DENSITY).example("1");
        /// Least effective radius of a listed void (code units).
        ///
        /// Every zone of such a void is listed, however small. Labels of particles stay.
        pub radius: f64 = 0.0, "min_radius" = real("0", |x| *x >= 0.0, "a finite radius, 0 or more").measured(Measure::LENGTH);
        /// Least number of particles of a listed void.
        pub min_particles: u64 = 0, "min_particles" = count("0", |_| true, "a number of particles");
        /// Also list every particle with its zone and void.
        pub with_particles: bool = false, "with_particles" = flag("false").topic(Topic::Results);
        /// Also keeps the density for [`Voids::maps`](crate::Voids::maps).
        pub keep_density: bool = false;
    }
}

impl VoidParams {
    /// Checks each parameter, and the wall against the density.
    ///
    /// # Errors
    /// The first that is out of range, or a wall denser than all particles that take part.
    pub fn check(&self) -> Result<(), ParamError> {
        check_ranges(self)?;
        match (self.wall, self.density) {
            (Some(wall), Some(density)) if wall > density && self.quantities.is_empty() => {
                let expected = format!("at most the density threshold {density}");
                Err(ParamError::value("wall_threshold", wall, expected))
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
            halo_relevance: None,
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
