//! The runs of a study: this program, with ranks as processes or threads, and with measured work.

use super::child::{self, ChildOutput};
use super::fault::{CommandError, warn};
use super::machine::machine;
use super::study_inputs::{InputWords, StudyInputs};
use crate::config::{COMMANDS, CommandInfo, Common, Launcher, StudyInput, StudyJob};
use crate::scaling::{CountedKey, LaunchLine, Measured, RunSize, Sample, StudyRecord, counted};
use crate::topology::HostId;
use std::io::IsTerminal;
use std::path::Path;

/// The runs of a study.
pub struct StudyRuns<'a> {
    job: &'a StudyJob,
    program: String,
    launcher: Option<LaunchLine>,
    inputs: StudyInputs<'a>,
    /// Number of runs, and number of finished ones.
    n: usize,
    done: usize,
    shows: bool,
    /// What was run so far.
    pub record: StudyRecord,
}

/// The ranks and threads of a run, and how its mesh is divided.
#[derive(Debug, Clone, Copy)]
struct RunKind<'a> {
    ranks: usize,
    threads: usize,
    balance: Option<&'a str>,
}

/// The word of the command that is studied.
pub fn word(job: &StudyJob) -> &'static str {
    CommandInfo::of(job.command).words[0]
}

/// The command that starts ranks as processes; `None` for threads, with a note on the reason.
fn launcher(job: &StudyJob) -> (Option<LaunchLine>, Option<String>) {
    const INSTEAD: &str = "ranks are threads of one process";
    let is_alone = job.ranks.iter().all(|n| *n == 1);
    let known = |line| LaunchLine::parse(line).expect("a line with {ranks}");
    match &job.launcher {
        Some(Launcher::Threads) => (None, None),
        None if is_alone => (None, None),
        _ if !cfg!(feature = "mpi") => {
            (None, Some(format!("this build has no MPI (cargo feature `mpi`): {INSTEAD}")))
        }
        Some(Launcher::Line(line)) => (Some(line.clone()), None),
        None => match std::process::Command::new("mpirun").arg("--version").output() {
            Ok(out) if String::from_utf8_lossy(&out.stdout).contains("Open MPI") => {
                (Some(known("mpirun -n {ranks} --bind-to none --oversubscribe")), None)
            }
            Ok(_) => (Some(known("mpirun -n {ranks}")), None),
            Err(_) => (None, Some(format!("mpirun is not installed and --launcher is not given: {INSTEAD}"))),
        },
    }
}

impl<'a> StudyRuns<'a> {
    /// Before the first run.
    pub fn new(job: &'a StudyJob, common: Common) -> Result<Self, CommandError> {
        let program = std::env::current_exe().map_err(CommandError::internal)?.to_string_lossy().into_owned();
        let (launcher, note) = launcher(job);
        note.iter().for_each(warn);
        let studied = COMMANDS.iter().filter_map(|info| info.runs).find(|runs| runs.command == job.command);
        let how = studied.expect("the command is studied").input;
        let inputs = StudyInputs::new(job, program.clone(), how);
        let record = StudyRecord {
            of: word(job).into(),
            search: job.search.clone(),
            input: inputs.about(),
            weak: if let StudyInput::Made(size) = job.input { Some(size) } else { None },
            commands: vec![std::env::args().collect::<Vec<_>>().join(" ")],
            machines: vec![machine()],
            notes: note.into_iter().collect(),
            ..StudyRecord::default()
        };
        let shows = std::io::stderr().is_terminal() && !common.quiet && !common.json;
        let mut runs = Self { job, program, launcher, inputs, n: 0, done: 0, shows, record };
        let simulated = runs.simulated().len() * job.balances.len().max(1);
        runs.n = (runs.real().len() + simulated + 2 * runs.checked().len()) * job.repeats;
        Ok(runs)
    }

    /// All runs, in turn, so that a disturbance of the machine affects all of them.
    pub fn run(&mut self) -> Result<(), CommandError> {
        for _ in 0..self.job.repeats {
            for (ranks, threads) in self.real() {
                let kind = self.kind(ranks, threads);
                let words = self.real_words(kind, false)?;
                let measured = self.measured(kind, &words)?;
                self.record.measured.push(measured);
            }
        }
        self.simulate()?;
        self.check()
    }

    /// Ranks and threads of real runs.
    fn real(&self) -> Vec<(usize, usize)> {
        let with_ranks = |&ranks| self.job.threads.iter().map(move |&threads| (ranks, threads));
        self.job.ranks.iter().flat_map(with_ranks).collect()
    }

    /// Ranks and threads of modelled runs. If all have one input, threads are only modelled.
    fn simulated(&self) -> Vec<(usize, usize)> {
        let threads = if self.inputs.are_made() { &self.job.simulate_threads[..] } else { &[1] };
        self.job.simulate.iter().flat_map(|&ranks| threads.iter().map(move |&n| (ranks, n))).collect()
    }

    /// Ranks and threads of real runs that are modelled as well.
    fn checked(&self) -> Vec<(usize, usize)> {
        if self.job.simulate.is_empty() {
            return Vec::new();
        }
        let is_modelled = |threads: usize| self.job.simulate_threads.contains(&threads);
        let mut all: Vec<_> = self.real().into_iter().filter(|(_, threads)| is_modelled(*threads)).collect();
        if !self.inputs.are_made() {
            all.iter_mut().for_each(|(_, threads)| *threads = 1);
            all.dedup();
        }
        all
    }

    /// A run whose mesh is divided in the first way.
    fn kind(&self, ranks: usize, threads: usize) -> RunKind<'a> {
        RunKind { ranks, threads, balance: self.job.balances.first().map(String::as_str) }
    }

    fn key(&self, kind: RunKind<'_>) -> CountedKey {
        let balance = kind.balance.unwrap_or_default().to_string();
        let threads = self.inputs.are_made().then_some(kind.threads);
        CountedKey { balance, ranks: kind.ranks, threads }
    }

    /// Runs with ranks as threads and measured work. Runs that need too much memory are left out.
    fn simulate(&mut self) -> Result<(), CommandError> {
        let job = self.job;
        let balances: Vec<Option<&str>> = match job.balances.as_slice() {
            [] => vec![None],
            words => words.iter().map(|word| Some(word.as_str())).collect(),
        };
        let (mut all, mut most) = (Vec::new(), usize::MAX);
        for _ in 0..job.repeats {
            for (ranks, threads) in self.simulated() {
                for &balance in &balances {
                    if ranks > most {
                        continue;
                    }
                    let kind = RunKind { ranks, threads, balance };
                    let words = self.counted_words(kind)?;
                    match self.one(&words) {
                        Ok((sample, _)) => all.push((self.key(kind), sample)),
                        Err(failure) if all.is_empty() => return Err(failure),
                        Err(failure) => {
                            most = most.min(ranks - 1);
                            let note = format!("{ranks} ranks and more are left out: {failure}");
                            warn(&note);
                            self.record.notes.push(note);
                        }
                    }
                }
            }
        }
        all.retain(|(key, _)| key.ranks <= most);
        self.record.simulated = counted(&all);
        Ok(())
    }

    /// Measures the work of real runs, for the check of the model: with ranks as threads, and as processes.
    fn check(&mut self) -> Result<(), CommandError> {
        let (mut simulated, mut real) = (Vec::new(), Vec::new());
        for _ in 0..self.job.repeats {
            for (ranks, threads) in self.checked() {
                let kind = self.kind(ranks, threads);
                let words = self.counted_words(kind)?;
                simulated.push((self.key(kind), self.one(&words)?.0));
                if self.launcher.is_some() && ranks > 1 && threads == 1 {
                    let words = self.real_words(kind, true)?;
                    real.push((self.key(kind), self.one(&words)?.0));
                }
            }
        }
        (self.record.checked, self.record.counted) = (counted(&simulated), counted(&real));
        Ok(())
    }

    /// The command line of a real run.
    fn real_words(&mut self, kind: RunKind<'_>, is_counted: bool) -> Result<Vec<String>, CommandError> {
        let RunKind { ranks, threads, balance } = kind;
        let input = self.inputs.of(ranks * threads)?;
        let nodes = self.job.ranks_per_node.map(|n| ranks.div_ceil(n));
        let (mut words, mut n_threads) = (Vec::new(), threads);
        match &self.launcher {
            // A given launcher may choose the node, and so starts single ranks as well.
            Some(line) if ranks > 1 || self.job.launcher.is_some() => {
                words.extend(line.words(RunSize { ranks, threads, nodes }));
                words.extend(self.program(input));
            }
            _ => {
                words.extend(self.program(input));
                words.extend(["--ranks".into(), ranks.to_string()]);
                n_threads = ranks * threads;
            }
        }
        words.extend(["--threads".into(), n_threads.to_string()]);
        self.options(&mut words, balance, is_counted);
        Ok(words)
    }

    /// The command line of a run with ranks as threads and measured work.
    fn counted_words(&mut self, kind: RunKind<'_>) -> Result<Vec<String>, CommandError> {
        let input = self.inputs.of(kind.ranks * kind.threads)?;
        let mut words = self.program(input);
        words.extend(["--ranks".into(), kind.ranks.to_string()]);
        self.options(&mut words, kind.balance, true);
        Ok(words)
    }

    fn program(&self, input: InputWords) -> Vec<String> {
        [vec![self.program.clone(), word(self.job).into()], input.read, input.options].concat()
    }

    fn options(&self, words: &mut Vec<String>, balance: Option<&str>, is_counted: bool) {
        words.extend(balance.iter().flat_map(|word| ["--balance".to_string(), (*word).to_string()]));
        for (name, values) in self.job.options.iter().filter(|(name, _)| !(is_counted && name == "--pin")) {
            // A value may begin with a dash.
            match values.as_slice() {
                [] => words.push(name.clone()),
                values => words.push(format!("{name}={}", values.join(","))),
            }
        }
        words.extend(["--json", "--diagnostics"].map(String::from));
        words.extend(is_counted.then(|| "--count-work".into()));
    }

    /// One real run.
    fn measured(&mut self, kind: RunKind<'_>, words: &[String]) -> Result<Measured, CommandError> {
        let (sample, output) = self.one(words)?;
        let here = HostId::here().name;
        let is_here = sample.ranks.hosts.iter().all(|host| host.name == here);
        let RunKind { ranks, threads, .. } = kind;
        Ok(Measured { ranks, threads, wall: output.seconds, host: output.host.filter(|_| is_here), sample })
    }

    /// One run: its summary, and what it took.
    fn one(&mut self, words: &[String]) -> Result<(Sample, ChildOutput), CommandError> {
        self.done += 1;
        let line = words.join(" ");
        if self.shows {
            eprintln!("run {} of {}: {line}", self.done, self.n);
        }
        if !self.record.runs.contains(&line) {
            self.record.runs.push(line);
        }
        let output = child::run(words)?;
        // A launcher may print text of its own before the summary.
        let start = output.stdout.find('{').unwrap_or(0);
        let sample = Sample::read(&output.stdout[start..])
            .map_err(|error| CommandError::about(Path::new(&words[0]), error))?;
        Ok((sample, output))
    }
}
