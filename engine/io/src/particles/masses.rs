//! The common mass of all particles, if they have one.

use super::{MassOf, Species};

/// The expected mass of a particle that makes a density or a potential, for messages.
pub const EXPECTED_MASS: &str = "a finite mass above 0";

/// Particles without a mass, although it is needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingMasses {
    /// Some species have masses and others have none.
    #[error(
        "{without} has neither masses nor an entry in MassTable, but {with} has; expected masses for all species or for none, or a default mass in code units"
    )]
    OfSome {
        /// A species with masses.
        with: String,
        /// A species without masses.
        without: String,
    },
    /// No species has masses, but the input has units: any assumed mass would be a physical claim.
    #[error(
        "{name} has neither masses nor an entry in MassTable; expected masses, or a default mass in code units"
    )]
    OfAll {
        /// A species.
        name: String,
    },
}

/// The common mass of all particles of these species; `None` if masses differ. It is 1 if an input has
/// neither masses nor units: masses then count particles.
///
/// # Errors
/// Species without masses in an input with units, or together with species that have some.
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
