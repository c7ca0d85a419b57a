//! `inselberg scaling`: runs this program many times and writes its summaries as a study.

use super::child;
use super::fault::CommandError;
use super::machine::utc;
use super::preflight::REPORT_PAGE;
use super::study_runs::{StudyRuns, word};
use super::{interrupt, out, preflight};
use crate::config::{Common, StudyJob};
use crate::report::thread_clock;
use crate::scaling::{ModelChoice, Plot, Study, StudyProvenance, StudyRecord, markdown, page, tables};
use inselberg_comm::{Comm, Rank};
use inselberg_io::staging::{Staged, stage_file};
use inselberg_io::written::is_own;
use serde::Deserialize;
use std::path::Path;

/// The name of the file with all numbers of a study.
const STUDY_FILE: &str = "study.json";

/// Runs all configurations in turn and writes the study.
pub fn scaling(job: &StudyJob, common: Common, world: &Comm) -> Result<(), CommandError> {
    let n_ranks = world.n_ranks();
    if n_ranks > 1 {
        let what = format!("a launcher started this program as one of {n_ranks} ranks");
        return Err(match world.rank() == Rank(0) {
            true => CommandError::user(format!(
                "scaling: {what}; expected a single process, which starts the ranks"
            )),
            false => CommandError::Elsewhere,
        });
    }
    check_places(job, common)?;
    interrupt::guard_with(child::end)?;
    let study = study(job, common)?;
    let _place = inselberg_io::staging::hidden::place(&job.output)
        .map_err(|error| CommandError::about(&job.output, error))?;
    let staged = stage(job, &study)?;
    let json = || serde_json::to_value(&study).expect("a study is plain JSON");
    let page = job.output.join(REPORT_PAGE);
    // The page of an earlier study stands for its files, of which tables have no room for a mark.
    let common = Common { force: common.force || is_own(&page), ..common };
    out::finish(common, staged, || format!("{}\neverything: {}\n", short(&study), page.display()), json)
}

/// The part of the study that fits on a terminal.
fn short(study: &Study) -> String {
    let main = ["measured", "modelled", "checks"];
    let tables = tables(study).into_iter().filter(|table| main.contains(&table.name));
    tables.map(|table| table.markdown()).collect::<Vec<_>>().join("\n")
}

fn check_places(job: &StudyJob, common: Common) -> Result<(), CommandError> {
    preflight::folder(&job.output)?;
    preflight::replaceable(&job.output.join(REPORT_PAGE), common.force)?;
    if !job.simulate.is_empty() && thread_clock().is_none() {
        return Err(CommandError::user("--simulate: this system has no clock of a thread's processor time"));
    }
    Ok(())
}

/// The runs of the job after those of the studies that it joins.
fn study(job: &StudyJob, common: Common) -> Result<Study, CommandError> {
    let mut joined: Option<StudyRecord> = None;
    for path in &job.join {
        joined = Some(joined_with(joined, earlier(path, word(job))?, path)?);
    }
    let runs_nothing = job.ranks.is_empty() && job.simulate.is_empty();
    let record = match joined {
        Some(record) if runs_nothing => record,
        joined => {
            let mut runs = StudyRuns::new(job, common)?;
            let place = job.join.last().map_or(job.output.as_path(), |path| path);
            // Before hours of work.
            joined_with(joined.clone(), runs.record.clone(), place)?;
            runs.run()?;
            joined_with(joined, runs.record, place)?
        }
    };
    let choice = ModelChoice {
        network: job.network,
        check_network: job.check_network,
        threads: job.simulate_threads.clone(),
    };
    Study::new(record, provenance(), &choice).ok_or_else(|| {
        let problem = "no runs of one rank on processors of their own show how work scales with threads";
        let expected = "--ranks with 1, and --threads with 1 and a greater number of processors";
        CommandError::user(format!("--simulate-threads: {problem}; expected {expected}"))
    })
}

/// The runs of `record`, which is at `path`, after others.
fn joined_with(
    before: Option<StudyRecord>,
    record: StudyRecord,
    path: &Path,
) -> Result<StudyRecord, CommandError> {
    let Some(mut all) = before else { return Ok(record) };
    all.join(record).map_err(|problem| CommandError::about(path, format!("cannot be joined: {problem}")))?;
    Ok(all)
}

/// The runs of an earlier study of this command: its folder, or its file.
fn earlier(path: &Path, command: &str) -> Result<StudyRecord, CommandError> {
    #[derive(Deserialize)]
    struct Earlier {
        record: StudyRecord,
    }
    let file = if path.is_dir() { path.join(STUDY_FILE) } else { path.to_path_buf() };
    let text = std::fs::read_to_string(&file).map_err(|error| CommandError::about(&file, error))?;
    let read: Result<Earlier, _> = serde_json::from_str(&text);
    let unfit = |error| format!("is no study: {error}; expected a study.json of `inselberg scaling`");
    let record = read.map_err(|error| CommandError::about(&file, unfit(error)))?.record;
    match record.of == command {
        true => Ok(record),
        false => {
            let problem = format!("is a study of `{}`; expected one of `{command}`", record.of);
            Err(CommandError::about(&file, problem))
        }
    }
}

/// Stages all files of a study.
fn stage(job: &StudyJob, study: &Study) -> Result<Staged, CommandError> {
    let plots = plots(study)?;
    let mut files: Vec<(String, String)> = vec![
        (STUDY_FILE.into(), format!("{:#}\n", serde_json::to_value(study).map_err(CommandError::internal)?)),
        ("table.md".into(), markdown(study)),
        (REPORT_PAGE.into(), page(study, &plots)),
    ];
    for (i, table) in tables(study).iter().enumerate() {
        let name = if i == 0 { "table.csv".into() } else { format!("table_{}.csv", table.name) };
        files.push((name, table.csv()));
    }
    files.extend(plots.into_iter().map(|plot| (format!("{}.svg", plot.name), plot.svg)));
    let mut staged = Staged::default();
    for (name, text) in &files {
        staged.extend(stage_file(&job.output.join(name), |out| out.write_all(text.as_bytes()))?);
    }
    Ok(staged)
}

#[cfg(feature = "plot")]
fn plots(study: &Study) -> Result<Vec<Plot>, CommandError> {
    crate::scaling::plots(study).map_err(CommandError::user)
}

#[cfg(not(feature = "plot"))]
fn plots(_: &Study) -> Result<Vec<Plot>, CommandError> {
    Ok(Vec::new())
}

fn provenance() -> StudyProvenance {
    StudyProvenance {
        version: format!(
            "inselberg {}{}",
            env!("CARGO_PKG_VERSION"),
            if cfg!(feature = "mpi") { ", MPI" } else { "" }
        ),
        date: utc(std::time::SystemTime::now()),
        ..StudyProvenance::default()
    }
}
