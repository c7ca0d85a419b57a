//! What is the density of the particles of a snapshot on its mesh?
//!
//! In the flow: snapshot → **density** → segmentation (`phew`), for fields that are made of particles.
//! Particles are deposited on an existing mesh, alone or with its gas. `particle_mesh` makes a mesh as well;
//! `partition/deposit.rs` does the same over ranks and shares the quanta below.
//!
//! This folder knows neither owners of cells nor test cells, except to read further fields of these (`read`)
//! and the values that are imposed at walls (`walls`).
//!
//! Invariant: masses are added as integer multiples of a quantum, so a density does not depend on the order
//! of particles.

pub mod read;
pub mod walls;

use crate::chunks::{carve, chunks};
use crate::executor::Executor;
use crate::field::AmrField;
use crate::pieces::{begun, each_part};
use crate::progress::Observer;
use inselberg_comm::Comm;
use inselberg_io::{Family, ParticleBlock, ReadError, ReadResult, Snapshot};
use inselberg_kernels::density::{
    Body, Deposit, deposit_bodies, deposit_conserving, deposit_ramses, fill_split_cells, gather_bodies,
    leaf_bodies, masses_to_densities,
};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::Mesh;
use rayon::prelude::*;

/// The source of the density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DensitySource<'a> {
    /// A field of the snapshot.
    Cells(&'a str),
    /// The dark-matter particles.
    Particles(Scheme),
    /// These particles and the gas of this density, both deposited as RAMSES does it.
    Matter(&'a str, Deposited),
}

impl DensitySource<'_> {
    /// The name of the field in catalogues.
    pub fn name(&self) -> &str {
        match self {
            Self::Cells(name) => name,
            Self::Particles(Scheme::Conserving) => "cic",
            Self::Matter(_, Deposited::All) => "matter",
            Self::Particles(Scheme::Ramses) | Self::Matter(_, Deposited::DarkMatter) => "cic-ramses",
        }
    }

    /// The values that leaves may have. `of_cells` holds for a field that is segmented itself.
    pub(crate) fn leaf_values(&self, of_cells: LeafValues) -> LeafValues {
        match self {
            Self::Cells(_) => of_cells,
            Self::Particles(_) | Self::Matter(..) => LeafValues::NotNegative,
        }
    }

    /// The field of the snapshot that is read, if any.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Cells(name) | Self::Matter(name, _) => Some(name),
            Self::Particles(_) => None,
        }
    }

    /// The particles that make it.
    pub(crate) fn deposited(&self) -> Deposited {
        match self {
            Self::Matter(_, deposited) => *deposited,
            Self::Cells(_) | Self::Particles(_) => Deposited::DarkMatter,
        }
    }
}

/// The particles that make a density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deposited {
    /// Dark matter.
    DarkMatter,
    /// All particles with mass. Tracers have none.
    All,
}

impl Deposited {
    /// Whether particles of a family take part.
    fn takes(self, family: Family) -> bool {
        match self {
            Self::DarkMatter => family == Family::DarkMatter,
            Self::All => family != Family::Tracer,
        }
    }
}

/// Which values the leaves of a field may have. Deposited particles and gas have mass, so their densities are
/// never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafValues {
    /// Densities: finite, 0 or more.
    NotNegative,
    /// Any finite values. Persistence is then a difference, and cells above the threshold are still positive.
    Any,
}

impl LeafValues {
    /// Whether a leaf may have this value.
    pub fn allow(self, value: f64) -> bool {
        value.is_finite() && (value >= 0.0 || self == Self::Any)
    }
}

/// The box of a snapshot.
pub fn domain(snapshot: &dyn Snapshot) -> Domain {
    Domain { coarse: snapshot.header().coarse, periodic: snapshot.header().periodic }
}

/// How particles are deposited (cloud in cell).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// On the leaves; the total mass is conserved.
    Conserving,
    /// Level by level, as RAMSES does it.
    Ramses,
}

/// Particles per task.
pub(crate) const RUN: usize = 4096;
/// The first quantum assumes that a cell holds at most this part of the greatest possible total mass.
const FIRST_GUESS: f64 = 1.0 / 1024.0;
/// log2 of the factor by which the quantum grows after an overflow.
pub(crate) const COARSER: i32 = 11;

/// Particles: positions in units of the level-0 cell, and masses in code units.
#[derive(Debug, Default, Clone)]
pub struct PointMasses {
    /// Positions.
    pub position: Vec<[f64; 3]>,
    /// Masses.
    pub mass: Vec<f64>,
}

/// Local: reads all particles of a snapshot that make a density, pieces in parallel.
///
/// # Errors
/// When a piece cannot be read, or a mass is negative or not finite.
pub fn read_particles(
    snapshot: &dyn Snapshot,
    deposited: Deposited,
    observer: &dyn Observer,
) -> ReadResult<PointMasses> {
    let parts = read_point_masses(snapshot, deposited, &Comm::solo(), observer)?;
    let mut all = PointMasses::default();
    for mut part in parts {
        all.position.append(&mut part.position);
        all.mass.append(&mut part.mass);
    }
    Ok(all)
}

/// Local: as [`read_particles`], of the pieces that this rank reads, part by part.
///
/// # Errors
/// As there.
pub(crate) fn read_point_masses(
    snapshot: &dyn Snapshot,
    deposited: Deposited,
    comm: &Comm,
    observer: &dyn Observer,
) -> ReadResult<Vec<PointMasses>> {
    let side = snapshot.header().boxlen;
    each_part(snapshot, comm, |part| {
        let mut particles = PointMasses::default();
        snapshot.particles_of(part.0, part.1, &mut |block| {
            append_particles(&mut particles, block, deposited, side).map_err(|i| {
                let place = snapshot.place_of(part.0, None);
                ReadError::bad_particle(place, block.id[i], block.position[i], block.mass[i])
            })
        })?;
        observer.advance(begun(part));
        Ok(particles)
    })
}

/// Adds the particles of a block that make a density; `side` is the side of the box.
///
/// # Errors
/// The index in the block of a particle whose mass is negative or not finite, or whose position is not
/// finite.
fn append_particles(
    particles: &mut PointMasses,
    block: &ParticleBlock,
    deposited: Deposited,
    side: f64,
) -> Result<(), usize> {
    for (i, family) in block.family.iter().enumerate() {
        if !deposited.takes(*family) {
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

impl PointMasses {
    /// The number of particles in each run of [`RUN`].
    pub(crate) fn runs(&self) -> Vec<usize> {
        self.mass.chunks(RUN).map(<[f64]>::len).collect()
    }

    /// Positions and masses of run `i`; empty after the last run.
    pub(crate) fn run(&self, i: u32) -> (&[[f64; 3]], &[f64]) {
        let start = (i as usize * RUN).min(self.mass.len());
        let end = (start + RUN).min(self.mass.len());
        (&self.position[start..end], &self.mass[start..end])
    }
}

/// The density of particles on every cell of `mesh`; `side` is the length of a level-0 cell.
pub fn deposit(
    mesh: Mesh,
    particles: &PointMasses,
    scheme: Scheme,
    side: f64,
    executor: &Executor,
) -> AmrField {
    deposit_all(mesh, particles, &[], scheme, side, executor)
}

/// The density of particles and of gas, whose density `field` has, as RAMSES deposits them.
pub fn deposit_with_gas(
    field: AmrField,
    particles: &PointMasses,
    side: f64,
    executor: &Executor,
) -> AmrField {
    let mut bodies = leaf_bodies(&field.mesh, &field.rho, side.powi(3));
    (1..field.mesh.n_levels()).rev().for_each(|level| gather_bodies(&field.mesh, level, &mut bodies));
    deposit_all(field.mesh, particles, &bodies, Scheme::Ramses, side, executor)
}

fn deposit_all(
    mesh: Mesh,
    particles: &PointMasses,
    bodies: &[Body],
    scheme: Scheme,
    side: f64,
    executor: &Executor,
) -> AmrField {
    let mut bound = first_bound(heaviest(particles), particles.mass.len() as u64);
    let masses = loop {
        let out = Deposit::new(mesh.n_cells(), quantum(bound));
        let deposit = if scheme == Scheme::Ramses { deposit_ramses } else { deposit_conserving };
        executor.each("density", &particles.runs(), |i| {
            let (position, mass) = particles.run(i);
            deposit(&mesh, position, mass, &out);
        });
        deposit_gas(&mesh, |brick| mesh.bricks()[brick].exists, bodies, &out);
        match out.masses() {
            Some(masses) => break masses,
            None => bound += COARSER,
        }
    };
    let mut field = AmrField { mesh, rho: masses };
    divide_by_volumes(&mut field, side.powi(3));
    if scheme == Scheme::Conserving {
        fill_split_cells(&field.mesh, &mut field.rho);
    }
    field
}

/// Deposits the gas of the cells in the mask of each brick. Does nothing where `bodies` is empty.
pub(crate) fn deposit_gas(mesh: &Mesh, cells: impl Fn(usize) -> u64 + Sync, bodies: &[Body], out: &Deposit) {
    if !bodies.is_empty() {
        let runs = chunks(mesh.supers().len(), 64).into_par_iter();
        runs.for_each(|supers| deposit_bodies(mesh, supers, &cells, bodies, out));
    }
}

/// The greatest mass of a particle, and at least the smallest normal number.
pub(crate) fn heaviest(particles: &PointMasses) -> f64 {
    particles.mass.par_iter().copied().reduce(|| f64::MIN_POSITIVE, f64::max)
}

/// log2 of the mass that a cell can hold with the first quantum.
pub(crate) fn first_bound(heaviest: f64, n_particles: u64) -> i32 {
    // Without particles the logarithm is minus infinity.
    (heaviest * n_particles as f64 * FIRST_GUESS).log2().ceil().max(-2000.0) as i32
}

/// The quantum of mass with which a cell can hold 2^`bound`.
pub(crate) fn quantum(bound: i32) -> f64 {
    2.0f64.powi(bound - 63)
}

/// Turns the masses of a field into densities; `unit` is the volume of a level-0 cell.
pub(crate) fn divide_by_volumes(field: &mut AmrField, unit: f64) {
    let mesh = &field.mesh;
    let runs = chunks(mesh.supers().len(), 64);
    let places = carve(&mut field.rho, runs.iter().map(|supers| mesh.cells_of_supers(supers.clone()).len()));
    runs.into_par_iter().zip(places).for_each(|(supers, out)| {
        masses_to_densities(mesh, supers, out);
        out.iter_mut().for_each(|rho| *rho /= unit);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_matter_is_all_that_has_mass() {
        use Family::{Cloud, DarkMatter, Debris, Gas, Other, Star, Tracer};
        for family in [Gas, DarkMatter, Star, Cloud, Debris, Other, Tracer] {
            assert_eq!(Deposited::All.takes(family), family != Tracer, "{family:?}");
            assert_eq!(Deposited::DarkMatter.takes(family), family == DarkMatter, "{family:?}");
        }
    }
}
