//! `inselberg phew` and `inselberg recut`.

use super::driver::{DriverRequest, ProcessSetup, check_picture, shows_progress};
use super::fault::{CommandError, warn};
use super::phew_run::PhewInput;
use super::{interrupt, memory, out, phew_run, preflight};
use crate::config::{Common, PhewJob, RecutJob};
use crate::report::{Recorder, node_loads};
use inselberg::Engine;
use inselberg::stage::Stage;
use inselberg_comm::{Comm, Rank};
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::particles::file_of;
use inselberg_io::staging;
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::sync::Arc;

/// Segments a snapshot on all ranks and writes what was asked for.
pub fn phew(job: &PhewJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let open = |facts: &InputFacts, process: &ProcessSetup| {
        let input = PhewInput::open(job, facts)?;
        check_memory(job, &input, process)?;
        // Only the first process makes files.
        if process.is_first {
            check_outputs(job)?;
        }
        Ok(input)
    };
    DriverRequest { launch: &job.launch, common, traced: job.trace.is_some() }.run(
        world,
        |comm| PhewInput::read_headers(job, comm),
        open,
        |input, pool, comm| on_rank(job, common, input, pool, comm),
    )
}

/// Checks that the memory suffices for the least that a run takes, as far as that is known before reading.
fn check_memory(job: &PhewJob, input: &PhewInput, process: &ProcessSetup) -> Result<(), CommandError> {
    let (path, snapshot, ranks) = (job.input.display(), input.snapshot(), process.ranks);
    if job.plot.is_some() {
        memory::check_picture(phew_run::picture_side(snapshot), ranks.n_here() as u64)?;
    }
    match input {
        PhewInput::Cells(_) => {
            let reader = ranks.process();
            let n_octs = process.in_parallel(|| phew_run::n_octs(snapshot, reader))??;
            memory::check_octs(path, n_octs, reader.1)
        }
        PhewInput::Particles { on_mesh, shape, .. } => {
            let least = on_mesh.least_memory(shape, ranks.process().1, process.n_workers);
            memory::check_mesh(path, least)
        }
    }
}

/// Collective: the work of one rank. Rank 0 prints the summary.
fn on_rank(
    job: &PhewJob,
    common: Common,
    input: &PhewInput,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let progress = shows_progress(common, comm);
    let recorder = Recorder::new(progress).with_pulse(comm.pulse()).keep_dot(job.task_graph.is_some());
    let recorder = Arc::new(recorder);
    let mut engine = Engine::of_program(comm.clone(), pool.clone(), recorder.clone());
    let failed = |error| CommandError::of_call(&job.input, &error);
    let clumps = input.segment(job, &mut engine).map_err(failed)?;
    let snapshot = input.snapshot();
    let mut staged = Staged::default();
    if let Some(path) = &job.output {
        let _write = Stage::begin("write", 0, comm, &*recorder);
        staged.extend(clumps.stage(path).map_err(failed)?);
    }
    let nodes = job.launch.diagnostics.then(|| node_loads(&recorder.graphs(), pool.seats()));
    let summary = phew_run::PhewSummary::new(job, input, &clumps, &recorder, nodes, comm)?;
    let lists = match job.ramses_text.is_some() || job.soap.is_some() || job.plot.is_some() {
        true => {
            let _lists = Stage::within("lists", comm);
            clumps.gather_structures().map_err(failed)?
        }
        false => None,
    };
    if let (Some(folder), Some(lists)) = (&job.ramses_text, &lists) {
        staged.extend(phew_run::stage_ramses_text(folder, lists, snapshot)?);
    }
    if let (Some(path), Some(lists)) = (&job.soap, &lists) {
        staged.extend(catalogue::stage_soap(path, lists)?);
    }
    if let Some(path) = &job.plot {
        let _picture = Stage::within("picture", comm);
        staged.extend(phew_run::draw(path, snapshot, &clumps, lists.as_ref())?);
    }
    if let (Some(path), true) = (&job.task_graph, is_first) {
        staged.extend(phew_run::stage_graphs(path, &recorder)?);
    }
    if let Some(path) = &job.trace {
        let _trace = Stage::within("trace", comm);
        staged.extend(phew_run::stage_trace(path, &recorder, comm)?);
    }
    if is_first { out::finish(common, staged, || summary.text(), || summary.json()) } else { Ok(()) }
}

fn check_outputs(job: &PhewJob) -> Result<(), CommandError> {
    let named = [
        ("catalogue", &job.output),
        ("RAMSES text", &job.ramses_text),
        ("SOAP", &job.soap),
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
    job.soap.as_deref().map_or(Ok(()), catalogue::check_soap)?;
    job.plot.as_deref().map_or(Ok(()), check_picture)
}

/// Tables and columns of a stored catalogue that a new cut of it lacks.
fn left_out(stored: &Catalogue, cut: &Catalogue) -> Vec<String> {
    let mut names = Vec::new();
    for table in &stored.tables {
        let Some(kept) = cut.tables.iter().find(|kept| kept.name == table.name) else {
            names.push(format!("table {}", table.name));
            continue;
        };
        let is_gone = |name: &String| !kept.columns.iter().any(|column| column.name == *name);
        let gone: Vec<&String> =
            table.columns.iter().map(|column| &column.name).filter(|name| is_gone(name)).collect();
        match gone[..] {
            [] => {}
            [one] => names.push(format!("column {one} of {}", table.name)),
            [first, .., last] => {
                names.push(format!("{} columns of {}, from {first} to {last}", gone.len(), table.name));
            }
        }
    }
    names
}

/// Applies new thresholds to a stored tree.
pub fn recut(job: &RecutJob, common: Common) -> Result<(), CommandError> {
    preflight::distinct(&[("input", &job.input), ("output", &job.output)])?;
    let stored = catalogue::read(&job.input)?;
    catalogue::check_output(&job.output)?;
    interrupt::guard()?;
    let cut = inselberg::phew::recut::recut(&stored, &job.thresholds)
        .map_err(|error| CommandError::about(&job.input, error))?;
    let staged = catalogue::stage(&job.output, &cut)?;
    let left_out = left_out(&stored, &cut);
    if !left_out.is_empty() && !common.quiet {
        let names = left_out.join(", ");
        warn(format!(
            "the new cut has other clumps, so the catalogue lacks what the stored one says of its own: {names}"
        ));
    }
    out::finish(common, staged, || catalogue::info::describe(&cut), || super::info::describe_json(&cut))
}
