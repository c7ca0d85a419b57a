//! Calls of the library for `inselberg phew`, its summary and its picture.

use super::driver::{AssumedUnits, RunCosts, RunSummary, agreed_error, counts_in_words, notes_text};
use super::fault::CommandError;
use super::flags::NamesFlags;
use super::grouped::grouped;
use super::missing_threshold;
#[cfg(feature = "plot")]
use super::pictures;
use super::search::SearchRun;
use crate::config::{FromParticles, PhewJob};
use crate::report::{
    CatalogueTotals, DisplayUnit, DisplayUnits, Recorder, UnitChoice, summary_json, summary_text, trace,
};
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::particles::BoxError;
use inselberg::phew::image;
use inselberg::phew::run::ChosenField;
use inselberg::{
    Clumps, DensityUnit, Engine, Error, FieldChoice, OpenParticles, OpenSnapshot, Persistence,
    ThresholdInForce, ThresholdsInForce,
};
use inselberg_comm::agree::share_of_rank;
use inselberg_comm::{Comm, Rank, Reduce};
use inselberg_io::catalogue;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Values};
use inselberg_io::collective::shared;
use inselberg_io::particles::{
    ParticleHeader, ParticleInput, file_of, read_particle_headers_with, recognises_particles,
};
use inselberg_io::staging::mark::MARK;
use inselberg_io::staging::{Staged, stage_file};
use inselberg_io::{Cosmology, FieldDefaults, FieldInfo, InputFacts, ReadResult, Snapshot};
use rayon::prelude::*;
use std::path::Path;

/// The input of PHEW.
pub enum PhewInput {
    /// A snapshot with cells.
    Cells(OpenSnapshot),
    /// Particles, and the mesh or graph from them.
    Particles {
        /// The particles.
        particles: OpenParticles,
        /// The mesh or graph.
        made: FromParticles,
        /// The types of particles and their mesh, which may only be for pictures.
        shape: ParticleMeshConfig,
        /// The particles as a snapshot.
        on_mesh: Box<ParticleSnapshot>,
    },
}

impl PhewInput {
    /// Collective: reads the headers of the input of `job`.
    pub fn read_headers(job: &PhewJob, comm: &Comm) -> Result<InputFacts, CommandError> {
        let read = || match job.particles.is_forced || is_of_particles(job) {
            true => Self::read_particles(job),
            false => Self::read_cells(job),
        };
        shared(comm, read).map_err(agreed_error)
    }

    fn read_particles(job: &PhewJob) -> Result<InputFacts, CommandError> {
        check_without_cells(job)?;
        Ok(read_particle_headers_with(std::slice::from_ref(&job.input), &job.defaults)?)
    }

    fn read_cells(job: &PhewJob) -> Result<InputFacts, CommandError> {
        let facts = inselberg_io::read_headers_with(&job.input, &job.grid)?;
        check_with_cells(job)?;
        missing_threshold::check(job, &facts)?;
        Ok(facts)
    }

    /// Opens the input of `job` from its headers.
    pub fn open(job: &PhewJob, facts: &InputFacts) -> Result<Self, CommandError> {
        if !facts.of_particles {
            return Ok(Self::Cells(OpenSnapshot::from_headers(facts)));
        }
        let made = job.particles.made.clone();
        let particles = OpenParticles::from_headers(facts.clone());
        let shape = match &made {
            FromParticles::Mesh(mesh) => mesh.config(),
            FromParticles::Graph(graph) => graph.config().map(|graph| graph.mesh),
        };
        let shape = shape.map_err(|error| CommandError::of_call(&job.input, &error))?;
        let on_mesh = particles.on_mesh(&shape);
        let on_mesh = on_mesh.map_err(|error| match (&error, may_be_image(job)) {
            (BoxError::NoBox, true) => {
                CommandError::about(&job.input, format!("{}, or --image for pixels", error.with_flags()))
            }
            _ => CommandError::of_input(&job.input, &error),
        })?;
        Ok(Self::Particles { particles, made, shape, on_mesh: Box::new(on_mesh) })
    }

    /// The particles that a mesh is made from.
    pub fn particles(&self) -> Option<&dyn ParticleInput> {
        match self {
            Self::Cells(_) => None,
            Self::Particles { particles, .. } => Some(particles.reader()),
        }
    }

    /// Collective: runs PHEW.
    pub fn segment(&self, job: &PhewJob, engine: &mut Engine) -> Result<Clumps, Error> {
        match self {
            Self::Cells(snapshot) => engine.phew_snapshot(snapshot, &job.field, &job.phew),
            Self::Particles { particles, made: FromParticles::Mesh(mesh), .. } => {
                engine.phew_particles(particles, mesh, &job.phew)
            }
            Self::Particles { particles, made: FromParticles::Graph(graph), .. } => {
                engine.phew_graph(particles, graph, &job.phew)
            }
        }
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

/// Whether an input has particles and no cells.
fn is_of_particles(job: &PhewJob) -> bool {
    let path = &job.input;
    let has_cells = inselberg_io::recognises(path, &job.grid);
    !has_cells && file_of(path).exists() && recognises_particles(path)
}

/// Checks that no option on the command line needs cells.
fn check_without_cells(job: &PhewJob) -> Result<(), CommandError> {
    let Some((name, value)) = &job.particles.of_cells else { return Ok(()) };
    let given = format!("--{name} {value}");
    let problem =
        format!("{} for particles without cells; expected it for a snapshot with cells", given.trim_end());
    Err(CommandError::about(&job.input, problem))
}

/// Whether an input of particles is an array that may be an image as well.
fn may_be_image(job: &PhewJob) -> bool {
    inselberg_io::recognises(&job.input, &FieldDefaults { is_image: true, ..job.grid.clone() })
}

/// Checks that no option on the command line needs particles without cells.
fn check_with_cells(job: &PhewJob) -> Result<(), CommandError> {
    let Some((name, value)) = &job.particles.of_particles else { return Ok(()) };
    let expected = "it for particles alone, or with --mesh-from-particles or --particle-graph";
    Err(CommandError::about(&job.input, format!("--{name} {value} for cells; expected {expected}")))
}

/// The number of octs of a snapshot that one of `n_processes` processes reads, from the headers of the
/// pieces.
pub fn n_octs(snapshot: &dyn Snapshot, (rank, n_processes): (Rank, usize)) -> ReadResult<u64> {
    let n_pieces = snapshot.header().n_pieces as u64;
    // Several processes that share a piece count nothing.
    let own = share_of_rank(n_pieces - n_pieces % n_processes as u64, rank, n_processes);
    let of_piece = |piece: u64| Ok(snapshot.count_octs(piece as usize)?.iter().sum::<u64>());
    own.into_par_iter().map(of_piece).sum()
}

/// Pixels along a side of a map, at most.
pub const MAP_SIDE: u64 = 1024;

/// Collective: stages the trace of all ranks. Rank 0 gets the staged file.
pub fn stage_trace(path: &Path, recorder: &Recorder, comm: &Comm) -> Result<Staged, CommandError> {
    match trace(recorder, comm).map_err(CommandError::ranks)? {
        Some(text) => stage_text(path, &text),
        None => Ok(Staged::default()),
    }
}

/// Stages the task graphs of this rank.
pub fn stage_graphs(path: &Path, recorder: &Recorder) -> Result<Staged, CommandError> {
    let graphs: String = recorder.graphs().into_iter().filter_map(|graph| graph.dot).collect();
    stage_text(path, &format!("// {MARK}\n{graphs}"))
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
    Ok(catalogue::ramses_text::stage_ramses_text(folder, catalogue, output_number(snapshot))?)
}

/// The number of the output in names of RAMSES's files.
pub fn output_number(snapshot: &dyn Snapshot) -> u32 {
    snapshot.header().number.unwrap_or(1)
}

/// What a search says of itself in pictures and reports.
#[cfg(feature = "plot")]
pub fn about<'a>(job: &'a PhewJob, input: &PhewInput, summary: &'a PhewSummary) -> pictures::RunAbout<'a> {
    pictures::RunAbout {
        input: &job.input,
        facts: vec![("Input", job.input.display().to_string()), ("Field", summary.field.to_string())],
        warnings: summary.warnings.clone(),
        counts: summary.totals.rows().to_vec(),
        code_density: input.snapshot().header().is_in_mean_densities().then_some("mean matter density"),
        things: "cells",
        costs: &summary.costs,
    }
}

/// The counts of the objects found, each with its words.
pub const SHOWN: [(&str, &str); 2] = [("clumps", "clumps"), ("haloes", "haloes")];

/// The summary of a run.
pub struct PhewSummary {
    field: ChosenField,
    thresholds: ThresholdsInForce,
    densities: DensityScales,
    assumed: AssumedUnits,
    totals: CatalogueTotals,
    costs: RunCosts,
    densest: f64,
    selected: SelectedParticles,
    sky: Option<String>,
    /// Clumps that merge at each level of substructure, from level 1.
    merges_per_level: Vec<u64>,
    /// Notes: contradictions in the cosmology of the input, other notes about it, and thresholds far from all
    /// data.
    notes: Vec<String>,
    warnings: Vec<String>,
}

impl PhewSummary {
    /// Collective: over all ranks.
    pub fn new(
        job: &PhewJob,
        input: &PhewInput,
        clumps: &Clumps,
        run: &SearchRun<'_>,
    ) -> Result<Self, CommandError> {
        let SearchRun { comm, pool, recorder } = *run;
        let cosmology = input.snapshot().header().cosmology.as_ref();
        let is_used = clumps.attributes().iter().any(|(name, _)| name == "unbind_potential");
        let assumed = AssumedUnits::new(input.about()).with_cosmology(cosmology.filter(|_| is_used));
        let of_cosmology: Vec<String> = cosmology.and_then(Cosmology::contradiction).into_iter().collect();
        let warnings = clumps.warnings().into_iter().chain(assumed.sentence());
        let warnings = warnings.chain(of_cosmology.iter().cloned()).collect();
        let of_input = input.snapshot().notes();
        let notes = of_cosmology.into_iter().chain(of_input).chain(clumps.slips()).collect();
        let field = clumps.field().expect("an output has a chosen field").clone();
        let totals = CatalogueTotals::from_attributes(clumps.attributes());
        Ok(Self {
            // First, so that the report does not count other exchanges of the summary.
            costs: RunCosts::new(recorder, pool, Some(clumps.balance()), &job.launch, comm)?,
            merges_per_level: merges_per_level(clumps, totals.levels, comm)?,
            // The mesh of particles knows one density, which may be named all the same.
            field: ChosenField { is_auto: job.field == FieldChoice::Auto, ..field },
            thresholds: clumps.thresholds(),
            densities: DensityScales::new(clumps.attributes()),
            assumed,
            notes,
            warnings,
            totals,
            densest: clumps.densest(),
            selected: SelectedParticles::new(clumps),
            sky: image::sky_of(clumps.attributes()).map(str::to_string),
        })
    }
}

impl RunSummary for PhewSummary {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn brief(&self) -> String {
        counts_in_words(&self.totals.rows(), &SHOWN)
    }

    fn text(&self) -> String {
        let summary = summary_text(&self.totals, &self.costs.stages, self.costs.peak_memory);
        let (selected, thresholds) =
            (self.selected.text(), thresholds_text(&self.thresholds, &self.densities));
        let sky = self.sky.as_ref().map_or(String::new(), |sky| format!("{:<18}{sky}\n", "sky"));
        let mut text = format!(
            "{:<18}{}\n{thresholds}{sky}{}{selected}{summary}",
            "field",
            self.field,
            self.assumed.text()
        );
        text = format!("{}{text}", notes_text(&self.notes));
        text += &self.costs.tables_text();
        if self.totals.test_cells != Some(0) {
            return text;
        }
        if self.selected.is_active {
            return format!("no selected cell is above the density threshold\n\n{text}");
        }
        format!("no cell is above the density threshold; the densest has {}\n\n{text}", self.densest)
    }

    fn json(&self) -> serde_json::Value {
        let mut summary = summary_json(&self.totals, &self.costs.stages, self.costs.peak_memory);
        summary["field"] = field_json(&self.field);
        summary["thresholds"] = thresholds_json(&self.thresholds, &self.densities);
        summary["assumed_units"] = self.assumed.json();
        summary["notes"] = serde_json::json!(self.notes);
        summary["merges_per_level"] = serde_json::json!(self.merges_per_level);
        summary["sky"] = serde_json::json!(self.sky);
        summary["selected_particles"] = self.selected.json();
        self.costs.add_tables(&mut summary);
        summary
    }
}

/// Collective: the listed clumps that merge at each level of substructure, from level 1.
fn merges_per_level(clumps: &Clumps, n_levels: Option<i64>, comm: &Comm) -> Result<Vec<u64>, CommandError> {
    let mut counts = vec![0; usize::try_from(n_levels.unwrap_or(0)).unwrap_or(0)];
    let column = clumps.table("clumps").and_then(|table| table.column("level"));
    let Values::U64(levels) = &column.expect("clumps have levels").values else {
        unreachable!("levels are counts");
    };
    for level in levels {
        if let Some(n) = (*level as usize).checked_sub(1).and_then(|at| counts.get_mut(at)) {
            *n += 1;
        }
    }
    comm.all_reduce_counts(&counts, Reduce::Sum).map_err(CommandError::ranks)
}

/// What the unit of density thresholds is.
struct DensityScales {
    /// In code units.
    code: f64,
    /// The value and the name of the code unit, where the input states units.
    physical: Option<DisplayUnit>,
}

impl DensityScales {
    fn new(attributes: &[(String, Attribute)]) -> Self {
        let mean = attributes.iter().find(|(name, _)| name == "mean_density");
        let units = DisplayUnits::new(UnitChoice::Physical, attributes);
        Self {
            code: mean.map_or(1.0, |(_, value)| if let Attribute::Real(mean) = value { *mean } else { 1.0 }),
            physical: units.are_physical().then(|| units.unit(Dimension::DENSITY)),
        }
    }

    /// A threshold in `unit` in code units, if these are others, and in physical units: `: 5.1e2 in code
    /// units, 7.5e-28 g/cm3`.
    fn text(&self, threshold: f64, unit: DensityUnit) -> String {
        let in_code = threshold * self.code;
        let code = (unit != DensityUnit::Code).then(|| format!("{in_code:.6e} in code units"));
        let in_physical = |unit: &DisplayUnit| format!("{:.4e} {}", in_code * unit.factor, unit.name);
        let all: Vec<String> = code.into_iter().chain(self.physical.as_ref().map(in_physical)).collect();
        if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) }
    }
}

/// One line for each threshold: its value with its unit, whether it was given, and the same in other units.
fn thresholds_text(of: &ThresholdsInForce, scales: &DensityScales) -> String {
    let density = |value: f64| match of.unit {
        DensityUnit::Code => format!("{} (code units)", short(value)),
        unit => format!("{} times the {unit}", short(value)),
    };
    let line = |name: &str, value: String, origin: &str, more: String| {
        format!("{name:<18}{value}, {origin}{more}\n")
    };
    let in_units = |value: f64| scales.text(value, of.unit);
    let (of_density, persistence) = (&of.density, of.persistence.value);
    let (relevance, relevance_in_units) = match persistence {
        Persistence::Ratio(ratio) => (ratio.to_string(), String::new()),
        Persistence::Difference(by) => (format!("difference {}", density(by)), in_units(by)),
    };
    let saddle = match &of.saddle {
        Some(of) => line("saddle threshold", density(of.value), of.origin(), in_units(of.value)),
        None if let Some(least) = of.halo_relevance => {
            let least = if persistence.is_difference() {
                format!("difference {}", density(least))
            } else {
                least.to_string()
            };
            line("halo relevance", least, "given", String::new())
        }
        None => format!("{:<18}none: every clump is its own halo\n", "saddle threshold"),
    };
    line("density threshold", density(of_density.value), of_density.origin(), in_units(of_density.value))
        + &line("relevance", relevance, of.persistence.origin(), relevance_in_units)
        + &saddle
}

/// A threshold as it was given, or with seven digits if it was converted to many.
fn short(threshold: f64) -> String {
    let all = threshold.to_string();
    if all.len() > 10 { format!("{threshold:.6e}") } else { all }
}

fn thresholds_json(of: &ThresholdsInForce, scales: &DensityScales) -> serde_json::Value {
    let one = |threshold: &ThresholdInForce<f64>| serde_json::json!({ "value": threshold.value, "origin": threshold.origin() });
    let persistence = of.persistence.value;
    let kind = if persistence.is_difference() { "difference" } else { "ratio" };
    serde_json::json!({
        "unit": of.unit.to_string(),
        "unit_in_code_units": scales.code,
        "code_unit_in_g_cm3": scales.physical.as_ref().map(|unit| unit.factor),
        "density": one(&of.density),
        "relevance": {
            "value": persistence.threshold(), "kind": kind, "origin": of.persistence.origin(),
        },
        "saddle": of.saddle.as_ref().map(one),
        "halo_relevance": of.halo_relevance,
    })
}

/// The particles of selected regions.
struct SelectedParticles {
    /// Whether leaves were selected.
    is_active: bool,
    /// All and heavy ones of the regions, all and heavy ones of the haloes; `None` if they were not counted.
    counts: Option<[i64; 4]>,
}

impl SelectedParticles {
    fn new(clumps: &Clumps) -> Self {
        let attributes = clumps.attributes();
        let count = |wanted: &str| {
            attributes.iter().find_map(|(name, value)| match value {
                Attribute::Int(n) if name == wanted => Some(*n),
                _ => None,
            })
        };
        let names =
            ["n_region_particles", "n_region_heavy_particles", "n_halo_particles", "n_halo_heavy_particles"];
        let counts = names.into_iter().map(count).collect::<Option<Vec<_>>>();
        Self {
            is_active: !clumps.params().selection.is_all(),
            counts: counts.map(|counts| counts.try_into().expect("four names")),
        }
    }

    /// A line of a summary; empty if nothing was counted.
    fn text(&self) -> String {
        let Some(counts) = self.counts else { return String::new() };
        let [all, heavy, in_haloes, heavy_in_haloes] = counts.map(|n| grouped(n.cast_unsigned()));
        let region = format!("{heavy} of {all} in the region are heavier than the lightest");
        format!("{:<18}{region}, {heavy_in_haloes} of {in_haloes} in its haloes\n", "particles")
    }

    fn json(&self) -> serde_json::Value {
        match self.counts {
            None => serde_json::Value::Null,
            Some([all, heavy, in_haloes, heavy_in_haloes]) => serde_json::json!({
                "region": all,
                "region_heavy": heavy,
                "haloes": in_haloes,
                "haloes_heavy": heavy_in_haloes,
            }),
        }
    }
}

fn field_json(chosen: &ChosenField) -> serde_json::Value {
    let one = |f: &FieldInfo| serde_json::json!({ "name": f.name, "family": f.family });
    let mut json = one(&chosen.field);
    json["chosen_by"] = if chosen.is_auto { "auto" } else { "--field" }.into();
    json["chosen_from"] = chosen.candidates.iter().map(one).collect();
    json
}
