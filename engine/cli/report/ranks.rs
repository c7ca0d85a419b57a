//! The load of the ranks and their messages.

use super::StageTime;
use super::hosts::{RunHost, hosts_of, own_host};
use super::summary::grouped;
use inselberg::phew::balance::Balance;
use inselberg_comm::{Comm, CommError, Rank, StageTraffic};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// The load of one stage over all ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct StageLoad {
    /// The stage.
    pub stage: String,
    /// Seconds of the fastest rank.
    pub least: f64,
    /// Mean seconds per rank.
    pub mean: f64,
    /// Seconds of the slowest rank.
    pub most: f64,
    /// Mean seconds per rank outside of calls.
    pub mean_work: f64,
    /// Seconds outside of calls of the rank with most of them.
    pub most_work: f64,
    /// Seconds in calls of the rank with least of them: those of messages, as this rank hardly waits.
    pub least_in_calls: f64,
    /// Cells of all ranks.
    pub cells: u64,
    /// Cells of the rank with most.
    pub most_cells: u64,
    /// Peak memory of the process with most of it, in bytes; 0 if not measured.
    pub peak_memory: u64,
}

/// The messages of one stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageTotals {
    /// The stage; `other` outside of stages.
    pub stage: String,
    /// Sparse exchanges of the rank with most of them.
    pub rounds: u64,
    /// Messages of those exchanges, of all ranks.
    pub messages: u64,
    /// Bytes in those messages, of all ranks.
    pub bytes: u64,
    /// Other collective calls of the rank with most of them.
    pub collectives: u64,
    /// The largest value of any rank, for each number by itself.
    pub most: MostTraffic,
    /// Processor seconds of each rank outside of calls; empty if not measured.
    pub work: Vec<f64>,
    /// Processor seconds of all ranks in calls.
    pub in_calls: f64,
}

/// The largest traffic of any rank in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MostTraffic {
    /// Exchanges between neighbours.
    pub near_rounds: u64,
    /// Messages sent.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes of other collective calls.
    pub tree_bytes: u64,
}

/// Both tables of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankReport {
    /// Number of ranks.
    pub n_ranks: usize,
    /// Work, by stage.
    pub load: Vec<StageLoad>,
    /// Messages, by stage.
    pub traffic: Vec<StageTotals>,
    /// The hosts.
    pub hosts: Vec<RunHost>,
    /// The balance of peaks and test cells, for PHEW.
    pub balance: Option<Balance>,
}

/// A name with numbers: how rows cross between ranks.
type RankRow = (String, Vec<u64>);
/// The numbers of all ranks, by name.
type RankRows = Vec<(String, Vec<Vec<u64>>)>;

/// Collective: the load per stage on rank 0, nothing on the others. A rank that skipped a stage counts with
/// no time in it. `traffic` is that of this rank.
///
/// # Errors
/// When a rank fails.
pub fn load_table(
    comm: &Comm,
    stages: &[StageTime],
    traffic: &[StageTraffic],
) -> Result<Vec<StageLoad>, CommError> {
    let row = |s: &StageTime| {
        let calls = traffic.iter().filter(|row| is_step_of(row.stage, s.name)).map(|row| row.call_time);
        let in_calls = calls.sum::<Duration>().as_secs_f64().min(s.seconds);
        (
            s.name.to_string(),
            vec![s.seconds.to_bits(), s.cells, in_calls.to_bits(), s.peak_memory.unwrap_or(0)],
        )
    };
    let n_ranks = comm.n_ranks();
    Ok(by_stage(comm, stages.iter().map(row).collect())?
        .into_iter()
        .map(|(stage, all)| load_of(stage, &all, n_ranks))
        .collect())
}

/// Whether `name` is the stage, or a numbered step of it.
fn is_step_of(name: &str, stage: &str) -> bool {
    let rest = name.strip_prefix(stage);
    rest.is_some_and(|rest| rest.is_empty() || rest.trim_start().parse::<u64>().is_ok())
}

fn load_of(stage: String, all: &[Vec<u64>], n_ranks: usize) -> StageLoad {
    let of = |i: usize| all.iter().map(move |row| f64::from_bits(row[i]));
    let work = of(0).zip(of(2)).map(|(seconds, in_calls)| seconds - in_calls);
    let is_everywhere = all.len() >= n_ranks;
    let least = |of: &mut dyn Iterator<Item = f64>| match is_everywhere {
        true => of.fold(f64::INFINITY, f64::min),
        false => 0.0,
    };
    StageLoad {
        stage,
        least: least(&mut of(0)),
        mean: of(0).sum::<f64>() / n_ranks as f64,
        most: of(0).fold(0.0, f64::max),
        mean_work: work.clone().sum::<f64>() / n_ranks as f64,
        most_work: work.fold(0.0, f64::max),
        least_in_calls: least(&mut of(2)),
        cells: all.iter().map(|row| row[1]).sum(),
        most_cells: all.iter().map(|row| row[1]).max().unwrap_or(0),
        peak_memory: all.iter().map(|row| row[3]).max().unwrap_or(0),
    }
}

/// Collective: the traffic up to now on rank 0, nothing on the others.
///
/// # Errors
/// When a rank fails.
pub fn traffic_table(comm: &Comm) -> Result<Vec<StageTotals>, CommError> {
    let name = |stage: &str| if stage.is_empty() { "other".to_string() } else { stage.to_string() };
    let nanos = |time: std::time::Duration| time.as_nanos() as u64;
    let rank = u64::from(comm.rank().0);
    let row = |s: &StageTraffic| {
        let sent = [rank, s.rounds, s.messages, s.bytes, s.collectives];
        let crossed = [s.near_rounds, s.received, s.received_bytes, s.tree_bytes];
        (name(s.stage), [&sent[..], &crossed, &[nanos(s.work), nanos(s.in_calls)]].concat())
    };
    let rows = comm.traffic().iter().map(row).collect();
    let n_ranks = comm.n_ranks();
    Ok(by_stage(comm, rows)?.into_iter().map(|(stage, all)| totals_of(stage, &all, n_ranks)).collect())
}

fn totals_of(stage: String, all: &[Vec<u64>], n_ranks: usize) -> StageTotals {
    let sum = |i: usize| all.iter().map(|row| row[i]).sum::<u64>();
    let most = |i: usize| all.iter().map(|row| row[i]).max().unwrap_or(0);
    let seconds = |nanos: u64| nanos as f64 * 1e-9;
    let mut work = vec![0.0; n_ranks];
    for row in all {
        if let Some(work) = work.get_mut(row[0] as usize) {
            *work = seconds(row[9]);
        }
    }
    let is_counted = work.iter().any(|seconds| *seconds > 0.0);
    StageTotals {
        stage,
        rounds: most(1),
        messages: sum(2),
        bytes: sum(3),
        collectives: most(4),
        most: MostTraffic {
            near_rounds: most(5),
            messages: most(2),
            bytes: most(3),
            received: most(6),
            received_bytes: most(7),
            tree_bytes: most(8),
        },
        work: if is_counted { work } else { Vec::new() },
        in_calls: seconds(sum(10)),
    }
}

/// Collective: the rows of all ranks by name on rank 0, in the order of their first appearance; nothing on
/// the others.
fn by_stage(comm: &Comm, rows: Vec<RankRow>) -> Result<RankRows, CommError> {
    let bytes = serde_json::to_vec(&rows).expect("names and numbers are JSON");
    let mut stages = RankRows::new();
    for (_, bytes) in comm.exchange(vec![(Rank(0), bytes)])? {
        let rows: Vec<RankRow> = serde_json::from_slice(&bytes).expect("all ranks run the same program");
        for (name, numbers) in rows {
            match stages.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(numbers),
                None => stages.push((name, vec![numbers])),
            }
        }
    }
    Ok(stages)
}

impl RankReport {
    /// Collective: both tables on rank 0, empty ones on the others.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn new(comm: &Comm, stages: &[StageTime], balance: Option<Balance>) -> Result<Self, CommError> {
        // First, so that the report does not count itself.
        let own = comm.traffic();
        let traffic = traffic_table(comm)?;
        let load = load_table(comm, stages, &own)?;
        let sent = by_stage(comm, vec![(own_host(), Vec::new())])?;
        let hosts = hosts_of(sent.into_iter().map(|(host, ranks)| (host, ranks.len())));
        Ok(Self { n_ranks: comm.n_ranks(), load, traffic, hosts, balance })
    }

    /// `stages` of rank 0 with the seconds of the slowest rank, the cells of all, and the most memory.
    pub fn whole(&self, stages: &[StageTime]) -> Vec<StageTime> {
        let whole = |stage: &StageTime| match self.load.iter().find(|load| load.stage == stage.name) {
            Some(load) => StageTime {
                seconds: load.most,
                cells: load.cells,
                peak_memory: Some(load.peak_memory).filter(|bytes| *bytes > 0),
                ..stage.clone()
            },
            None => stage.clone(),
        };
        stages.iter().map(whole).collect()
    }

    /// Both tables as text, and that of the work if it is measured.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:<18}{:>10}{:>10}{:>10}{:>12}{:>15}\n",
            format!("load, {} rank{}", self.n_ranks, if self.n_ranks == 1 { "" } else { "s" }),
            "least s",
            "mean s",
            "most s",
            "most/mean",
            "most cells"
        );
        for load in &self.load {
            let ratio = if load.mean > 0.0 { format!("{:.2}", load.most / load.mean) } else { String::new() };
            let cells =
                if load.most_cells > 0 { grouped(load.most_cells.cast_signed()) } else { String::new() };
            let line = format!(
                "{:<18}{:>10.4}{:>10.4}{:>10.4}{ratio:>12}{cells:>15}",
                load.stage, load.least, load.mean, load.most
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text += &self.balance_text();
        let _ = writeln!(
            text,
            "\n{:<18}{:>10}{:>15}{:>20}{:>12}",
            "traffic", "exchanges", "messages", "bytes", "other calls"
        );
        for row in &self.traffic {
            let [messages, bytes] = [row.messages, row.bytes].map(|n| grouped(n.cast_signed()));
            let _ = writeln!(
                text,
                "{:<18}{:>10}{messages:>15}{bytes:>20}{:>12}",
                row.stage, row.rounds, row.collectives
            );
        }
        text + &self.work_text()
    }

    fn work_text(&self) -> String {
        let mut text = String::new();
        for row in self.traffic.iter().filter(|row| !row.work.is_empty()) {
            if text.is_empty() {
                let _ = writeln!(text, "\n{:<18}{:>10}{:>10}{:>12}", "work", "mean s", "most s", "most/mean");
            }
            let (mean, most) = (
                row.work.iter().sum::<f64>() / self.n_ranks as f64,
                row.work.iter().fold(0.0, |a: f64, b| a.max(*b)),
            );
            let _ = writeln!(text, "{:<18}{mean:>10.4}{most:>10.4}{:>12.2}", row.stage, most / mean);
        }
        text
    }

    fn balance_text(&self) -> String {
        if self.balance.is_none() {
            return String::new();
        }
        let mut text = "\npeaks and test cells\n".to_string();
        for (name, value) in self.balance_rows() {
            let _ = writeln!(text, "{name:<46}{value:>12.4}");
        }
        text
    }

    /// The quantities of the paper's Table 2, and the same for test cells.
    pub(super) fn balance_rows(&self) -> Vec<(&'static str, f64)> {
        let Some(of) = &self.balance else { return Vec::new() };
        let mean = |n: u64| n as f64 / (of.n_ranks.max(1)) as f64;
        vec![
            ("load imbalance, max/mean of peaks and ghosts", of.load_imbalance()),
            ("surface effect, ghost peaks/active peaks", of.surface_effect()),
            ("connectivity, saddle entries/peaks", of.connectivity()),
            ("most ghost peaks/active peaks on a rank", of.most_ghosts_over_active),
            ("peaks and ghost peaks, most on a rank", of.most_peaks as f64),
            ("saddle entries, most on a rank", of.most.sparse as f64),
            ("test cells, max/mean", of.test_imbalance()),
            ("ghost test cells/test cells", of.sum.ghost_tests as f64 / of.sum.test_cells.max(1) as f64),
            ("ranks that a rank shares test cells with", mean(of.sum.neighbours)),
        ]
    }

    /// Both tables as JSON: `n_ranks`, `load` and `traffic`.
    pub fn json(&self) -> Value {
        let load = |l: &StageLoad| {
            json!({
                "stage": l.stage, "least_seconds": l.least, "mean_seconds": l.mean,
                "most_seconds": l.most, "mean_work_seconds": l.mean_work,
                "most_work_seconds": l.most_work, "least_seconds_in_calls": l.least_in_calls,
                "cells": l.cells, "most_cells": l.most_cells,
            })
        };
        let traffic = |t: &StageTotals| {
            let mut row = json!({
                "stage": t.stage, "exchanges": t.rounds, "messages": t.messages, "bytes": t.bytes,
                "other_calls": t.collectives,
                "most_exchanges_of_neighbours": t.most.near_rounds,
                "most_messages": t.most.messages, "most_bytes": t.most.bytes,
                "most_received": t.most.received, "most_received_bytes": t.most.received_bytes,
                "most_bytes_of_other_calls": t.most.tree_bytes,
            });
            if !t.work.is_empty() {
                row["work_seconds"] = json!(t.work);
                row["call_seconds"] = json!(t.in_calls);
            }
            row
        };
        json!({
            "n_ranks": self.n_ranks,
            "hosts": self.hosts,
            "balance": self.balance_rows().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "load": self.load.iter().map(load).collect::<Vec<_>>(),
            "traffic": self.traffic.iter().map(traffic).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    fn stage(name: &'static str, seconds: f64, cells: u64) -> StageTime {
        StageTime { name, seconds, cells, peak_memory: None }
    }

    #[test]
    fn the_tables_are_over_all_ranks() {
        let reports = run_threads(3, |comm| {
            let rank = u64::from(comm.rank().0);
            comm.at("labels");
            let next = Rank((comm.rank().0 + 1) % 3);
            comm.exchange(vec![(next, vec![0u64; 1 + rank as usize])]).expect("sent");
            comm.barrier().expect("a barrier");
            let mut stages = vec![stage("reading", 1.0 + rank as f64, 10 * rank)];
            stages.extend((rank == 2).then(|| stage("extra", 6.0, 1)));
            let report = RankReport::new(comm, &stages, Some(Balance::default())).expect("a report");
            let whole = report.whole(&stages);
            (report, whole)
        });
        let reports = reports.expect("no panic");
        let (report, whole) = &reports[0];
        assert_eq!(*whole, [stage("reading", 3.0, 30)]);
        let reading = &report.load[0];
        assert_eq!((reading.least, reading.mean, reading.most, reading.most_cells), (1.0, 2.0, 3.0, 20));
        assert_eq!((report.load[1].least, report.load[1].mean), (0.0, 2.0));
        let (n, most) = (report.traffic[0].clone(), report.traffic[0].most);
        assert_eq!((n.stage.as_str(), n.rounds, n.messages, n.bytes, n.collectives), ("labels", 1, 3, 48, 1));
        assert_eq!((most.messages, most.bytes, most.received, most.received_bytes), (1, 24, 1, 24));
        assert!(n.work.is_empty() && most.near_rounds == 0);
        assert!(reports[1].0.load.is_empty() && reports[1].0.traffic.is_empty());
        let text = report.text();
        assert!(text.contains("load, 3 ranks") && text.contains("most/mean"), "{text}");
        assert_eq!(report.json()["traffic"][0]["bytes"], 48);
        assert_eq!(report.hosts.iter().map(|host| host.ranks).collect::<Vec<_>>(), [3]);
        assert!(report.hosts[0].processors > 0);
    }

    #[test]
    fn time_in_calls_is_no_work() {
        let row = |seconds: f64, in_calls: f64| vec![seconds.to_bits(), 0, in_calls.to_bits(), 0];
        let load = load_of("forest".into(), &[row(3.0, 0.5), row(3.0, 2.0)], 2);
        assert_eq!((load.mean_work, load.most_work, load.least_in_calls), (1.75, 2.5, 0.5));
        let names = [("forest", true), ("forest 12", true), ("forestry", false), ("links", false)];
        assert!(names.into_iter().all(|(name, is_step)| is_step_of(name, "forest") == is_step));
    }
}
