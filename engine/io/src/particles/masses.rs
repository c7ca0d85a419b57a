//! The masses of particles, by what their species say.

use super::{MassOf, Species};

/// Particles without a mass where one is needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingMasses {
    /// Some species have masses and some have none.
    #[error(
        "{without} has neither masses nor an entry in MassTable, and {with} has; expected masses for all or none, or --particle-mass MASS in code units"
    )]
    OfSome {
        /// A species with masses.
        with: String,
        /// One without.
        without: String,
    },
    /// No species has masses, and the input has units, in which any mass would be a claim.
    #[error(
        "{name} has neither masses nor an entry in MassTable; expected masses, or --particle-mass MASS in code units"
    )]
    OfAll {
        /// A species.
        name: String,
    },
}

/// The mass of all particles of some species; `None` where each may have its own. It is 1 where an input has
/// neither masses nor units, so that masses are numbers of particles.
///
/// # Errors
/// Species without masses in an input with units, or beside others that have some.
pub fn mass_of_all(species: &[&Species], has_units: bool) -> Result<Option<f64>, MissingMasses> {
    let without = species.iter().find(|s| s.mass == MassOf::Unknown);
    let with = species.iter().find(|s| s.mass != MassOf::Unknown);
    match (with, without) {
        (Some(with), Some(without)) => {
            return Err(MissingMasses::OfSome { with: with.name.clone(), without: without.name.clone() });
        }
        (None, Some(without)) if has_units => {
            return Err(MissingMasses::OfAll { name: without.name.clone() });
        }
        _ => {}
    }
    Ok(match species.first().map(|s| s.mass) {
        Some(MassOf::Unknown) => Some(1.0),
        Some(MassOf::Same(mass)) if species.iter().all(|s| s.mass == MassOf::Same(mass)) => Some(mass),
        _ => None,
    })
}
