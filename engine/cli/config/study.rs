//! `inselberg scaling`, checked.

use super::values::CheckedValues;
use super::{Command, CommandInfo, ConfigError, Heading, Job, RawConfig, options_of, passed_on};
use crate::scaling::{LaunchLine, NETWORKS, Network};
use inselberg_io::params::parse_count;
use std::path::PathBuf;

/// More repeats than this are a typing error.
const MAX_REPEATS: u64 = 1000;
/// More ranks than this are a typing error.
const MAX_RANKS: usize = 65_536;
/// The least size per thread, of which a thread has something to do, and one that is no typing error.
const WEAK: std::ops::RangeInclusive<u64> = 4000..=1_000_000_000_000;
/// The ways to divide a mesh, as `--balance` has them.
const BALANCES: [&str; 3] = ["work", "test-cells", "leaves"];

/// A study of a command, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyJob {
    /// The command that is studied.
    pub command: Command,
    /// The input of its runs; no files if nothing runs.
    pub input: StudyInput,
    /// The folder of the study.
    pub output: PathBuf,
    /// Numbers of ranks of real runs; empty without real runs.
    pub ranks: Vec<usize>,
    /// Numbers of threads per rank.
    pub threads: Vec<usize>,
    /// Ranks on each node, if given.
    pub ranks_per_node: Option<usize>,
    /// Real and simulated runs of each kind.
    pub repeats: usize,
    /// How ranks start, if given.
    pub launcher: Option<Launcher>,
    /// Numbers of ranks to simulate.
    pub simulate: Vec<usize>,
    /// Numbers of threads of each modelled rank.
    pub simulate_threads: Vec<usize>,
    /// Studies whose runs are taken as well.
    pub join: Vec<PathBuf>,
    /// How the mesh is divided; empty without a mesh.
    pub balances: Vec<String>,
    /// The network between modelled ranks.
    pub network: Network,
    /// The network between real ranks.
    pub check_network: Network,
    /// Further options of the command.
    pub options: Vec<Passed>,
    /// Those that decide what is done, as one line.
    pub search: String,
}

/// The input of all runs of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StudyInput {
    /// Files.
    Files(Vec<PathBuf>),
    /// One is made for each run: so many items per thread. With several sizes, runs are made with each.
    Made(Vec<u64>),
}

/// How the ranks of real runs start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// As threads of one process.
    Threads,
    /// As processes.
    Line(LaunchLine),
}

/// An option on the command line: its name with dashes, and its values.
pub type Passed = (String, Vec<String>);

/// A study of a command whose own options `check` accepts.
pub(super) fn study(
    raw: &CheckedValues<'_>,
    check: impl FnOnce(&RawConfig) -> Result<Job, ConfigError>,
) -> Result<StudyJob, ConfigError> {
    let output = raw.needed_path("output")?;
    let RunNumbers { ranks, threads, simulate, simulate_threads, join } = run_numbers(raw)?;
    let repeats = raw.count_or_default("repeats", |n| (1..=MAX_REPEATS).contains(&n), "1 to 1000")?;
    let per_node = raw.count("ranks-per-node", |n| (1..=MAX_RANKS as u64).contains(&n), "1 to 65536")?;
    let ranks_per_node = per_node.map(|n| n as usize);
    let (input, options, search) = match ranks.is_empty() && simulate.is_empty() {
        true => (StudyInput::Files(Vec::new()), Vec::new(), String::new()),
        false => {
            let input = input(raw)?;
            let (options, search) = passed(raw, &input, check)?;
            (input, options, search)
        }
    };
    Ok(StudyJob {
        command: raw.raw.runs().expect("a study runs a command").command(),
        input,
        output,
        ranks,
        threads,
        ranks_per_node,
        repeats: repeats as usize,
        launcher: launcher(raw, ranks_per_node.is_some())?,
        simulate,
        simulate_threads,
        join,
        balances: if raw.raw.has_option("balance") { balances(raw)? } else { Vec::new() },
        network: network(raw)?,
        check_network: named(&raw.text_or_default("check-network")),
        options,
        search,
    })
}

/// The numbers of the runs, and the studies that are joined.
struct RunNumbers {
    ranks: Vec<usize>,
    threads: Vec<usize>,
    simulate: Vec<usize>,
    simulate_threads: Vec<usize>,
    join: Vec<PathBuf>,
}

fn run_numbers(raw: &CheckedValues<'_>) -> Result<RunNumbers, ConfigError> {
    let all = ["ranks", "threads", "simulate", "simulate-threads"].map(|name| numbers(raw, name));
    let [mut ranks, mut threads, simulate, simulate_threads] = collected(all)?;
    let join = raw.paths("join");
    if ranks.is_empty() && threads.is_empty() && simulate.is_empty() && join.is_empty() {
        let how = "--ranks, --threads, --simulate or --join".to_string();
        let what = "something to run".to_string();
        return Err(ConfigError::Missing { command: words(raw.raw.command()), what, how });
    }
    // If only one of the two is given, the other is 1.
    if !(ranks.is_empty() && threads.is_empty()) {
        [&mut ranks, &mut threads].into_iter().filter(|n| n.is_empty()).for_each(|n| n.push(1));
    }
    let shows_threads = ranks.contains(&1) && threads.contains(&1) && threads.len() > 1;
    if simulate_threads != [1] && !shows_threads && join.is_empty() {
        let expected = "--ranks with 1, and --threads with 1 and a greater number";
        return Err(raw.unfit("simulate-threads", &raw.shown("simulate-threads"), expected));
    }
    Ok(RunNumbers { ranks, threads, simulate, simulate_threads, join })
}

fn collected<T, E, const N: usize>(all: [Result<T, E>; N]) -> Result<[T; N], E> {
    let all: Vec<T> = all.into_iter().collect::<Result<_, _>>()?;
    Ok(all.try_into().unwrap_or_else(|_| unreachable!("as many as before")))
}

fn input(raw: &CheckedValues<'_>) -> Result<StudyInput, ConfigError> {
    let (files, weak) = (raw.paths("input"), raw.text("weak"));
    match weak {
        Some(text) if !files.is_empty() => Err(raw.unfit("weak", &text, "no --input with it")),
        Some(text) => {
            let size = |word: &str| parse_count(word.trim()).filter(|n| WEAK.contains(n));
            let sizes: Option<Vec<u64>> = text.split(',').map(size).collect();
            sizes.map(StudyInput::Made).ok_or_else(|| raw.unfit("weak", &text, "numbers from 4000 to 1e12"))
        }
        None if files.is_empty() => Err(raw.missing("input")),
        None => Ok(StudyInput::Files(files)),
    }
}

/// The words of a command.
fn words(command: Command) -> String {
    CommandInfo::of(command).words.join(" ")
}

fn launcher(raw: &CheckedValues<'_>, knows_nodes: bool) -> Result<Option<Launcher>, ConfigError> {
    let Some(text) = raw.text("launcher") else { return Ok(None) };
    if text == "threads" {
        return Ok(Some(Launcher::Threads));
    }
    let line = LaunchLine::parse(&text).map_err(|expected| raw.unfit("launcher", &text, expected))?;
    match line.needs_nodes() && !knows_nodes {
        true => Err(raw.unfit("launcher", &text, "--ranks-per-node with {nodes}")),
        false => Ok(Some(Launcher::Line(line))),
    }
}

/// The options of the runs, checked; then those that decide what is done, as one line.
fn passed(
    raw: &CheckedValues<'_>,
    input: &StudyInput,
    check: impl FnOnce(&RawConfig) -> Result<Job, ConfigError>,
) -> Result<(Vec<Passed>, String), ConfigError> {
    let mut whole = raw.raw.runs().expect("a study runs a command").clone();
    let command = whole.command();
    let made = CommandInfo::of(raw.raw.command()).runs.expect("a study runs a command").input;
    let inputs = match input {
        StudyInput::Files(files) => files.clone(),
        StudyInput::Made(_) => vec![made.read.into()],
    };
    let reads = options_of(command).find(|opt| opt.positional).expect("the command reads something");
    whole.set_paths(reads, inputs.clone())?;
    whole.set_flag(whole.option("diagnostics"), "true")?;
    if check(&whole)?.work.n_snapshots() > 1 {
        let shown = inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        return Err(raw.unfit("input", &shown.join(" "), "one snapshot"));
    }
    let (mut all, mut search) = (Vec::new(), words(command));
    for (opt, words) in whole.typed(passed_on(raw.raw.command())) {
        if !matches!(opt.heading, Heading::Launch | Heading::Diagnostics | Heading::General) {
            search = [vec![search, opt.label()], words.clone()].concat().join(" ");
        }
        all.push((opt.label(), words));
    }
    Ok((all, search))
}

/// `1,2,4`, or `1..8` for the same with 8.
fn numbers(raw: &CheckedValues<'_>, name: &str) -> Result<Vec<usize>, ConfigError> {
    let Some(text) = raw.text(name) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for part in text.split(',') {
        let of = |word: &str| word.trim().parse().ok().filter(|n| (1..=MAX_RANKS).contains(n));
        let ends = match part.split_once("..") {
            Some((first, last)) => of(first).zip(of(last)).filter(|(first, last)| first <= last),
            None => of(part).map(|n| (n, n)),
        };
        let Some((first, last)) = ends else {
            return Err(raw.unfit(name, &text, "numbers from 1 to 65536, as in 1,2,4 or 32..16384"));
        };
        all.extend(std::iter::successors(Some(first), |n| Some(2 * n)).take_while(|n| *n <= last));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn balances(raw: &CheckedValues<'_>) -> Result<Vec<String>, ConfigError> {
    let text = raw.text_or_default("balance");
    let words: Vec<String> = text.split(',').map(|word| word.trim().to_string()).collect();
    match words.iter().all(|word| BALANCES.contains(&word.as_str())) {
        true => Ok(words),
        false => Err(raw.unfit("balance", &text, "some of work, test-cells, leaves")),
    }
}

/// The named network, with the given figures.
fn network(raw: &CheckedValues<'_>) -> Result<Network, ConfigError> {
    let of = named(&raw.text_or_default("network"));
    let time = |name| raw.real(name, |x| x >= 0.0, "microseconds, 0 or more");
    let latency = time("latency")?.map_or(of.latency, |micros| micros * 1e-6);
    let overhead = time("overhead")?.map_or(of.overhead, |micros| micros * 1e-6);
    let bandwidth = raw.real("bandwidth", |x| x > 0.0, "gigabytes per second, above 0")?;
    Ok(Network { latency, overhead, bandwidth: bandwidth.map_or(of.bandwidth, |giga| giga * 1e9), ..of })
}

fn named(name: &str) -> Network {
    *NETWORKS.iter().find(|network| network.name == name).expect("the option takes these names only")
}
