//! `inselberg phew` and `inselberg recut`.

use super::fault::Failure;
use super::joints::PhewInput;
use super::ranks::{Ranks, Wanted};
use super::seating::Seating;
use super::{interrupt, joints, memory, out, preflight};
use inselberg::catalogue;
use inselberg::config::{Common, PhewJob, RecutJob};
use inselberg::io::particles::file_of;
use inselberg::observe::Observer;
use inselberg::staging::{self, Staged};
use inselberg_comm::{Comm, Rank};
use inselberg_tasks::Team;
use std::io::IsTerminal;

/// Segments a snapshot on all ranks and writes what was asked for.
pub fn phew(job: &PhewJob, common: Common, world: Comm) -> Result<(), Failure> {
    let ranks = Wanted { noted: job.trace.is_some(), ..Wanted::of(&job.launch) }.start(world)?;
    let seating = Seating::start(&ranks, &job.launch, common)?;
    let facts = ranks.together(|comm| PhewInput::look(job, comm))?;
    let input = ranks.prepare(|is_first| {
        let input = PhewInput::open(job, &facts)?;
        check_memory(job, &input, &ranks)?;
        // Only the first process makes files.
        if is_first {
            check_outputs(job)?;
        }
        Ok(input)
    })?;
    ranks.prepare(|_| interrupt::guard())?;
    ranks.run(|comm| {
        comm.before_end(interrupt::wipe);
        let _seat = seating.take(comm.rank());
        let team = seating.team(comm.rank()).traced(job.trace.is_some());
        on_rank(job, common, &input, team, comm)
    })
}

/// That what a run surely takes is left, as far as that is known before reading.
fn check_memory(job: &PhewJob, input: &PhewInput, ranks: &Ranks) -> Result<(), Failure> {
    let (path, snapshot) = (job.input.display(), input.snapshot());
    if job.plot.is_some() {
        memory::check_picture(joints::picture_side(snapshot), ranks.n_here() as u64)?;
    }
    match input {
        PhewInput::Cells(_) => {
            memory::check_octs(path, joints::n_octs(snapshot, ranks.process())?, ranks.process().1)
        }
        PhewInput::Particles(particles, mesh) => {
            let least = particles.least_memory(mesh, ranks.process().1, rayon::current_num_threads());
            memory::check_mesh(path, least)
        }
    }
}

/// The work of one rank. All ranks make the same calls; the first speaks.
fn on_rank(job: &PhewJob, common: Common, input: &PhewInput, team: Team, comm: &Comm) -> Result<(), Failure> {
    let is_first = comm.rank() == Rank(0);
    let progress = is_first && !common.quiet && !common.json && std::io::stderr().is_terminal();
    let (outcome, recorder) = joints::segment(job, input, team.clone(), comm, progress)?;
    let snapshot = input.snapshot();
    comm.at("catalogue");
    let mut staged = Staged::default();
    if let Some(path) = &job.output {
        recorder.begin("write", 0);
        staged.extend(joints::stage(path, &outcome.catalogue, comm)?);
        recorder.end("write", 0);
    }
    let summary = joints::Summary::of(input, &outcome, &recorder, &team, job.launch.diagnostics, comm)?;
    let lists = match job.ramses_text.is_some() || job.plot.is_some() {
        true => joints::lists(outcome.catalogue, comm)?,
        false => None,
    };
    if let (Some(folder), Some(lists)) = (&job.ramses_text, &lists) {
        staged.extend(joints::stage_ramses_text(folder, lists, snapshot)?);
    }
    if let Some(path) = &job.plot {
        comm.at("picture");
        staged.extend(joints::draw(path, snapshot, &outcome.field, &outcome.part, lists.as_ref(), comm)?);
    }
    if let (Some(path), true) = (&job.task_graph, is_first) {
        staged.extend(joints::stage_graphs(path, &recorder)?);
    }
    if let Some(path) = &job.trace {
        comm.at("trace");
        staged.extend(joints::stage_trace(path, &recorder, comm)?);
    }
    if is_first { out::finish(common, staged, || summary.text(), || summary.json()) } else { Ok(()) }
}

fn check_outputs(job: &PhewJob) -> Result<(), Failure> {
    let named = [
        ("catalogue", &job.output),
        ("RAMSES text", &job.ramses_text),
        ("plot", &job.plot),
        ("trace", &job.trace),
        ("task graph", &job.task_graph),
    ];
    // An input given by its info file is the folder around it, whose files must not be replaced.
    let file = file_of(&job.input);
    let input = match job.mesh {
        None if file.is_file() => preflight::parent(file),
        _ => file,
    };
    let mut places = vec![("input", file), ("input", input)];
    places.dedup();
    places.extend(named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))));
    preflight::distinct(&places)?;
    if let Some(path) = &job.output {
        catalogue::check_output(path)?;
    }
    for path in [&job.trace, &job.task_graph].into_iter().flatten() {
        staging::check_writable(path)?;
    }
    job.ramses_text.as_deref().map_or(Ok(()), preflight::folder)?;
    job.plot.as_deref().map_or(Ok(()), joints::check_picture)
}

/// Applies new thresholds to a stored tree.
pub fn recut(job: &RecutJob, common: Common) -> Result<(), Failure> {
    preflight::distinct(&[("input", &job.input), ("output", &job.output)])?;
    let stored = catalogue::read(&job.input)?;
    catalogue::check_output(&job.output)?;
    interrupt::guard()?;
    let cut = inselberg::recut::recut(&stored, &job.thresholds)
        .map_err(|error| Failure::about(&job.input, error))?;
    let staged = catalogue::stage(&job.output, &cut)?;
    out::finish(common, staged, || catalogue::info::describe(&cut), || joints::describe_json(&cut))
}
