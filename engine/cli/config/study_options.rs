//! The options of studies: rows of the one table.

use super::Command::{ScalingFof, ScalingPhew};
use super::opt::{Opt, OptionKind, ROW};
use crate::scaling::NETWORK_NAMES;

/// In the order of the help.
pub(super) const STUDY: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        kind: OptionKind::Path,
        example: "output_00080",
        commands: &[ScalingPhew],
        help: "The snapshot that all runs work on",
        ..ROW
    },
    Opt {
        name: "input",
        key: "input",
        kind: OptionKind::Paths,
        example: "snap_0000.hdf5",
        commands: &[ScalingFof],
        help: "The particles that all runs work on",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        kind: OptionKind::Path,
        example: "study",
        commands: &[ScalingPhew, ScalingFof],
        help: "The folder of the study: tables, plots, a page, and everything as JSON",
        doc: "Made if it is not there. Files of an earlier study in it are replaced.",
        ..ROW
    },
    Opt {
        name: "ranks",
        key: "ranks",
        kind: OptionKind::Text("N,N,..."),
        example: "1,2,4",
        commands: &[ScalingPhew, ScalingFof],
        help: "On how many ranks to run; 1..8 is 1,2,4,8",
        ..ROW
    },
    Opt {
        name: "threads",
        key: "threads",
        kind: OptionKind::Text("N,N,..."),
        example: "1,2,4",
        commands: &[ScalingPhew, ScalingFof],
        help: "With how many threads a rank, each with each number of ranks",
        ..ROW
    },
    Opt {
        name: "repeats",
        key: "repeats",
        kind: OptionKind::Count,
        default: "3",
        commands: &[ScalingPhew, ScalingFof],
        help: "How often each run is done, all of them by turns",
        ..ROW
    },
    Opt {
        name: "launcher",
        key: "launcher",
        kind: OptionKind::Text("COMMAND"),
        example: "mpirun -n {ranks} --bind-to none --oversubscribe",
        commands: &[ScalingPhew, ScalingFof],
        help: "How ranks are started: a command with {ranks} in it, or `threads`",
        doc: "threads: ranks are threads of one process, as with `phew --ranks`. Without this mpirun is taken where \
              there is one and the program was built for it.",
        ..ROW
    },
    Opt {
        name: "simulate",
        key: "simulate",
        kind: OptionKind::Text("N,N,..."),
        example: "32..16384",
        commands: &[ScalingPhew, ScalingFof],
        help: "Numbers of ranks to model from the work and the messages of each",
        doc: "Each rank is a thread whose processor time is counted; 32..16384 is 32, 64, ..., 16384.",
        ..ROW
    },
    Opt {
        name: "balance",
        key: "balance",
        kind: OptionKind::Text("WORD,WORD,..."),
        default: "test-cells",
        commands: &[ScalingPhew],
        help: "Simulate with each of these ways of dividing the mesh; real runs take the first",
        doc: "Of work, test-cells and leaves.",
        ..ROW
    },
    Opt {
        name: "network",
        key: "network",
        kind: OptionKind::Choice(NETWORK_NAMES),
        default: "infiniband-hdr",
        commands: &[ScalingPhew, ScalingFof],
        help: "What the modelled ranks are connected by",
        ..ROW
    },
    Opt {
        name: "latency",
        key: "latency",
        kind: OptionKind::Real,
        example: "1.3",
        commands: &[ScalingPhew, ScalingFof],
        help: "Microseconds that a message is on its way; the network's own if not given",
        ..ROW
    },
    Opt {
        name: "overhead",
        key: "overhead",
        kind: OptionKind::Real,
        example: "0.4",
        commands: &[ScalingPhew, ScalingFof],
        help: "Microseconds that a message keeps its rank busy; the network's own if not given",
        ..ROW
    },
    Opt {
        name: "bandwidth",
        key: "bandwidth",
        kind: OptionKind::Real,
        example: "12.5",
        commands: &[ScalingPhew, ScalingFof],
        help: "Gigabytes a second of each rank; the network's own if not given",
        ..ROW
    },
    Opt {
        name: "check-network",
        key: "check_network",
        kind: OptionKind::Choice(NETWORK_NAMES),
        default: "shared-memory",
        commands: &[ScalingPhew, ScalingFof],
        help: "What the real ranks are connected by, where both are there: the model is checked with it",
        ..ROW
    },
];
