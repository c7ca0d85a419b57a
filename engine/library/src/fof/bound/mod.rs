//! Properties of groups: which of its particles does gravity hold, what are the spheres about its centre, and
//! which objects that history knows are in it?
//!
//! Place in the flow: after the search, before the catalogue is written. Each group is a halo with one clump.
//! Tracks of earlier outputs (`tracks`) are further clumps of it. `crate::bound` unbinds it; `particles` reads the input a second time for that,
//! because the search keeps no velocities or masses of single particles. Spheres are about the most bound
//! particle, or about the centre of mass where nothing is unbound.

mod particles;
mod space;
mod tracks;

use crate::bound::{
    BoundColumn, BoundTask, HaloClump, HaloRows, MemberNames, PotentialChoice, ShellCentre, SphereCentre,
    SphereDensities, Surroundings, UnbindMethod, Unbinder, gravity, sphere_columns,
};
use crate::executor::Executor;
use crate::fof::plan::ReadPlan;
use crate::fof::request::FofRequest;
use crate::fof::run_error::FofRunError;
use crate::fof::tables::Numbering;
use crate::fof::types::{FoundGroups, Groups, LinkingRules};
use crate::particles::RowRange;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::catalogue::{CataloguePart, Table};
use inselberg_io::particles::{ParticleHeader, ParticleInput, Species, mass_of_all};
use inselberg_io::{Cosmology, Units};
use inselberg_kernels::bound::Gravity;
use particles::GroupParticles;
use tracks::TrackedGroups;

/// What the search leaves.
pub struct SearchedInput<'a> {
    /// The input.
    pub input: &'a dyn ParticleInput,
    /// The parameters.
    pub request: &'a FofRequest,
    /// What was read.
    pub plan: &'a ReadPlan,
    /// The rows that this rank read, in the order of the group of each particle.
    pub ranges: &'a [RowRange],
    /// The rules.
    pub rules: &'a LinkingRules,
    /// The groups.
    pub found: &'a FoundGroups,
}

/// Local: checks whether an input has what the properties need. Reads no particle.
///
/// # Errors
/// When it has not.
pub fn check(about: &ParticleHeader, request: &FofRequest, plan: &ReadPlan) -> Result<(), FofRunError> {
    if request.params.bound.gas {
        return Err(FofRunError::GasOfGroups);
    }
    if !request.params.has_properties() {
        return Ok(());
    }
    space::check(plan.sides)?;
    units(about)?;
    if request.params.bound.unbinding() == Some(PotentialChoice::Ramses) {
        return Err(FofRunError::PotentialOfRamses);
    }
    if request.params.bound.unbind {
        let species = plan.taken.species(about);
        if let Some(without) = species.into_iter().find(|s| s.n > 0 && !s.has_velocities) {
            return Err(FofRunError::NoVelocities { name: without.name.clone() });
        }
    }
    if request.params.tracks.on {
        let species = plan.taken.species(about);
        if let Some(without) = species.into_iter().find(|s| s.n > 0 && !s.has_ids) {
            return Err(FofRunError::NoIdentities { name: without.name.clone() });
        }
    }
    if request.params.bound.properties.has_spheres() {
        cosmology(about)?;
        let with_particles: Vec<&Species> = about.species.iter().filter(|s| s.n > 0).collect();
        mass_of_all(&with_particles, true)?;
    }
    Ok(())
}

fn units(about: &ParticleHeader) -> Result<&Units, FofRunError> {
    about.units.as_ref().ok_or(FofRunError::UnitsOfProperties)
}

/// The cosmology that spheres need: an expanding one.
fn cosmology(about: &ParticleHeader) -> Result<&Cosmology, FofRunError> {
    about.cosmology.as_ref().filter(|cosmology| cosmology.hubble_rate() > 0.0).ok_or(FofRunError::NoCosmology)
}

/// Collective: adds the properties to the table of groups, and the table of members. With tracks, also their
/// tables and that of clumps. Does nothing unless asked.
///
/// # Errors
/// When the input lacks what properties need, or cannot be read; when another rank fails.
pub fn add_to(
    catalogue: &mut CataloguePart,
    of: &SearchedInput,
    comm: &Comm,
    executor: &Executor,
) -> Result<(), FofRunError> {
    let SearchedInput { input, request, .. } = *of;
    if !request.params.has_properties() {
        return Ok(());
    }
    let about = input.about();
    let gravity = gravity(units(about)?, about.cosmology.as_ref());
    let densities = match request.params.bound.properties.has_spheres() {
        true => {
            let has_weights = about.species.iter().any(|species| species.has_weights);
            Some(SphereDensities::new(units(about)?, cosmology(about)?, has_weights))
        }
        false => None,
    };
    let particles = Stage::run("members", 0, comm, executor.observer(), || {
        particles::read(of, densities.is_some(), comm, executor.observer())
    })?;
    let physics = GroupPhysics { gravity, densities };
    match request.params.bound.unbinding() {
        Some(_) => physics.unbind(catalogue, particles, of, comm, executor),
        None => physics.add_spheres(groups_of(catalogue), particles, of, comm, executor),
    }
}

/// The table of groups.
fn groups_of(catalogue: &mut CataloguePart) -> &mut Table {
    let groups = catalogue.tables.iter_mut().find(|part| part.table.name == "Groups");
    &mut groups.expect("a catalogue of groups has their table").table
}

/// Gravity, and the mean densities of spheres.
struct GroupPhysics {
    gravity: Gravity,
    densities: Option<SphereDensities>,
}

impl GroupPhysics {
    /// Collective: adds what is bound, spheres about the most bound particles, members, and tracks.
    fn unbind(
        &self,
        catalogue: &mut CataloguePart,
        mut particles: GroupParticles,
        of: &SearchedInput,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), FofRunError> {
        let bound = of.request.params.bound;
        let columns = BoundColumn::chosen(bound.properties);
        let method = UnbindMethod::by_energies(&bound);
        let mut rows = rows_of(&of.found.groups);
        let n_groups = rows.haloes.len();
        let tracked = TrackedGroups::new(of);
        let placed = match &tracked {
            Some(tracked) => {
                let _tracks = Stage::begin("tracks", tracked.n_last(), comm, executor.observer());
                tracked.place(&mut particles.candidates, &mut rows, particles.space, comm)?
            }
            None => None,
        };
        let unbinder = Unbinder {
            space: particles.space,
            gravity: self.gravity,
            method: method.expect("groups are unbound by energies"),
            central: bound.central,
            shell_centre: ShellCentre::ShrinkingSphere,
            columns: &columns,
            allow_duplicate_ids: of.request.params.allow_duplicate_ids,
            spanning: bound.spanning,
            has_tracks: placed.is_some(),
        };
        let (densities, with_members) = (self.densities, bound.with_members);
        let with_ranks = tracked.is_some();
        let task = BoundTask { unbinder, densities, rows: &rows, with_members, with_ranks };
        let found = task.run(particles.candidates, comm, executor)?;
        let Some(tracked) = tracked else {
            found.add_to_groups(groups_of(catalogue), &rows.clumps);
            let ids = Numbering::of_params(&of.request.params);
            let number = |group| ids.id(group).cast_unsigned();
            catalogue.tables.extend(found.members(&MemberNames { owner: "group", number: &number }));
            return Ok(());
        };
        found.add_to_haloes(groups_of(catalogue), &rows.haloes[..n_groups]);
        catalogue.tables.extend(found.members(&MemberNames { owner: "clump", number: &|id| id }));
        let _tracks = Stage::begin("tracks", 0, comm, executor.observer());
        tracked.add_to(catalogue, placed.as_ref(), &found, &rows, comm)
    }

    /// Collective: adds spheres about the centres of mass.
    fn add_spheres(
        &self,
        table: &mut Table,
        particles: GroupParticles,
        of: &SearchedInput,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), FofRunError> {
        let groups = &of.found.groups;
        let Some(densities) = &self.densities else { return Ok(()) };
        let _spheres = Stage::begin("spheres", 0, comm, executor.observer());
        let GroupParticles { candidates, space } = particles;
        let centres: Vec<SphereCentre> = groups
            .centre
            .iter()
            .zip(&groups.mass)
            .map(|(centre, mass)| SphereCentre { centre: *centre, mass: *mass })
            .collect();
        let surroundings = Surroundings::new(candidates.all, candidates.leaves, &space);
        let found = surroundings.spheres(&centres, densities, &of.request.params.bound.spanning, comm)?;
        table.columns.extend(sphere_columns(&found, "its centre of mass"));
        Ok(())
    }
}

/// Each group as a halo that is its own only clump.
fn rows_of(groups: &Groups) -> HaloRows {
    let row = |((id, centre), mass): ((u64, &[f64; 3]), &f64)| HaloClump::alone(id, *centre, *mass);
    let of_group = (groups.first_id..).zip(&groups.centre).zip(&groups.mass);
    let rows: Vec<HaloClump> = of_group.map(row).collect();
    HaloRows { clumps: rows.clone(), haloes: rows }
}
