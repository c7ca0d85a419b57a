//! Where the command line meets the engine: one thin function a meeting.

use super::fault::CommandError;
use super::fof_run::Assumed;
use crate::config::PhewJob;
use crate::report::{
    CatalogueTotals, NodeLoad, RankReport, Recorder, StageTime, node_loads, peak_memory, summary_json,
    summary_text, trace, workers_json, workers_text,
};
use crate::synth::{ParticleBox, ParticleMeta, stage_particles};
use inselberg::error::RunError;
use inselberg::executor::Executor;
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::partition::LocalField;
use inselberg::phew::run::{ChosenField, PhewOutcome, run, run_on_particles};
use inselberg::stage::Stage;
use inselberg_comm::agree::{AgreeError, share_of_rank};
use inselberg_comm::{Comm, Rank, Reduce};
use inselberg_io::catalogue;
use inselberg_io::catalogue::{Catalogue, CataloguePart};
use inselberg_io::collective::shared;
use inselberg_io::particles::{
    InputDefaults, PARTICLE_READERS, ParticleHeader, file_of, look_at_particles, look_at_particles_with,
    open_particles_from,
};
use inselberg_io::ramses::write::StagedOutput;
use inselberg_io::staging::{Staged, stage_file};
use inselberg_io::{FieldInfo, Header, InputFacts, READERS, ReadResult, Snapshot, open_from};
use inselberg_tasks::ThreadPool;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Pixels along a coarse cell of the picture: 2 to this power.
#[cfg(feature = "plot")]
const PIXEL_LEVEL: u8 = 9;

/// What PHEW runs on.
pub enum PhewInput {
    /// A snapshot with cells.
    Cells(Box<dyn Snapshot>),
    /// Particles, and the mesh that is made from them.
    Particles(Box<ParticleSnapshot>, ParticleMeshConfig),
}

impl PhewInput {
    /// Collective: looks at the input of `job`.
    pub fn look(job: &PhewJob, comm: &Comm) -> Result<InputFacts, CommandError> {
        let look = || match job.mesh {
            Some(_) => Ok(look_at_particles_with(std::slice::from_ref(&job.input), &job.defaults)?),
            None => Self::look_at_cells(&job.input),
        };
        shared(comm, look).map_err(of_all)
    }

    /// Opens the input of `job`, of which a look found that.
    pub fn open(job: &PhewJob, facts: &InputFacts) -> Result<Self, CommandError> {
        let Some(mesh) = job.mesh else { return Ok(Self::Cells(open_from(facts))) };
        let particles = open_particles_from(facts);
        let snapshot = ParticleSnapshot::new(particles, &mesh);
        let snapshot = snapshot.map_err(|error| CommandError::about(&job.input, error))?;
        Ok(Self::Particles(Box::new(snapshot), mesh))
    }

    fn look_at_cells(path: &Path) -> Result<InputFacts, CommandError> {
        let is_cells = READERS.iter().any(|reader| (reader.recognises)(path));
        let is_particles = || PARTICLE_READERS.iter().any(|reader| (reader.recognises)(path));
        if !is_cells && file_of(path).exists() && is_particles() {
            look_at_particles(std::slice::from_ref(&path.to_path_buf()))?;
            let expected = "a snapshot with cells, or --mesh-from-particles";
            return Err(CommandError::about(path, format!("particles without a mesh; expected {expected}")));
        }
        Ok(inselberg_io::look(path)?)
    }

    /// What particles say of themselves; `None` for a snapshot with cells.
    fn about(&self) -> Option<&ParticleHeader> {
        match self {
            Self::Cells(_) => None,
            Self::Particles(snapshot, _) => Some(snapshot.input().about()),
        }
    }

    /// The snapshot, or the particles as one.
    pub fn snapshot(&self) -> &dyn Snapshot {
        match self {
            Self::Cells(snapshot) => snapshot.as_ref(),
            Self::Particles(snapshot, _) => snapshot.as_ref(),
        }
    }
}

/// Collective: looks at the particles in these files.
pub fn look_at_input(
    paths: &[PathBuf],
    defaults: &InputDefaults,
    comm: &Comm,
) -> Result<InputFacts, CommandError> {
    shared(comm, || look_at_particles_with(paths, defaults)).map_err(of_all)
}

/// How many octs this process reads of a snapshot, one of so many processes; what is in a piece is not looked at.
pub fn n_octs(snapshot: &dyn Snapshot, (rank, n_processes): (Rank, usize)) -> ReadResult<u64> {
    let n_pieces = snapshot.header().n_pieces as u64;
    // Several processes that share a piece count nothing.
    let own = share_of_rank(n_pieces - n_pieces % n_processes as u64, rank, n_processes);
    let of_piece = |piece: u64| Ok(snapshot.count_octs(piece as usize)?.iter().sum::<u64>());
    own.into_par_iter().map(of_piece).sum()
}

/// Pixels along a side of a picture of cells.
pub fn picture_side(snapshot: &dyn Snapshot) -> u64 {
    #[cfg(feature = "plot")]
    return u64::from(snapshot.header().coarse[0].max(snapshot.header().coarse[1])) << PIXEL_LEVEL;
    #[cfg(not(feature = "plot"))]
    return 0;
}

/// Collective: runs PHEW on the input of `job` with these workers; a bar a stage on stderr if `progress`.
pub fn segment(
    job: &PhewJob,
    input: &PhewInput,
    pool: ThreadPool,
    comm: &Comm,
    progress: bool,
) -> Result<(PhewOutcome, Recorder), CommandError> {
    let recorder = Recorder::new(progress).with_pulse(comm.pulse()).keep_dot(job.task_graph.is_some());
    let executor = Executor::new(pool, &recorder).balanced(job.balance);
    let ran = match input {
        PhewInput::Cells(snapshot) => run(snapshot.as_ref(), &job.phew, comm, &executor),
        PhewInput::Particles(snapshot, mesh) => run_on_particles(snapshot, mesh, &job.phew, comm, &executor),
    };
    let outcome = ran.map_err(|error| match error {
        RunError::Read(error) => error.into(),
        RunError::Comm(error) => CommandError::ranks(error),
        error => CommandError::about(&job.input, error),
    })?;
    Ok((outcome, recorder))
}

/// Collective: writes the trace of all ranks, which the first rank has then.
pub fn stage_trace(path: &Path, recorder: &Recorder, comm: &Comm) -> Result<Staged, CommandError> {
    match trace(recorder, comm).map_err(CommandError::ranks)? {
        Some(text) => stage_text(path, &text),
        None => Ok(Staged::default()),
    }
}

/// Writes the graphs that were run on this rank.
pub fn stage_graphs(path: &Path, recorder: &Recorder) -> Result<Staged, CommandError> {
    stage_text(path, &recorder.graphs().into_iter().filter_map(|graph| graph.dot).collect::<String>())
}

fn stage_text(path: &Path, text: &str) -> Result<Staged, CommandError> {
    Ok(stage_file(path, |out| out.write_all(text.as_bytes()))?)
}

/// Collective: writes the catalogue of all ranks, which the first rank has then.
pub fn stage(path: &Path, catalogue: &CataloguePart, comm: &Comm) -> Result<Staged, CommandError> {
    catalogue::stage_part(path, catalogue, comm).map_err(of_all)
}

/// How what ranks did not do together ends the program: the one where it failed says so.
fn of_all<E: Into<CommandError>>(error: AgreeError<E>) -> CommandError {
    match error {
        AgreeError::Here(error) => error.into(),
        AgreeError::Comm(error) => CommandError::ranks(error),
        AgreeError::Elsewhere { .. } => CommandError::Said,
    }
}

/// Collective: writes a particle box, which the first rank has then.
pub fn stage_box(
    path: &Path,
    particles: &ParticleBox,
    comm: &Comm,
) -> Result<(ParticleMeta, Staged), CommandError> {
    stage_particles(path, particles, comm).map_err(of_all)
}

/// Collective: clumps and haloes of all ranks with the attributes, on the first rank.
pub fn lists(mut catalogue: CataloguePart, comm: &Comm) -> Result<Option<Catalogue>, CommandError> {
    let _lists = Stage::within("lists", comm);
    catalogue.tables.retain(|t| ["clumps", "haloes"].contains(&t.table.name.as_str()));
    catalogue.gather(comm).map_err(CommandError::ranks)
}

/// Writes RAMSES's clump and halo files for the output that `snapshot` is.
pub fn stage_ramses_text(
    folder: &Path,
    catalogue: &Catalogue,
    snapshot: &dyn Snapshot,
) -> Result<Staged, CommandError> {
    let number = snapshot.header().number.unwrap_or(1);
    Ok(catalogue::ramses_text::stage_ramses_text(folder, catalogue, number)?)
}

/// Collective: draws the picture on the first rank, which has the lists.
#[cfg(feature = "plot")]
pub fn draw(
    path: &Path,
    snapshot: &dyn Snapshot,
    field: &ChosenField,
    part: &LocalField,
    lists: Option<&Catalogue>,
    comm: &Comm,
) -> Result<Staged, CommandError> {
    use crate::report::plot::{PictureData, stage_plot};
    let projection = inselberg::projection::project(part, PIXEL_LEVEL, comm).map_err(CommandError::ranks)?;
    let (Some(projection), Some(lists)) = (projection, lists) else { return Ok(Staged::default()) };
    let header = snapshot.header();
    let side = projection.side * header.boxlen;
    let data = PictureData {
        title: title(snapshot, lists),
        subtitle: field.to_string(),
        projection: projection.values,
        n: projection.n,
        extent: [[0.0, side]; 2],
        axes: [0, 1],
        periodic: [header.periodic[0], header.periodic[1]],
        quantity: "mean density along z".into(),
        units: density_unit(header).into(),
        catalogue: lists,
    };
    Ok(stage_plot(path, &data)?)
}

/// What the picture is of: the output, its redshift, the thresholds.
#[cfg(feature = "plot")]
fn title(snapshot: &dyn Snapshot, catalogue: &Catalogue) -> String {
    let header = snapshot.header();
    let mut parts = vec![match header.number {
        Some(number) => format!("{} output {number}", header.format),
        None => header.format.to_string(),
    }];
    if let (Some(c), Some(side)) = (&header.cosmology, header.comoving_side()) {
        parts.push(format!("{} Mpc/h", (side * 1e3).round() / 1e3));
        parts.push(match c.aexp {
            a if a > 1.0 => format!("a = {a:.3}"),
            a => format!("z = {:.2}", 1.0 / a - 1.0),
        });
    }
    for (attribute, name) in [("density", "density > "), ("relevance", "relevance "), ("saddle", "saddle ")] {
        match catalogue.attribute(&format!("{attribute}_threshold")) {
            Some(catalogue::Attribute::Real(value)) if *value > 0.0 => {
                let value = if attribute == "relevance" { *value } else { as_given(*value, catalogue) };
                parts.push(format!("{name}{value}"));
            }
            _ => {}
        }
    }
    parts.join(",  ")
}

/// A density threshold in the unit in which it was given, without the last digits where that is not the code's.
#[cfg(feature = "plot")]
fn as_given(threshold: f64, catalogue: &Catalogue) -> f64 {
    match catalogue.attribute("mean_density") {
        Some(catalogue::Attribute::Real(mean)) => (threshold / mean * 1e6).round() / 1e6,
        _ => threshold,
    }
}

/// The unit of density as a person calls it.
#[cfg(feature = "plot")]
pub fn density_unit(header: &Header) -> &'static str {
    if header.is_in_mean_densities() { "mean matter density" } else { "code_mass / code_length**3" }
}

/// Says how to get pictures.
#[cfg(not(feature = "plot"))]
pub fn draw(
    path: &Path,
    _: &dyn Snapshot,
    _: &ChosenField,
    _: &LocalField,
    _: Option<&Catalogue>,
    _: &Comm,
) -> Result<Staged, CommandError> {
    Err(no_pictures(path))
}

/// That the picture can be drawn into `path`.
pub fn check_picture(path: &Path) -> Result<(), CommandError> {
    #[cfg(feature = "plot")]
    return Ok(crate::report::plot::check_picture(path)?);
    #[cfg(not(feature = "plot"))]
    return Err(no_pictures(path));
}

#[cfg(not(feature = "plot"))]
fn no_pictures(path: &Path) -> CommandError {
    CommandError::user(format!(
        "{}: this build draws no pictures; build with the feature `plot`",
        path.display()
    ))
}

/// The end of a run, as the first rank tells it.
pub struct PhewSummary {
    field: ChosenField,
    assumed: Assumed,
    totals: CatalogueTotals,
    stages: Vec<StageTime>,
    peak_memory: Option<u64>,
    densest: f64,
    ranks: Option<RankReport>,
    nodes: Option<BTreeMap<u32, NodeLoad>>,
}

impl PhewSummary {
    /// Collective: over all ranks, with what is to say of ranks if there are several or `diagnostics`, and
    /// with these of the workers here.
    pub fn new(
        input: &PhewInput,
        outcome: &PhewOutcome,
        recorder: &Recorder,
        pool: &ThreadPool,
        diagnostics: bool,
        comm: &Comm,
    ) -> Result<Self, CommandError> {
        let stages = &recorder.stages();
        let ranks = match comm.n_ranks() > 1 || diagnostics {
            true => Some(RankReport::new(comm, stages, Some(outcome.balance)).map_err(CommandError::ranks)?),
            false => None,
        };
        let memory = comm.all_reduce_counts(&[peak_memory().unwrap_or(0)], Reduce::Max);
        Ok(Self {
            field: outcome.field.clone(),
            assumed: Assumed::new(input.about()),
            totals: CatalogueTotals::from_attributes(&outcome.catalogue.attributes),
            stages: ranks.as_ref().map_or(stages.clone(), |ranks| ranks.whole(stages)),
            peak_memory: memory.map_err(CommandError::ranks)?.first().copied().filter(|bytes| *bytes > 0),
            densest: outcome.densest,
            ranks,
            nodes: diagnostics.then(|| node_loads(&recorder.graphs(), pool.seats())),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let summary = summary_text(&self.totals, &self.stages, self.peak_memory);
        let mut text = format!("{:<18}{}\n{}{summary}", "field", self.field, self.assumed.text());
        if let Some(ranks) = &self.ranks {
            text = format!("{text}\n{}", ranks.text());
        }
        if let Some(nodes) = &self.nodes {
            text = format!("{text}\n{}", workers_text(nodes));
        }
        if self.totals.test_cells != Some(0) {
            return text;
        }
        format!("no cell is above the density threshold; the densest has {}\n\n{text}", self.densest)
    }

    /// The same for machines; `ranks` and `workers` are null where nothing is to say of them.
    pub fn json(&self) -> serde_json::Value {
        let mut summary = summary_json(&self.totals, &self.stages, self.peak_memory);
        summary["field"] = field_json(&self.field);
        summary["assumed_units"] = self.assumed.json();
        summary["ranks"] = self.ranks.as_ref().map_or(serde_json::Value::Null, RankReport::json);
        summary["workers"] = self.nodes.as_ref().map_or(serde_json::Value::Null, workers_json);
        summary
    }
}

fn field_json(chosen: &ChosenField) -> serde_json::Value {
    let one = |f: &FieldInfo| serde_json::json!({ "name": f.name, "family": f.family });
    let mut json = one(&chosen.field);
    json["chosen_by"] = if chosen.is_auto { "auto" } else { "--field" }.into();
    json["chosen_from"] = chosen.candidates.iter().map(one).collect();
    json
}

/// What is in a catalogue, for machines.
pub fn describe_json(catalogue: &Catalogue) -> serde_json::Value {
    let rows = catalogue.tables.iter().map(|t| (t.name.clone(), t.n_rows().into()));
    let attributes = catalogue
        .attributes
        .iter()
        .map(|(name, value)| (name.clone(), catalogue::info::attribute_text(value).into()));
    serde_json::json!({
        "tables": rows.collect::<serde_json::Map<_, _>>(),
        "attributes": attributes.collect::<serde_json::Map<_, _>>(),
    })
}

/// Writes `snapshot` as output `number` of RAMSES, which is then to be committed, into `folder`.
pub fn stage_ramses_output(
    folder: &Path,
    number: u32,
    snapshot: &dyn Snapshot,
) -> Result<StagedOutput, CommandError> {
    use inselberg_io::ramses::write::{Dialect, Output, Split};
    let names: Vec<&str> = snapshot.fields().iter().map(|f| f.name.as_str()).collect();
    let mut octs = Vec::new();
    for piece in 0..snapshot.header().n_pieces {
        snapshot.octs(piece, &names, &mut |block| {
            octs.push(block.clone());
            Ok(())
        })?;
    }
    let fields: Vec<_> =
        snapshot.fields().iter().map(|f| FieldInfo { family: "hydro", name: f.name.clone() }).collect();
    let header = Header { number: Some(number), ..snapshot.header().clone() };
    let output = Output { header: &header, fields: &fields, octs: &octs, particles: None };
    let split = Split { n_cpus: 1, oct_owner: &|_, _| 0, particle_owner: &|_| 0, ghosts: false };
    Ok(inselberg_io::ramses::write::stage(folder, output, split, &Dialect::default())?)
}
