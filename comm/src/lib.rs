//! Ranks and bytes: what one rank can ask of all the others.
//!
//! Architecture invariants: knows no physics, no cells and no files. One concrete type, [`Comm`],
//! stands for every way in which ranks may be run; the backends are not visible outside. Results
//! never depend on the order in which messages arrive.
#![forbid(unsafe_code)]

mod backend;
mod collective;

pub use collective::Reduce;

/// This rank's end of the world.
#[derive(Debug)]
pub struct Comm {
    backend: backend::Backend,
}

impl Comm {
    /// A world of one rank.
    pub fn solo() -> Self {
        Self { backend: backend::Backend::Solo(backend::solo::Solo) }
    }

    /// Which rank this is, from 0.
    pub fn rank(&self) -> usize {
        self.backend.transport().rank()
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> usize {
        self.backend.transport().n_ranks()
    }
}
