//! What plain arrays of positions have in common.

use super::{About, DARK_MATTER, MassOf, Species};

/// What an array of `n` positions says of itself.
pub fn about(format: &'static str, n: u64, is_double: bool) -> About {
    let species = Species {
        name: "Particles".into(),
        kind: Some(DARK_MATTER),
        n,
        mass: MassOf::Unknown,
        is_double,
        has_ids: false,
        has_velocities: false,
        has_densities: false,
    };
    About {
        format,
        sides: None,
        periodic: false,
        time: 0.0,
        units: None,
        cosmology: None,
        matter: None,
        species: vec![species],
    }
}
