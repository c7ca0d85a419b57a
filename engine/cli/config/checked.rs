//! What will be done: values held against each other, of the types that the engine takes.

use super::launch::{Launch, launch, pin, ranks};
use super::{Command, ConfigError, FofJob, Origin, RawConfig, RawValue, StudyJob, fof, study};
use crate::synth::{FieldKind, FieldParams, ParticleParams};
use crate::topology::Pin;
use inselberg::executor::Weights;
use inselberg::particle_mesh::ParticleMeshConfig;
use inselberg::phew::Rules;
use inselberg::phew::params::{FieldChoice, PhewConfig, Thresholds};
use inselberg::phew::recut::NewThresholds;
use inselberg_io::particles::{InputDefaults, N_KINDS};
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// More threads than this are a slip of the pen.
const MAX_THREADS: u64 = 4096;

/// A checked command with what every command takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// How it is done and reported.
    pub common: Common,
    /// What is done.
    pub work: CommandJob,
}

/// Options of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Common {
    /// Number of threads; `None`: one a core.
    pub threads: Option<NonZeroUsize>,
    /// Errors only.
    pub quiet: bool,
    /// The summary as JSON.
    pub json: bool,
    /// A run of this process alone, whatever a launcher says.
    pub no_mpi: bool,
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandJob {
    /// Segment a snapshot.
    Phew(PhewJob),
    /// Find groups of particles.
    Fof(FofJob),
    /// New thresholds on a catalogue.
    Recut(RecutJob),
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
}

/// `inselberg phew`, checked. At least one of the three outputs is there, or the diagnostics are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewJob {
    /// The snapshot.
    pub input: PathBuf,
    /// What is computed.
    pub phew: PhewConfig,
    /// The mesh, where it is made from particles.
    pub mesh: Option<ParticleMeshConfig>,
    /// What holds where particles say nothing.
    pub defaults: InputDefaults,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// The folder of RAMSES-style text files.
    pub ramses_text: Option<PathBuf>,
    /// The picture.
    pub plot: Option<PathBuf>,
    /// On what it runs.
    pub launch: Launch,
    /// By what the mesh is divided among ranks.
    pub balance: Weights,
    /// The trace of the run.
    pub trace: Option<PathBuf>,
    /// The graphs of tasks.
    pub task_graph: Option<PathBuf>,
}

/// `inselberg recut`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RecutJob {
    /// The catalogue with the tree.
    pub input: PathBuf,
    /// The new catalogue.
    pub output: PathBuf,
    /// The new thresholds.
    pub thresholds: NewThresholds,
}

/// `inselberg info`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct InfoJob {
    /// A snapshot or a catalogue.
    pub input: PathBuf,
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

/// Holds what was written against what the engine takes.
///
/// # Errors
/// The first value, in the order of the options, that is missing or out of its range; the message
/// names the option, where it was written, its value and what was expected.
pub fn check(raw: &RawConfig) -> Result<Job, ConfigError> {
    let raw = CheckedValues { raw };
    let work = match raw.raw.command() {
        Command::Phew => CommandJob::Phew(phew(&raw)?),
        Command::Fof => CommandJob::Fof(fof::fof(&raw)?),
        Command::Recut => CommandJob::Recut(recut(&raw)?),
        Command::Info => CommandJob::Info(InfoJob { input: raw.needed_path("path")? }),
        Command::Topology => CommandJob::Topology(TopologyJob { ranks: ranks(&raw)?, pin: pin(&raw) }),
        Command::ScalingPhew | Command::ScalingFof => CommandJob::Study(Box::new(study::study(&raw)?)),
        Command::SynthField => CommandJob::SynthField(field(&raw)?),
        Command::SynthParticles => CommandJob::SynthParticles(particles(&raw)?),
    };
    Ok(Job { common: common(&raw)?, work })
}

fn common(raw: &CheckedValues<'_>) -> Result<Common, ConfigError> {
    let expected = format!("1 to {MAX_THREADS}");
    let threads = raw.count("threads", |n| (1..=MAX_THREADS).contains(&n), &expected)?;
    let threads = threads.and_then(|n| NonZeroUsize::new(n as usize));
    Ok(Common { threads, quiet: raw.switch("quiet"), json: raw.switch("json"), no_mpi: raw.switch("no-mpi") })
}

fn phew(raw: &CheckedValues<'_>) -> Result<PhewJob, ConfigError> {
    let input = raw.needed_path("input")?;
    let (output, ramses_text, plot) = (raw.path("output"), raw.path("ramses-text"), plot(raw)?);
    let no_diagnostics = !raw.switch("diagnostics");
    if output.is_none() && ramses_text.is_none() && plot.is_none() && no_diagnostics {
        return Err(raw.missing("output"));
    }
    let density = raw
        .real("density-threshold", |x| x > 0.0, "a finite number above 0")?
        .ok_or_else(|| raw.missing("density-threshold"))?;
    let relevance = raw.real("relevance-threshold", |x| x >= 0.0, RATIO)?;
    let saddle = raw.real("saddle-threshold", |x| x > 0.0, SADDLE)?;
    if let Some(saddle) = saddle.filter(|&s| s < density) {
        let expected = format!("at least the density threshold {density}");
        return Err(raw.unfit("saddle-threshold", &saddle.to_string(), &expected));
    }
    let mass = raw.real("mass-threshold", |x| x >= 0.0, MASS)?;
    let field = field_choice(&raw.text("field").unwrap_or_default());
    Ok(PhewJob {
        input,
        mesh: mesh(raw, &field)?,
        defaults: fof::input_defaults(raw)?,
        phew: PhewConfig {
            field,
            thresholds: Thresholds {
                density,
                relevance: relevance.unwrap_or(0.0),
                saddle,
                mass: mass.unwrap_or(0.0),
            },
            rules: if raw.text("compat").as_deref() == Some("ramses") { Rules::Ramses } else { Rules::Paper },
            with_cells: raw.switch("with-cells"),
            with_particles: raw.switch("with-particles"),
        },
        output,
        ramses_text,
        plot,
        launch: launch(raw)?,
        balance: weights(&raw.text("balance").unwrap_or_default()),
        trace: raw.path("trace"),
        task_graph: raw.path("task-graph"),
    })
}

/// The mesh to be made from particles, if one is asked for.
fn mesh(raw: &CheckedValues<'_>, field: &FieldChoice) -> Result<Option<ParticleMeshConfig>, ConfigError> {
    const OF_MESH: [&str; 9] = [
        "m-refine",
        "level-min",
        "level-max",
        "particle-types",
        "box",
        "particle-mass",
        "unit-length",
        "unit-mass",
        "unit-velocity",
    ];
    let level = |name, most: u8| {
        let level =
            raw.count(name, |n| (2..=u64::from(most)).contains(&n), &format!("a level from 2 to {most}"))?;
        Ok(level.map(|level| level as u8))
    };
    let m_refine = raw.count("m-refine", |n| (1..=1 << 40).contains(&n), "1 or more particles")?.unwrap_or(8);
    let (level_min, level_max) =
        (level("level-min", DEEPEST_COARSE)?, level("level-max", DEEPEST)?.unwrap_or(DEEPEST));
    let (kinds, _) = raw.kinds("particle-types");
    let side = raw.real("box", |x| x > 0.0, "a finite side above 0")?;
    if !raw.switch("mesh-from-particles") {
        return match OF_MESH.into_iter().find(|name| raw.is_flag(name)) {
            Some(name) => Err(raw.unfit(name, &raw.shown(name), "it with --mesh-from-particles alone")),
            None => Ok(None),
        };
    }
    if !matches!(field, FieldChoice::Auto | FieldChoice::Cic) {
        let given = raw.text("field").unwrap_or_default();
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
    Ok(Some(ParticleMeshConfig { m_refine, level_min, level_max, kinds, side, root_level: None }))
}

/// A word of `--balance`; the default for any other.
pub(super) fn weights(word: &str) -> Weights {
    match word {
        "leaves" => Weights::Leaves,
        "work" => Weights::Work,
        _ => Weights::TestCells,
    }
}

const RATIO: &str = "a finite ratio, 0 or more";
const MASS: &str = "a finite mass, 0 or more";
const SADDLE: &str = "a finite number above 0, or to leave it out for no halo pass";

fn recut(raw: &CheckedValues<'_>) -> Result<RecutJob, ConfigError> {
    let saddle = "a finite number above 0, or to leave it out for the catalogue's own";
    Ok(RecutJob {
        input: raw.needed_path("catalogue")?,
        output: raw.needed_path("output")?,
        thresholds: NewThresholds {
            relevance: raw.real("relevance-threshold", |x| x >= 0.0, RATIO)?,
            saddle: raw.real("saddle-threshold", |x| x > 0.0, saddle)?,
            mass: raw.real("mass-threshold", |x| x >= 0.0, MASS)?,
        },
    })
}

pub(super) fn plot(raw: &CheckedValues<'_>) -> Result<Option<PathBuf>, ConfigError> {
    let Some(path) = raw.path("plot") else { return Ok(None) };
    let ending = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
    match ending.as_deref() {
        Some("png" | "svg") => Ok(Some(path)),
        _ => Err(raw.unfit("plot", &path.display().to_string(), "a name that ends in .png or .svg")),
    }
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
    let test_cells = raw.count("test-cells", |n| (1000..=1 << 40).contains(&n), "1000 to 1e12")?;
    let kind = match raw.text("kind").as_deref() {
        Some("lattice") => FieldKind::Lattice,
        Some("giant") => FieldKind::Giant,
        Some("chain") => FieldKind::Chain,
        _ => FieldKind::Clumps,
    };
    let levels = raw.text("levels").map(|text| levels(raw, &text)).transpose()?;
    let peaks = raw.count("peaks", |n| (1..=10_000_000).contains(&n), "1 to 1e7")?;
    let noise = |x| x == 0.0 || (10.0..=1e6).contains(&x);
    let cells_per_peak = raw.real("cells-per-peak", noise, "10 or more, or 0 for no noise")?;
    let params = FieldParams {
        kind,
        test_cells: test_cells.unwrap_or(100_000),
        levels,
        peaks,
        cells_per_peak: cells_per_peak.unwrap_or(15.0),
        seed: raw.count("seed", |_| true, "")?.unwrap_or(1),
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
    let number = raw.count("number", |n| (1..=1 << 36).contains(&n), "1 to 6e10")?;
    let seed = raw.count("seed", |_| true, "")?;
    Ok(ParticleJob {
        output,
        params: ParticleParams { number: number.unwrap_or(262_144), seed: seed.unwrap_or(1) },
        ranks: ranks(raw)?,
    })
}

/// Typed access to a raw configuration, with errors that name the option.
pub(super) struct CheckedValues<'a> {
    pub(super) raw: &'a RawConfig,
}

impl CheckedValues<'_> {
    pub(super) fn switch(&self, name: &str) -> bool {
        matches!(self.raw.get(name), Some((RawValue::Flag(true), _)))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.raw.get(name)? {
            (RawValue::Text(text), _) => Some(text),
            _ => None,
        }
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        match self.raw.get(name)? {
            (RawValue::Path(path), _) => Some(path),
            _ => None,
        }
    }

    pub(super) fn needed_path(&self, name: &str) -> Result<PathBuf, ConfigError> {
        self.path(name).ok_or_else(|| self.missing(name))
    }

    /// The path or paths of an option.
    pub(super) fn paths(&self, name: &str) -> Vec<PathBuf> {
        match self.raw.get(name) {
            Some((RawValue::Paths(paths), _)) => paths,
            Some((RawValue::Path(path), _)) => vec![path],
            _ => Vec::new(),
        }
    }

    /// Which kinds of particles, and whether that was written by anybody.
    pub(super) fn kinds(&self, name: &str) -> ([bool; N_KINDS], bool) {
        match self.raw.get(name) {
            Some((RawValue::Kinds(kinds), origin)) => (kinds, !matches!(origin, Origin::Default(_))),
            _ => ([false; N_KINDS], false),
        }
    }

    /// Whether an option was given at all.
    pub(super) fn is_written(&self, name: &str) -> bool {
        matches!(self.raw.get(name), Some((_, Origin::Flag(_) | Origin::File(..))))
    }

    /// Whether an option was given on the command line.
    fn is_flag(&self, name: &str) -> bool {
        matches!(self.raw.get(name), Some((_, Origin::Flag(_))))
    }

    /// The value of an option as it would be typed.
    fn shown(&self, name: &str) -> String {
        match self.raw.get(name) {
            Some((RawValue::Kinds(kinds), _)) => kinds.map(|k| if k { "1" } else { "0" }).join(","),
            Some((RawValue::Count(n), _)) => n.to_string(),
            Some((RawValue::Real(x), _)) => x.to_string(),
            Some((RawValue::Text(text), _)) => text,
            _ => String::new(),
        }
    }

    pub(super) fn real(
        &self,
        name: &str,
        fits: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<Option<f64>, ConfigError> {
        match self.raw.get(name) {
            Some((RawValue::Real(x), _)) if x.is_finite() && fits(x) => Ok(Some(x)),
            Some((RawValue::Real(x), _)) => Err(self.unfit(name, &x.to_string(), expected)),
            _ => Ok(None),
        }
    }

    pub(super) fn count(
        &self,
        name: &str,
        fits: impl Fn(u64) -> bool,
        expected: &str,
    ) -> Result<Option<u64>, ConfigError> {
        match self.raw.get(name) {
            Some((RawValue::Count(n), _)) if fits(n) => Ok(Some(n)),
            Some((RawValue::Count(n), _)) => Err(self.unfit(name, &n.to_string(), expected)),
            _ => Ok(None),
        }
    }

    pub(super) fn unfit(&self, name: &str, value: &str, expected: &str) -> ConfigError {
        let opt = self.raw.option(name);
        let origin = self.raw.get(name).map_or(Origin::Default(opt.name), |(_, origin)| origin);
        ConfigError::Value { origin, option: opt.name, value: value.into(), expected: expected.into() }
    }

    pub(super) fn missing(&self, name: &str) -> ConfigError {
        let opt = self.raw.option(name);
        let info = super::COMMANDS.iter().find(|c| c.command == self.raw.command());
        let (command, table) = info.map_or((String::new(), ""), |c| (c.words.join(" "), c.table));
        let article = if opt.name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let what = format!("{article} {}", opt.name.replace('-', " "));
        let how = format!("{} or `{}` under [{table}] of a --config file", opt.label(), opt.key);
        ConfigError::Missing { command, what, how }
    }
}
