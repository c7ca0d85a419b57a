//! `inselberg fof`.

use super::driver::{DriverRequest, ProcessSetup, check_picture, shows_progress, stage_catalogue};
use super::fault::CommandError;
use super::{fof_run, memory, out, preflight};
use crate::config::{Common, FofJob};
use inselberg::stage::Stage;
use inselberg_comm::{Comm, Rank};
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::particles::{ParticleHeader, ParticleInput, file_of, open_particles_from};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;

/// Finds groups on all ranks and writes what was asked for.
pub fn fof(job: &FofJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let open = |facts: &InputFacts, process: &ProcessSetup| {
        let input = open_particles_from(facts);
        fof_run::check(&job.inputs[0], input.as_ref(), &job.fof)?;
        check_memory(job, input.about(), process.ranks.process().1)?;
        // Only the first process makes files.
        if process.is_first {
            check_outputs(job)?;
        }
        Ok(input)
    };
    DriverRequest { launch: &job.launch, common, traced: false }.run(
        world,
        |comm| fof_run::read_headers(&job.inputs, &job.defaults, comm),
        open,
        |input, pool, comm| on_rank(job, common, input.as_ref(), pool, comm),
    )
}

/// Checks that the memory suffices for the least that a search takes. Species that neither link nor are attached are
/// not read.
fn check_memory(job: &FofJob, about: &ParticleHeader, n_processes: usize) -> Result<(), CommandError> {
    let is_read = |kind: &Option<u8>| {
        kind.is_none_or(|k| job.fof.linking[usize::from(k)] || job.fof.attaching[usize::from(k)])
    };
    let read: Vec<_> = about.species.iter().filter(|s| is_read(&s.kind)).collect();
    let double = read.iter().any(|s| s.is_double);
    let each = (if double { 24 } else { 12 }) + if read.iter().any(|s| s.has_ids) { 8 } else { 0 };
    let n = read.iter().map(|s| s.n).sum::<u64>() / n_processes as u64;
    memory::check_search(job.inputs[0].display(), n, each)
}

fn check_outputs(job: &FofJob) -> Result<(), CommandError> {
    let named = [("catalogue", &job.output), ("group IDs", &job.group_ids), ("plot", &job.plot)];
    let mut places: Vec<_> =
        named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))).collect();
    preflight::distinct(&places)?;
    for input in &job.inputs {
        places.insert(0, ("input", file_of(input)));
        preflight::distinct(&places)?;
        places.remove(0);
    }
    for path in [&job.output, &job.group_ids].into_iter().flatten() {
        catalogue::check_output(path)?;
    }
    job.plot.as_deref().map_or(Ok(()), check_picture)
}

/// Collective: the work of one rank. Rank 0 prints the summary.
fn on_rank(
    job: &FofJob,
    common: Common,
    input: &dyn ParticleInput,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let progress = shows_progress(common, comm);
    let (outcome, recorder) = fof_run::find(&job.inputs[0], input, &job.fof, pool, comm, progress)?;
    let writing = Stage::begin("write", 0, comm, &recorder);
    let mut staged = Staged::default();
    if let Some(path) = &job.output {
        staged.extend(stage_catalogue(path, &outcome.catalogue, comm)?);
    }
    if let (Some(path), Some(ids)) = (&job.group_ids, &outcome.group_ids) {
        staged.extend(stage_catalogue(path, ids, comm)?);
    }
    drop(writing);
    let summary = fof_run::FofSummary::new(input, &outcome, recorder.stages(), job.launch.diagnostics, comm)?;
    if let Some(path) = &job.plot {
        let _picture = Stage::within("picture", comm);
        staged.extend(fof_run::draw(path, input, outcome, comm)?);
    }
    if is_first { out::finish(common, staged, || summary.text(), || summary.json()) } else { Ok(()) }
}
