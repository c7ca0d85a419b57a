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
    /// The size of its input per thread, if that is made.
    size: Option<u64>,
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
            weak: if let StudyInput::Made(sizes) = &job.input { sizes.clone() } else { Vec::new() },
            commands: vec![std::env::args().collect::<Vec<_>>().join(" ")],
            machines: vec![format!("{}, {}", HostId::here().name, machine())],
            notes: note.into_iter().collect(),
            ..StudyRecord::default()
        };
        let shows = std::io::stderr().is_terminal() && !common.quiet && !common.json;
        let mut runs = Self { job, program, launcher, inputs, n: 0, done: 0, shows, record };
        runs.n = (runs.real().len() + runs.simulated().len() + 2 * runs.checked().len()) * job.repeats;
        Ok(runs)
    }

    /// All runs, in turn, so that a disturbance of the machine affects all of them.
    pub fn run(&mut self) -> Result<(), CommandError> {
        for _ in 0..self.job.repeats {
            for kind in self.real() {
                let words = self.real_words(kind, false)?;
                let measured = self.measured(kind, &words)?;
                self.record.measured.push(measured);
            }
        }
        self.simulate()?;
        self.check()
    }

    /// Real runs.
    fn real(&self) -> Vec<RunKind<'a>> {
        self.kinds(&self.job.ranks, &self.job.threads)
    }

    /// Modelled runs, with each balance. If all have one input, threads are only modelled.
    fn simulated(&self) -> Vec<RunKind<'a>> {
        let job = self.job;
        let threads = if self.are_inputs_made() { &job.simulate_threads[..] } else { &[1] };
        let with_balances = |kind: RunKind<'a>| match job.balances.as_slice() {
            [] => vec![kind],
            words => words.iter().map(|word| RunKind { balance: Some(word.as_str()), ..kind }).collect(),
        };
        self.kinds(&job.simulate, threads).into_iter().flat_map(with_balances).collect()
    }

    /// Real runs that are modelled as well.
    fn checked(&self) -> Vec<RunKind<'a>> {
        if self.job.simulate.is_empty() {
            return Vec::new();
        }
        let is_modelled = |threads: &usize| self.job.simulate_threads.contains(threads);
        let threads: Vec<usize> = self.job.threads.iter().copied().filter(is_modelled).collect();
        match (self.are_inputs_made(), threads.is_empty()) {
            (false, false) => self.kinds(&self.job.ranks, &[1]),
            _ => self.kinds(&self.job.ranks, &threads),
        }
    }

    fn are_inputs_made(&self) -> bool {
        matches!(self.job.input, StudyInput::Made(_))
    }

    /// Runs on each of these numbers, with each size, whose mesh is divided in the first way.
    fn kinds(&self, ranks: &[usize], threads: &[usize]) -> Vec<RunKind<'a>> {
        let (sizes, balance) = (self.inputs.sizes(), self.job.balances.first().map(String::as_str));
        let mut all = Vec::new();
        for &ranks in ranks {
            for &threads in threads {
                all.extend(sizes.iter().map(|&size| RunKind { ranks, threads, size, balance }));
            }
        }
        all
    }

    fn key(&self, kind: RunKind<'_>) -> CountedKey {
        let balance = kind.balance.unwrap_or_default().to_string();
        CountedKey { balance, ranks: kind.ranks, threads: kind.size.map(|_| kind.threads), size: kind.size }
    }

    /// Runs with ranks as threads and measured work. Runs that need too much memory are left out.
    fn simulate(&mut self) -> Result<(), CommandError> {
        let (mut all, mut most) = (Vec::new(), usize::MAX);
        for _ in 0..self.job.repeats {
            for kind in self.simulated() {
                if kind.ranks > most {
                    continue;
                }
                let words = self.counted_words(kind)?;
                match self.one(&words) {
                    Ok((sample, _)) => all.push((self.key(kind), sample)),
                    Err(failure) if all.is_empty() => return Err(failure),
                    Err(failure) => {
                        most = most.min(kind.ranks - 1);
                        let note = format!("{} ranks and more are left out: {failure}", kind.ranks);
                        warn(&note);
                        self.record.notes.push(note);
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
            for kind in self.checked() {
                let words = self.counted_words(kind)?;
                simulated.push((self.key(kind), self.one(&words)?.0));
                if self.launcher.is_some() && kind.ranks > 1 && kind.threads == 1 {
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
        let RunKind { ranks, threads, size, balance } = kind;
        let input = self.inputs.of(ranks * threads, size)?;
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
        let input = self.inputs.of(kind.ranks * kind.threads, kind.size)?;
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
        let RunKind { ranks, threads, size, .. } = kind;
        let host = output.host.filter(|_| is_here);
        Ok(Measured { ranks, threads, size, wall: output.seconds, host, sample })
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
