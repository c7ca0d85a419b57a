//! Why the particles of an input do not fill a cubic box.

use inselberg_io::ReadError;
use inselberg_io::particles::MissingMasses;

/// Why an input has no particles in a cubic box, as meshes and graphs need them.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    /// Particles that take part cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A plain array, and nobody said in which box.
    #[error("the input does not state the side of its box; expected one, or a snapshot that states it")]
    NoBox,
    /// A snapshot and another box.
    #[error("box side {given}: the input states its own box, {sides:?}; expected no other side")]
    TwoBoxes {
        /// What was given.
        given: f64,
        /// What the input says.
        sides: [f64; 3],
    },
    /// A box with different sides.
    #[error("the box of the input is {sides:?}; a mesh from particles needs three equal sides")]
    NoCube {
        /// What the input says.
        sides: [f64; 3],
    },
    /// None of the wanted kinds.
    #[error(
        "no particle to make a mesh from: the input holds {what}; expected particle types that are among them"
    )]
    NoParticles {
        /// What there is.
        what: String,
    },
    /// Particles have no masses.
    #[error(transparent)]
    NoMasses(#[from] MissingMasses),
}
