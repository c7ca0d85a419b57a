//! The particles that unbinding starts from.

use crate::bound::point_grid::PointMass;
use bytemuck::{Pod, Zeroable};

/// A particle in a clump, as ranks exchange it. In code units.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpParticle {
    /// Identifier of the halo.
    pub halo: u64,
    /// Identifier of the clump.
    pub clump: u64,
    /// Identity.
    pub id: u64,
    /// Position.
    pub position: [f64; 3],
    /// Velocity.
    pub velocity: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Softening length.
    pub softening: f32,
    /// 0 gas, 1 dark matter, 4 stars, 5 black holes; others count in totals only.
    pub particle_type: u32,
}

/// Particles of this rank.
pub struct CandidateParticles {
    /// Those in a halo.
    pub in_haloes: Vec<ClumpParticle>,
    /// All of them, if spheres are wanted.
    pub all: Vec<PointMass>,
}
