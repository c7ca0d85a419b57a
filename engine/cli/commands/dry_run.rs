//! `--dry-run`: the computations of a run, their places, their memory, and the files that it would write.
//!
//! Inputs are opened and results checked as in a run; no cell and no particle is read. No time is stated: it
//! depends on the number of cells above the threshold.

use super::completeness::{identity, is_complete};
use super::driver::{Driver, SnapshotJob};
use super::estimate::Estimate;
use super::fault::{CommandError, tell};
use super::memory::{self, Bytes};
use super::ranks::RankHandles;
use super::{out, seating};
use crate::config::{Common, Series};
use crate::report::{places_json, places_text};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// The prospect of a snapshot.
enum Prospect {
    Compute(Estimate),
    Keep,
    Fail(String),
}

/// Collective over processes: prints what would be done.
pub fn show<J: SnapshotJob>(
    series: &Series<J>,
    common: Common,
    ranks: &RankHandles,
    driver: &Driver,
) -> Result<(), CommandError> {
    let launch = launch_of(&series.jobs[0], ranks, driver);
    let (mut text, mut entries, mut failed) = (launch.text, Vec::new(), Vec::new());
    for job in &series.jobs {
        let prospect = match prospect(series, job, ranks, driver) {
            Err(error) if !series.is_resumable => return Err(error),
            // Ranks are lost.
            Err(error @ CommandError::Ranks(_)) => return Err(error),
            Err(error) => Prospect::Fail(told(job, &error)),
            Ok(prospect) => prospect,
        };
        if let Prospect::Fail(_) = prospect {
            failed.push(job.inputs()[0].display().to_string());
        }
        text += &text_of(job, &prospect);
        entries.push(json_of(job, &prospect));
    }
    let json = json!({ "dry_run": true, "launch": launch.json, "snapshots": entries });
    ranks.prepare(|is_first| if is_first { out::report(common, || text, || json) } else { Ok(()) })?;
    match (failed.len(), ranks.is_first()) {
        (0, _) => Ok(()),
        (_, false) => Err(CommandError::Elsewhere),
        (n, true) => {
            let message = format!("{n} of {} snapshots would fail: {}", series.jobs.len(), failed.join(", "));
            Err(CommandError::Series { message, is_fault: false })
        }
    }
}

/// Collective over processes.
fn prospect<J: SnapshotJob>(
    series: &Series<J>,
    job: &J,
    ranks: &RankHandles,
    driver: &Driver,
) -> Result<Prospect, CommandError> {
    let is_kept = || series.is_resumable && !driver.force;
    let kept = ranks.is_first() && is_kept() && is_complete(job, identity(job).as_deref(), &series.options);
    if ranks.share(vec![kept; ranks.n_here()])?.contains(&true) {
        return Ok(Prospect::Keep);
    }
    let input = driver.open(ranks, job)?;
    let none = Estimate { input: String::new(), least: 0, most: None };
    let estimate = ranks.prepare(|is_first| match is_first {
        true => seating::some_threads(driver.n_workers(ranks))?.install(|| job.estimate(&input)),
        false => Ok(none),
    })?;
    Ok(Prospect::Compute(estimate))
}

/// Reports the failure of a snapshot on the process where it occurred.
fn told<J: SnapshotJob>(job: &J, error: &CommandError) -> String {
    if error.is_elsewhere() {
        return "another process reports it".into();
    }
    tell(&job.inputs()[0].display().to_string(), &error.reason())
}

/// Ranks and threads.
struct LaunchText {
    text: String,
    json: Value,
}

fn launch_of<J: SnapshotJob>(job: &J, ranks: &RankHandles, driver: &Driver) -> LaunchText {
    let launch = job.launch();
    let n_ranks = ranks.n_here() * ranks.process().1;
    let n_threads = driver.n_workers(ranks) / ranks.n_here();
    let how = match (ranks.n_here(), ranks.process().1) {
        (1, 1) => "this process",
        (1, _) => "processes",
        _ => "threads of this process",
    };
    let mut text = format!("dry run: nothing is computed or written\n\n{:<18}{n_ranks} ({how})\n", "ranks");
    let _ = writeln!(text, "{:<18}{n_threads} per rank, --pin {}", "threads", launch.pin);
    let mut json = json!({ "n_ranks": n_ranks, "n_threads": n_threads, "pin": launch.pin, "ranks": null });
    if let Some(survey) = driver.survey() {
        let _ = write!(text, "\n{}", places_text(&survey.ranks));
        json["ranks"] = places_json(&survey.ranks);
    }
    text.push('\n');
    LaunchText { text, json }
}

/// Every result, each with the name of its option.
fn results<J: SnapshotJob>(job: &J) -> Vec<(&'static str, &Path)> {
    job.catalogue().map(|path| ("--output", path)).into_iter().chain(job.other_results()).collect()
}

fn text_of<J: SnapshotJob>(job: &J, prospect: &Prospect) -> String {
    let input = job.inputs()[0].display();
    let estimate = match prospect {
        Prospect::Fail(reason) => return format!("{input}: failed: {reason}\n"),
        Prospect::Keep => {
            let path = job.catalogue().map_or(String::new(), |path| format!(" in {}", path.display()));
            return format!("{input}: kept, complete{path}\n");
        }
        Prospect::Compute(estimate) => estimate,
    };
    let mut text = format!("{input}: computed\n  {:<16}{}\n", "input", estimate.input);
    let _ = writeln!(text, "  {:<16}{}", "memory", memory_text(estimate));
    for (option, path) in results(job) {
        let replaced = if path.is_file() { ", replaces the file" } else { "" };
        let _ = writeln!(text, "  {:<16}{} ({option}{replaced})", "writes", path.display());
    }
    text
}

/// The range of the estimate, and the available memory.
fn memory_text(estimate: &Estimate) -> String {
    let range = match estimate.most {
        Some(most) => format!(
            "{} to {} over all ranks in addition to the input, more with more cells above the threshold",
            Bytes(estimate.least),
            Bytes(most)
        ),
        None => format!("at least {} over all ranks", Bytes(estimate.least)),
    };
    match memory::left() {
        Some(left) => format!("{range}; {} are left on this host ({})", Bytes(left.bytes), left.limit),
        None => range,
    }
}

fn json_of<J: SnapshotJob>(job: &J, prospect: &Prospect) -> Value {
    let paths = |(option, path): (&str, &Path)| json!({ "option": option, "path": path.display().to_string(), "replaces": path.is_file() });
    let mut entry = json!({
        "input": job.inputs()[0].display().to_string(), "error": null, "memory_bytes": null, "writes": [],
    });
    match prospect {
        Prospect::Keep => entry["status"] = "kept".into(),
        Prospect::Fail(reason) => {
            entry["status"] = "failed".into();
            entry["error"] = reason.clone().into();
        }
        Prospect::Compute(estimate) => {
            entry["status"] = "computed".into();
            entry["memory_bytes"] = json!({ "least": estimate.least, "most": estimate.most });
            entry["writes"] = results(job).into_iter().map(paths).collect();
        }
    }
    entry
}
