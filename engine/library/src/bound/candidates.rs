//! The particles that unbinding starts from.

use crate::bound::point_grid::PointMass;
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::bound::members::NO_RANK;
use std::cmp::Ordering;

/// A member of a clump, a particle or a gas cell, as ranks exchange it. In code units.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpParticle {
    /// Identifier of the halo.
    pub halo: u64,
    /// Identifier of the clump of which it is a candidate.
    pub clump: u64,
    /// Identifier of the clump in whose patch it lies; 0 for none. What a track claims and loses returns there.
    pub patch: u64,
    /// Identity among the members of its type; of a gas cell its row in the table of cells.
    pub id: u64,
    /// Position.
    pub position: [f64; 3],
    /// Velocity.
    pub velocity: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Thermal energy per mass.
    pub internal_energy: f64,
    /// Softening length.
    pub softening: f32,
    /// By the numbers of [`MemberType`](crate::particles::MemberType).
    pub particle_type: u32,
    /// Place among the former members of the track that claims it; [`NO_RANK`] for other particles.
    pub former_rank: u32,
    /// 0: fills the record.
    pub reserved: u32,
}

impl Default for ClumpParticle {
    fn default() -> Self {
        Self { former_rank: NO_RANK, ..Self::zeroed() }
    }
}

impl ClumpParticle {
    /// Halo, type and identity.
    pub fn name(&self) -> (u64, u32, u64) {
        (self.halo, self.particle_type, self.id)
    }
}

/// A member of a halo, as ranks exchange it.
pub trait HaloMember: Pod + Send + Sync {
    /// Identifier of its halo.
    fn halo(&self) -> u64;

    /// The order of the members of all haloes, in which those of a halo are adjacent. It does not depend on
    /// ranks.
    fn order(&self, other: &Self) -> Ordering;
}

impl HaloMember for ClumpParticle {
    fn halo(&self) -> u64 {
        self.halo
    }

    /// By halo, type and identity. Those that share all three are in the order of the bits of their positions
    /// and velocities.
    fn order(&self, other: &Self) -> Ordering {
        let place = |p: &Self| (p.position.map(f64::to_bits), p.velocity.map(f64::to_bits));
        self.name().cmp(&other.name()).then_with(|| place(self).cmp(&place(other)))
    }
}

/// Members and particles of this rank.
#[derive(Default)]
pub struct CandidateParticles {
    /// Those in a halo.
    pub in_haloes: Vec<ClumpParticle>,
    /// All particles, if spheres are wanted.
    pub all: Vec<PointMass>,
    /// All leaves with gas, by level, if spheres are wanted.
    pub leaves: Vec<Vec<PointMass>>,
}
