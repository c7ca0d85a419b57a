//! The program as processes of an MPI job, and how to find and disturb one of them.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One job at a time: each has more processes than there are cores.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How processes of a job are started.
pub struct Launcher(Vec<String>);

impl Launcher {
    /// Settings that launchers need here: permission to run as root, and waiting that yields the processor.
    pub const ENVIRONMENT: [(&str, &str); 3] = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ];

    /// The command as it is typed, with `{ranks}` for their number.
    pub fn line(&self) -> String {
        format!("{} -n {{ranks}}", self.0.join(" "))
    }

    /// The launcher that `MPIRUN` names, else `mpirun`; `None`, with a message, where there is none.
    pub fn here() -> Option<Self> {
        let name = std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".into());
        let Ok(version) = Command::new(&name).arg("--version").output() else {
            println!("skipped: there is no {name}");
            return None;
        };
        let is_open_mpi = String::from_utf8_lossy(&version.stdout).contains("Open MPI");
        let more: &[&str] = if is_open_mpi { &["--oversubscribe", "--bind-to", "none"] } else { &[] };
        Some(Self([&[name.as_str()], more].concat().into_iter().map(String::from).collect()))
    }

    /// The same over three hosts; `None`, with a message, where they cannot be had.
    pub fn over_hosts() -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/hosts.sh");
        let launcher = Self(vec![script.into(), "3".into()]);
        let tried = launcher.job(3, "true", &[]).output().expect("the script starts");
        match tried.status.code() {
            Some(77) => {
                println!("{}", String::from_utf8_lossy(&tried.stderr).trim_end());
                None
            }
            code => {
                assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&tried.stderr));
                Some(launcher)
            }
        }
    }

    /// `program` as `n_ranks` processes.
    pub fn job(&self, n_ranks: usize, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]).args(["-n", &n_ranks.to_string(), program]).args(args);
        command.envs(Self::ENVIRONMENT);
        command
    }

    /// This program as `n_ranks` processes.
    pub fn inselberg(&self, n_ranks: usize, args: &[&str]) -> Command {
        self.job(n_ranks, env!("CARGO_BIN_EXE_inselberg"), args)
    }
}

/// A job that runs.
pub struct Job {
    child: Child,
    room: tempfile::TempDir,
    /// A word that is on the command line of no other job.
    mark: String,
}

/// A job that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stderr: String,
}

impl Ended {
    /// Whether it succeeded.
    pub fn is_good(&self) -> bool {
        self.code == Some(0)
    }

    /// The lines on stderr that have `words`.
    pub fn lines_with(&self, words: &str) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.contains(words)).collect()
    }
}

impl Job {
    /// Starts `command`, whose line has `mark`.
    pub fn start(mut command: Command, mark: &str) -> Self {
        let room = tempfile::tempdir().expect("a folder");
        let file = |name: &str| File::create(room.path().join(name)).expect("a file");
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        let child = command.spawn().expect("the launcher starts");
        Self { child, room, mark: mark.into() }
    }

    /// How it ends, which must be soon.
    pub fn end(mut self, within: Duration) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a state") {
                break status;
            }
            assert!(start.elapsed() < within, "still there after {within:?}: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        };
        Ended { code: status.code(), stderr: self.stderr() }
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.room.path().join("stderr")).expect("a file")).into_owned()
    }

    /// The process of rank `rank`, once `is_there` holds for it. `None` if the job is done before that.
    pub fn process(&mut self, rank: usize, is_there: impl Fn(u32) -> bool) -> Option<u32> {
        let start = Instant::now();
        let mut found = None;
        loop {
            found = found.or_else(|| process_of(rank, &self.mark));
            if let Some(id) = found.filter(|id| is_there(*id)) {
                return Some(id);
            }
            if let Some(over) = self.child.try_wait().expect("a state") {
                assert!(over.success(), "it ended before rank {rank} was there: {over:?}, {}", self.stderr());
                return None;
            }
            assert!(start.elapsed().as_secs() < 100, "rank {rank} never came there");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Job {
    /// If a test fails, nothing continues in the background: the launcher ends its processes.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(self.child.id(), "TERM");
            let _ = self.child.wait();
        }
    }
}

fn process_of(rank: usize, mark: &str) -> Option<u32> {
    let is_it = |id: &u32| {
        let file = |name: &str| fs::read(format!("/proc/{id}/{name}")).unwrap_or_default();
        let has = |bytes: &[u8], word: &str| bytes.split(|b| *b == 0).any(|w| w == word.as_bytes());
        if !String::from_utf8_lossy(&file("cmdline")).contains(mark) {
            return false;
        }
        let names = file("environ");
        ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].iter().any(|name| has(&names, &format!("{name}={rank}")))
    };
    let entries = fs::read_dir("/proc").ok()?.flatten();
    entries.filter_map(|e| e.file_name().to_string_lossy().parse().ok()).find(is_it)
}

/// Whether the process has a file of that name open.
pub fn reads(id: u32, name: &str) -> bool {
    let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|path| path.to_string_lossy().contains(name))
}

/// The process that started this one.
pub fn parent(id: u32) -> Option<u32> {
    let state = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    state.lines().find_map(|l| l.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Sends a signal by name. Returns whether there was a process to get it.
pub fn signal(id: u32, name: &str) -> bool {
    let mut kill = Command::new("kill");
    let sent = kill.args([&format!("-{name}"), &id.to_string()]).stderr(Stdio::null()).status();
    sent.expect("kill").success()
}

/// Names in a folder, hidden ones too.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}
