//! `inselberg phew` and `inselberg recut`.

use super::driver::{ProcessSetup, RankTask, SnapshotJob};
use super::estimate::Estimate;
use super::fault::{CommandError, warn};
use super::grouped::grouped;
use super::level_counts::LevelCounts;
use super::phew_run::{PhewInput, PhewSummary};
#[cfg(feature = "plot")]
use super::pictures;
use super::results::{ResultFile, ResultKind};
use super::search::{Search, SearchRun, on_rank};
use super::{interrupt, memory, observer_files, out, phew_run, preflight, results, tracked, viewers};
#[cfg(feature = "plot")]
use crate::config::ShownResults;
use crate::config::{Common, Launch, PhewJob, RecutJob};
use crate::report::{CatalogueTotals, Count, table_text};
use inselberg::stage::Stage;
use inselberg::{Clumps, Engine, Error, is_void_catalogue, recut_voids};
use inselberg_comm::Comm;
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::catalogue::ramses_text::ramses_text_names;
use inselberg_io::catalogue::{Attribute, Catalogue, SoapPlace};
use inselberg_io::params::InputScale;
use inselberg_io::particles::file_of;
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::path::PathBuf;

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

    fn results(&self) -> Vec<ResultFile<'_>> {
        let vtk = self.vtk.as_ref().map(|(folder, _)| folder);
        let regions = self.observers.regions.as_ref();
        ResultFile::named([
            ("--output", "catalogue", ResultKind::Catalogue, self.output.as_ref()),
            ("--ramses-text", "RAMSES text", ResultKind::Folder, self.ramses_text.as_ref()),
            ("--soap", "SOAP", ResultKind::Soap, self.soap.as_ref()),
            ("--yt", "folder for yt", ResultKind::Yt("clumps"), self.yt.as_ref()),
            ("--dendrogram", "dendrogram", ResultKind::Dendrogram, self.dendrogram.as_ref()),
            ("--labels-fits", "labels", ResultKind::Text, self.observers.labels.as_ref()),
            ("--regions", "regions", ResultKind::Text, regions),
            ("--plot", "plot", ResultKind::Picture, self.shown.plot.as_ref()),
            ("--report", "report", ResultKind::Report, self.shown.report.as_ref()),
            ("--trace", "trace", ResultKind::Text, self.trace.as_ref()),
            ("--task-graph", "task graph", ResultKind::Text, self.task_graph.as_ref()),
            ("--vtk", "folder for VTK", ResultKind::Vtk("clumps"), vtk),
        ])
    }

    fn counts(
        &self,
        attributes: &[(String, Attribute)],
    ) -> (Vec<Count>, &'static [(&'static str, &'static str)]) {
        (CatalogueTotals::from_attributes(attributes).rows().to_vec(), &phew_run::SHOWN)
    }

    fn follows(&self, attributes: &[(String, Attribute)]) -> bool {
        tracked::follows(&self.phew.tracks, attributes)
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
            check_outputs(self, &input, process.force)?;
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
        on_rank(self, task, input, &pool, comm)
    }
}

impl Search for PhewJob {
    type Found = Clumps;
    type Summary = PhewSummary;

    #[cfg(feature = "plot")]
    const ZOOMED: &'static [&'static str] = &["haloes"];

    #[cfg(feature = "plot")]
    fn shown(&self) -> &ShownResults {
        &self.shown
    }

    fn lists(&self) -> &'static [&'static str] {
        match (&self.soap, self.ramses_text.is_some() || self.shown.has_maps()) {
            (Some(_), _) => &["clumps", "haloes", "members"],
            (None, true) => &["clumps", "haloes"],
            (None, false) => &[],
        }
    }

    fn keeps_task_graphs(&self) -> bool {
        self.task_graph.is_some()
    }

    fn find(&self, input: &PhewInput, engine: &mut Engine) -> Result<Clumps, Error> {
        input.segment(self, engine)
    }

    fn summary(
        &self,
        input: &PhewInput,
        clumps: &Clumps,
        run: &SearchRun<'_>,
    ) -> Result<PhewSummary, CommandError> {
        PhewSummary::new(self, input, clumps, run)
    }

    fn stage_others(
        &self,
        input: &PhewInput,
        clumps: &Clumps,
        lists: Option<&Catalogue>,
        run: &SearchRun<'_>,
    ) -> Result<Staged, CommandError> {
        let mut staged = Staged::default();
        if let (Some(folder), Some(lists)) = (&self.ramses_text, lists) {
            staged.extend(phew_run::stage_ramses_text(folder, lists, input.snapshot())?);
        }
        if let (Some(path), Some(lists)) = (&self.soap, lists) {
            staged.extend(catalogue::stage_soap(&SoapPlace::new(path), lists, input.particles())?);
        }
        if self.yt.is_some() || self.vtk.is_some() || self.dendrogram.is_some() {
            let _viewers = Stage::within("viewers", run.comm);
            staged.extend(viewers::stage_of_phew(self, clumps, run.comm)?);
        }
        let of_observers = observer_files::stage_of_phew(&self.input, &self.observers, clumps);
        staged.extend(of_observers?);
        Ok(staged)
    }

    fn stage_traces(&self, run: &SearchRun<'_>) -> Result<Staged, CommandError> {
        let mut staged = Staged::default();
        if let (Some(path), true) = (&self.task_graph, run.is_first()) {
            staged.extend(phew_run::stage_graphs(path, run.recorder)?);
        }
        if let Some(path) = &self.trace {
            let _trace = Stage::within("trace", run.comm);
            staged.extend(phew_run::stage_trace(path, run.recorder, run.comm)?);
        }
        Ok(staged)
    }

    #[cfg(feature = "plot")]
    fn about<'a>(
        &'a self,
        input: &PhewInput,
        _: &Clumps,
        summary: &'a PhewSummary,
    ) -> pictures::RunAbout<'a> {
        phew_run::about(self, input, summary)
    }
}

/// Checks that a region of maps is in the box, before anything is read.
fn check_region(job: &PhewJob, input: &PhewInput) -> Result<(), CommandError> {
    let Some(region) = &job.shown.maps.region else { return Ok(()) };
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

/// Checks that the results can be written.
fn check_outputs(job: &PhewJob, input: &PhewInput, force: bool) -> Result<(), CommandError> {
    // An input given by its info file is the folder around it, whose files must not be replaced.
    let file = file_of(&job.input);
    let folder = match input {
        PhewInput::Cells(_) if file.is_file() => preflight::parent(file),
        _ => file,
    };
    let mut inputs = vec![file, folder];
    inputs.dedup();
    results::check(&job.results(), &inputs, force)?;
    let Some(folder) = &job.ramses_text else { return Ok(()) };
    let names = ramses_text_names(phew_run::output_number(input.snapshot()));
    names.iter().try_for_each(|name| preflight::replaceable(&folder.join(name), force))
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
        false => inselberg::recut(stored, &job.thresholds),
    };
    cut.map_err(|error| CommandError::about(&job.input, error))
}

/// Checks that the files of a new cut can be written, all to places of their own.
fn check_files_of_cut(job: &RecutJob, stored: &Catalogue, force: bool) -> Result<(), CommandError> {
    let regions = job.observers.regions.as_ref();
    let files = ResultFile::named([
        ("--output", "output", ResultKind::Catalogue, Some(&job.output)),
        ("--labels-fits", "labels", ResultKind::Text, job.observers.labels.as_ref()),
        ("--regions", "regions", ResultKind::Text, regions),
        ("--plot", "picture", ResultKind::Picture, job.shown.plot.as_ref()),
    ]);
    for file in &files {
        preflight::not_an_origin(&job.input, stored, (file.name, file.path))?;
    }
    results::check(&files, &[&job.input], force)
}

/// Applies new thresholds to a stored tree.
pub fn recut(job: &RecutJob, common: Common) -> Result<(), CommandError> {
    let stored = catalogue::read(&job.input)?;
    check_files_of_cut(job, &stored, common.force)?;
    interrupt::guard()?;
    let cut = new_cut(job, &stored)?;
    let mut staged = observer_files::stage_of_catalogue(&job.input, &job.observers, &cut)?;
    #[cfg(feature = "plot")]
    if let Some(plot) = &job.shown.plot {
        staged.extend(super::recut_picture::stage(plot, job, &stored, &cut)?);
    }
    staged.extend(catalogue::stage(&job.output, &cut)?);
    let left_out = left_out(&stored, &cut);
    if !left_out.is_empty() && !common.quiet {
        let names = left_out.join(", ");
        warn(format!(
            "the new cut has other clumps, so the catalogue lacks what the stored one says of its own: {names}"
        ));
    }
    out::finish(common, staged, || counts_text(&cut), || super::info::describe_json(&cut))
}

/// The counts of a catalogue of clumps or voids.
fn counts_text(whole: &Catalogue) -> String {
    let counts = match is_void_catalogue(whole) {
        true => super::voids::counts(&whole.attributes),
        false => CatalogueTotals::from_attributes(&whole.attributes).rows().to_vec(),
    };
    table_text(&counts, "cells", &[], None)
}
