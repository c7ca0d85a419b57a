//! One case: a command, a way to run it, a fault and a moment, all from one number.

use crate::checks::{Ended, Traces, check};
use crate::commands::{Commands, Plan};
use crate::faults::{Disk, Fault};
use crate::random::Random;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How the program is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    Threads,
    Ranks,
    Mpi,
}

/// Ranks of a run that has several, as threads or under mpirun.
pub const N_RANKS: usize = 3;

/// Far longer than any undisturbed run: a program that still runs then hangs.
const SOON: Duration = Duration::from_secs(180);

pub struct Case<'a> {
    plan: &'a Plan,
    mode: Mode,
    fault: Fault,
    /// When the fault strikes, in times of an undisturbed run.
    moment: f64,
    has_old: bool,
    random: Random,
}

impl<'a> Case<'a> {
    pub fn new(commands: &'a Commands, seed: u64) -> Self {
        let mut random = Random(seed);
        let plan = &commands.plans[random.below(commands.plans.len())];
        let modes: &[Mode] = match (plan.takes_ranks, can_mpi()) {
            (false, _) => &[Mode::Threads],
            (_, false) => &[Mode::Threads, Mode::Ranks],
            _ => &[Mode::Threads, Mode::Ranks, Mode::Mpi],
        };
        let (mode, fault) = (random.pick(modes), Fault::new(&mut random));
        // Inputs are read at the beginning.
        let latest = if fault.spoils_input() { 0.4 } else { 1.3 };
        let (moment, has_old) = (latest * random.real(), random.chance(0.5));
        Self { plan, mode, fault, moment, has_old, random }
    }

    pub fn words(&self) -> String {
        let (plan, moment) = (self.plan, self.moment * self.plan.time.as_secs_f64());
        format!("{} to {:?}, {:?}, {:?} after {moment:.3} s", plan.name, plan.results, self.mode, self.fault)
    }

    /// How it ended, or what is wrong.
    pub fn run(mut self) -> Result<String, String> {
        let room = tempfile::tempdir().expect("a folder");
        let out = room.path().join("out");
        let folder = |name: &str| fs::create_dir(room.path().join(name)).expect("a folder");
        folder("out");
        folder("tmp");
        let _disk = match self.fault {
            Fault::Disk(kib) => Disk::mount(&out, kib),
            _ => None,
        };
        let mut traces = Traces::new(&out, self.plan, self.has_old);
        let input = self.input(room.path());
        let mut child = self.start(room.path(), &input);
        let start = Instant::now();
        let moment = self.plan.time.mul_f64(self.moment);
        while start.elapsed() < moment && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().expect("a state").is_none() {
            traces.add_late(&out, self.plan);
        }
        let ids = self.processes(&child, room.path());
        self.fault.strike(&ids, &input, &mut self.random);
        let status = loop {
            if let Some(status) = child.try_wait().expect("a state") {
                break status;
            }
            if start.elapsed() > SOON {
                let alone = self.mode == Mode::Mpi && processes_in(room.path()).is_empty();
                let who = if alone { "mpirun alone is" } else { "it is" };
                let states = states(&self.processes(&child, room.path()));
                let _ = child.kill();
                return Err(format!("{who} still there after {SOON:?}: {states}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        self.all_ended(room.path())?;
        let stderr =
            String::from_utf8_lossy(&fs::read(room.path().join("stderr")).expect("a file")).into_owned();
        let ended = Ended { status, stderr, fault: self.fault, mode: self.mode };
        check(&ended, self.plan, &out, &traces)?;
        let is_empty = fs::read_dir(room.path().join("tmp")).expect("a folder").next().is_none();
        let may_leave = self.mode == Mode::Mpi || ended.was_killed();
        if !is_empty && !may_leave {
            return Err("it left something in TMPDIR".into());
        }
        Ok(ended.words())
    }

    /// The input, or a copy of it where the fault spoils it.
    fn input(&self, room: &Path) -> PathBuf {
        let input = &self.plan.input;
        if !self.fault.spoils_input() || input.as_os_str().is_empty() {
            return input.clone();
        }
        let copy = room.join(input.file_name().expect("a name"));
        if input.is_file() {
            fs::copy(input, &copy).expect("copied");
            return copy;
        }
        fs::create_dir(&copy).expect("a folder");
        for entry in fs::read_dir(input).expect("a folder").flatten() {
            fs::copy(entry.path(), copy.join(entry.file_name())).expect("copied");
        }
        copy
    }

    fn start(&self, room: &Path, input: &Path) -> Child {
        let mut args = self.plan.args(input, if self.mode == Mode::Threads { "2" } else { "1" });
        if self.mode == Mode::Ranks {
            args.extend(["--ranks".into(), N_RANKS.to_string()]);
        }
        let program = env!("CARGO_BIN_EXE_inselberg");
        let mut command = if self.mode == Mode::Mpi {
            let n_ranks = N_RANKS.to_string();
            let launch = ["--oversubscribe", "--bind-to", "none", "-n", &n_ranks].map(String::from);
            // The limits are for the ranks, and not for mpirun.
            let ranks = self.fault.command(program, &args);
            let mut words: Vec<_> = launch.into_iter().collect();
            words.push(ranks.get_program().to_string_lossy().into_owned());
            words.extend(ranks.get_args().map(|arg| arg.to_string_lossy().into_owned()));
            let mut mpirun = Command::new("mpirun");
            mpirun.args(words).env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            mpirun.env("OMPI_MCA_mpi_yield_when_idle", "1");
            mpirun
        } else {
            self.fault.command(program, &args)
        };
        let file = |name: &str| File::create(room.join(name)).expect("a file");
        if self.mode != Mode::Mpi {
            command.env("TMPDIR", room.join("tmp"));
        }
        command.current_dir(room).stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        command.spawn().expect("it starts")
    }

    /// The processes that may be hit: the process, or under mpirun this and each rank.
    fn processes(&self, child: &Child, room: &Path) -> Vec<u32> {
        if self.mode != Mode::Mpi {
            return vec![child.id()];
        }
        std::iter::once(child.id()).chain(processes_in(room)).collect()
    }

    /// Under mpirun ranks may end a little after it.
    fn all_ended(&self, room: &Path) -> Result<(), String> {
        let start = Instant::now();
        while let Some(id) = processes_in(room).first() {
            if start.elapsed() > SOON {
                return Err(format!("process {id} is still there"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

/// Whether mpirun is there, and this build can be a rank of it.
fn can_mpi() -> bool {
    use std::sync::OnceLock;
    static CAN: OnceLock<bool> = OnceLock::new();
    let there = || Command::new("mpirun").arg("--version").output().is_ok_and(|out| out.status.success());
    cfg!(feature = "mpi") && *CAN.get_or_init(there)
}

/// Processes of the program that work in a folder.
fn processes_in(room: &Path) -> Vec<u32> {
    let is_it = |id: &u32| {
        let works_in = fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == room);
        let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        works_in && name.trim() == "inselberg"
    };
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|e| e.file_name().to_string_lossy().parse().ok()).filter(is_it).collect()
}

/// What the hanging processes are doing.
fn states(ids: &[u32]) -> String {
    let state = |id: &u32| {
        let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let waits = tasks.filter_map(|t| fs::read_to_string(t.path().join("wchan")).ok());
        format!("{id}: {}", waits.collect::<Vec<_>>().join(" "))
    };
    ids.iter().map(state).collect::<Vec<_>>().join("; ")
}
