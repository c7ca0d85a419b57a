//! The real program, and a folder for its results.

use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

pub fn command(args: &[&str]) -> Command {
    let mut command = super::program();
    command.args(args).args(["--threads", "2"]).stdin(Stdio::null());
    command
}

pub fn done(args: &[&str]) -> String {
    let out = command(args).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(out.stdout).expect("text")
}

pub fn done_json(args: &[&str]) -> Value {
    serde_json::from_str(&done(&[args, &["--json"]].concat())).expect("JSON")
}

/// A folder for results.
pub struct Room(tempfile::TempDir);

impl Room {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("there").flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Exit code 2 and one line with all of `parts`; nothing appears in the room.
    pub fn refuses(&self, args: &[&str], parts: &[&str]) {
        self.refuses_command(command(args), parts);
    }

    pub fn refuses_command(&self, mut command: Command, parts: &[&str]) {
        let before = self.names();
        let out = command.output().expect("the program starts");
        let line = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{command:?}: {line}");
        assert_eq!((line.lines().count(), out.stdout.len()), (1, 0), "{command:?}: {line}");
        assert!(line.starts_with("inselberg: error: "), "{line}");
        for part in parts {
            assert!(line.contains(part), "{part} is not in: {line}");
        }
        assert_eq!(self.names(), before, "{command:?} left something");
    }
}
