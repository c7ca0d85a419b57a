//! Why no mesh can be made from particles, each as one line.

use crate::io::particles::MissingMasses;
use inselberg_kernels::grow::{DEEPEST, DEEPEST_COARSE};

/// Why particles make no mesh.
#[derive(Debug, thiserror::Error)]
pub enum GrowError {
    /// A plain array, and nobody said in which box.
    #[error(
        "--mesh-from-particles: the input does not say how large its box is; expected --box SIDE, or a snapshot that says it"
    )]
    NoBox,
    /// A snapshot and another box.
    #[error("--box {given}: the input says itself that its box is {sides:?}; expected no --box")]
    TwoBoxes {
        /// What was given.
        given: f64,
        /// What the input says.
        sides: [f64; 3],
    },
    /// A box with different sides.
    #[error("--mesh-from-particles: the box of the input is {sides:?}; expected three equal sides")]
    NoCube {
        /// What the input says.
        sides: [f64; 3],
    },
    /// None of the wanted kinds.
    #[error(
        "--mesh-from-particles: no particle to lay on a mesh: the input holds {what}; expected --particle-types that name some of them"
    )]
    NoParticles {
        /// What there is.
        what: String,
    },
    /// Particles have no masses.
    #[error(transparent)]
    NoMasses(#[from] MissingMasses),
    /// Nothing weighs anything.
    #[error("--mesh-from-particles: all {n} particles have the mass 0; expected some above 0")]
    NoMass {
        /// How many.
        n: u64,
    },
    /// More than 32-bit numbers can name.
    #[error(
        "--mesh-from-particles: {n} particles on one rank; expected at most {most}, or more ranks",
        most = u32::MAX
    )]
    TooMany {
        /// How many.
        n: u64,
    },
    /// A coarse level with far more cells than particles.
    #[error("--level-min {level_min}: {n_cells} cells for {n} particles; expected at most {most} cells")]
    TooFine {
        /// The coarse level.
        level_min: u8,
        /// Its cells.
        n_cells: u64,
        /// The particles.
        n: u64,
        /// The limit.
        most: u64,
    },
    /// Levels that no mesh can have.
    #[error(
        "--level-min {least}, --level-max {most}: expected 2 to {DEEPEST_COARSE} and 2 to {DEEPEST}, the first at most the second"
    )]
    Levels {
        /// The coarse level.
        least: u8,
        /// The deepest level.
        most: u8,
    },
}
