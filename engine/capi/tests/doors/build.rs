//! How is a host compiled and run?

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Endings of the catalogues that this build writes.
pub const ENDINGS: &[&str] = if cfg!(feature = "hdf5") { &[".csv", ".hdf5"] } else { &[".csv"] };

/// A folder with the library under its installed names.
pub struct Room(tempfile::TempDir);

impl Room {
    pub fn new() -> Self {
        let room = tempfile::tempdir().expect("a folder");
        let here = std::env::current_exe().expect("this program");
        let deps = here.parent().expect("a folder");
        let library = deps.join("libinselberg_capi.so");
        for name in ["libinselberg.so.0", "libinselberg.so"] {
            symlink(&library, room.path().join(name)).expect("a link");
        }
        Self(room)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The text of a file in it.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect(name)
    }

    /// Compiles sources and links them with the library; `None`, with a word, where there is no such
    /// compiler.
    pub fn compile(&self, compiler: &str, options: &[&str], sources: &[PathBuf]) -> Option<PathBuf> {
        // Compilers of MPI are there without the compilers that they call.
        let is_there = Command::new(compiler).arg("--version").output().is_ok_and(|out| out.status.success());
        if !is_there {
            println!("skipped: there is no {compiler}");
            return None;
        }
        let room = self.path().to_str().expect("a plain path");
        let program = self.path().join("host");
        let out = Command::new(compiler)
            .current_dir(room)
            .args(options)
            .arg(format!("-I{}", manifest("include").display()))
            .args(sources)
            .args(["-o", program.to_str().expect("a plain path"), &format!("-L{room}"), "-linselberg", "-lm"])
            .arg(format!("-Wl,-rpath,{room}"))
            .output();
        let out = out.expect("it starts");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        Some(program)
    }
}

/// A file of this crate.
pub fn manifest(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs a command, which must succeed. What it says.
pub fn run(command: &mut Command) -> String {
    let out = command.output().expect("it starts");
    let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(out.status.success(), "{command:?}: {said:?}");
    said.concat()
}

/// Checks that the memory of each rank grew by less than `most` kB in one of the windows that the host prints
/// (`resident.h`): a leak grows in all of them.
pub fn check_growth(said: &str, n_ranks: usize, most: i64) {
    let grown = said.lines().filter_map(|line| line.strip_prefix("grown by ")?.strip_suffix(" kB"));
    let grown: Vec<i64> = grown.map(|number| number.parse().expect("a number")).collect();
    assert_eq!(grown.len(), n_ranks, "{said}");
    println!("{n_ranks} ranks grew by {grown:?} kB");
    assert!(grown.iter().all(|grown| *grown < most), "{n_ranks} ranks grow by {grown:?} kB");
}

/// One job at a time: each has more processes than there are cores.
#[cfg(feature = "mpi")]
pub fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A program on `n_ranks` ranks; `None`, with a message, where there is no launcher.
#[cfg(feature = "mpi")]
pub fn mpirun(n_ranks: usize, program: &Path) -> Option<Command> {
    let name = std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".into());
    let Ok(version) = Command::new(&name).arg("--version").output() else {
        println!("skipped: there is no {name}");
        return None;
    };
    let mut command = Command::new(name);
    if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
        command.args(["--oversubscribe", "--bind-to", "none"]);
    }
    command.args(["-n", &n_ranks.to_string()]).arg(program);
    // As root, and with processors given away while waiting.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    Some(command)
}
