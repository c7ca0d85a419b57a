//! What must hold, whatever happened.

use crate::case::{Mode, N_RANKS};
use crate::commands::Plan;
use crate::faults::Fault;
use rustix::process::Signal;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// How a run ended.
pub struct Ended {
    pub status: ExitStatus,
    pub stderr: String,
    pub fault: Fault,
    pub mode: Mode,
}

/// The files that were there before: those of other runs, and perhaps an older result.
pub struct Traces {
    others: Vec<String>,
    has_old: bool,
}

const OLD: &str = "an older result\n";
const OTHER: &str = "of another run\n";

impl Traces {
    pub fn new(out: &Path, plan: &Plan, has_old: bool) -> Self {
        let name = plan.results[0];
        let (stem, ending) = name.split_once('.').unwrap_or((name, "part"));
        let mut traces = Self { others: vec![], has_old: false };
        let hidden =
            [format!(".{stem}.old.{ending}.AbCdEf.part"), format!(".{name}.gHiJkL.part"), "mine.txt".into()];
        hidden.into_iter().for_each(|name| traces.add(out, name));
        // A folder is not replaced, so there an old one is a mistake of the user.
        traces.has_old = has_old && name.contains('.') && put(&out.join(name), OLD);
        traces
    }

    /// Another run begins.
    pub fn add_late(&mut self, out: &Path, plan: &Plan) {
        let name = plan.results[0];
        let (stem, ending) = name.split_once('.').unwrap_or((name, "part"));
        self.add(out, format!(".{stem}.other.{ending}.mNoPqR.part"));
    }

    fn add(&mut self, out: &Path, name: String) {
        if put(&out.join(&name), OTHER) {
            self.others.push(name);
        }
    }
}

/// Writes a file, or nothing where the disk is full.
fn put(path: &Path, text: &str) -> bool {
    let is_written = fs::write(path, text).is_ok();
    if !is_written {
        let _ = fs::remove_file(path);
    }
    is_written
}

impl Ended {
    /// Whether it had no chance to remove its files.
    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(Signal::KILL.as_raw())
            || matches!(self.fault, Fault::Signal(Signal::KILL)) && self.mode == Mode::Mpi
    }

    pub fn words(&self) -> String {
        let how = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "neither code nor signal".into(),
        };
        let fault = format!("{:?}", self.fault);
        let kind = fault.split('(').next().unwrap_or_default();
        let kind = if kind == "Signal" { fault.as_str() } else { kind };
        format!("{:?}, {kind}: {how}", self.mode)
    }

    fn was_not_loaded(&self) -> bool {
        self.stderr.contains("error while loading shared libraries")
    }

    /// The system ends a program whose file does not fit into the limit, before the first instruction of it.
    fn has_no_room_to_load(&self) -> bool {
        let smallest = self.fault.command(env!("CARGO_BIN_EXE_inselberg"), &["--version".into()]).output();
        let ended = smallest.expect("sh starts").status.signal();
        matches!(self.fault, Fault::Memory(_)) && ended == Some(Signal::SEGV.as_raw())
    }

    fn check_code(&self) -> Result<(), String> {
        let sent = match self.fault {
            Fault::Signal(signal) => Some(signal.as_raw()),
            Fault::StopAndEnd => Some(Signal::TERM.as_raw()),
            _ => None,
        };
        match (self.status.code(), self.status.signal()) {
            (Some(0..=2), _) => Ok(()),
            // The limits are such that the system could not even load it.
            (Some(127), _) if self.was_not_loaded() => Ok(()),
            (_, Some(signal)) if signal == Signal::SEGV.as_raw() && self.has_no_room_to_load() => Ok(()),
            // A launcher passes on the exit codes of its ranks in its own way.
            (Some(1..), _) if self.mode == Mode::Mpi => Ok(()),
            (_, Some(signal)) if Some(signal) == sent => Ok(()),
            (_, Some(_)) if self.was_launcher_that_crashed() => Ok(()),
            _ => Err(format!("{} is no way to end: {}", self.words(), self.stderr)),
        }
    }

    /// Whether the launcher ended by a signal of its own. A signal that reaches Open MPI 4.1 while it aborts may
    /// find its structures freed. Its trace then has its own name, not ours.
    fn was_launcher_that_crashed(&self) -> bool {
        let is_aborting = self.stderr.contains("abort is already in progress");
        self.mode == Mode::Mpi
            && is_aborting
            && self.stderr.contains("] mpirun(+")
            && !self.stderr.contains("inselberg(")
    }

    fn check_words(&self) -> Result<(), String> {
        let ours: Vec<_> = self.stderr.lines().filter(|line| line.starts_with("inselberg: ")).collect();
        let is_panic =
            ["panicked", "RUST_BACKTRACE", "this is a bug", "memory allocation of", "stack backtrace"]
                .iter()
                .any(|word| self.stderr.contains(word));
        let has_other =
            self.mode != Mode::Mpi && !self.was_not_loaded() && self.stderr.lines().count() > ours.len();
        // Ranks of mpirun that get no memory at the same moment have no time to agree on which one prints the
        // message.
        let each_says_memory = self.mode == Mode::Mpi
            && matches!(self.fault, Fault::Memory(_))
            && ours.iter().all(|line| line.contains("memory"));
        let most = if each_says_memory { N_RANKS } else { 1 };
        if ours.len() > most || is_panic || has_other {
            return Err(format!("{}, and it said more than one line: {}", self.words(), self.stderr));
        }
        let failed = matches!(self.status.code(), Some(1 | 2));
        if failed && ours.is_empty() && self.mode != Mode::Mpi {
            return Err(format!("{}, and it did not say why: {:?}", self.words(), self.stderr));
        }
        Ok(())
    }
}

/// The first thing that is wrong.
pub fn check(ended: &Ended, plan: &Plan, out: &Path, traces: &Traces) -> Result<(), String> {
    ended.check_code()?;
    ended.check_words()?;
    let mut there = Vec::new();
    for (name, whole) in plan.results.iter().zip(&plan.whole) {
        let path = out.join(name);
        let is_old = fs::read(&path).is_ok_and(|bytes| bytes == OLD.as_bytes());
        if path.exists() && !is_old {
            whole.differs_from(&path).map_err(|e| format!("{}: {e}", ended.words()))?;
            there.push(*name);
        }
        if traces.has_old && *name == plan.results[0] && !path.exists() {
            return Err(format!("{}: the older result is gone", ended.words()));
        }
    }
    if ended.status.code() == Some(0) && there.len() < plan.results.len() && !ended.fault.spoils_input() {
        return Err(format!("done, and there is only {there:?}"));
    }
    if ended.status.code() == Some(2) && !there.is_empty() {
        return Err(format!("exit code 2, and {there:?} was written: {}", ended.stderr));
    }
    check_folder(ended, plan, out, traces)
}

/// Files of others are there, and nothing else is.
fn check_folder(ended: &Ended, plan: &Plan, out: &Path, traces: &Traces) -> Result<(), String> {
    for other in &traces.others {
        let bytes = fs::read(out.join(other)).unwrap_or_default();
        if bytes != OTHER.as_bytes() {
            return Err(format!("{}: {other} of another run was touched", ended.words()));
        }
    }
    let names =
        fs::read_dir(out).expect("a folder").flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_string();
    for name in names {
        let is_result = plan.results.iter().any(|result| name.starts_with(&stem(result)));
        let is_remainder = name.starts_with('.') && name.ends_with(".part") && ended.was_killed();
        if !(is_result || is_remainder || traces.others.contains(&name)) {
            return Err(format!("{}: it left {name}", ended.words()));
        }
    }
    Ok(())
}
