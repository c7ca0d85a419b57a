//! A whole study, and the error of its model.

use super::counted::Counted;
use super::measured::{Configuration, Measured, Repeats, configurations};
use super::model::{Modelled, modelled};
use super::network::Network;
use super::record::StudyRecord;
use super::sample::step_of;
use super::thread_scaling::ThreadScaling;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Add;

/// The provenance of a study.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StudyProvenance {
    /// The program and its version.
    pub version: String,
    /// The start of the study, in UTC.
    pub date: String,
    /// Processors and memory of the host.
    pub machine: String,
    /// The hosts of the runs.
    pub hosts: String,
    /// What other programs did meanwhile on the host of the study; empty if that is not known.
    pub load: String,
    /// The command line.
    pub command: String,
    /// The input of every run.
    pub input: String,
    /// The command lines of the runs.
    pub runs: Vec<String>,
}

/// A study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// The word of the command.
    pub of: String,
    /// Items per thread, if an input was made for each run; else empty.
    pub weak: Vec<u64>,
    /// Its provenance.
    pub provenance: StudyProvenance,
    /// Real runs.
    pub configurations: Vec<Configuration>,
    /// The network between modelled ranks.
    pub network: Network,
    /// Modelled runs.
    pub modelled: Vec<Modelled>,
    /// The network between real ranks of one host, for the check.
    pub check_network: Network,
    /// The model compared with real runs.
    pub checks: Vec<Check>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The runs, which further studies may join.
    pub record: StudyRecord,
}

/// The figures of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoice {
    /// The network between modelled ranks, and between real ones of several hosts.
    pub network: Network,
    /// The network between real ranks of one host.
    pub check_network: Network,
    /// Numbers of threads of each modelled rank.
    pub threads: Vec<usize>,
}

impl Study {
    /// From its runs; `provenance` has what these do not say. `None` if threads are modelled, and no runs of
    /// one rank show how work scales with them.
    pub fn new(record: StudyRecord, provenance: StudyProvenance, choice: &ModelChoice) -> Option<Self> {
        let configurations = configurations(&record.measured);
        let scaling = ThreadScaling::new(&configurations);
        if scaling.is_none() && choice.threads.iter().any(|n| *n > 1) {
            return None;
        }
        let scaling = scaling.as_ref();
        Some(Self {
            of: record.of.clone(),
            weak: record.weak.clone(),
            provenance: StudyProvenance {
                machine: record.machines.join("; "),
                hosts: hosts(&record.measured),
                load: load(&record.measured),
                command: record.commands.join("\n"),
                input: record.input.clone(),
                runs: record.runs.clone(),
                ..provenance
            },
            network: choice.network,
            modelled: modelled(&record.simulated, &choice.threads, scaling, &choice.network),
            check_network: choice.check_network,
            checks: checks(&record, &configurations, scaling, choice),
            notes: record.notes.clone(),
            configurations,
            record,
        })
    }

    /// What the items of its runs are.
    pub fn items(&self) -> &'static str {
        match self.of.as_str() {
            "phew" => "test cells",
            "tree" => "members",
            _ => "particles",
        }
    }

    /// The title of its page.
    pub fn title(&self) -> String {
        let sizes = self.weak.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ");
        match sizes.is_empty() {
            true => format!("How inselberg {} scales", self.of),
            false => format!("How inselberg {} scales with {sizes} {} per thread", self.of, self.items()),
        }
    }
}

/// The model compared with real runs on as many ranks and threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// Number of hosts.
    pub hosts: usize,
    /// The network of the model: between hosts if there are several.
    pub network: &'static str,
    /// Whether each real thread had its own processor, so that times are comparable.
    pub has_processors: bool,
    /// Modelled seconds, of the stages that are modelled.
    pub modelled_seconds: f64,
    /// Real seconds of these stages.
    pub real_seconds: Repeats,
    /// Modelled time over the real median, minus 1; null if threads shared processors.
    pub error: Option<f64>,
    /// Processor seconds of work of all ranks, in the model.
    pub modelled_work: f64,
    /// The same in a real run with measured work; null if there was none.
    pub real_work: Option<f64>,
    /// Most work over the mean, in the model.
    pub modelled_imbalance: f64,
    /// The same in that real run.
    pub real_imbalance: Option<f64>,
}

/// Every real run that was simulated as well.
fn checks(
    record: &StudyRecord,
    all: &[Configuration],
    scaling: Option<&ThreadScaling>,
    choice: &ModelChoice,
) -> Vec<Check> {
    let one = |real: &Configuration| {
        let network = if real.hosts.len() > 1 { &choice.network } else { &choice.check_network };
        let model = |runs: &[Counted]| {
            let suits = |of: &&Counted| {
                let is_made = of.key.threads.is_none_or(|own| own == real.threads);
                (of.key.ranks, of.key.size) == (real.ranks, real.size) && is_made
            };
            let of_ranks: Vec<Counted> = runs.iter().filter(suits).cloned().collect();
            modelled(&of_ranks, &[real.threads], scaling, network).into_iter().next()
        };
        let counted = if real.threads == 1 { model(&record.counted) } else { None };
        Some(check(&model(&record.checked)?, real, counted.as_ref(), network))
    };
    all.iter().filter(|real| choice.threads.contains(&real.threads)).filter_map(one).collect()
}

/// Compares a model with the configuration of as many ranks, and with the model of a real run with measured
/// work.
fn check(model: &Modelled, real: &Configuration, counted: Option<&Modelled>, network: &Network) -> Check {
    let is_modelled = |stage: &str| model.stages.iter().any(|s| step_of(&s.stage) == stage);
    let stages = real.stages.iter().filter(|stage| is_modelled(&stage.stage)).map(|stage| stage.seconds);
    let seconds = stages.reduce(Repeats::add).unwrap_or_else(|| Repeats::from_values(Vec::new()));
    let has_processors = !real.shares_processors;
    let error = (has_processors && seconds.median > 0.0).then(|| model.seconds / seconds.median - 1.0);
    Check {
        ranks: real.ranks,
        threads: real.threads,
        hosts: real.hosts.len(),
        network: network.name,
        has_processors,
        modelled_seconds: model.seconds,
        real_seconds: seconds,
        error,
        modelled_work: model.whole_work_seconds,
        real_work: counted.map(|counted| counted.whole_work_seconds),
        modelled_imbalance: model.imbalance,
        real_imbalance: counted.map(|counted| counted.imbalance),
    }
}

impl StudyProvenance {
    /// The lines of the page, each with its name; those that are not known are left out.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("Date", &self.date),
            ("Version", &self.version),
            ("Machine", &self.machine),
            ("Hosts", &self.hosts),
            ("Other load", &self.load),
            ("Input", &self.input),
        ]
        .into_iter()
        .map(|(name, line)| (name, line.as_str()))
        .filter(|(_, line)| !line.is_empty())
    }
}

/// The hosts of these runs, each with its processors.
fn hosts(runs: &[Measured]) -> String {
    let all = runs.iter().flat_map(|run| &run.sample.ranks.hosts);
    let names: BTreeSet<(&str, usize)> = all.map(|host| (host.name.as_str(), host.processors)).collect();
    let shown = names.iter().map(|(name, n)| match n {
        1 => format!("{name} (1 processor)"),
        n => format!("{name} ({n} processors)"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The load of other programs during these runs.
fn load(runs: &[Measured]) -> String {
    let others = runs.iter().filter_map(|run| run.host.as_ref()).map(|host| host.other_processors);
    let all = Repeats::from_values(others.collect());
    match all.most > 0.0 {
        true => format!(
            "{:.2} processors in the median over the runs, {:.2} at most, on the host of the study",
            all.median, all.most
        ),
        false => String::new(),
    }
}
