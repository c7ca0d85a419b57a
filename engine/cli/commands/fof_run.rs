//! Calls of the library for `inselberg fof`, and its summary.

use super::driver::{AssumedUnits, agreed_error};
use super::fault::CommandError;
use super::particle_summary::ParticleSummary;
use super::search::SearchRun;
use crate::config::FofJob;
use crate::report::group_counts;
use inselberg::fof::FofRequest;
use inselberg::{FofGroups, OpenParticles};
use inselberg_comm::Comm;
use inselberg_io::InputFacts;
use inselberg_io::collective::shared;
use inselberg_io::particles::{InputDefaults, ParticleHeader, read_particle_headers_with};
use std::path::PathBuf;

/// Collective: reads the headers of the particles in these files.
pub fn read_headers(
    paths: &[PathBuf],
    defaults: &InputDefaults,
    comm: &Comm,
) -> Result<InputFacts, CommandError> {
    shared(comm, || read_particle_headers_with(paths, defaults)).map_err(agreed_error)
}

/// What a job asks for, if the input can be searched with it.
pub fn checked(job: &FofJob, input: &OpenParticles) -> Result<FofRequest, CommandError> {
    let path = &job.inputs[0];
    let request = job.types.request(&job.fof).map_err(|error| CommandError::of_call(path, &error))?;
    inselberg::fof::run::check(input.reader().about(), &request)
        .map_err(|error| CommandError::of_input(path, &error))?;
    Ok(request)
}

/// The counts of the objects found, each with its words.
pub const SHOWN: [(&str, &str); 2] = [("groups", "groups"), ("in groups", "particles in groups")];

/// Collective: the summary of a search.
pub fn summary(
    job: &FofJob,
    about: &ParticleHeader,
    groups: &FofGroups,
    run: &SearchRun<'_>,
) -> Result<ParticleSummary, CommandError> {
    let table = groups.table("Groups").expect("a catalogue of groups has a table");
    let is_used = ["bound_mass", "mass_200_crit"].iter().any(|name| table.column(name).is_some());
    let assumed = AssumedUnits::new(Some(about)).with_cosmology(about.cosmology.as_ref().filter(|_| is_used));
    let counts = group_counts(groups.attributes());
    let summary = ParticleSummary::new(counts, &SHOWN, groups.warnings(), assumed, &job.launch, run)?;
    Ok(summary.with_linking_length(groups.linking_length()))
}
