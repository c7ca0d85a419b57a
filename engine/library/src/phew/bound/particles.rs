//! The particles in clumps: read, and put into the clump of their leaf.

use crate::bound::{BoundRequest, CandidateParticles, ClumpParticle, PointMass};
use crate::chunks::{joined, kept};
use crate::error::RunError;
use crate::particles::MemberType;
use crate::phew::bound::attributes::softening;
use crate::phew::bound::input::BoundInput;
use crate::pieces::for_each_particle_block;
use inselberg_comm::Comm;
use inselberg_io::particles::EXPECTED_MASS;
use inselberg_io::{Family, ParticleBlock, ReadError, ReadResult};
use rayon::prelude::*;

/// Collective: the particles in the places that this rank owns: those in haloes, and with tracks also all
/// others, whose halo is 0.
///
/// # Errors
/// When the particles cannot be read or have values that are not allowed, or another rank fails.
pub fn read(
    input: &BoundInput,
    request: &BoundRequest,
    with_all: bool,
    comm: &Comm,
) -> Result<CandidateParticles, RunError> {
    let side = input.snapshot.header().boxlen;
    let of_block = |piece: usize, block: &ParticleBlock| of_block(input, piece, block);
    let blocks = for_each_particle_block(input.snapshot, comm, of_block)?;
    let at = |particle: &ClumpParticle| particle.position.map(|x| x / side);
    let mut here = input.places.to_owners(joined(blocks), at, comm)?;
    let softening = MemberType::ALL.map(|of| softening(request, input.snapshot, of));
    let softening_of = |particle_type: u32| {
        let place = MemberType::ALL.iter().position(|found| *found as u32 == particle_type);
        softening[place.expect("particles have one of the types")]
    };
    let put_in_clump = |particle: &mut ClumpParticle| {
        let stated = softening_of(particle.particle_type).map(|found| found.0);
        particle.softening = stated.unwrap_or(0.0) as f32;
        let Some(place) = input.places.of(at(particle), particle.id) else { return };
        let (halo, clump) = (input.ids.halo[place.patch.at()], input.ids.clump[place.patch.at()]);
        let length = stated.unwrap_or(place.size * side);
        *particle = ClumpParticle { halo, clump, patch: clump, softening: length as f32, ..*particle };
    };
    let point = |particle: &ClumpParticle| PointMass {
        position: at(particle),
        mass: particle.mass,
        particle_type: particle.particle_type.into(),
    };
    let all = if with_all { here.par_iter().map(point).collect() } else { Vec::new() };
    here.par_iter_mut().for_each(put_in_clump);
    let in_haloes = match input.tracks.on {
        true => here,
        false => kept(&here, |particle| particle.halo > 0),
    };
    Ok(CandidateParticles { in_haloes, all, leaves: Vec::new() })
}

/// The particles of a block that have their own mass. Tracers have none, nor have clouds of sinks with direct
/// forces.
fn of_block(input: &BoundInput, piece: usize, block: &ParticleBlock) -> ReadResult<Vec<ClumpParticle>> {
    let mut found = Vec::with_capacity(block.id.len());
    for (i, family) in block.family.iter().enumerate() {
        let Some(member_type) = MemberType::from_family(*family) else { continue };
        if *family == Family::Cloud && block.mass[i] == 0.0 {
            continue;
        }
        check(input, piece, block, i)?;
        found.push(ClumpParticle {
            id: block.id[i].cast_unsigned(),
            position: block.position[i],
            velocity: block.velocity[i],
            mass: block.mass[i],
            particle_type: member_type as u32,
            ..ClumpParticle::default()
        });
    }
    Ok(found)
}

/// Checks that a particle has a mass above 0, and a finite position and velocity.
fn check(input: &BoundInput, piece: usize, block: &ParticleBlock, i: usize) -> ReadResult<()> {
    let (mass, numbers) = (block.mass[i], block.position[i].iter().chain(&block.velocity[i]));
    let (problem, expected) = match numbers.clone().all(|x| x.is_finite()) {
        true if mass > 0.0 && mass.is_finite() => return Ok(()),
        true => (format!("mass {mass}"), EXPECTED_MASS),
        false => {
            let problem = format!("position {:?}, velocity {:?}", block.position[i], block.velocity[i]);
            (problem, "finite numbers")
        }
    };
    let place = format!("particle {}", block.id[i]);
    Err(ReadError::content(&input.snapshot.place_of(piece, None), place, problem, expected))
}
