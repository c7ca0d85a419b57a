//! The particles in clumps: read, and put into the clump of their leaf.

use crate::bound::{CandidateParticles, ClumpParticle, PointMass};
use crate::error::RunError;
use crate::partition::{for_each_particle_block, to_leaf_owners};
use crate::phew::bound::input::BoundInput;
use crate::phew::leaf_patch::leaf_patch;
use inselberg_comm::Comm;
use inselberg_io::{Family, ParticleBlock};
use inselberg_kernels::geom::cell_side;
use rayon::prelude::*;

/// Collective: the particles of this rank's leaves.
///
/// # Errors
/// When the particles cannot be read, or another rank fails.
pub fn read(input: &BoundInput, with_all: bool, comm: &Comm) -> Result<CandidateParticles, RunError> {
    let side = input.snapshot.header().boxlen;
    let blocks = for_each_particle_block(input.snapshot, comm, of_block)?;
    let at = |particle: &ClumpParticle| particle.position.map(|x| x / side);
    let here = to_leaf_owners(blocks.concat(), at, input.part, comm)?;
    let in_clump = |particle: ClumpParticle| {
        let leaf = leaf_patch(&input.part.field.mesh, input.segmentation, at(&particle))?;
        let (halo, clump) = (input.ids.halo[leaf.patch.at()], input.ids.clump[leaf.patch.at()]);
        let softening = (cell_side(leaf.level) * side) as f32;
        (halo > 0).then_some(ClumpParticle { halo, clump, softening, ..particle })
    };
    let point =
        |particle: &ClumpParticle| PointMass { position: at(particle), mass: particle.mass, id: particle.id };
    let all = if with_all { here.par_iter().map(point).collect() } else { Vec::new() };
    Ok(CandidateParticles { in_haloes: here.into_par_iter().filter_map(in_clump).collect(), all })
}

/// The particles of a block that have a mass of their own. Tracers have none.
fn of_block(block: &ParticleBlock) -> Vec<ClumpParticle> {
    let particle = |i: usize| {
        let particle_type = match block.family[i] {
            Family::DarkMatter => 1,
            Family::Star | Family::Debris => 4,
            Family::Cloud | Family::Other => 5,
            Family::Tracer => return None,
        };
        Some(ClumpParticle {
            id: block.id[i].cast_unsigned(),
            position: block.position[i],
            velocity: block.velocity[i],
            mass: block.mass[i],
            particle_type,
            ..ClumpParticle::default()
        })
    };
    (0..block.id.len()).filter_map(particle).collect()
}
