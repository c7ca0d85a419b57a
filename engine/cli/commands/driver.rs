//! Shared by all searches (`phew`, `fof`, `voids`): ranks, threads, results and their errors.

use super::estimate::Estimate;
use super::fault::CommandError;
use super::grouped::grouped;
use super::interrupt;
use super::log;
use super::ranks::{RankHandles, RankRequest};
use super::results::{ResultFile, ResultKind};
use super::seating::{self, Seating};
use super::survey::PlacementSurvey;
use crate::config::{Common, Launch};
use crate::report::{
    Count, NodeLoad, ProgressBars, RankReport, Recorder, StageEvent, StageTime, node_loads, node_memory,
    peak_memory, workers_json, workers_text,
};
use inselberg_comm::agree::AgreeError;
use inselberg_comm::{Comm, Rank, Reduce, Settings};
use inselberg_io::catalogue::Attribute;
use inselberg_io::particles::ParticleHeader;
use inselberg_io::staging::Staged;
use inselberg_io::{Cosmology, InputFacts};
use inselberg_tasks::ThreadPool;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How a command starts its ranks.
pub struct DriverRequest<'a> {
    /// Ranks and threads.
    pub launch: &'a Launch,
    /// Options of every command.
    pub common: Common,
    /// Whether messages and tasks are traced.
    pub traced: bool,
}

/// This process, before its ranks work.
pub struct ProcessSetup<'a> {
    /// The ranks of the run.
    pub ranks: &'a RankHandles,
    /// Threads of all ranks of this process.
    pub n_workers: usize,
    /// Whether it is the first process.
    pub is_first: bool,
    /// Whether files of other programs are replaced.
    pub force: bool,
}

impl DriverRequest<'_> {
    /// The ranks of `world` or of `--ranks`, and the threads of this process.
    pub fn start(&self, world: Comm) -> Result<(RankHandles, Driver), CommandError> {
        let request = RankRequest { traced: self.traced, ..RankRequest::from_launch(self.launch) };
        let ranks = request.start(world)?;
        let settings = request.settings()?;
        let seating = Seating::new(&ranks, self.launch, self.common)?;
        let (traced, force) = (self.traced, self.common.force);
        Ok((ranks, Driver { seating, traced, force, settings, threads: OnceLock::new() }))
    }
}

/// The threads of this process, for one snapshot after another.
pub struct Driver {
    seating: Seating,
    traced: bool,
    /// Whether files of other programs are replaced, and complete snapshots computed again.
    pub force: bool,
    /// The settings of the ranks of each snapshot.
    pub settings: Settings,
    /// The threads of a rank that is a process. Its own thread joins them for good.
    threads: OnceLock<(rayon::ThreadPool, ThreadPool)>,
}

impl Driver {
    /// Collective over processes: reads the headers, opens the input of `job` from them, and checks memory
    /// and results.
    pub fn open<J: SnapshotJob>(&self, ranks: &RankHandles, job: &J) -> Result<J::Input, CommandError> {
        let facts = ranks.together(|comm| job.read_headers(comm))?;
        let (n_workers, force) = (self.n_workers(ranks), self.force);
        ranks.prepare(|is_first| job.open(&facts, &ProcessSetup { ranks, n_workers, is_first, force }))
    }

    /// Starts the threads of `rank`, of which the calling thread is the first; see [`Seating::start`].
    pub fn start(&self, rank: Rank) -> Result<(rayon::ThreadPool, ThreadPool), CommandError> {
        self.seating.start(rank)
    }

    /// The places of all ranks, if they are known.
    pub fn survey(&self) -> Option<&PlacementSurvey> {
        self.seating.survey()
    }

    /// Threads of all ranks of this process.
    pub fn n_workers(&self, ranks: &RankHandles) -> usize {
        self.seating.n_workers() * ranks.n_here()
    }

    /// Searches the snapshot of `job` on every rank of `ranks`. An error on any rank ends all ranks.
    ///
    /// The headers are read collectively over processes. Each process then opens the input from them once,
    /// and checks memory and results.
    pub fn run<J: SnapshotJob>(
        &self,
        ranks: RankHandles,
        job: &J,
        task: &RankTask<'_>,
    ) -> Result<(), CommandError> {
        let input = self.open(&ranks, job)?;
        ranks.prepare(|_| interrupt::guard_once())?;
        if let RankHandles::Process(comm) = &ranks
            && self.threads.get().is_none()
        {
            let started = ranks.prepare(|_| self.seating.start(comm.rank()))?;
            let _ = self.threads.set(started);
        }
        ranks.run(|comm| {
            comm.before_end(interrupt::wipe);
            let own;
            let (_, pool) = match self.threads.get() {
                Some(shared) => shared,
                None => {
                    own = self.seating.start(comm.rank())?;
                    &own
                }
            };
            job.work(task, &input, pool.clone().traced(self.traced), comm)
        })
    }
}

/// The search of one snapshot.
pub trait SnapshotJob: Sync {
    /// The open input.
    type Input: Sync;

    /// Its ranks and threads.
    fn launch(&self) -> &Launch;

    /// Whether its messages and tasks are traced.
    fn is_traced(&self) -> bool;

    /// The files of the input.
    fn inputs(&self) -> &[PathBuf];

    /// The files that it makes.
    fn results(&self) -> Vec<ResultFile<'_>>;

    /// The catalogue.
    fn catalogue(&self) -> Option<&Path> {
        self.results().iter().find(|file| file.kind == ResultKind::Catalogue).map(|file| file.path)
    }

    /// The other results, each with the name of its option.
    fn other_results(&self) -> Vec<(&'static str, &Path)> {
        let others = self.results().into_iter().filter(|file| file.kind != ResultKind::Catalogue);
        others.map(|file| (file.option, file.path)).collect()
    }

    /// The counts of a catalogue with these attributes, and words for those of the objects found.
    fn counts(
        &self,
        attributes: &[(String, Attribute)],
    ) -> (Vec<Count>, &'static [(&'static str, &'static str)]);

    /// Whether a catalogue with these attributes follows from the catalogue that the job goes on from, if it
    /// goes on from one.
    fn follows(&self, _attributes: &[(String, Attribute)]) -> bool {
        true
    }

    /// Collective over processes: reads the headers of the input.
    fn read_headers(&self, comm: &Comm) -> Result<InputFacts, CommandError>;

    /// Opens the input from its headers, and checks memory and results.
    fn open(&self, facts: &InputFacts, process: &ProcessSetup) -> Result<Self::Input, CommandError>;

    /// The known requirements of the search before it reads, on any process.
    fn estimate(&self, input: &Self::Input) -> Result<Estimate, CommandError>;

    /// Collective: the work of one rank. Rank 0 hands in the results.
    fn work(
        &self,
        task: &RankTask<'_>,
        input: &Self::Input,
        pool: ThreadPool,
        comm: &Comm,
    ) -> Result<(), CommandError>;
}

/// The context of the ranks of a search, in addition to its job.
pub struct RankTask<'a> {
    /// Options of every command.
    pub common: Common,
    /// Attributes that say which command makes the catalogue.
    pub attributes: Vec<(&'static str, String)>,
    /// Takes all results and the summary on rank 0.
    pub hand_in: &'a (dyn Fn(Staged, &dyn RunSummary) -> Result<(), CommandError> + Sync),
}

/// The summary of a search.
pub trait RunSummary {
    /// As text.
    fn text(&self) -> String;

    /// As JSON.
    fn json(&self) -> Value;

    /// Notes on the run for readers of a log.
    fn warnings(&self) -> &[String];

    /// The counts of the objects found, in a few words.
    fn brief(&self) -> String;
}

/// The counts of these names in their words: `124 clumps, 105 haloes`.
pub fn counts_in_words(counts: &[Count], shown: &[(&str, &str)]) -> String {
    let words = |name: &str| shown.iter().find(|(shown, _)| *shown == name).map(|(_, words)| *words);
    let text = |(name, n): &Count| Some(format!("{} {}", grouped((*n)?.cast_unsigned()), words(name)?));
    counts.iter().filter_map(text).collect::<Vec<_>>().join(", ")
}

impl ProcessSetup<'_> {
    /// Runs `work` on as many threads as the ranks of this process will have, up to the useful number. Before
    /// they start, a parallel loop would start a thread per processor in every process.
    pub fn in_parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, CommandError> {
        Ok(seating::some_threads(self.n_workers)?.install(work))
    }
}

/// The recorder of a rank: the first one shows progress bars on a terminal, unless it prints every stage, and
/// writes the log. With `--diagnostics` it measures the memory of each stage.
pub fn recorder(common: Common, launch: &Launch, comm: &Comm) -> Recorder {
    let is_first = comm.rank() == Rank(0);
    let is_terminal = std::io::stderr().is_terminal();
    let bars = is_first && !common.quiet && !common.verbose && !common.json && is_terminal;
    let listener: fn(&StageEvent) = log::stage;
    Recorder::new(bars.then_some(ProgressBars { n_ranks: comm.n_ranks() }))
        .with_listener((is_first && log::is_open()).then_some(listener))
        .with_pulse(comm.pulse())
        .measure_memory(launch.diagnostics)
}

/// Ends this rank with an error that all ranks agreed on: only the rank where it happened reports it.
pub fn agreed_error<E: Into<CommandError>>(error: AgreeError<E>) -> CommandError {
    match error {
        AgreeError::Here(error) => error.into(),
        AgreeError::Comm(error) => CommandError::ranks(error),
        AgreeError::Elsewhere { .. } => CommandError::Elsewhere,
    }
}

/// The cost of a run over all ranks.
pub struct RunCosts {
    /// Times of the stages, over all ranks if these are reported.
    pub stages: Vec<StageTime>,
    /// The report of the ranks, if there are several or `--diagnostics`.
    pub ranks: Option<RankReport>,
    /// Bytes of the process with the highest peak; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
    /// The workers and the memory of this process by NUMA node, with `--diagnostics`.
    nodes: Option<BTreeMap<u32, NodeLoad>>,
}

impl RunCosts {
    /// Collective. `balance` is for the report of the ranks.
    pub fn new(
        recorder: &Recorder,
        pool: &ThreadPool,
        balance: Option<inselberg::phew::balance::Balance>,
        launch: &Launch,
        comm: &Comm,
    ) -> Result<Self, CommandError> {
        let stages = recorder.times();
        let ranks = match comm.n_ranks() > 1 || launch.diagnostics {
            true => Some(RankReport::new(comm, &stages, balance).map_err(CommandError::ranks)?),
            false => None,
        };
        // 0 where the system does not report it.
        let memory = comm.all_reduce_counts(&[peak_memory().unwrap_or(0)], Reduce::Max);
        let nodes = || node_loads(&recorder.graphs(), &pool.seats(), &node_memory());
        Ok(Self {
            stages: ranks.as_ref().map_or(stages.clone(), |ranks| ranks.whole(&stages)),
            peak_memory: memory.map_err(CommandError::ranks)?.first().copied().filter(|bytes| *bytes > 0),
            nodes: launch.diagnostics.then(nodes),
            ranks,
        })
    }

    /// The tables of ranks and workers as text; empty without them.
    pub fn tables_text(&self) -> String {
        let ranks = self.ranks.as_ref().map(RankReport::text);
        let nodes = self.nodes.as_ref().map(workers_text);
        ranks.into_iter().chain(nodes).map(|table| format!("\n{table}")).collect()
    }

    /// Adds the tables to a summary.
    pub fn add_tables(&self, summary: &mut Value) {
        summary["ranks"] = self.ranks.as_ref().map_or(Value::Null, RankReport::json);
        summary["workers"] = self.nodes.as_ref().map_or(Value::Null, workers_json);
    }
}

/// The assumptions about an input: units of particles, and parameters of a cosmology on which results depend.
pub struct AssumedUnits {
    names: Vec<String>,
    line: Option<String>,
    cosmology: Option<String>,
}

impl AssumedUnits {
    /// For an input; a snapshot with cells has no such header.
    pub fn new(header: Option<&ParticleHeader>) -> Self {
        Self {
            names: header.map_or(Vec::new(), |header| header.assumed_units.clone()),
            line: header.and_then(assumed_units_line),
            cosmology: None,
        }
    }

    /// Adds the assumed parameters of a cosmology on which energies or spheres depend.
    #[must_use]
    pub fn with_cosmology(self, cosmology: Option<&Cosmology>) -> Self {
        Self { cosmology: cosmology.and_then(assumed_cosmology_line), ..self }
    }

    /// Lines of a summary; empty without assumptions.
    pub fn text(&self) -> String {
        let lines = [("units", &self.line), ("cosmology", &self.cosmology)];
        let shown = |(name, line): (&str, &Option<String>)| Some(format!("{name:<18}{}\n", line.as_ref()?));
        lines.into_iter().filter_map(shown).collect()
    }

    /// A sentence about the assumed units, if there are any.
    pub fn sentence(&self) -> Option<String> {
        self.line.clone()
    }

    /// The names of the units.
    pub fn json(&self) -> Value {
        serde_json::json!(self.names)
    }
}

/// Lines of a summary with notes that may surprise.
pub fn notes_text(notes: &[String]) -> String {
    notes.iter().map(|note| format!("{:<18}{note}\n", "note")).collect()
}

/// The assumed parameters of a cosmology and the options that set them; `None` without any.
pub fn assumed_cosmology_line(cosmology: &Cosmology) -> Option<String> {
    let flags: Vec<_> =
        cosmology.assumed.iter().map(|name| format!("--{}", name.replace('_', "-"))).collect();
    Some(format!("{}; set them with {}", cosmology.assumption()?, flags.join(", ")))
}

/// The assumed units and the options that set them; `None` without any.
pub fn assumed_units_line(header: &ParticleHeader) -> Option<String> {
    let flags: Vec<_> = header.assumed_units.iter().map(|name| format!("--unit-{name}")).collect();
    Some(format!("{}; set them with {}", header.assumption()?, flags.join(", ")))
}
