//! The density of dark-matter particles on a mesh.

use crate::amr::{AmrField, chunks};
use crate::io::{Family, ParticleBlock, ReadError, ReadResult, Snapshot};
use crate::observe::Observer;
use inselberg_kernels::density::{
    Deposit, deposit_conserving, deposit_ramses, fill_split_cells, masses_to_densities,
};
use inselberg_kernels::mesh::Mesh;
use rayon::prelude::*;

/// How particles are turned into a density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Every gram kept.
    Conserving,
    /// Level by level, as RAMSES does it.
    Ramses,
}

/// Particles deposited at once.
const RUN: usize = 4096;
/// A cell is first assumed to hold at most this part of what all particles could weigh.
const FIRST_GUESS: f64 = 1.0 / 1024.0;

/// Positions in units of the level-0 cell, and masses in code units.
#[derive(Debug, Default, Clone)]
pub struct Particles {
    /// Positions.
    pub position: Vec<[f64; 3]>,
    /// Masses.
    pub mass: Vec<f64>,
}

/// Reads the dark-matter particles of a snapshot, pieces in parallel.
///
/// # Errors
/// When a piece cannot be read or a mass is not finite or negative.
pub fn read_dark_matter(snapshot: &dyn Snapshot, observer: &dyn Observer) -> ReadResult<Particles> {
    let side = snapshot.header().boxlen;
    let read = |piece| {
        let mut particles = Particles::default();
        snapshot.particles(piece, &mut |block| {
            append_dark_matter(&mut particles, block, side).map_err(|i| {
                let place = snapshot.place_of(piece, None);
                ReadError::bad_particle(place, block.id[i], block.position[i], block.mass[i])
            })
        })?;
        observer.advance(1);
        Ok(particles)
    };
    let pieces: Vec<Particles> =
        (0..snapshot.header().n_pieces).into_par_iter().map(read).collect::<ReadResult<_>>()?;
    let mut all = Particles::default();
    for mut piece in pieces {
        all.position.append(&mut piece.position);
        all.mass.append(&mut piece.mass);
    }
    Ok(all)
}

/// # Errors
/// The place in the block of a particle that has no sound mass or position.
fn append_dark_matter(particles: &mut Particles, block: &ParticleBlock, side: f64) -> Result<(), usize> {
    for (i, family) in block.family.iter().enumerate() {
        if *family != Family::DarkMatter {
            continue;
        }
        let (x, mass) = (block.position[i], block.mass[i]);
        if !(mass.is_finite() && mass >= 0.0 && x.iter().all(|x| x.is_finite())) {
            return Err(i);
        }
        particles.position.push(x.map(|x| x / side));
        particles.mass.push(mass);
    }
    Ok(())
}

/// The density of particles on every cell of `mesh`; `side` is the length of a level-0 cell.
pub fn deposit(mesh: Mesh, particles: &Particles, scheme: Scheme, side: f64) -> AmrField {
    let heaviest = particles.mass.par_iter().copied().reduce(|| f64::MIN_POSITIVE, f64::max);
    let mut bound = (heaviest * particles.mass.len() as f64 * FIRST_GUESS).log2().ceil() as i32;
    let masses = loop {
        let out = Deposit::new(mesh.n_cells(), 2.0f64.powi(bound - 63));
        let deposit = if scheme == Scheme::Ramses { deposit_ramses } else { deposit_conserving };
        particles.position.par_chunks(RUN).zip(particles.mass.par_chunks(RUN)).for_each(|(x, m)| {
            deposit(&mesh, x, m, &out);
        });
        match out.masses() {
            Some(masses) => break masses,
            None => bound += 11,
        }
    };
    let mut field = AmrField { mesh, rho: masses };
    divide_by_volumes(&mut field, side.powi(3));
    if scheme == Scheme::Conserving {
        fill_split_cells(&field.mesh, &mut field.rho);
    }
    field
}

fn divide_by_volumes(field: &mut AmrField, unit: f64) {
    let mesh = &field.mesh;
    let mut left = field.rho.as_mut_slice();
    let mut jobs = Vec::new();
    for supers in chunks(mesh.supers().len(), 64) {
        let n = mesh.cells_of_supers(supers.clone());
        let (own, rest) = left.split_at_mut(n.len());
        jobs.push((supers, own));
        left = rest;
    }
    jobs.into_par_iter().for_each(|(supers, out)| {
        masses_to_densities(mesh, supers, out);
        out.iter_mut().for_each(|rho| *rho /= unit);
    });
}
