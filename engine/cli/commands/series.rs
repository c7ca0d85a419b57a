//! One snapshot, or several one after another. Complete results are kept, and a failure of one does not end
//! the others.
//!
//! A snapshot is complete if its catalogue has the checksum of its bytes, and attributes with the same input
//! and options. The catalogue gets its name after all other results, so a complete one stands for all of
//! them.
//!
//! Under MPI each snapshot has a communicator of its own. A failure there leaves no messages behind, and all
//! ranks then agree on it.

use super::completeness::{attributes, identity, is_complete};
use super::driver::{Driver, DriverRequest, RankTask, RunSummary, SnapshotJob, counts_in_words};
use super::dry_run;
use super::fault::{CommandError, tell, without_panic};
use super::interrupt;
use super::log;
use super::log_file;
use super::out::{self, Written};
use super::preflight;
use super::ranks::RankHandles;
use crate::config::{Common, Series};
use crate::report::{Count, table_json};
use inselberg_comm::Comm;
use inselberg_io::catalogue::attributes_if_whole;
use inselberg_io::staging::Staged;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Searches the snapshots of a command, and writes the requested results.
pub fn search<J: SnapshotJob>(series: &Series<J>, common: Common, world: Comm) -> Result<(), CommandError> {
    let job = &series.jobs[0];
    let request = DriverRequest { launch: job.launch(), common, traced: job.is_traced() };
    let (ranks, driver) = request.start(world)?;
    if series.dry_run {
        return dry_run::show(series, common, &ranks, &driver);
    }
    ranks.prepare(|is_first| if is_first { open_log(series, common) } else { Ok(()) })?;
    if series.is_resumable {
        return SeriesRun { series, common, ranks, driver }.run();
    }
    let plan = Plan::agreed(&ranks, || Plan { identity: identity(job), is_complete: false })?;
    let hand_in = |staged: Staged, summary: &dyn RunSummary| {
        log_summary(summary);
        out::finish(common, staged, || summary.text(), || summary.json())
    };
    let attributes = attributes(job, plan.identity, &series.options);
    driver.run(ranks, job, &RankTask { common, attributes, hand_in: &hand_in })
}

/// Begins the log, whose file must differ from all inputs and results.
fn open_log<J: SnapshotJob>(series: &Series<J>, common: Common) -> Result<(), CommandError> {
    if let Some(log) = &series.log {
        for job in &series.jobs {
            let inputs = job.inputs().iter().map(|path| ("input", path.as_path()));
            let catalogue = job.catalogue().map(|path| ("catalogue", path));
            for (name, path) in inputs.chain(catalogue).chain(job.other_results()) {
                preflight::distinct(&[(name, path), ("log", log)])?;
            }
        }
    }
    let file = series.log.as_deref().map(log_file::opened).transpose()?;
    log::begin(file, common.verbose);
    Ok(())
}

fn log_summary(summary: &dyn RunSummary) {
    summary.warnings().iter().for_each(|warning| log::note(&format!("note: {warning}")));
    log::text(&summary.text());
}

/// The counts of a complete catalogue.
fn kept_counts(job: &impl SnapshotJob) -> Vec<Count> {
    let attributes = job.catalogue().and_then(|path| attributes_if_whole(path).ok());
    job.counts(&attributes.unwrap_or_default()).0
}

/// The state of a snapshot before its search, on the first process.
#[derive(Clone, Serialize, Deserialize)]
struct Plan {
    /// `None` if the input cannot be read; reading it gives the reason.
    identity: Option<String>,
    is_complete: bool,
}

impl Plan {
    /// Collective over processes: the result of `own` on the first one.
    fn agreed(ranks: &RankHandles, own: impl FnOnce() -> Self) -> Result<Self, CommandError> {
        let own = ranks.is_first().then(own);
        let all = ranks.share(vec![own; ranks.n_here()])?;
        Ok(all.into_iter().flatten().next().expect("the first process has a plan"))
    }
}

/// A running series.
struct SeriesRun<'a, J> {
    series: &'a Series<J>,
    common: Common,
    ranks: RankHandles,
    driver: Driver,
}

/// The outcome of a snapshot.
enum SnapshotFate {
    /// It was searched. Only the first process has its summary.
    Computed(Option<Done>),
    /// Its results were complete. Only the first process has their counts.
    Kept(Option<Vec<Count>>),
    /// Its search failed.
    Failed(Failure),
}

/// The summary of a search.
struct Done {
    text: String,
    json: Value,
    brief: String,
    written: String,
    seconds: f64,
}

/// The reason why the search of a snapshot failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Failure {
    reason: String,
    is_fault: bool,
    /// Whether another process may know the cause.
    is_elsewhere: bool,
}

impl<J: SnapshotJob> SeriesRun<'_, J> {
    /// Collective over processes: searches one snapshot after another.
    fn run(self) -> Result<(), CommandError> {
        if let Some(world) = self.ranks.handle() {
            world.before_end(interrupt::wipe);
        }
        let mut report = SeriesReport::default();
        for job in &self.series.jobs {
            if self.ranks.is_first() {
                log::note(&format!("snapshot {}", job.inputs()[0].display()));
            }
            let fate = self.fate_of(job)?;
            // The first process prints. If it cannot, all end.
            report.count(&fate);
            self.ranks.prepare(|is_first| match is_first {
                true => report.add(job, fate, self.common),
                false => Ok(()),
            })?;
        }
        self.ranks.prepare(|is_first| if is_first { report.print(self.common) } else { Ok(()) })?;
        if report.failed.is_empty() {
            return Ok(());
        }
        Err(match self.ranks.is_first() {
            true => CommandError::Series { message: report.message(), is_fault: report.has_fault },
            false => CommandError::Elsewhere,
        })
    }

    /// Collective over processes. An error ends the series.
    fn fate_of(&self, job: &J) -> Result<SnapshotFate, CommandError> {
        let options = &self.series.options;
        let plan = Plan::agreed(&self.ranks, || {
            let identity = identity(job);
            let is_complete = !self.common.force && is_complete(job, identity.as_deref(), options);
            Plan { identity, is_complete }
        })?;
        if plan.is_complete {
            return Ok(SnapshotFate::Kept(self.ranks.is_first().then(|| kept_counts(job))));
        }
        let attributes = attributes(job, plan.identity, options);
        let (begin, done, common) = (Instant::now(), Mutex::new(None), self.common);
        let hand_in = |staged: Staged, summary: &dyn RunSummary| {
            let written = Written::new(&staged);
            let (text, brief) = (summary.text(), summary.brief());
            let (json, written) = (written.in_json(summary.json()), written.line());
            log_summary(summary);
            out::commit(staged, common)?;
            let seconds = begin.elapsed().as_secs_f64();
            *done.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Done { text, json, brief, written, seconds });
            Ok(())
        };
        let apart = self.ranks.apart(self.driver.settings)?;
        let handle = apart.handle();
        let task = RankTask { common, attributes, hand_in: &hand_in };
        let ran = without_panic(|| self.driver.run(apart, job, &task));
        // Ranks that do not return are lost for the next snapshot as well.
        handle.map_or(Ok(()), Comm::close).map_err(|error| self.ranks.end(CommandError::ranks(error)))?;
        match self.failure(ran)? {
            Some(failure) => Ok(SnapshotFate::Failed(failure)),
            None => Ok(SnapshotFate::Computed(done.into_inner().unwrap_or_else(PoisonError::into_inner))),
        }
    }

    /// Collective over processes: the failure of the lowest one that has a reason of its own.
    fn failure(&self, ran: Result<(), CommandError>) -> Result<Option<Failure>, CommandError> {
        let own = ran.err().map(|error| Failure {
            reason: error.reason(),
            is_fault: error.is_fault(),
            is_elsewhere: error.is_elsewhere(),
        });
        let all = self.ranks.share(vec![own; self.ranks.n_here()])?;
        let mut failures: Vec<Failure> = all.into_iter().flatten().collect();
        failures.sort_by_key(|failure| (failure.is_elsewhere, failure.reason.is_empty()));
        Ok(failures.into_iter().next())
    }
}

/// The results of a series so far.
#[derive(Default)]
struct SeriesReport {
    n_computed: usize,
    n_kept: usize,
    /// The lines of the failures.
    failed: Vec<String>,
    has_fault: bool,
    entries: Vec<Value>,
}

impl SeriesReport {
    fn count(&mut self, fate: &SnapshotFate) {
        match fate {
            SnapshotFate::Computed(_) => self.n_computed += 1,
            SnapshotFate::Kept(_) => self.n_kept += 1,
            SnapshotFate::Failed(failure) => {
                self.failed.push(failure.reason.clone());
                self.has_fault |= failure.is_fault;
            }
        }
    }

    /// Stores the outcome of a snapshot, and prints a line about it.
    fn add<J: SnapshotJob>(
        &mut self,
        job: &J,
        fate: SnapshotFate,
        common: Common,
    ) -> Result<(), CommandError> {
        let input = job.inputs()[0].display().to_string();
        let output = job.catalogue().map(|path| path.display().to_string());
        let mut entry = json!({ "input": input, "output": output, "error": null, "summary": null });
        let line = match fate {
            SnapshotFate::Computed(done) => {
                let Done { text, json, brief, written, seconds } =
                    done.expect("the first process has the summary");
                entry["status"] = "computed".into();
                entry["summary"] = json;
                let to = if written.is_empty() { written } else { format!(", in {written}") };
                let details = if job.launch().diagnostics { format!("\n{text}") } else { String::new() };
                format!("{input}: {brief}{to} ({seconds:.1} s){details}")
            }
            SnapshotFate::Kept(counts) => {
                let counts = counts.expect("the first process has the counts");
                entry["status"] = "kept".into();
                entry["summary"] = table_json(&counts, "cells", &[], None);
                let brief = counts_in_words(&counts, job.counts(&[]).1);
                format!("{input}: {brief}, complete in {}", output.unwrap_or_default())
            }
            SnapshotFate::Failed(failure) => {
                entry["status"] = "failed".into();
                let line = tell(&input, &failure.reason);
                entry["error"] = line.clone().into();
                *self.failed.last_mut().expect("it was counted") = line;
                self.entries.push(entry);
                return Ok(());
            }
        };
        self.entries.push(entry);
        log::text(&line);
        if common.json || common.quiet { Ok(()) } else { out::report(common, || line, || Value::Null) }
    }

    /// The summary of the series.
    fn print(&self, common: Common) -> Result<(), CommandError> {
        let [n_computed, n_kept, n_failed] = [self.n_computed, self.n_kept, self.failed.len()];
        let counts = [("computed", n_computed), ("kept", n_kept), ("failed", n_failed)];
        let text = || {
            let mut text = String::from("\n");
            for (name, n) in [("snapshots", n_computed + n_kept + n_failed)].into_iter().chain(counts) {
                let _ = writeln!(text, "{name:<18}{n:>15}");
            }
            text
        };
        let json = || {
            json!({
                "snapshots": self.entries,
                "n_computed": n_computed,
                "n_kept": n_kept,
                "n_failed": n_failed,
            })
        };
        out::report(common, text, json)
    }

    /// The error of the series.
    fn message(&self) -> String {
        let n = self.n_computed + self.n_kept + self.failed.len();
        format!("{} of {n} snapshots failed", self.failed.len())
    }
}
