//! `inselberg scaling`: runs this program many times and writes its summaries as a study.

use super::child::{self, ChildOutput};
use super::fault::{CommandError, warn};
use super::preflight::REPORT_PAGE;
use super::{interrupt, out, preflight};
use crate::config::{CommandInfo, Common, Launcher, StudyJob};
use crate::report::thread_clock;
use crate::scaling::{
    LaunchLine, Measured, Modelled, Plot, RunSize, Sample, Study, StudyProvenance, check, configurations,
    hosts, load, markdown, modelled, page, tables,
};
use crate::topology::HostId;
use inselberg_comm::{Comm, Rank};
use inselberg_io::staging::{Staged, stage_file};
use inselberg_io::written::is_own;
use std::io::IsTerminal;
use std::path::Path;

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
    let study = run(job, common)?;
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

/// The runs of a study.
struct StudyRuns<'a> {
    job: &'a StudyJob,
    program: String,
    launcher: Option<LaunchLine>,
    /// Number of runs, and number of finished ones.
    n: usize,
    done: usize,
    shows: bool,
    lines: Vec<String>,
    notes: Vec<String>,
}

fn run(job: &StudyJob, common: Common) -> Result<Study, CommandError> {
    let program = std::env::current_exe().map_err(CommandError::internal)?.to_string_lossy().into_owned();
    let (launcher, note) = launcher(job);
    let provenance = provenance(job);
    note.iter().for_each(warn);
    let n_checked = if job.simulate.is_empty() { 0 } else { job.ranks.len() };
    let n_real = job.ranks.len() * job.threads.len() * job.repeats;
    let n_simulated = (job.simulate.len() * job.balances.len().max(1) + 2 * n_checked) * job.repeats;
    let shows = std::io::stderr().is_terminal() && !common.quiet && !common.json;
    let n = n_real + n_simulated;
    let notes = note.into_iter().collect();
    let mut runs = StudyRuns { job, program, launcher, n, done: 0, shows, lines: Vec::new(), notes };
    let measured = runs.measure()?;
    let configurations = configurations(&measured);
    let simulated = modelled(&runs.simulate()?, &job.network);
    let checks = runs.check(&configurations)?;
    Ok(Study {
        of: word(job).into(),
        provenance: StudyProvenance {
            runs: runs.lines,
            hosts: hosts(&measured),
            load: load(&measured),
            ..provenance
        },
        configurations,
        network: job.network,
        modelled: simulated,
        check_network: job.check_network,
        checks,
        notes: runs.notes,
    })
}

/// The word of the command that is studied.
fn word(job: &StudyJob) -> &'static str {
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

impl StudyRuns<'_> {
    /// Real runs, in turn, so that a disturbance of the machine affects all of them.
    fn measure(&mut self) -> Result<Vec<Measured>, CommandError> {
        let job = self.job;
        let mut all = Vec::new();
        for _ in 0..job.repeats {
            for &ranks in &job.ranks {
                for &threads in &job.threads {
                    let words = self.real(ranks, threads, false);
                    all.push(self.measured(ranks, threads, &words)?);
                }
            }
        }
        Ok(all)
    }

    /// Runs with ranks as threads and measured work. Runs that need too much memory are left out.
    fn simulate(&mut self) -> Result<Vec<(String, Sample)>, CommandError> {
        let job = self.job;
        let balances = if job.balances.is_empty() { vec![String::new()] } else { job.balances.clone() };
        let (mut all, mut most) = (Vec::new(), usize::MAX);
        for _ in 0..job.repeats {
            for &ranks in &job.simulate {
                for balance in &balances {
                    if ranks > most {
                        continue;
                    }
                    match self.one(&self.counted(ranks, balance)) {
                        Ok((sample, _)) => all.push((balance.clone(), sample)),
                        Err(failure) if all.is_empty() => return Err(failure),
                        Err(failure) => {
                            most = most.min(ranks - 1);
                            let note = format!("{ranks} ranks and more are left out: {failure}");
                            warn(&note);
                            self.notes.push(note);
                        }
                    }
                }
            }
        }
        all.retain(|(_, sample)| sample.ranks.n_ranks <= most);
        Ok(all)
    }

    /// Compares the model with the real runs, whose work is measured in one more run each.
    fn check(
        &mut self,
        real: &[crate::scaling::Configuration],
    ) -> Result<Vec<crate::scaling::Check>, CommandError> {
        let job = self.job;
        if job.simulate.is_empty() || !job.threads.contains(&1) {
            return Ok(Vec::new());
        }
        let balance = job.balances.first().cloned().unwrap_or_default();
        let (mut simulated, mut counted) = (Vec::new(), Vec::new());
        for _ in 0..job.repeats {
            for &ranks in &job.ranks {
                let words = self.counted(ranks, &balance);
                simulated.push((balance.clone(), self.one(&words)?.0));
                if self.launcher.is_some() && ranks > 1 {
                    let words = self.real(ranks, 1, true);
                    counted.push((balance.clone(), self.one(&words)?.0));
                }
            }
        }
        let [simulated, counted] = [simulated, counted].map(|runs| modelled(&runs, &job.check_network));
        let of = |all: &[Modelled], ranks| all.iter().find(|m| m.ranks == ranks).cloned();
        let one = |real: &crate::scaling::Configuration| {
            let model = of(&simulated, real.ranks)?;
            Some(check(&model, real, of(&counted, real.ranks).as_ref()))
        };
        Ok(real.iter().filter(|c| c.threads == 1).filter_map(one).collect())
    }

    /// The command line of a real run.
    fn real(&self, ranks: usize, threads: usize, is_counted: bool) -> Vec<String> {
        let (mut words, mut n_threads) = (Vec::new(), threads);
        let nodes = self.job.ranks_per_node.map(|n| ranks.div_ceil(n));
        match &self.launcher {
            // A given launcher may choose the node, and so starts single ranks as well.
            Some(line) if ranks > 1 || self.job.launcher.is_some() => {
                words.extend(line.words(RunSize { ranks, threads, nodes }));
                words.extend(self.program());
            }
            _ => {
                words.extend(self.program());
                words.extend(["--ranks".into(), ranks.to_string()]);
                n_threads = ranks * threads;
            }
        }
        words.extend(["--threads".into(), n_threads.to_string()]);
        let balance = self.job.balances.first();
        words.extend(balance.iter().flat_map(|word| ["--balance".to_string(), (*word).clone()]));
        self.options(&mut words, is_counted);
        words
    }

    /// The command line of a run with ranks as threads and measured work.
    fn counted(&self, ranks: usize, balance: &str) -> Vec<String> {
        let mut words = self.program();
        words.extend(["--ranks".into(), ranks.to_string()]);
        if !balance.is_empty() {
            words.extend(["--balance".into(), balance.into()]);
        }
        self.options(&mut words, true);
        words
    }

    fn program(&self) -> Vec<String> {
        let inputs = self.job.inputs.iter().map(|path| path.to_string_lossy().into_owned());
        [self.program.clone(), word(self.job).into()].into_iter().chain(inputs).collect()
    }

    fn options(&self, words: &mut Vec<String>, is_counted: bool) {
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
    fn measured(&mut self, ranks: usize, threads: usize, words: &[String]) -> Result<Measured, CommandError> {
        let (sample, output) = self.one(words)?;
        let here = HostId::here().name;
        let is_here = sample.ranks.hosts.iter().all(|host| host.name == here);
        Ok(Measured { ranks, threads, wall: output.seconds, host: output.host.filter(|_| is_here), sample })
    }

    /// One run: its summary, and what it took.
    fn one(&mut self, words: &[String]) -> Result<(Sample, ChildOutput), CommandError> {
        self.done += 1;
        let line = words.join(" ");
        if self.shows {
            eprintln!("run {} of {}: {line}", self.done, self.n);
        }
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
        let output = child::run(words)?;
        // A launcher may print text of its own before the summary.
        let start = output.stdout.find('{').unwrap_or(0);
        let sample = Sample::read(&output.stdout[start..])
            .map_err(|error| CommandError::about(Path::new(&words[0]), error))?;
        Ok((sample, output))
    }
}

/// Stages all files of a study.
fn stage(job: &StudyJob, study: &Study) -> Result<Staged, CommandError> {
    let plots = plots(study)?;
    let mut files: Vec<(String, String)> = vec![
        (
            "study.json".into(),
            format!("{:#}\n", serde_json::to_value(study).map_err(CommandError::internal)?),
        ),
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

fn provenance(job: &StudyJob) -> StudyProvenance {
    let inputs = job.inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    StudyProvenance {
        version: format!(
            "inselberg {}{}",
            env!("CARGO_PKG_VERSION"),
            if cfg!(feature = "mpi") { ", MPI" } else { "" }
        ),
        date: utc(std::time::SystemTime::now()),
        machine: machine(),
        hosts: String::new(),
        load: String::new(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        input: inputs.join(" "),
        runs: Vec::new(),
    }
}

/// Processors and memory, as far as the system reports them.
pub(super) fn machine() -> String {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_string())
    };
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    let memory =
        line("/proc/meminfo", "MemTotal").and_then(|kib| kib.trim_end_matches(" kB").parse::<u64>().ok());
    let memory = memory.map_or(String::new(), |kib| format!(", {} GiB of memory", kib >> 20));
    format!("{n} processor{} of {processor}{memory}, {}", if n == 1 { "" } else { "s" }, std::env::consts::OS)
}

/// Date and time in UTC.
pub(super) fn utc(time: std::time::SystemTime) -> String {
    let seconds = time.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (of_day / 3600, of_day / 60 % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_140, "2024-02-29 23:59 UTC"),
            (4_102_444_799, "2099-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
