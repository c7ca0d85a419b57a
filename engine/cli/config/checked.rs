//! Checked jobs: values checked against each other, in the types of the library.

use super::bound_options::{potential, property_words};
use super::launch::{Launch, launch, pin, ranks};
use super::report_options::{shown_results, units};
use super::series::{Series, SnapshotPaths, series};
use super::tree_options::{TreeJob, tree};
use super::values::CheckedValues;
use super::view_options::view;
use super::viewer_options::{convert, dendrogram_of_phew, vtk_of_phew};
use super::void_options::RADIUS;
use super::{
    Command, ConfigError, ConvertJob, FofJob, RawConfig, ShownResults, StudyJob, ViewJob, VoidsJob, fof,
    options_of, study, voids,
};
use crate::report::UnitChoice;
use crate::synth::{FieldKind, FieldParams, ParticleParams, SeriesParams, SeriesRules};
use crate::topology::Pin;
use inselberg::bound::PropertyWords;
use inselberg::phew::recut::NewThresholds;
use inselberg::voids::NewVoidThresholds;
use inselberg::{
    BoundRequest, FieldChoice, ParticleGraphParams, ParticleMeshParams, Persistence, PhewParams,
    PotentialChoice, Region, Rules, Selection, SofteningLengths, Weights, source_types,
};
use inselberg_io::FieldDefaults;
use inselberg_io::catalogue::VtkCells;
use inselberg_io::particles::{InputDefaults, N_KINDS};
use inselberg_kernels::graph::MOST_NEIGHBOURS;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// More threads than this are a typing error.
const MAX_THREADS: u64 = 4096;

/// A checked command with the common options.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The common options.
    pub common: Common,
    /// The command.
    pub work: CommandJob,
}

/// Options of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Common {
    /// Number of threads; `None`: one per core.
    pub threads: Option<NonZeroUsize>,
    /// Errors only.
    pub quiet: bool,
    /// Each stage as it begins and ends.
    pub verbose: bool,
    /// The summary as JSON.
    pub json: bool,
    /// This process runs alone, even under a launcher.
    pub no_mpi: bool,
}

/// The command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandJob {
    /// Segment snapshots.
    Phew(Series<PhewJob>),
    /// Find groups of particles.
    Fof(Series<FofJob>),
    /// Find voids among particles.
    Voids(Series<VoidsJob>),
    /// New thresholds on a catalogue.
    Recut(RecutJob),
    /// Link the objects of catalogues.
    Tree(TreeJob),
    /// Write a catalogue for another program.
    Convert(ConvertJob),
    /// Look at one object.
    View(ViewJob),
    /// Describe a file.
    Info(InfoJob),
    /// Show where ranks and threads run.
    Topology(TopologyJob),
    /// Measure how a command scales.
    Study(Box<StudyJob>),
    /// Make a density field.
    SynthField(FieldJob),
    /// Make particles.
    SynthParticles(ParticleJob),
    /// Make a series of catalogues.
    SynthSeries(SeriesJob),
}

/// `inselberg phew` on one snapshot, checked. It has at least one output or diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewJob {
    /// The snapshot.
    pub input: PathBuf,
    /// The density that is segmented.
    pub field: FieldChoice,
    /// What is computed.
    pub phew: PhewParams,
    /// What is made from particles, if anything.
    pub from_particles: Option<FromParticles>,
    /// Defaults for what the particles leave open.
    pub defaults: InputDefaults,
    /// Defaults for what the cells leave open.
    pub grid: FieldDefaults,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// The folder of RAMSES-style text files.
    pub ramses_text: Option<PathBuf>,
    /// The file in the layout of SOAP.
    pub soap: Option<PathBuf>,
    /// The folder for yt.
    pub yt: Option<PathBuf>,
    /// The folder for VTK, and the cells that it gets.
    pub vtk: Option<(PathBuf, VtkCells)>,
    /// The dendrogram of the cells.
    pub dendrogram: Option<PathBuf>,
    /// What people look at.
    pub shown: ShownResults,
    /// Ranks and threads.
    pub launch: Launch,
    /// The trace of the run.
    pub trace: Option<PathBuf>,
    /// The graphs of tasks.
    pub task_graph: Option<PathBuf>,
}

/// What is made from particles and segmented.
#[derive(Debug, Clone, PartialEq)]
pub enum FromParticles {
    /// A mesh.
    Mesh(ParticleMeshParams),
    /// The graph of nearest neighbours.
    Graph(ParticleGraphParams),
}

/// `inselberg recut`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RecutJob {
    /// The catalogue with the tree.
    pub input: PathBuf,
    /// The new catalogue.
    pub output: PathBuf,
    /// The new thresholds of a catalogue of clumps.
    pub thresholds: NewThresholds,
    /// The new thresholds of a catalogue of voids.
    pub of_voids: NewVoidThresholds,
    /// An option given that catalogues of clumps do not have.
    pub for_voids: Option<&'static str>,
    /// An option given that catalogues of voids do not have.
    pub for_clumps: Option<&'static str>,
}

/// `inselberg info`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct InfoJob {
    /// A snapshot or a catalogue.
    pub input: PathBuf,
    /// Whether thresholds are suggested.
    pub thresholds: bool,
    /// The density for them.
    pub field: FieldChoice,
    /// The picture of its distribution.
    pub plot: Option<PathBuf>,
    /// The units of a catalogue, if chosen.
    pub units: Option<UnitChoice>,
    /// What the cells of a snapshot leave open.
    pub grid: FieldDefaults,
}

/// `inselberg topology`, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopologyJob {
    /// Ranks as threads of this process.
    pub ranks: NonZeroUsize,
    /// How threads would be tied to processors.
    pub pin: Pin,
}

/// `inselberg synth field`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldJob {
    /// The folder of the output.
    pub output: PathBuf,
    /// What is in it.
    pub params: FieldParams,
}

/// `inselberg synth particles`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticleJob {
    /// The .npy file.
    pub output: PathBuf,
    /// What is in it.
    pub params: ParticleParams,
    /// Ranks as threads of this process.
    pub ranks: NonZeroUsize,
}

/// `inselberg synth series`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesJob {
    /// The folder.
    pub output: PathBuf,
    /// What is in it.
    pub params: SeriesParams,
}

/// Checks the given values.
///
/// # Errors
/// The first value, in the order of the options, that is missing or out of range. The message names the option, the place
/// and the value, and what was expected.
pub fn check(raw: &RawConfig) -> Result<Job, ConfigError> {
    let raw = CheckedValues { raw };
    let work = match raw.raw.command() {
        Command::Phew => CommandJob::Phew(phew(&raw)?),
        Command::Fof => CommandJob::Fof(fof::fof(&raw)?),
        Command::Voids => CommandJob::Voids(voids::voids(&raw)?),
        Command::Recut => CommandJob::Recut(recut(&raw)?),
        Command::Tree => CommandJob::Tree(tree(&raw)?),
        Command::Convert => CommandJob::Convert(convert(&raw)?),
        Command::View => CommandJob::View(view(&raw)?),
        Command::Info => CommandJob::Info(info(&raw)?),
        Command::Topology => CommandJob::Topology(TopologyJob { ranks: ranks(&raw)?, pin: pin(&raw) }),
        Command::ScalingPhew | Command::ScalingFof => {
            CommandJob::Study(Box::new(study::study(&raw, |runs| check(runs).map(drop))?))
        }
        Command::SynthField => CommandJob::SynthField(field(&raw)?),
        Command::SynthParticles => CommandJob::SynthParticles(particles(&raw)?),
        Command::SynthSeries => CommandJob::SynthSeries(synth_series(&raw)?),
    };
    Ok(Job { common: common(&raw)?, work })
}

fn common(raw: &CheckedValues<'_>) -> Result<Common, ConfigError> {
    let expected = format!("1 to {MAX_THREADS}");
    let threads = raw.count("threads", |n| (1..=MAX_THREADS).contains(&n), &expected)?;
    let threads = threads.and_then(|n| NonZeroUsize::new(n as usize));
    // Commands without stages have nothing to tell.
    let has_stages = options_of(raw.raw.command()).any(|opt| opt.name == "verbose");
    let (quiet, verbose) = (raw.switch("quiet"), has_stages && raw.switch("verbose"));
    if quiet && verbose {
        return Err(raw.unfit("verbose", "true", "it or --quiet, not both"));
    }
    Ok(Common { threads, quiet, verbose, json: raw.switch("json"), no_mpi: raw.switch("no-mpi") })
}

fn phew(raw: &CheckedValues<'_>) -> Result<Series<PhewJob>, ConfigError> {
    let inputs = raw.paths("input");
    let input = inputs.first().cloned().ok_or_else(|| raw.missing("input"))?;
    let (output, ramses_text, shown) = (raw.path("output"), raw.path("ramses-text"), shown_results(raw)?);
    let no_diagnostics = !raw.switch("diagnostics");
    let (soap, yt, vtk) = (raw.path("soap"), raw.path("yt"), vtk_of_phew(raw)?);
    let dendrogram = dendrogram_of_phew(raw)?;
    let is_nothing = [&output, &ramses_text, &shown.plot, &shown.report, &soap, &yt, &dendrogram]
        .iter()
        .all(|path| path.is_none())
        && vtk.is_none();
    if is_nothing && no_diagnostics {
        return Err(raw.missing("output"));
    }
    let is_ramses = raw.text("compat").as_deref() == Some("ramses");
    let persistence = persistence(raw)?.expect("the option relevance-threshold has a default");
    let density = density_threshold(raw, persistence)?;
    if is_ramses && let Persistence::Difference(difference) = persistence {
        let expected = "--relevance-threshold with --compat ramses";
        return Err(raw.unfit("relevance-difference", &difference.to_string(), expected));
    }
    let saddle = raw.real("saddle-threshold", |x| x > 0.0, SADDLE)?;
    if let Some(saddle) = saddle.filter(|&s| s < density) {
        let expected = format!("at least the density threshold {density}");
        return Err(raw.unfit("saddle-threshold", &saddle.to_string(), &expected));
    }
    let mass = raw.real_or_default("mass-threshold", |x| x >= 0.0, MASS)?;
    let min_cells = raw.count_or_default("min-cells", is_number_of_cells, CELLS)?;
    let min_particles = raw.count_or_default("min-particles", |_| true, "a number of particles")?;
    let field = field_choice(&raw.text_or_default("field"));
    let rules = if is_ramses { Rules::Ramses } else { Rules::Paper };
    let mut phew = PhewParams::new(density).persistence(persistence).mass(mass).rules(rules);
    (phew.saddle, phew.min_cells, phew.min_particles) = (saddle, min_cells, min_particles);
    let needs_cells = vtk.as_ref().is_some_and(|(_, cells)| *cells != VtkCells::None);
    phew.with_cells = raw.switch("with-cells") || needs_cells || dendrogram.is_some();
    phew.with_particles = raw.switch("with-particles");
    phew.selection = selection(raw)?;
    phew.bound = bound_request(raw, is_ramses)?;
    phew.weights = weights(&raw.text_or_default("balance"));
    phew.keep_density = shown.has_maps();
    let job = PhewJob {
        input,
        from_particles: from_particles(raw, &field)?,
        defaults: fof::input_defaults(raw)?,
        grid: grid(raw)?,
        field,
        phew,
        output,
        ramses_text,
        soap,
        yt,
        vtk,
        dendrogram,
        shown,
        launch: launch(raw)?,
        trace: raw.path("trace"),
        task_graph: raw.path("task-graph"),
    };
    series(raw, job, inputs.into_iter().map(|input| vec![input]).collect())
}

impl SnapshotPaths for PhewJob {
    fn set_inputs(&mut self, mut inputs: Vec<PathBuf>) {
        self.input = inputs.pop().expect("a snapshot with cells has one path");
    }

    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let files = [
            ("output", &mut self.output),
            ("ramses-text", &mut self.ramses_text),
            ("soap", &mut self.soap),
            ("yt", &mut self.yt),
            ("dendrogram", &mut self.dendrogram),
            ("plot", &mut self.shown.plot),
            ("report", &mut self.shown.report),
            ("trace", &mut self.trace),
            ("task-graph", &mut self.task_graph),
        ];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, path.as_mut()?)));
        files.chain(self.vtk.as_mut().map(|(folder, _)| ("vtk", folder))).collect()
    }
}

/// Which leaves take part.
fn selection(raw: &CheckedValues<'_>) -> Result<Selection, ConfigError> {
    let mut selection = Selection::default();
    if let Some(text) = raw.text("region") {
        for part in text.split(';') {
            let region = part.parse::<Region>().map_err(|_| raw.unfit("region", &text, REGION))?;
            selection = selection.region(region);
        }
    }
    let Some(text) = raw.text("levels") else { return Ok(selection) };
    let level = |word: &str| word.trim().parse::<u8>().ok();
    let levels = text.split_once(':').and_then(|(least, most)| level(least).zip(level(most)));
    match levels.filter(|(least, most)| least <= most) {
        Some((least, most)) => Ok(selection.levels(least, most)),
        None => Err(raw.unfit("levels", &text, "two levels, the first at most the second, as in 10:14")),
    }
}

const REGION: &str = "box:X0,Y0,Z0,X1,Y1,Z1 with X0 < X1 and so on, or sphere:X,Y,Z,R with R > 0; several are separated by `;`";

/// What the cells of an input leave open.
fn grid(raw: &CheckedValues<'_>) -> Result<FieldDefaults, ConfigError> {
    let given = ["periodic", "spacing", "origin", "image"].into_iter().find(|name| raw.is_flag(name));
    let of_particles = ["mesh-from-particles", "particle-graph"].into_iter().find(|name| raw.switch(name));
    if let (Some(name), Some(made)) = (given, of_particles) {
        return Err(raw.unfit(name, &raw.shown(name), &format!("it for cells, without --{made}")));
    }
    let spacing = raw.real("spacing", |x| x > 0.0, "a finite side above 0")?;
    let axes = |text: String| match text.as_str() {
        "none" => Ok([false; 3]),
        axes if !axes.is_empty() && axes.chars().all(|c| "xyz".contains(c)) => {
            Ok(['x', 'y', 'z'].map(|axis| axes.contains(axis)))
        }
        _ => Err(raw.unfit("periodic", &text, "none, or some of the letters xyz")),
    };
    let corner = |text: String| {
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|word| word.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let three = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        three.ok_or_else(|| raw.unfit("origin", &text, "three finite numbers, as in -0.5,-0.5,0"))
    };
    let periodic = raw.text("periodic").map(axes).transpose()?;
    let origin = raw.text("origin").map(corner).transpose()?;
    Ok(FieldDefaults { periodic, spacing, origin, is_image: raw.switch("image") })
}

/// What to make from particles, if anything is requested.
fn from_particles(
    raw: &CheckedValues<'_>,
    field: &FieldChoice,
) -> Result<Option<FromParticles>, ConfigError> {
    const OF_GRAPH: [&str; 2] = ["neighbours", "given-density"];
    const OF_MESH: [&str; 3] = ["m-refine", "level-min", "level-max"];
    const OF_PARTICLES: [&str; 6] =
        ["particle-types", "box", "particle-mass", "unit-length", "unit-mass", "unit-velocity"];
    let level = |name, most: u8| {
        let level =
            raw.count(name, |n| (2..=u64::from(most)).contains(&n), &format!("a level from 2 to {most}"))?;
        Ok(level.map(|level| level as u8))
    };
    let m_refine = raw.count_or_default("m-refine", |n| (1..=1 << 40).contains(&n), "1 or more particles")?;
    let (level_min, level_max) =
        (level("level-min", DEEPEST_COARSE)?, level("level-max", DEEPEST)?.expect("level-max has a default"));
    let (kinds, _) = raw.kinds("particle-types");
    let side = raw.real("box", |x| x > 0.0, "a finite side above 0")?;
    let most = format!("1 to {MOST_NEIGHBOURS} neighbours");
    let neighbours =
        raw.count_or_default("neighbours", |n| (1..=MOST_NEIGHBOURS as u64).contains(&n), &most)?;
    let (is_mesh, is_graph) = (raw.switch("mesh-from-particles"), raw.switch("particle-graph"));
    let misplaced = |names: &[&str], expected: &str| match names.iter().find(|name| raw.is_flag(name)) {
        Some(name) => Err(raw.unfit(name, &raw.shown(name), expected)),
        None => Ok(()),
    };
    match (is_mesh, is_graph) {
        (true, true) => {
            let expected = "it without --mesh-from-particles: a graph has no mesh";
            return Err(raw.unfit("particle-graph", "true", expected));
        }
        (true, false) => misplaced(&OF_GRAPH, "it with --particle-graph alone")?,
        (false, true) => misplaced(&OF_MESH, "it with --mesh-from-particles alone")?,
        (false, false) => {
            misplaced(&OF_GRAPH, "it with --particle-graph alone")?;
            misplaced(&OF_MESH, "it with --mesh-from-particles alone")?;
            misplaced(&OF_PARTICLES, "it with --mesh-from-particles or --particle-graph")?;
            return Ok(None);
        }
    }
    if is_graph && *field != FieldChoice::Auto {
        let given = raw.text_or_default("field");
        return Err(raw.unfit("field", &given, "auto with --particle-graph, whose density is its own"));
    }
    if !matches!(field, FieldChoice::Auto | FieldChoice::Cic) {
        let given = raw.text_or_default("field");
        return Err(raw.unfit("field", &given, "auto or cic with --mesh-from-particles"));
    }
    if kinds == [false; N_KINDS] {
        return Err(raw.unfit(
            "particle-types",
            &raw.shown("particle-types"),
            "at least one kind of particles",
        ));
    }
    if let Some(least) = level_min.filter(|least| *least > level_max) {
        let expected = format!("at most --level-max {level_max}");
        return Err(raw.unfit("level-min", &least.to_string(), &expected));
    }
    let types = fof::types(&kinds);
    if is_graph {
        let mut graph = ParticleGraphParams::default().neighbours(neighbours as usize).types(&types);
        (graph.side, graph.given_density) = (side, raw.switch("given-density"));
        return Ok(Some(FromParticles::Graph(graph)));
    }
    let mut mesh = ParticleMeshParams::default().m_refine(m_refine).level_max(level_max).types(&types);
    (mesh.level_min, mesh.side) = (level_min, side);
    Ok(Some(FromParticles::Mesh(mesh)))
}

/// What is found out about members of clumps.
fn bound_request(raw: &CheckedValues<'_>, is_ramses: bool) -> Result<BoundRequest, ConfigError> {
    let words = property_words(raw, PropertyWords::EXPECTED)?.expect("the option properties has a default");
    let adiabatic_index = raw.real("gamma", |x| x > 1.0, "a finite number above 1")?;
    let without_cells = ["mesh-from-particles", "particle-graph"].into_iter().find(|name| raw.switch(name));
    if let (true, Some(name)) = (words.gas, without_cells) {
        let expected = &format!("the gas cells of an output, without --{name}");
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    let of_cells = BoundRequest { gas: words.gas, adiabatic_index, ..BoundRequest::default() };
    match raw.switch("unbind") {
        true => unbind_request(raw, words, is_ramses, of_cells),
        false => check_without_unbinding(raw, words).map(|()| of_cells),
    }
}

/// Checks that nothing is asked for on the command line that needs unbinding.
fn check_without_unbinding(raw: &CheckedValues<'_>, words: PropertyWords) -> Result<(), ConfigError> {
    const OF_UNBINDING: [&str; 6] =
        ["with-members", "potential-from", "no-thermal-energy", "softening", "duplicate-ids", "soap"];
    if let Some(name) = OF_UNBINDING.into_iter().find(|name| raw.is_flag(name)) {
        return Err(raw.unfit(name, &raw.shown(name), "--unbind beside it"));
    }
    if raw.is_flag("properties") && words.is_of_bound() {
        let expected = "--unbind beside it, or gas alone";
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    if raw.is_flag("gamma") && !words.gas {
        return Err(raw.unfit("gamma", &raw.shown("gamma"), "--unbind or --properties gas beside it"));
    }
    Ok(())
}

/// What is found out about bound particles.
fn unbind_request(
    raw: &CheckedValues<'_>,
    words: PropertyWords,
    is_ramses: bool,
    of_cells: BoundRequest,
) -> Result<BoundRequest, ConfigError> {
    let potential = match potential(raw) {
        PotentialChoice::Ramses if !is_ramses => {
            return Err(raw.unfit("potential", "ramses", "--compat ramses beside it"));
        }
        PotentialChoice::Ramses if raw.switch("mesh-from-particles") || raw.switch("particle-graph") => {
            let expected = "the cells of an output, not particles alone";
            return Err(raw.unfit("potential", "ramses", expected));
        }
        PotentialChoice::Ramses => {
            const OF_ENERGIES: [&str; 3] = ["potential-from", "no-thermal-energy", "softening"];
            if let Some(name) = OF_ENERGIES.into_iter().find(|name| raw.is_flag(name)) {
                return Err(raw.unfit(name, &raw.shown(name), "it with --potential tree or spherical"));
            }
            PotentialChoice::Ramses
        }
        potential => potential,
    };
    let sources = raw.text_or_default("potential-from");
    let potential_from = source_types(&sources).ok_or_else(|| {
        let expected = "all, or gas, dark-matter, stars and other, separated by commas";
        raw.unfit("potential-from", &sources, expected)
    })?;
    let softening = raw.text("softening").map(|text| {
        let expected =
            "a length, 0 or more, or TYPE=LENGTH for gas, dark-matter, stars and other, separated by commas";
        SofteningLengths::from_text(&text).ok_or_else(|| raw.unfit("softening", &text, expected))
    });
    Ok(BoundRequest {
        unbind: Some(potential),
        properties: words.choice,
        with_members: raw.switch("with-members"),
        potential_from,
        thermal_energy: !raw.switch("no-thermal-energy"),
        softening: softening.transpose()?.unwrap_or_default(),
        allow_duplicate_ids: raw.text("duplicate-ids").as_deref() == Some("allow"),
        ..of_cells
    })
}

/// The meaning of a word of `--balance`.
pub(super) fn weights(word: &str) -> Weights {
    match word {
        "leaves" => Weights::Leaves,
        "work" => Weights::Work,
        _ => Weights::TestCells,
    }
}

/// Only where persistence is a difference may it be below 0.
fn density_threshold(raw: &CheckedValues<'_>, persistence: Persistence) -> Result<f64, ConfigError> {
    let of_particles = raw.switch("mesh-from-particles") || raw.switch("particle-graph");
    let density = match persistence {
        Persistence::Difference(_) if !of_particles => {
            raw.real("density-threshold", |_| true, "a finite number")?
        }
        _ => {
            let expected =
                "a finite number above 0 (any number with --relevance-difference in a field of cells)";
            raw.real("density-threshold", |x| x > 0.0, expected)?
        }
    };
    density.ok_or_else(|| raw.missing("density-threshold"))
}

/// The ratio or difference that a peak needs, as far as options or defaults say.
fn persistence(raw: &CheckedValues<'_>) -> Result<Option<Persistence>, ConfigError> {
    let ratio = raw.real("relevance-threshold", |x| x >= 0.0, "a finite ratio, 0 or more")?;
    let difference = raw.real("relevance-difference", |x| x >= 0.0, "a finite difference, 0 or more")?;
    match difference {
        Some(difference) if raw.is_written("relevance-threshold") => {
            let expected = "a relevance threshold or a relevance difference, not both";
            Err(raw.unfit("relevance-difference", &difference.to_string(), expected))
        }
        Some(difference) => Ok(Some(Persistence::Difference(difference))),
        None => Ok(ratio.map(Persistence::Ratio)),
    }
}

const MASS: &str = "a finite mass, 0 or more";
const CELLS: &str = "a number of cells up to 1e18";

fn is_number_of_cells(n: u64) -> bool {
    n <= 1_000_000_000_000_000_000
}
const SADDLE: &str = "a finite number above 0, or to leave it out for no halo pass";

fn recut(raw: &CheckedValues<'_>) -> Result<RecutJob, ConfigError> {
    let saddle = "a finite number above 0, or to leave it out for the catalogue's own";
    let persistence = persistence(raw)?;
    let given = |names: &[&'static str]| names.iter().find(|name| raw.is_written(name)).copied();
    Ok(RecutJob {
        input: raw.needed_path("catalogue")?,
        output: raw.needed_path("output")?,
        thresholds: NewThresholds {
            persistence,
            saddle: raw.real("saddle-threshold", |x| x > 0.0, saddle)?,
            mass: raw.real("mass-threshold", |x| x >= 0.0, MASS)?,
            min_cells: raw.count("min-cells", is_number_of_cells, CELLS)?,
        },
        of_voids: NewVoidThresholds {
            relevance: persistence.filter(|of| !of.is_difference()).map(Persistence::threshold),
            wall: raw.real("wall-threshold", |x| x > 0.0, saddle)?,
            radius: raw.real("min-radius", |x| x >= 0.0, RADIUS)?,
            min_particles: raw.count("min-particles", |_| true, "a number of particles")?,
        },
        for_voids: given(&["wall-threshold", "min-radius", "min-particles"]),
        for_clumps: given(&["relevance-difference", "saddle-threshold", "mass-threshold", "min-cells"]),
    })
}

fn info(raw: &CheckedValues<'_>) -> Result<InfoJob, ConfigError> {
    let plot = raw.plot()?;
    let thresholds = raw.switch("thresholds") || plot.is_some();
    if raw.is_flag("field") && !thresholds {
        return Err(raw.unfit("field", &raw.shown("field"), "--thresholds or --plot beside it"));
    }
    let field = field_choice(&raw.text_or_default("field"));
    let grid = FieldDefaults { is_image: raw.switch("image"), ..FieldDefaults::default() };
    Ok(InfoJob { input: raw.needed_path("path")?, thresholds, field, plot, units: units(raw), grid })
}

fn field_choice(text: &str) -> FieldChoice {
    match text {
        "auto" | "" => FieldChoice::Auto,
        "cic" => FieldChoice::Cic,
        "cic-ramses" => FieldChoice::CicRamses,
        name => FieldChoice::Named(name.into()),
    }
}

fn field(raw: &CheckedValues<'_>) -> Result<FieldJob, ConfigError> {
    let output = raw.needed_path("output")?;
    let test_cells = raw.count_or_default("test-cells", |n| (1000..=1 << 40).contains(&n), "1000 to 1e12")?;
    let kind = match raw.text("kind").as_deref() {
        Some("lattice") => FieldKind::Lattice,
        Some("giant") => FieldKind::Giant,
        Some("chain") => FieldKind::Chain,
        _ => FieldKind::Clumps,
    };
    let levels = raw.text("levels").map(|text| levels(raw, &text)).transpose()?;
    let peaks = raw.count("peaks", |n| (1..=10_000_000).contains(&n), "1 to 1e7")?;
    let noise = |x| x == 0.0 || (10.0..=1e6).contains(&x);
    let cells_per_peak = raw.real_or_default("cells-per-peak", noise, "10 or more, or 0 for no noise")?;
    let params = FieldParams {
        kind,
        test_cells,
        levels,
        peaks,
        cells_per_peak,
        seed: raw.count_or_default("seed", |_| true, "")?,
    };
    Ok(FieldJob { output, params })
}

fn levels(raw: &CheckedValues<'_>, text: &str) -> Result<(u8, u8), ConfigError> {
    text.split_once(':')
        .and_then(|(min, max)| Some((min.trim().parse().ok()?, max.trim().parse().ok()?)))
        .filter(|&(min, max)| (1..=28).contains(&min) && (min..=28).contains(&max))
        .ok_or_else(|| raw.unfit("levels", text, "MIN:MAX with 1 <= MIN <= MAX <= 28"))
}

fn particles(raw: &CheckedValues<'_>) -> Result<ParticleJob, ConfigError> {
    let output = raw.needed_path("output")?;
    if output.extension().is_none_or(|e| e != "npy") {
        return Err(raw.unfit("output", &output.display().to_string(), "a name that ends in .npy"));
    }
    let number = raw.count_or_default("number", |n| (1..=1 << 36).contains(&n), "1 to 6e10")?;
    let seed = raw.count_or_default("seed", |_| true, "")?;
    Ok(ParticleJob { output, params: ParticleParams { number, seed }, ranks: ranks(raw)? })
}

fn synth_series(raw: &CheckedValues<'_>) -> Result<SeriesJob, ConfigError> {
    let output = raw.needed_path("output")?;
    let outputs = raw.count_or_default("outputs", |n| (1..=9999).contains(&n), "1 to 9999")? as u32;
    let members = raw.count_or_default("members", |n| (1000..=1 << 32).contains(&n), "1000 to 4e9")?;
    let seed = raw.count_or_default("seed", |_| true, "")?;
    let rules = match raw.text("rules").as_deref() {
        Some("hard") => SeriesRules::Hard,
        _ => SeriesRules::Gentle,
    };
    Ok(SeriesJob { output, params: SeriesParams { outputs, members, seed, rules } })
}
