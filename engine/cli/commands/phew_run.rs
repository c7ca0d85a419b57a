//! Calls of the library for `inselberg phew`, its summary and its picture.

use super::driver::{AssumedUnits, RunCosts, agreed_error};
use super::fault::CommandError;
use super::flags::NamesFlags;
use crate::config::{PIXEL_LEVEL, PhewJob};
use crate::report::{
    CatalogueTotals, NodeLoad, RankReport, Recorder, summary_json, summary_text, trace, workers_json,
    workers_text,
};
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::phew::run::ChosenField;
use inselberg::{Clumps, Engine, Error, FieldChoice, OpenParticles, OpenSnapshot, ParticleMeshParams};
use inselberg_comm::agree::share_of_rank;
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::collective::shared;
use inselberg_io::particles::{
    PARTICLE_READERS, ParticleHeader, file_of, read_particle_headers, read_particle_headers_with,
};
use inselberg_io::staging::{Staged, stage_file};
use inselberg_io::{FieldInfo, InputFacts, READERS, ReadResult, Snapshot};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// What PHEW runs on.
pub enum PhewInput {
    /// A snapshot with cells.
    Cells(OpenSnapshot),
    /// Particles, and the mesh that is made from them.
    Particles {
        /// The particles.
        particles: OpenParticles,
        /// The parameters of the mesh.
        mesh: ParticleMeshParams,
        /// The same, checked.
        shape: ParticleMeshConfig,
        /// The particles as a snapshot.
        on_mesh: Box<ParticleSnapshot>,
    },
}

impl PhewInput {
    /// Collective: reads the headers of the input of `job`.
    pub fn read_headers(job: &PhewJob, comm: &Comm) -> Result<InputFacts, CommandError> {
        let read = || match job.mesh {
            Some(_) => Ok(read_particle_headers_with(std::slice::from_ref(&job.input), &job.defaults)?),
            None => Self::read_cell_headers(&job.input),
        };
        shared(comm, read).map_err(agreed_error)
    }

    /// Opens the input of `job` from its headers.
    pub fn open(job: &PhewJob, facts: &InputFacts) -> Result<Self, CommandError> {
        let Some(mesh) = job.mesh.clone() else { return Ok(Self::Cells(OpenSnapshot::from_headers(facts))) };
        let particles = OpenParticles::from_headers(facts.clone());
        let shape = mesh.config().map_err(|error| CommandError::of_call(&job.input, &error))?;
        let on_mesh = particles.on_mesh(&shape);
        let on_mesh = on_mesh.map_err(|error| CommandError::about(&job.input, error.with_flags()))?;
        Ok(Self::Particles { particles, mesh, shape, on_mesh: Box::new(on_mesh) })
    }

    /// Collective: runs PHEW.
    pub fn segment(&self, job: &PhewJob, engine: &mut Engine) -> Result<Clumps, Error> {
        match self {
            Self::Cells(snapshot) => engine.phew_snapshot(snapshot, &job.field, &job.phew),
            Self::Particles { particles, mesh, .. } => engine.phew_particles(particles, mesh, &job.phew),
        }
    }

    fn read_cell_headers(path: &Path) -> Result<InputFacts, CommandError> {
        let is_cells = READERS.iter().any(|reader| (reader.recognises)(path));
        let is_particles = || PARTICLE_READERS.iter().any(|reader| (reader.recognises)(path));
        if !is_cells && file_of(path).exists() && is_particles() {
            read_particle_headers(std::slice::from_ref(&path.to_path_buf()))?;
            let expected = "a snapshot with cells, or --mesh-from-particles";
            return Err(CommandError::about(path, format!("particles without a mesh; expected {expected}")));
        }
        Ok(inselberg_io::read_headers(path)?)
    }

    /// The header of the particles; `None` for a snapshot with cells.
    fn about(&self) -> Option<&ParticleHeader> {
        match self {
            Self::Cells(_) => None,
            Self::Particles { particles, .. } => Some(particles.reader().about()),
        }
    }

    /// The snapshot, or the particles as one.
    pub fn snapshot(&self) -> &dyn Snapshot {
        match self {
            Self::Cells(snapshot) => snapshot.reader(),
            Self::Particles { on_mesh, .. } => on_mesh.as_ref(),
        }
    }
}

/// How many octs of a snapshot one of `n_processes` processes reads, by the headers of the pieces.
pub fn n_octs(snapshot: &dyn Snapshot, (rank, n_processes): (Rank, usize)) -> ReadResult<u64> {
    let n_pieces = snapshot.header().n_pieces as u64;
    // Several processes that share a piece count nothing.
    let own = share_of_rank(n_pieces - n_pieces % n_processes as u64, rank, n_processes);
    let of_piece = |piece: u64| Ok(snapshot.count_octs(piece as usize)?.iter().sum::<u64>());
    own.into_par_iter().map(of_piece).sum()
}

/// Pixels along a side of a picture of cells.
#[cfg(feature = "plot")]
pub fn picture_side(snapshot: &dyn Snapshot) -> u64 {
    u64::from(snapshot.header().coarse[0].max(snapshot.header().coarse[1])) << PIXEL_LEVEL
}

/// This build draws no pictures.
#[cfg(not(feature = "plot"))]
pub fn picture_side(_: &dyn Snapshot) -> u64 {
    0
}

/// Collective: stages the trace of all ranks. Rank 0 gets the staged file.
pub fn stage_trace(path: &Path, recorder: &Recorder, comm: &Comm) -> Result<Staged, CommandError> {
    match trace(recorder, comm).map_err(CommandError::ranks)? {
        Some(text) => stage_text(path, &text),
        None => Ok(Staged::default()),
    }
}

/// Stages the task graphs of this rank.
pub fn stage_graphs(path: &Path, recorder: &Recorder) -> Result<Staged, CommandError> {
    stage_text(path, &recorder.graphs().into_iter().filter_map(|graph| graph.dot).collect::<String>())
}

fn stage_text(path: &Path, text: &str) -> Result<Staged, CommandError> {
    Ok(stage_file(path, |out| out.write_all(text.as_bytes()))?)
}

/// Stages RAMSES's clump and halo files for the output `snapshot`.
pub fn stage_ramses_text(
    folder: &Path,
    catalogue: &Catalogue,
    snapshot: &dyn Snapshot,
) -> Result<Staged, CommandError> {
    let number = snapshot.header().number.unwrap_or(1);
    Ok(catalogue::ramses_text::stage_ramses_text(folder, catalogue, number)?)
}

/// Draws the picture on rank 0, which has the projection and the lists.
#[cfg(feature = "plot")]
pub fn draw(
    path: &Path,
    snapshot: &dyn Snapshot,
    clumps: &Clumps,
    lists: Option<&Catalogue>,
) -> Result<Staged, CommandError> {
    use crate::report::plot::{PictureData, stage_plot};
    let (Some(projection), Some(lists)) = (clumps.projection(), lists) else { return Ok(Staged::default()) };
    let header = snapshot.header();
    let side = projection.side * header.boxlen;
    let data = PictureData {
        title: title(snapshot, lists),
        subtitle: clumps.field().map_or(String::new(), ChosenField::to_string),
        projection: projection.values.clone(),
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

/// The title of the picture: output, redshift, thresholds.
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
    // A difference is a density; a ratio has no unit.
    let is_ratio = catalogue.attribute("persistence").is_none();
    let relevance = if is_ratio { "relevance " } else { "difference " };
    for (attribute, name) in [("density", "density > "), ("relevance", relevance), ("saddle", "saddle ")] {
        match catalogue.attribute(&format!("{attribute}_threshold")) {
            Some(catalogue::Attribute::Real(value)) if *value > 0.0 => {
                let has_unit = attribute != "relevance" || !is_ratio;
                let value = if has_unit { as_given(*value, catalogue) } else { *value };
                parts.push(format!("{name}{value}"));
            }
            _ => {}
        }
    }
    parts.join(",  ")
}

/// A density threshold in the unit in which it was given, rounded to six decimals where that is not the code unit.
#[cfg(feature = "plot")]
fn as_given(threshold: f64, catalogue: &Catalogue) -> f64 {
    match catalogue.attribute("mean_density") {
        Some(catalogue::Attribute::Real(mean)) => (threshold / mean * 1e6).round() / 1e6,
        _ => threshold,
    }
}

/// The name of the unit of density.
#[cfg(feature = "plot")]
pub fn density_unit(header: &inselberg_io::Header) -> &'static str {
    if header.is_in_mean_densities() { "mean matter density" } else { "code_mass / code_length**3" }
}

/// The error of a build without pictures.
#[cfg(not(feature = "plot"))]
pub fn draw(
    path: &Path,
    _: &dyn Snapshot,
    _: &Clumps,
    _: Option<&Catalogue>,
) -> Result<Staged, CommandError> {
    Err(super::driver::no_pictures(path))
}

/// The summary of a run.
pub struct PhewSummary {
    field: ChosenField,
    assumed: AssumedUnits,
    totals: CatalogueTotals,
    costs: RunCosts,
    densest: f64,
    nodes: Option<BTreeMap<u32, NodeLoad>>,
}

impl PhewSummary {
    /// Collective: over all ranks. The ranks are reported where there are several or with `--diagnostics`, the workers of
    /// this rank, `nodes`, with the latter.
    pub fn new(
        job: &PhewJob,
        input: &PhewInput,
        clumps: &Clumps,
        recorder: &Recorder,
        nodes: Option<BTreeMap<u32, NodeLoad>>,
        comm: &Comm,
    ) -> Result<Self, CommandError> {
        let with_ranks = comm.n_ranks() > 1 || job.launch.diagnostics;
        let field = clumps.field().expect("an output has a chosen field").clone();
        Ok(Self {
            costs: RunCosts::new(recorder.stages(), Some(clumps.balance()), with_ranks, comm)?,
            // The mesh of particles knows one density, which may be named all the same.
            field: ChosenField { is_auto: job.field == FieldChoice::Auto, ..field },
            assumed: AssumedUnits::new(input.about()),
            totals: CatalogueTotals::from_attributes(clumps.attributes()),
            densest: clumps.densest(),
            nodes,
        })
    }

    /// As text.
    pub fn text(&self) -> String {
        let summary = summary_text(&self.totals, &self.costs.stages, self.costs.peak_memory);
        let mut text = format!("{:<18}{}\n{}{summary}", "field", self.field, self.assumed.text());
        if let Some(ranks) = &self.costs.ranks {
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

    /// As JSON; `ranks` and `workers` are null where they are not reported.
    pub fn json(&self) -> serde_json::Value {
        let mut summary = summary_json(&self.totals, &self.costs.stages, self.costs.peak_memory);
        summary["field"] = field_json(&self.field);
        summary["assumed_units"] = self.assumed.json();
        summary["ranks"] = self.costs.ranks.as_ref().map_or(serde_json::Value::Null, RankReport::json);
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
