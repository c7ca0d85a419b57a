//! Friends-of-friends step by step: from files of particles to a catalogue of groups.

use super::FofRunError;
use super::length::{self, LinkingLength};
use super::load::{RowRange, load};
use super::picture;
use super::plan::{self, ParticleCounts, ReadPlan};
use crate::executor::Executor;
use crate::fof::tables::{GroupsProvenance, Numbering, group_attributes, group_ids_tables, groups_table};
use crate::fof::{FofError, FoundGroups, LinkingRules, Particles, SeedRule, find_groups};
use crate::progress::Observer;
use crate::projection::Projection;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::CataloguePart;
use inselberg_io::particles::{N_KINDS, ParticleHeader, ParticleInput};

/// One solar mass in grams.
const SOLAR_MASS: f64 = 1.988_41e33;

/// What is searched for. The names in brackets are SWIFT's.
#[derive(Debug, Clone, PartialEq)]
pub struct FofConfig {
    /// The linking length (`absolute_linking_length`, `linking_length_ratio`).
    pub length: LinkingLength,
    /// Groups with fewer linkable particles are not listed (`min_group_size`).
    pub min_size: u64,
    /// Kinds of particles that link (`linking_types`).
    pub linking: [bool; N_KINDS],
    /// Kinds that are attached (`attaching_types`).
    pub attaching: [bool; N_KINDS],
    /// The mass in solar masses above which groups get a black hole (`black_hole_seed_halo_mass_Msun`);
    /// `None`: none are wanted (`seed_black_holes_enabled`).
    pub seed_mass: Option<f64>,
    /// The group ID of particles in none (`group_id_default`).
    pub id_default: u64,
    /// The ID of the largest group (`group_id_offset`).
    pub id_offset: u64,
    /// The side of the box of a plain array.
    pub side: Option<f64>,
    /// Whether the box does not wrap around, whatever the input says.
    pub open: bool,
    /// Whether particles that link or are attached may share an identity.
    pub allow_duplicate_ids: bool,
    /// Whether a picture will be drawn.
    pub with_picture: bool,
    /// Whether the group of every particle is wanted.
    pub with_ids: bool,
}

/// What a search leaves behind.
#[derive(Debug)]
pub struct FofOutcome {
    /// What this rank holds of the catalogue.
    pub catalogue: CataloguePart,
    /// What this rank holds of the group IDs of all particles, if they were asked for.
    pub group_ids: Option<CataloguePart>,
    /// The projected mass, on rank 0, if a picture was asked for.
    pub projection: Option<Projection>,
    /// What took part.
    pub census: ParticleCounts,
    /// The linking length.
    pub linking_length: f64,
}

/// Local: whether an input can be searched as asked for, as far as can be said before a particle is read.
///
/// # Errors
/// It cannot: [`run_fof`] would refuse it on all ranks.
pub fn check(about: &ParticleHeader, config: &FofConfig) -> Result<(), FofRunError> {
    let plan = ReadPlan::new(about, config)?;
    config.seed_mass.map(|mass| seed_rule(about, mass)).transpose()?;
    if let (LinkingLength::Absolute(length), Some(sides)) = (config.length, plan.sides) {
        let most = sides.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
        if length > most {
            return Err(FofError::TooLong { length, most }.into());
        }
    }
    Ok(())
}

/// Friends-of-friends groups of the particles of an input.
///
/// Collective over `comm`; uses the crew, and the current rayon pool. Catalogue and group IDs are the same bit for bit for any
/// number of ranks and threads. Each rank reads its stretch of every species.
///
/// # Errors
/// When the input cannot be read, holds positions or masses that are none or one identity twice, does not say
/// what the linking length needs, has nothing that links, and when another rank fails. What goes wrong on one
/// rank only is for its caller to pass on to the others ([`Comm::abort`]).
pub fn run_fof(
    input: &dyn ParticleInput,
    config: &FofConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<FofOutcome, FofRunError> {
    let observer = executor.observer();
    let about = input.about();
    let Ready { particles, stretches, census, rules } = ready(input, config, comm, observer)?;
    let projection = config
        .with_picture
        .then(|| picture::project(&particles, census.all, rules.sides, comm))
        .transpose()?;
    let found = find_groups(particles, &rules, comm, executor)?;
    let _tables = Stage::begin("tables", 0, comm, observer);
    let ids = Numbering { default: config.id_default, offset: config.id_offset };
    ids.check(found.groups.n_total)?;
    let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
    let attributes = group_attributes(&GroupsProvenance {
        about,
        config,
        sides: rules.sides,
        linking_length: rules.linking_length,
        totals: &totals(&found, &census, comm)?,
        run: [("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)],
    });
    let group_ids = config.with_ids.then(|| CataloguePart {
        attributes: attributes.clone(),
        tables: group_ids_tables(about, &stretches, &found.group_of, ids),
    });
    let table = groups_table(&found.groups, ids, comm)?;
    Ok(FofOutcome {
        catalogue: CataloguePart { attributes, tables: vec![table] },
        group_ids,
        projection: projection.flatten(),
        census,
        linking_length: rules.linking_length,
    })
}

/// What a search takes.
struct Ready {
    particles: Particles,
    stretches: Vec<RowRange>,
    census: ParticleCounts,
    rules: LinkingRules,
}

/// Collective: reads the particles and says by which rules they are searched.
fn ready(
    input: &dyn ParticleInput,
    config: &FofConfig,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<Ready, FofRunError> {
    let about = input.about();
    let plan = ReadPlan::new(about, config)?;
    let mut loaded = load(input, &plan, comm, observer)?;
    loaded.settle_masses(comm)?;
    let census = loaded.census(&plan, comm)?;
    if census.linkable == 0 {
        return Err(FofRunError::NothingLinks { what: plan::contents(about) });
    }
    let mean_mass = length::mean_dark_mass(&loaded, &plan, comm)?;
    let rules = LinkingRules {
        linking_length: length::linking_length(about, config, &plan, &census, mean_mass)?,
        min_size: config.min_size,
        sides: plan.sides,
        seeds: config.seed_mass.map(|mass| seed_rule(about, mass)).transpose()?,
        allow_duplicate_ids: config.allow_duplicate_ids,
    };
    Ok(Ready { particles: loaded.particles, stretches: loaded.stretches, census, rules })
}

/// Collective: what the summary and the catalogue say was found.
fn totals(
    found: &FoundGroups,
    census: &ParticleCounts,
    comm: &Comm,
) -> Result<[(&'static str, u64); 6], CommError> {
    let grouped = found.group_of.iter().filter(|group| *group != 0).count() as u64;
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
