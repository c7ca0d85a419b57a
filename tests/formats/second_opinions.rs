//! Other programs read every bundled input, and a sample of every kind that tests make.

mod inputs;
mod opinions;
mod ours;

use crate::common::python::python;
use crate::common::room::Room;
use inputs::{Case, cases};
use opinions::{Opinion, PROGRAMS, TABLE, row_of};
use ours::Arrays;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// An input on disk with what our readers read of it.
struct Made {
    case: Case,
    input: PathBuf,
    ours: PathBuf,
    is_assumed: bool,
    _room: Room,
}

impl Made {
    fn new(case: Case) -> Self {
        let room = Room::new();
        let ours = PathBuf::from(room.path("ours"));
        fs::create_dir(&ours).expect("a folder");
        let input = (case.make)(&room);
        let arrays = Arrays(&ours);
        let is_assumed = case.has_particles && arrays.particles(&input);
        if let Some(field) = case.field {
            arrays.cells(&input, field);
        }
        Self { case, input, ours, is_assumed, _room: room }
    }

    fn job(&self, opinion: &Opinion) -> Value {
        let except = match opinion {
            Opinion::Except(quantities, _) => *quantities,
            Opinion::Same | Opinion::Unread(_) => &[],
        };
        json!({
            "name": self.case.name, "input": self.input, "ours": self.ours, "field": self.case.field,
            "except": except, "unread": matches!(opinion, Opinion::Unread(_)), "is_assumed": self.is_assumed,
            "units": self.case.units, "long_ids": self.case.has_long_ids,
        })
    }
}

fn started(python: &Path, program: &str, jobs: &[Value], room: &Room) -> Child {
    let list = room.path(&format!("{program}.json"));
    fs::write(&list, Value::from(jobs).to_string()).expect("written");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/second_opinions.py");
    let mut command = Command::new(python);
    command.args([script, program, &list]).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().expect("Python")
}

/// Numbers, positions, velocities, masses, identities, densities, cells, boxes, times and constants, in
/// physical units. What differs, and what a program does not read, is in the table, and must be so.
#[test]
fn other_programs_read_the_same_numbers() {
    let Some(python) = python() else { return };
    let made: Vec<Made> = cases().into_iter().map(Made::new).collect();
    let room = Room::new();
    let start = |which: usize| {
        let jobs: Vec<Value> = made.iter().map(|of| of.job(&row_of(&of.case.name).opinions[which])).collect();
        started(&python, PROGRAMS[which], &jobs, &room)
    };
    let children: Vec<Child> = (0..PROGRAMS.len()).map(start).collect();
    let ends: Vec<_> = children.into_iter().map(|child| child.wait_with_output().expect("Python")).collect();
    for (program, end) in PROGRAMS.iter().zip(ends) {
        assert!(end.status.success(), "{program}: {}", String::from_utf8_lossy(&end.stderr));
    }
}

/// All samples of the checklists are among the inputs, and each input has its row.
#[test]
fn every_input_has_an_opinion_or_a_reason() {
    let cases = cases();
    for case in &cases {
        let _ = row_of(&case.name);
    }
    for row in TABLE {
        assert!(cases.iter().any(|case| std::ptr::eq(row_of(&case.name), row)), "no input is {}", row.name);
    }
}

/// The reasons are those of the documentation.
#[test]
fn reasons_are_documented() {
    let text = include_str!("../../docs/verification.md");
    for reason in TABLE.iter().flat_map(|row| &row.opinions).filter_map(Opinion::reason) {
        assert!(text.contains(reason), "docs/verification.md lacks: {reason}");
    }
}
