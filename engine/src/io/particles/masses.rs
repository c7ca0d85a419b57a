//! What particles weigh, by what their species say.

use super::{MassOf, Species};

/// Some species have masses and some have none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{without} has neither masses nor an entry in MassTable, and {with} has; expected masses for all or none"
)]
pub struct SomeMasses {
    /// A species with masses.
    pub with: String,
    /// One without.
    pub without: String,
}

/// The mass of all particles of some species, 1 where the input has none; `None` where each may have its own.
///
/// # Errors
/// Some species have masses and some have none.
pub fn mass_of_all(species: &[&Species]) -> Result<Option<f64>, SomeMasses> {
    let without = species.iter().find(|s| s.mass == MassOf::Unknown);
    let with = species.iter().find(|s| s.mass != MassOf::Unknown);
    if let (Some(with), Some(without)) = (with, without) {
        return Err(SomeMasses { with: with.name.clone(), without: without.name.clone() });
    }
    Ok(match species.first().map(|s| s.mass) {
        Some(MassOf::Unknown) => Some(1.0),
        Some(MassOf::Same(mass)) if species.iter().all(|s| s.mass == MassOf::Same(mass)) => Some(mass),
        _ => None,
    })
}
