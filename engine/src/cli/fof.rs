//! `inselberg fof`.

use super::fault::Failure;
use super::interrupt::Traces;
use super::ranks::Wanted;
use super::seating::Seating;
use super::{group_joints, interrupt, joints, out, preflight};
use inselberg::catalogue;
use inselberg::config::{Common, FofJob};
use inselberg::io::particles::{ParticleInput, file_of, open_particles};
use inselberg_comm::{Comm, Rank};
use inselberg_tasks::Team;
use std::io::IsTerminal;
use std::path::Path;

/// Finds groups on all ranks and writes what was asked for.
pub fn fof(job: &FofJob, common: Common) -> Result<(), Failure> {
    let ranks = Wanted::of(&job.launch).start()?;
    let seating = Seating::start(&ranks, &job.launch, common)?;
    let (input, traces) = ranks.prepare(|is_first| {
        let input = open_particles(&job.inputs)?;
        group_joints::check(&job.inputs[0], input.as_ref(), &job.fof)?;
        let traces = is_first.then(|| guarded(job)).transpose()?;
        Ok((input, traces))
    })?;
    ranks.run(|comm| {
        if let Some(traces) = traces.clone() {
            comm.before_end(move || traces.wipe());
        }
        let _seat = seating.take(comm.rank());
        on_rank(job, common, input.as_ref(), seating.team(comm.rank()), comm)
    })
}

/// Only the first process writes: that it can, and that nothing half written stays.
fn guarded(job: &FofJob) -> Result<Traces, Failure> {
    check_outputs(job)?;
    let files: Vec<&Path> =
        [&job.output, &job.group_ids, &job.plot].into_iter().flatten().map(AsRef::as_ref).collect();
    Ok(interrupt::guard(&files, &[]))
}

fn check_outputs(job: &FofJob) -> Result<(), Failure> {
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
    job.plot.as_deref().map_or(Ok(()), joints::check_picture)
}

/// The work of one rank. All ranks make the same calls; the first speaks.
fn on_rank(
    job: &FofJob,
    common: Common,
    input: &dyn ParticleInput,
    team: Team,
    comm: &Comm,
) -> Result<(), Failure> {
    let is_first = comm.rank() == Rank(0);
    let progress = is_first && !common.quiet && !common.json && std::io::stderr().is_terminal();
    let (outcome, mut stages) = group_joints::find(&job.inputs[0], input, &job.fof, team, comm, progress)?;
    comm.at("catalogue");
    let writing = std::time::Instant::now();
    if let Some(path) = &job.output {
        joints::write(path, &outcome.catalogue, comm)?;
    }
    if let (Some(path), Some(ids)) = (&job.group_ids, &outcome.group_ids) {
        joints::write(path, ids, comm)?;
    }
    group_joints::add_stage(&mut stages, "write", writing.elapsed());
    let summary = group_joints::Summary::of(&outcome, stages, job.launch.diagnostics, comm)?;
    if let Some(path) = &job.plot {
        comm.at("picture");
        group_joints::draw(path, input, outcome, comm)?;
    }
    if is_first { out::report(common, || summary.text(), || summary.json()) } else { Ok(()) }
}
