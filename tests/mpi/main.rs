//! The program under a real `mpirun` (`MPIRUN` names another). Skipped, with a message, where there is none.
#![cfg(feature = "mpi")]

mod agree;
#[path = "../common/mod.rs"]
mod common;
mod failure;
mod guest;
mod hosts;
mod job;
mod launch;
mod scaling;
mod series;
mod trees;

use common::compare::assert_same;
use inselberg_io::catalogue::{Catalogue, FORMATS, read};
use job::{Job, Launcher};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An input with options that give it clumps in haloes.
#[derive(Clone)]
struct Case {
    input: String,
    options: Vec<&'static str>,
}

fn dark(run: &str) -> Case {
    let options = ["--density-threshold", "40", "--relevance-threshold", "3", "--saddle-threshold", "200"];
    Case { input: text(&common::output(run)), options: [&options[..], &["--with-cells"]].concat() }
}

fn gas() -> Case {
    let options = ["--density-threshold", "2", "--relevance-threshold", "3", "--saddle-threshold", "200"];
    Case { input: text(&common::output("gas_2ranks")), options: [&options[..], &["--with-cells"]].concat() }
}

/// A synthetic field with this number of test cells, in a folder.
fn field(folder: &Path, test_cells: &str) -> Case {
    let input = text(&folder.join("output_00001"));
    let out = Command::new(env!("CARGO_BIN_EXE_inselberg"))
        .args(["synth", "field", "-o", &input, "--test-cells", test_cells])
        .output();
    assert!(out.expect("it starts").status.success());
    let options = ["--density-threshold", "80", "--relevance-threshold", "1.05", "--saddle-threshold", "200"];
    Case { input, options: [&options[..], &["--with-cells"]].concat() }
}

impl Case {
    fn args<'a>(&'a self, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["phew", &self.input, "-o", to, "--quiet"], &self.options[..], more].concat()
    }

    /// The catalogue of a single process, on two threads.
    fn catalogue(&self) -> Catalogue {
        let folder = tempfile::tempdir().expect("a folder");
        let to = catalogue_in(folder.path());
        let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
        // If MPI were started, it would fail, because there is no such component.
        command.args(self.args(&to, &["--threads", "2"])).env("OMPI_MCA_pml", "none-such");
        let out = command.output().expect("it starts");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        read(Path::new(&to)).expect("a catalogue")
    }

    /// The catalogue of `n_ranks` processes.
    fn catalogue_over(&self, launcher: &Launcher, n_ranks: usize, more: &[&str]) -> Catalogue {
        let folder = tempfile::tempdir().expect("a folder");
        let to = catalogue_in(folder.path());
        let command = launcher.inselberg(n_ranks, &self.args(&to, more));
        let ended = Job::start(command, &to).end(Duration::from_secs(120));
        // Open MPI's remote launcher prints this if its child ended before it.
        let is_said = |line: &str| !line.contains("plm:rsh: Warning: setpgid");
        assert!(ended.is_good() && !ended.stderr.lines().any(is_said), "{ended:?}");
        let names = job::names(folder.path());
        assert!(names.iter().all(|name| name.starts_with("c.")), "{names:?}");
        read(Path::new(&to)).expect("a catalogue")
    }

    fn check(&self, one: &Catalogue, launcher: &Launcher, n_ranks: usize, more: &[&str]) {
        let many = self.catalogue_over(launcher, n_ranks, more);
        assert_same(one, &many, &format!("{} on {n_ranks} processes, {more:?}", self.input));
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Where a catalogue of the preferred format of this build goes.
fn catalogue_in(folder: &Path) -> String {
    text(&folder.join(format!("c.{}", FORMATS[0].extensions[0])))
}
