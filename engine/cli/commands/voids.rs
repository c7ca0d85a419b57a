//! `inselberg voids`.

use super::driver::{
    AssumedUnits, ProcessSetup, RankTask, RunCosts, RunSummary, SnapshotJob, check_shown, notes_text,
    recorder,
};
use super::estimate::Estimate;
use super::fault::CommandError;
use super::fof_run::read_headers;
use super::grouped::grouped;
#[cfg(feature = "plot")]
use super::pictures;
use super::{memory, preflight};
use crate::config::{Launch, VoidsJob};
use crate::report::{Count, RankReport, StageTime, counts_of, table_json, table_text};
#[cfg(feature = "plot")]
use inselberg::stage::Stage;
use inselberg::{Engine, OpenParticles, Voids};
use inselberg_comm::{Comm, Rank};
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
#[cfg(feature = "plot")]
use inselberg_io::catalogue::Attribute;
#[cfg(feature = "plot")]
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::particles::{ParticleHeader, Species, file_of};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl SnapshotJob for VoidsJob {
    type Input = OpenParticles;

    fn launch(&self) -> &Launch {
        &self.launch
    }

    fn is_traced(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn catalogue(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn other_results(&self) -> Vec<(&'static str, &Path)> {
        self.shown.plot.as_deref().map(|path| ("--plot", path)).into_iter().collect()
    }

    fn read_headers(&self, comm: &Comm) -> Result<InputFacts, CommandError> {
        read_headers(&self.inputs, &self.defaults, comm)
    }

    fn open(&self, facts: &InputFacts, process: &ProcessSetup) -> Result<OpenParticles, CommandError> {
        let input = OpenParticles::from_headers(facts.clone());
        check(self, &input)?;
        let of_process = n_particles(self, &input) / process.ranks.process().1 as u64;
        memory::check_mesh(self.inputs[0].display(), least_memory(of_process, self.graph.neighbours))?;
        // Only the first process makes files.
        if process.is_first {
            check_outputs(self)?;
        }
        Ok(input)
    }

    fn estimate(&self, input: &OpenParticles) -> Result<Estimate, CommandError> {
        let n = n_particles(self, input);
        let input = format!("{}, {} particles take part", input.format(), grouped(n));
        Ok(Estimate { input, least: least_memory(n, self.graph.neighbours), most: None })
    }

    fn work(
        &self,
        task: &RankTask<'_>,
        input: &OpenParticles,
        pool: ThreadPool,
        comm: &Comm,
    ) -> Result<(), CommandError> {
        on_rank(self, task, input, pool, comm)
    }
}

/// Whether the input meets the needs of the job.
fn check(job: &VoidsJob, input: &OpenParticles) -> Result<(), CommandError> {
    let graph = job.graph.config().map_err(|error| CommandError::of_call(&job.inputs[0], &error))?;
    let found = input.on_mesh(&graph.mesh).map(drop);
    found.map_err(|error| CommandError::of_input(&job.inputs[0], &error))
}

/// The number of particles that take part. A plain array has no types.
fn n_particles(job: &VoidsJob, input: &OpenParticles) -> u64 {
    let species = &input.reader().about().species;
    let takes_part = |species: &Species| species.may_be(|kind| job.graph.types.contains(&kind));
    species.iter().filter(|species| takes_part(species)).map(|species| species.n).sum()
}

/// Bytes of particles, densities and links. All particles take part, unless a threshold leaves some out.
fn least_memory(n: u64, neighbours: usize) -> u64 {
    n * (150 + 4 * neighbours as u64)
}

fn check_outputs(job: &VoidsJob) -> Result<(), CommandError> {
    let named = [("catalogue", &job.output), ("plot", &job.shown.plot)];
    let places: Vec<_> = named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))).collect();
    for input in &job.inputs {
        preflight::distinct(&[&[("input", file_of(input))], places.as_slice()].concat())?;
    }
    job.output.as_deref().map_or(Ok(()), catalogue::check_output)?;
    check_shown(&job.shown)
}

/// Collective: the work of one rank.
fn on_rank(
    job: &VoidsJob,
    task: &RankTask<'_>,
    input: &OpenParticles,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let recorder = Arc::new(recorder(task.common, comm));
    let mut engine = Engine::of_program(comm.clone(), pool, recorder.clone());
    let failed = |error| CommandError::of_call(&job.inputs[0], &error);
    let mut voids = engine.voids(input, &job.graph, &job.voids).map_err(failed)?;
    voids.add_attributes(task.attributes.clone());
    #[cfg(feature = "plot")]
    let maps = job.shown.has_maps().then(|| maps(job, &mut voids, comm)).transpose()?;
    let mut of_voids = Staged::default();
    if let Some(path) = &job.output {
        of_voids = voids.stage(path).map_err(failed)?;
    }
    let about = input.reader().about();
    let summary = VoidSummary::new(about, &voids, recorder.stages(), job.launch.diagnostics, comm)?;
    let mut staged = Staged::default();
    #[cfg(feature = "plot")]
    if let Some(maps) = maps {
        let _picture = Stage::within("picture", comm);
        let catalogue = voids.gather(0).map_err(failed)?;
        let about = picture_about(job, about, &summary);
        staged.extend(pictures::stage(&job.shown, maps, catalogue.as_ref(), about, comm)?);
    }
    // The catalogue stands for all results, so it gets its name last.
    staged.extend(of_voids);
    if is_first { (task.hand_in)(staged, &summary) } else { Ok(()) }
}

/// Collective: the maps of a search. The density is then freed.
#[cfg(feature = "plot")]
fn maps(job: &VoidsJob, voids: &mut Voids, comm: &Comm) -> Result<pictures::ShownMaps, CommandError> {
    let _maps = Stage::within("picture", comm);
    let failed = |error| CommandError::of_call(&job.inputs[0], &error);
    let (space, finest) = voids.map_box().map_err(failed)?;
    let scale = scale_of(voids.attributes());
    let (views, rows) = pictures::views((&job.inputs[0], &job.shown, &scale), None, (&space, finest), comm)?;
    let maps = voids.maps(&views).map_err(failed)?;
    voids.forget_density();
    Ok(pictures::ShownMaps::new(space, maps, rows))
}

/// The wall threshold among the attributes of a catalogue.
#[cfg(feature = "plot")]
fn wall_of(attributes: &[(String, Attribute)]) -> f64 {
    let wall = attributes.iter().find(|(name, _)| name == "wall_threshold");
    wall.map_or(0.0, |(_, value)| if let Attribute::Real(wall) = value { *wall } else { 0.0 })
}

/// What a search says of itself in a picture.
#[cfg(feature = "plot")]
fn picture_about<'a>(
    job: &VoidsJob,
    about: &ParticleHeader,
    summary: &'a VoidSummary,
) -> pictures::RunAbout<'a> {
    let inputs: Vec<_> = job.inputs.iter().map(|path| path.display().to_string()).collect();
    let mut title = format!("{},  {} neighbours", about.format, job.graph.neighbours);
    title += &format!(",  relevance {}", job.voids.relevance);
    let wall = summary.wall;
    if wall > 0.0 {
        title += &format!(",  walls > {wall} of the mean");
    }
    pictures::RunAbout {
        title,
        subtitle: String::new(),
        facts: vec![("Input", inputs.join(" "))],
        warnings: summary.warnings.clone(),
        counts: summary.counts.clone(),
        code_density: None,
        things: "particles",
        costs: &summary.costs,
    }
}

/// The summary of a search.
struct VoidSummary {
    counts: Vec<Count>,
    costs: RunCosts,
    assumed: AssumedUnits,
    n_ranks: usize,
    /// Notes for users about the input.
    notes: Vec<String>,
    warnings: Vec<String>,
    /// The wall threshold in mean densities; 0 for none.
    #[cfg(feature = "plot")]
    wall: f64,
}

impl VoidSummary {
    /// Collective: over all ranks.
    fn new(
        about: &ParticleHeader,
        voids: &Voids,
        stages: Vec<StageTime>,
        diagnostics: bool,
        comm: &Comm,
    ) -> Result<Self, CommandError> {
        let assumed = AssumedUnits::new(Some(about));
        let notes: Vec<String> = voids.warnings();
        Ok(Self {
            costs: RunCosts::new(stages, None, diagnostics, comm)?,
            counts: counts_of(voids.attributes(), &COUNTS),
            warnings: notes.iter().cloned().chain(assumed.sentence()).collect(),
            notes,
            assumed,
            n_ranks: comm.n_ranks(),
            #[cfg(feature = "plot")]
            wall: wall_of(voids.attributes()),
        })
    }
}

/// Counts of the summary, and their attributes.
const COUNTS: [(&str, &str); 6] = [
    ("particles", "n_particles"),
    ("test particles", "n_test_particles"),
    ("minima", "n_minima"),
    ("zones", "n_zones"),
    ("voids", "n_voids"),
    ("levels", "n_levels"),
];

impl RunSummary for VoidSummary {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn brief(&self) -> String {
        let shown = self.counts.iter().filter(|(name, _)| ["zones", "voids"].contains(name));
        let text = |(name, n): &Count| n.map(|n| format!("{} {name}", grouped(n.cast_unsigned())));
        shown.filter_map(text).collect::<Vec<_>>().join(", ")
    }

    fn text(&self) -> String {
        let RunCosts { stages, ranks, peak_memory } = &self.costs;
        let table = table_text(&self.counts, "particles", stages, *peak_memory);
        let ranks = ranks.as_ref().map_or(String::new(), |ranks| format!("\n{}", ranks.text()));
        format!("{}{}{table}{ranks}", notes_text(&self.notes), self.assumed.text())
    }

    fn json(&self) -> Value {
        let RunCosts { stages, ranks, peak_memory } = &self.costs;
        let mut summary = table_json(&self.counts, "particles", stages, *peak_memory);
        summary["assumed_units"] = self.assumed.json();
        summary["notes"] = json!(self.notes);
        summary["n_ranks"] = json!(self.n_ranks);
        summary["ranks"] = ranks.as_ref().map_or(Value::Null, RankReport::json);
        summary
    }
}
