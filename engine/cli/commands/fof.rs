//! `inselberg fof`.

use super::fault::CommandError;
use super::ranks::RankRequest;
use super::seating::Seating;
use super::{fof_run, interrupt, memory, out, phew_run, preflight};
use crate::config::{Common, FofJob};
use inselberg::stage::Stage;
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue;
use inselberg_io::particles::{ParticleHeader, ParticleInput, file_of, open_particles_from};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::io::IsTerminal;

/// Finds groups on all ranks and writes what was asked for.
pub fn fof(job: &FofJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let ranks = RankRequest::from_launch(&job.launch).start(world)?;
    let seating = Seating::new(&ranks, &job.launch, common)?;
    let facts = ranks.together(|comm| phew_run::look_at_input(&job.inputs, &job.defaults, comm))?;
    let input = ranks.prepare(|is_first| {
        let input = open_particles_from(&facts);
        fof_run::check(&job.inputs[0], input.as_ref(), &job.fof)?;
        check_memory(job, input.about(), ranks.process().1)?;
        // Only the first process makes files.
        if is_first {
            check_outputs(job)?;
        }
        Ok(input)
    })?;
    ranks.prepare(|_| interrupt::guard())?;
    ranks.run(|comm| {
        comm.before_end(interrupt::wipe);
        let (_threads, pool) = seating.start(comm.rank())?;
        on_rank(job, common, input.as_ref(), pool, comm)
    })
}

/// That what a search surely takes is left. Species that neither link nor are attached are not read.
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
    job.plot.as_deref().map_or(Ok(()), phew_run::check_picture)
}

/// The work of one rank. All ranks make the same calls; the first speaks.
fn on_rank(
    job: &FofJob,
    common: Common,
    input: &dyn ParticleInput,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let progress = is_first && !common.quiet && !common.json && std::io::stderr().is_terminal();
    let (outcome, recorder) = fof_run::find(&job.inputs[0], input, &job.fof, pool, comm, progress)?;
    let writing = Stage::begin("write", 0, comm, &recorder);
    let mut staged = Staged::default();
    if let Some(path) = &job.output {
        staged.extend(phew_run::stage(path, &outcome.catalogue, comm)?);
    }
    if let (Some(path), Some(ids)) = (&job.group_ids, &outcome.group_ids) {
        staged.extend(phew_run::stage(path, ids, comm)?);
    }
    drop(writing);
    let summary = fof_run::FofSummary::new(input, &outcome, recorder.stages(), job.launch.diagnostics, comm)?;
    if let Some(path) = &job.plot {
        let _picture = Stage::within("picture", comm);
        staged.extend(fof_run::draw(path, input, outcome, comm)?);
    }
    if is_first { out::finish(common, staged, || summary.text(), || summary.json()) } else { Ok(()) }
}
