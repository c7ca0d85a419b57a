//! `inselberg fof`.

use super::driver::{DriverRequest, ProcessSetup, check_picture, shows_progress};
use super::fault::CommandError;
use super::{fof_run, memory, out, preflight};
use crate::config::{Common, FofJob};
use crate::report::Recorder;
use inselberg::fof::FofConfig;
use inselberg::stage::Stage;
use inselberg::{Engine, OpenParticles};
use inselberg_comm::{Comm, Rank};
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::particles::{ParticleHeader, file_of};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::sync::Arc;

/// Finds groups on all ranks and writes what was asked for.
pub fn fof(job: &FofJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let open = |facts: &InputFacts, process: &ProcessSetup| {
        let input = OpenParticles::from_headers(facts.clone());
        let config = fof_run::checked(job, &input)?;
        check_memory(job, input.reader().about(), &config, process.ranks.process().1)?;
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
        |input, pool, comm| on_rank(job, common, input, pool, comm),
    )
}

/// Checks that the memory suffices for the least that a search takes. Species that neither link nor are attached are
/// not read.
fn check_memory(
    job: &FofJob,
    about: &ParticleHeader,
    config: &FofConfig,
    n_processes: usize,
) -> Result<(), CommandError> {
    let is_read = |kind: &Option<u8>| {
        kind.is_none_or(|k| config.linking[usize::from(k)] || config.attaching[usize::from(k)])
    };
    let read: Vec<_> = about.species.iter().filter(|s| is_read(&s.kind)).collect();
    let double = read.iter().any(|s| s.is_double);
    let each = (if double { 24 } else { 12 }) + if read.iter().any(|s| s.has_ids) { 8 } else { 0 };
    let n = read.iter().map(|s| s.n).sum::<u64>() / n_processes as u64;
    memory::check_search(job.inputs[0].display(), n, each)
}

fn check_outputs(job: &FofJob) -> Result<(), CommandError> {
    let named =
        [("catalogue", &job.output), ("group IDs", &job.group_ids), ("SOAP", &job.soap), ("plot", &job.plot)];
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
    job.soap.as_deref().map_or(Ok(()), catalogue::check_soap)?;
    job.plot.as_deref().map_or(Ok(()), check_picture)
}

/// Collective: the work of one rank. Rank 0 prints the summary.
fn on_rank(
    job: &FofJob,
    common: Common,
    input: &OpenParticles,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let progress = shows_progress(common, comm);
    let recorder = Arc::new(Recorder::new(progress).with_pulse(comm.pulse()));
    let mut engine = Engine::of_program(comm.clone(), pool, recorder.clone());
    let failed = |error| CommandError::of_call(&job.inputs[0], &error);
    let groups = engine.fof_particles(input, &job.types, &job.fof).map_err(failed)?;
    let writing = Stage::begin("write", 0, comm, &*recorder);
    let mut staged = Staged::default();
    if let Some(path) = &job.output {
        staged.extend(groups.stage(path).map_err(failed)?);
    }
    if let Some(path) = &job.group_ids {
        staged.extend(groups.stage_group_ids(path).map_err(failed)?);
    }
    if let Some(path) = &job.soap {
        let whole = groups.gather(0).map_err(failed)?;
        staged.extend(whole.map_or(Ok(Staged::default()), |whole| catalogue::stage_soap(path, &whole))?);
    }
    drop(writing);
    let (about, stages) = (input.reader().about(), recorder.stages());
    let summary = fof_run::FofSummary::new(about, &groups, stages, job.launch.diagnostics, comm)?;
    if let Some(path) = &job.plot {
        let _picture = Stage::within("picture", comm);
        let catalogue = groups.gather(0).map_err(failed)?;
        staged.extend(fof_run::draw(path, about, &groups, catalogue.as_ref())?);
    }
    if is_first { out::finish(common, staged, || summary.text(), || summary.json()) } else { Ok(()) }
}
