//! `inselberg phew` and `inselberg recut`.

use super::driver::{ProcessSetup, RankTask, SnapshotJob, check_shown, recorder};
use super::estimate::Estimate;
use super::fault::{CommandError, warn};
use super::grouped::grouped;
use super::level_counts::LevelCounts;
use super::phew_run::PhewInput;
use super::{interrupt, memory, out, phew_run, preflight, viewers};
use crate::config::{Common, Launch, PhewJob, RecutJob};
use crate::report::node_loads;
use inselberg::Engine;
use inselberg::stage::Stage;
use inselberg::voids::{is_void_catalogue, recut_voids};
use inselberg_comm::{Comm, Rank};
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::catalogue::{Catalogue, SoapPlace};
use inselberg_io::params::InputScale;
use inselberg_io::particles::file_of;
use inselberg_io::staging;
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl SnapshotJob for PhewJob {
    type Input = PhewInput;

    fn launch(&self) -> &Launch {
        &self.launch
    }

    fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    fn inputs(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.input)
    }

    fn catalogue(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn other_results(&self) -> Vec<(&'static str, &Path)> {
        let files = [
            ("--ramses-text", &self.ramses_text),
            ("--soap", &self.soap),
            ("--yt", &self.yt),
            ("--dendrogram", &self.dendrogram),
            ("--plot", &self.shown.plot),
            ("--report", &self.shown.report),
            ("--trace", &self.trace),
            ("--task-graph", &self.task_graph),
        ];
        let vtk = self.vtk.as_ref().map(|(folder, _)| ("--vtk", folder.as_path()));
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?))).chain(vtk).collect()
    }

    fn read_headers(&self, comm: &Comm) -> Result<InputFacts, CommandError> {
        PhewInput::read_headers(self, comm)
    }

    fn open(&self, facts: &InputFacts, process: &ProcessSetup) -> Result<PhewInput, CommandError> {
        let input = PhewInput::open(self, facts)?;
        check_region(self, &input)?;
        check_memory(self, &input, process)?;
        // Only the first process makes files.
        if process.is_first {
            check_outputs(self, &input)?;
        }
        Ok(input)
    }

    fn estimate(&self, input: &PhewInput) -> Result<Estimate, CommandError> {
        estimate(input)
    }

    fn work(
        &self,
        task: &RankTask<'_>,
        input: &PhewInput,
        pool: ThreadPool,
        comm: &Comm,
    ) -> Result<(), CommandError> {
        on_rank(self, task, input, pool, comm)
    }
}

/// Checks that a region of maps is in the box, before anything is read.
fn check_region(job: &PhewJob, input: &PhewInput) -> Result<(), CommandError> {
    let Some(region) = &job.shown.region else { return Ok(()) };
    let (header, has_units) = (input.snapshot().header(), input.snapshot().has_units());
    let sides = header.coarse.map(|n| f64::from(n) * header.boxlen);
    let cube = region.cube(&InputScale::of_cells(header, has_units), header.origin, sides);
    cube.map(drop).map_err(|problem| CommandError::about(&job.input, problem))
}

/// Checks that there is enough memory for the least that a run takes, as far as that is known before reading.
fn check_memory(job: &PhewJob, input: &PhewInput, process: &ProcessSetup) -> Result<(), CommandError> {
    let (path, snapshot, ranks) = (job.input.display(), input.snapshot(), process.ranks);
    if job.shown.has_maps() {
        memory::check_picture(phew_run::MAP_SIDE, ranks.n_here() as u64)?;
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

/// From the headers alone.
fn estimate(input: &PhewInput) -> Result<Estimate, CommandError> {
    let snapshot = input.snapshot();
    let format = snapshot.header().format;
    if let PhewInput::Particles { particles, on_mesh, shape, .. } = input {
        let n: u64 = particles.species().map(|(_, n)| n).sum();
        let input = format!("{format}, {} particles", grouped(n));
        return Ok(Estimate { input, least: on_mesh.least_memory(shape, 1, 1), most: None });
    }
    let levels = LevelCounts::from_snapshot(snapshot)?;
    let (least, most) = levels.memory();
    let input = format!("{format}, {} leaf cells", grouped(levels.leaves()));
    Ok(Estimate { input, least, most: Some(most) })
}

/// Collective: the work of one rank.
fn on_rank(
    job: &PhewJob,
    task: &RankTask<'_>,
    input: &PhewInput,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let recorder = Arc::new(recorder(task.common, comm).keep_dot(job.task_graph.is_some()));
    let mut engine = Engine::of_program(comm.clone(), pool.clone(), recorder.clone());
    let failed = |error| CommandError::of_call(&job.input, &error);
    let mut clumps = input.segment(job, &mut engine).map_err(failed)?;
    clumps.add_attributes(task.attributes.clone());
    #[cfg(feature = "plot")]
    let maps = job.shown.has_maps().then(|| phew_run::maps(job, &mut clumps, comm)).transpose()?;
    let snapshot = input.snapshot();
    let (mut catalogue, mut staged) = (Staged::default(), Staged::default());
    if let Some(path) = &job.output {
        catalogue = clumps.stage(path).map_err(failed)?;
    }
    let nodes = job.launch.diagnostics.then(|| node_loads(&recorder.graphs(), pool.seats()));
    let summary = phew_run::PhewSummary::new(job, input, &clumps, &recorder, nodes, comm)?;
    let lists = match job.ramses_text.is_some() || job.soap.is_some() || job.shown.has_maps() {
        true => {
            let _lists = Stage::within("lists", comm);
            clumps.gather_tables(lists_of(job)).map_err(failed)?
        }
        false => None,
    };
    if let (Some(folder), Some(lists)) = (&job.ramses_text, &lists) {
        staged.extend(phew_run::stage_ramses_text(folder, lists, snapshot)?);
    }
    if let (Some(path), Some(lists)) = (&job.soap, &lists) {
        staged.extend(catalogue::stage_soap(&SoapPlace::new(path), lists, input.particles())?);
    }
    if job.yt.is_some() || job.vtk.is_some() || job.dendrogram.is_some() {
        let _viewers = Stage::within("viewers", comm);
        staged.extend(viewers::stage_of_phew(job, &clumps)?);
    }
    #[cfg(feature = "plot")]
    if let Some(maps) = maps {
        let _picture = Stage::within("picture", comm);
        let about = phew_run::about(job, input, &clumps, lists.as_ref(), &summary);
        staged.extend(super::pictures::stage(&job.shown, maps, lists.as_ref(), about, comm)?);
    }
    if let (Some(path), true) = (&job.task_graph, is_first) {
        staged.extend(phew_run::stage_graphs(path, &recorder)?);
    }
    if let Some(path) = &job.trace {
        let _trace = Stage::within("trace", comm);
        staged.extend(phew_run::stage_trace(path, &recorder, comm)?);
    }
    // The catalogue stands for all results, so it gets its name last.
    staged.extend(catalogue);
    if is_first { (task.hand_in)(staged, &summary) } else { Ok(()) }
}

/// The tables that the other results need.
fn lists_of(job: &PhewJob) -> &'static [&'static str] {
    if job.soap.is_some() { &["clumps", "haloes", "members"] } else { &["clumps", "haloes"] }
}

fn check_outputs(job: &PhewJob, input: &PhewInput) -> Result<(), CommandError> {
    let named = [
        ("catalogue", &job.output),
        ("RAMSES text", &job.ramses_text),
        ("SOAP", &job.soap),
        ("dendrogram", &job.dendrogram),
        ("plot", &job.shown.plot),
        ("report", &job.shown.report),
        ("trace", &job.trace),
        ("task graph", &job.task_graph),
    ];
    // An input given by its info file is the folder of this file; the files there must not be replaced.
    let file = file_of(&job.input);
    let input = match input {
        PhewInput::Cells(_) if file.is_file() => preflight::parent(file),
        _ => file,
    };
    let mut places = vec![("input", file), ("input", input)];
    places.dedup();
    places.extend(named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))));
    preflight::distinct(&places)?;
    viewers::folders_of_phew(job).check(&places)?;
    if let Some(path) = &job.output {
        catalogue::check_output(path)?;
    }
    job.dendrogram.as_deref().map_or(Ok(()), catalogue::check_viewer)?;
    for path in [&job.trace, &job.task_graph, &job.dendrogram].into_iter().flatten() {
        staging::check_writable(path)?;
    }
    job.ramses_text.as_deref().map_or(Ok(()), preflight::folder)?;
    job.soap.as_deref().map_or(Ok(()), preflight::soap)?;
    check_shown(&job.shown)
}

/// Tables and columns of a stored catalogue that a new cut does not have.
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

/// A stored catalogue of clumps or voids under new thresholds.
fn new_cut(job: &RecutJob, stored: &Catalogue) -> Result<Catalogue, CommandError> {
    let has_voids = is_void_catalogue(stored);
    let (other, of) = if has_voids { (job.for_clumps, "voids") } else { (job.for_voids, "clumps") };
    if let Some(option) = other {
        let problem = format!("--{option} for a catalogue of {of}; expected a threshold of {of}");
        return Err(CommandError::about(&job.input, problem));
    }
    let cut = match has_voids {
        true => recut_voids(stored, &job.of_voids),
        false => inselberg::phew::recut::recut(stored, &job.thresholds),
    };
    cut.map_err(|error| CommandError::about(&job.input, error))
}

/// Applies new thresholds to a stored tree.
pub fn recut(job: &RecutJob, common: Common) -> Result<(), CommandError> {
    preflight::distinct(&[("input", &job.input), ("output", &job.output)])?;
    let stored = catalogue::read(&job.input)?;
    catalogue::check_output(&job.output)?;
    interrupt::guard()?;
    let cut = new_cut(job, &stored)?;
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
