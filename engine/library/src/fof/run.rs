//! Friends-of-friends step by step: from a particle input to a catalogue of groups.

use super::bound::{self, SearchedInput};
use super::length::{DarkMasses, far_from_separation, linking_length, other_density, volume_of};
use super::load::load;
use super::params::Linking;
use super::plan::{ParticleCounts, ReadPlan};
use super::request::FofRequest;
use super::run_error::FofRunError;
use crate::executor::Executor;
use crate::fof::error::FofError;
use crate::fof::groups::find_groups;
use crate::fof::tables::{GroupsProvenance, Numbering, group_attributes, group_ids_tables, groups_table};
use crate::fof::types::{FoundGroups, GroupIds, Groups, LinkingRules, Particles, SeedRule};
use crate::particles::{RowRange, contents};
use crate::progress::Observer;
use crate::projection::{KeptParticles, Projection, project_particles};
use crate::stage::Stage;
use crate::tables::run_attributes;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::Cosmology;
use inselberg_io::catalogue::CataloguePart;
use inselberg_io::particles::{ParticleHeader, ParticleInput};

/// One solar mass in grams.
const SOLAR_MASS: f64 = 1.988_41e33;

/// The results of a search on one rank.
#[derive(Debug)]
pub struct FofOutcome {
    /// The groups whose rows this rank keeps.
    pub groups: Groups,
    /// The part of the catalogue.
    pub catalogue: CataloguePart,
    /// The part of the group IDs of all particles, if requested.
    pub group_ids: Option<CataloguePart>,
    /// The projected mass, on rank 0, if requested.
    pub projection: Option<Projection>,
    /// The numbers of particles.
    pub census: ParticleCounts,
    /// The linking length.
    pub linking_length: f64,
    /// The particles of this rank, if they are kept for maps.
    pub kept: Option<KeptParticles>,
    /// What users should know of the search, each in one line.
    pub warnings: Vec<String>,
    /// The group of each particle of this rank, for particles in memory.
    pub group_of: Option<GroupIds>,
}

/// The side of the cube that a particle is in maps, in linking lengths.
const CUBE: f64 = 0.5;

/// Local: checks whether an input suits `request`, before a particle is read.
///
/// # Errors
/// When [`run_fof`] would refuse it on all ranks.
pub fn check(about: &ParticleHeader, request: &FofRequest) -> Result<(), FofRunError> {
    let plan = ReadPlan::new(about, request)?;
    bound::check(about, request, &plan)?;
    request.params.seed_mass.map(|mass| seed_rule(about, mass)).transpose()?;
    if let (Linking::Length(length), Some(sides)) = (request.params.linking, plan.sides) {
        let most = sides.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
        if length > most {
            return Err(FofError::TooLong { length, most }.into());
        }
    }
    Ok(())
}

/// Collective: the friends-of-friends groups of the particles of an input. Catalogue and group IDs are the
/// same bit for bit for any number of ranks and threads. Each rank reads a range of every species.
///
/// # Errors
/// When the input cannot be read, has values that are not valid or one ID twice, lacks what the linking
/// length needs, or has no particle that links; when another rank fails. An error on one rank only must be
/// passed on to the others by the caller ([`Comm::abort`]).
pub fn run_fof(
    input: &dyn ParticleInput,
    request: &FofRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<FofOutcome, FofRunError> {
    let observer = executor.observer();
    let about = input.about();
    let SearchInput { plan, particles, ranges, census, rules, warnings } =
        prepare(input, request, comm, observer)?;
    let projection = request
        .params
        .with_projection
        .then(|| project_particles(&particles.position, &particles.mass, census.all, rules.sides, comm))
        .transpose()?;
    let cube = CUBE * rules.linking_length;
    let kept = request
        .params
        .keep_particles
        .then(|| KeptParticles::new(&particles.position, &particles.mass, rules.sides, cube, comm))
        .transpose()?;
    let found = find_groups(particles, &rules, comm, executor)?;
    let notes = plan.notes(about, request);
    let facts = SearchFacts { about, notes: &notes, request, rules: &rules, census: &census };
    let mut catalogue = catalogue(&facts, &found, comm, observer)?;
    let searched =
        SearchedInput { input, request, plan: &plan, ranges: &ranges, rules: &rules, found: &found };
    bound::add_to(&mut catalogue, &searched, comm, executor)?;
    let group_ids = request.params.with_group_ids.then(|| CataloguePart {
        attributes: catalogue.attributes.clone(),
        tables: group_ids_tables(about, &ranges, &found.group_of, Numbering::of_params(&request.params)),
    });
    Ok(FofOutcome {
        groups: found.groups,
        catalogue,
        group_ids,
        projection: projection.flatten(),
        census,
        linking_length: rules.linking_length,
        kept,
        warnings,
        group_of: input.first_rows().map(|_| found.group_of),
    })
}

/// What a catalogue says of a search.
pub(crate) struct SearchFacts<'a> {
    /// The input.
    pub about: &'a ParticleHeader,
    /// What a user may not expect of it.
    pub notes: &'a [String],
    /// The parameters.
    pub request: &'a FofRequest,
    /// The rules that follow from both.
    pub rules: &'a LinkingRules,
    /// The numbers of particles.
    pub census: &'a ParticleCounts,
}

/// Collective: the part of the catalogue on this rank.
///
/// # Errors
/// When the number for no group is that of a group, and when another rank fails.
pub(crate) fn catalogue(
    facts: &SearchFacts,
    found: &FoundGroups,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<CataloguePart, FofRunError> {
    let _tables = Stage::begin("tables", 0, comm, observer);
    let &SearchFacts { about, notes, request, rules, census } = facts;
    let ids = Numbering::of_params(&request.params);
    ids.check(found.groups.n_total)?;
    let attributes = group_attributes(&GroupsProvenance {
        about,
        notes,
        request,
        sides: rules.sides,
        linking_length: rules.linking_length,
        totals: &totals(found, census, comm)?,
        run: run_attributes(comm)?,
    });
    let table = groups_table(&found.groups, ids, comm)?;
    Ok(CataloguePart { attributes, tables: vec![table] })
}

/// Particles and rules of a search.
struct SearchInput {
    plan: ReadPlan,
    particles: Particles,
    ranges: Vec<RowRange>,
    census: ParticleCounts,
    rules: LinkingRules,
    warnings: Vec<String>,
}

/// Collective: reads the particles and derives the rules.
fn prepare(
    input: &dyn ParticleInput,
    request: &FofRequest,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<SearchInput, FofRunError> {
    let about = input.about();
    let plan = ReadPlan::new(about, request)?;
    bound::check(about, request, &plan)?;
    let mut loaded = load(input, &plan, comm, observer)?;
    loaded.particles.mass = loaded.particles.mass.unified(comm)?;
    let census = loaded.census(&plan, comm)?;
    if census.linkable == 0 {
        return Err(FofRunError::NothingLinks { what: contents(about) });
    }
    let masses = DarkMasses::of_particles(&loaded, &plan, comm)?;
    let contradiction = about.cosmology.as_ref().and_then(Cosmology::contradiction);
    let linking_length = linking_length(about, request, &plan, &census, &masses)?;
    let volume = volume_of(plan.sides.or(about.sides), &loaded.particles.position, comm)?;
    let warnings = (plan.notes(about, request).into_iter())
        .chain(masses.warning(census.dark, request))
        .chain(contradiction)
        .chain(other_density(about, request, &masses))
        .chain(far_from_separation(request, linking_length, volume, census.linkable))
        .collect();
    let rules = LinkingRules {
        linking_length,
        min_size: request.params.min_size,
        sides: plan.sides,
        seeds: request.params.seed_mass.map(|mass| seed_rule(about, mass)).transpose()?,
        allow_duplicate_ids: request.params.allow_duplicate_ids,
    };
    Ok(SearchInput { plan, particles: loaded.particles, ranges: loaded.ranges, census, rules, warnings })
}

/// Collective: the totals of summary and catalogue, by name.
fn totals(
    found: &FoundGroups,
    census: &ParticleCounts,
    comm: &Comm,
) -> Result<[(&'static str, u64); 6], CommError> {
    let grouped = found.group_of.iter().filter(|group| *group != 0).count() as u64;
    // A rank without rows has no largest group.
    let largest = found.groups.size.iter().max().copied().unwrap_or(0);
    Ok([
        ("n_particles", census.all),
        ("n_linkable", census.linkable),
        ("n_attachable", census.attachable),
        ("n_groups", found.groups.n_total),
        ("n_in_groups", comm.all_reduce_counts(&[grouped], Reduce::Sum)?[0]),
        ("largest_group", comm.all_reduce_counts(&[largest], Reduce::Max)?[0]),
    ])
}

/// The mass threshold in code masses.
fn seed_rule(about: &ParticleHeader, solar_masses: f64) -> Result<SeedRule, FofRunError> {
    let units = about.units.as_ref().ok_or(FofRunError::NoUnits)?;
    Ok(SeedRule { least_mass: solar_masses * SOLAR_MASS / (units.density * units.length.powi(3)) })
}
