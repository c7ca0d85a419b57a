//! Checked jobs: values checked against each other, in the types of the library.

use super::atlas_options::{AtlasJob, atlas};
use super::compare_options::{CompareJob, compare};
use super::launch::{pin, ranks};
use super::phew::{PhewJob, phew};
use super::recut::{RecutJob, recut};
use super::report_options::units;
use super::series::Series;
use super::synth::{self, FieldJob, ParticleJob, SeriesJob};
use super::tree_options::{TreeJob, tree};
use super::values::CheckedValues;
use super::view_options::view;
use super::viewer_options::convert;
use super::{
    Command, ConfigError, ConvertJob, FofJob, RawConfig, StudyJob, ViewJob, VoidsJob, fof, options_of, study,
    voids,
};
use crate::report::UnitChoice;
use crate::topology::Pin;
use inselberg::FieldChoice;
use inselberg_io::FieldDefaults;
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
    /// Files of other programs are replaced, and complete snapshots are computed again.
    pub force: bool,
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
    Recut(Box<RecutJob>),
    /// What each threshold of a catalogue does.
    Atlas(AtlasJob),
    /// Link the objects of catalogues.
    Tree(TreeJob),
    /// Compare two catalogues.
    Compare(CompareJob),
    /// Write a catalogue for another program.
    Convert(ConvertJob),
    /// Look at one object.
    View(Box<ViewJob>),
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

impl CommandJob {
    /// The number of inputs that are read one after the other.
    pub(super) fn n_snapshots(&self) -> usize {
        match self {
            Self::Phew(series) => series.jobs.len(),
            Self::Fof(series) => series.jobs.len(),
            Self::Voids(series) => series.jobs.len(),
            _ => 1,
        }
    }
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
    /// Values for facts that the cells of a snapshot do not state.
    pub grid: FieldDefaults,
}

/// `inselberg topology`, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopologyJob {
    /// Ranks as threads of this process.
    pub ranks: NonZeroUsize,
    /// How threads would be pinned to processors.
    pub pin: Pin,
}

/// Checks the given values.
///
/// # Errors
/// The first value, in the order of the options, that is missing or out of range. The message names the
/// option, the place and the value, and what was expected.
pub fn check(raw: &RawConfig) -> Result<Job, ConfigError> {
    let raw = CheckedValues { raw };
    let work = match raw.raw.command() {
        Command::Phew => CommandJob::Phew(phew(&raw)?),
        Command::Fof => CommandJob::Fof(fof::fof(&raw)?),
        Command::Voids => CommandJob::Voids(voids::voids(&raw)?),
        Command::Recut => CommandJob::Recut(Box::new(recut(&raw)?)),
        Command::Atlas => CommandJob::Atlas(atlas(&raw)?),
        Command::Tree => CommandJob::Tree(tree(&raw)?),
        Command::Compare => CommandJob::Compare(compare(&raw)?),
        Command::Convert => CommandJob::Convert(convert(&raw)?),
        Command::View => CommandJob::View(Box::new(view(&raw)?)),
        Command::Info => CommandJob::Info(info(&raw)?),
        Command::Topology => CommandJob::Topology(TopologyJob { ranks: ranks(&raw)?, pin: pin(&raw) }),
        Command::ScalingPhew | Command::ScalingFof | Command::ScalingVoids | Command::ScalingTree => {
            CommandJob::Study(Box::new(study::study(&raw, check)?))
        }
        Command::SynthField => CommandJob::SynthField(synth::field(&raw)?),
        Command::SynthParticles => CommandJob::SynthParticles(synth::particles(&raw)?),
        Command::SynthSeries => CommandJob::SynthSeries(synth::series(&raw)?),
    };
    Ok(Job { common: common(&raw)?, work })
}

fn common(raw: &CheckedValues<'_>) -> Result<Common, ConfigError> {
    let expected = format!("1 to {MAX_THREADS}");
    let threads = raw.count("threads", |n| (1..=MAX_THREADS).contains(&n), &expected)?;
    let threads = threads.and_then(|n| NonZeroUsize::new(n as usize));
    // Commands without stages have nothing to report, and some write no files.
    let has = |name| options_of(raw.raw.command()).any(|opt| opt.name == name) && raw.switch(name);
    let [quiet, verbose, json, force, no_mpi] = ["quiet", "verbose", "json", "force", "no-mpi"].map(has);
    if quiet && verbose {
        return Err(raw.conflict("verbose", "quiet"));
    }
    Ok(Common { threads, quiet, verbose, json, force, no_mpi })
}

fn info(raw: &CheckedValues<'_>) -> Result<InfoJob, ConfigError> {
    let plot = raw.plot()?;
    let thresholds = raw.switch("thresholds") || plot.is_some();
    if raw.is_flag("field") && !thresholds {
        return Err(raw.unfit("field", &raw.shown("field"), "--thresholds or --plot as well"));
    }
    let field = FieldChoice::from(raw.text_or_default("field").as_str());
    let (input, grid) = (raw.needed_path("path")?, raw.params()?);
    Ok(InfoJob { input, thresholds, field, plot, units: units(raw), grid })
}
