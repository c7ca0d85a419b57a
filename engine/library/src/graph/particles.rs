//! The particles that a rank owns, in the order of their keys.

use super::GraphUnits;
use crate::argsort::sorted;
use crate::error::{ParticleGraphError, ParticleMeshError, RunError};
use crate::particles::BoxParticles;
use crate::partition::{Splits, deliver};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, Rank};
use inselberg_kernels::geom::{Domain, fold};
use inselberg_kernels::graph::{KEY_LEVEL, cell_of, key_of};
use rayon::prelude::*;
use std::cmp::Ordering;

/// A particle as ranks exchange it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GraphParticle {
    /// Position in units of the box, in `[0, 1)`.
    pub position: [f64; 3],
    /// Mass in units of the heaviest particle.
    pub mass: f64,
    /// Identity.
    pub id: u64,
    /// Density in code units that the input gives; 0 where neighbours make it.
    pub given_density: f64,
}

impl GraphParticle {
    /// The order of all particles: by key, then by identity, then by the bits of their positions.
    pub fn order(&self, other: &Self) -> Ordering {
        let place = |p: &Self| (key_of(p.position), p.id, p.position.map(f64::to_bits));
        place(self).cmp(&place(other))
    }
}

/// The particles of a rank.
#[derive(Debug)]
pub struct OwnParticles {
    /// In their order.
    pub particles: Vec<GraphParticle>,
    /// The owners of all keys.
    pub splits: Splits,
    /// The box, as one cell.
    pub domain: Domain,
    /// The units of positions and masses.
    pub units: GraphUnits,
}

impl OwnParticles {
    /// Collective: from the particles that all ranks have read, those that this rank owns.
    ///
    /// # Errors
    /// When there are too many for one rank, or a given density is not a positive number; when another rank
    /// fails.
    pub fn new(
        loaded: BoxParticles,
        units: GraphUnits,
        periodic: bool,
        comm: &Comm,
    ) -> Result<Self, RunError> {
        let BoxParticles { position, mass, id, density } = loaded;
        let id = id.expect("identities were asked for");
        let particle = |i: usize| GraphParticle {
            position: position.get(i).map(|x| in_unit_box(x, units.side)),
            mass: mass.get(i) / units.heaviest,
            id: id[i],
            given_density: density.as_ref().map_or(0.0, |density| f64::from(density[i])),
        };
        let all: Vec<GraphParticle> = (0..position.len()).into_par_iter().map(particle).collect();
        check_given(&all, density.is_some())?;
        drop((position, mass, id, density));
        let mut particles = in_order(all);
        let mut splits = Splits::one(KEY_LEVEL);
        if comm.n_ranks() > 1 {
            let keys: Vec<u128> = particles.par_iter().map(|p| key_of(p.position)).collect();
            splits = Splits::balanced(KEY_LEVEL, keys, comm)?;
            particles = in_order(deliver(particles, |p| (owner(&splits, p.position), *p), comm)?);
        }
        if particles.len() >= u32::MAX as usize {
            return Err(ParticleMeshError::TooMany { n: particles.len() as u64 }.into());
        }
        let domain = Domain { coarse: [1; 3], periodic: [periodic; 3] };
        Ok(Self { particles, splits, domain, units })
    }

    /// The place of the particle with this identity at a position in units of the box; `None` if this rank
    /// does not have it.
    pub fn find(&self, position: [f64; 3], id: u64) -> Option<usize> {
        let wanted = GraphParticle { position, mass: 0.0, id, given_density: 0.0 };
        let key = key_of(position);
        let order =
            |other: &GraphParticle| key_of(other.position).cmp(&key).then_with(|| other.order(&wanted));
        self.particles.binary_search_by(order).ok()
    }

    /// The volume of a particle with this mass and density, in units of the box.
    pub fn volume(&self, mass: f64, rho: f64) -> f64 {
        mass * self.units.density() / rho
    }

    /// The owner of a position in units of the box.
    pub fn owner_of(&self, position: [f64; 3]) -> Rank {
        owner(&self.splits, position)
    }
}

/// Checks that given densities are positive numbers.
fn check_given(particles: &[GraphParticle], are_given: bool) -> Result<(), ParticleGraphError> {
    let is_wrong = |p: &&GraphParticle| !(p.given_density.is_finite() && p.given_density > 0.0);
    if !are_given {
        return Ok(());
    }
    match particles.par_iter().find_first(is_wrong) {
        Some(wrong) => Err(ParticleGraphError::BadDensity { id: wrong.id, density: wrong.given_density }),
        None => Ok(()),
    }
}

fn owner(splits: &Splits, position: [f64; 3]) -> Rank {
    splits.owner(KEY_LEVEL, cell_of(position))
}

/// A coordinate in units of the box, in `[0, 1)`.
pub fn in_unit_box(x: f64, side: f64) -> f64 {
    below_one(fold(x, side) / side)
}

/// A coordinate that may have been rounded up to the end of the box.
pub fn below_one(x: f64) -> f64 {
    const BELOW_ONE: f64 = 1.0 - 0.5 * f64::EPSILON;
    x.min(BELOW_ONE)
}

fn in_order(particles: Vec<GraphParticle>) -> Vec<GraphParticle> {
    let key = |i: usize| key_of(particles[i].position);
    let order = sorted(particles.len(), key, |a, b| particles[a].order(&particles[b]));
    order.into_par_iter().map(|i| particles[i]).collect()
}
