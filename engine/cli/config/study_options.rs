//! The options of scaling studies.

use super::Command::{ScalingFof, ScalingPhew};
use super::Heading::{Input, Launch, Results, Study};
use super::opt::{Opt, OptionKind, ROW};
use crate::scaling::NETWORK_NAMES;

/// In the order of the help.
pub(super) const STUDY: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        heading: Input,
        kind: OptionKind::Path,
        example: "output_00080",
        commands: &[ScalingPhew],
        help: "The snapshot of all runs",
        ..ROW
    },
    Opt {
        name: "input",
        key: "input",
        heading: Input,
        kind: OptionKind::Paths,
        example: "snap_0000.hdf5",
        commands: &[ScalingFof],
        help: "The particles of all runs",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        heading: Results,
        kind: OptionKind::Path,
        example: "study",
        commands: &[ScalingPhew, ScalingFof],
        help: "The folder of the study: tables, plots, a page and JSON",
        doc: "It is created if absent. Files of an earlier study in it are replaced.",
        ..ROW
    },
    Opt {
        name: "ranks",
        key: "ranks",
        heading: Launch,
        kind: OptionKind::Text("N,N,..."),
        example: "1,2,4",
        commands: &[ScalingPhew, ScalingFof],
        help: "Numbers of ranks to run on; 1..8 means 1,2,4,8",
        ..ROW
    },
    Opt {
        name: "threads",
        key: "threads",
        heading: Launch,
        kind: OptionKind::Text("N,N,..."),
        example: "1,2,4",
        commands: &[ScalingPhew, ScalingFof],
        help: "Numbers of threads per rank, each with each number of ranks",
        ..ROW
    },
    Opt {
        name: "repeats",
        key: "repeats",
        heading: Study,
        kind: OptionKind::Count,
        default: "3",
        commands: &[ScalingPhew, ScalingFof],
        help: "Repeats of each run, interleaved",
        ..ROW
    },
    Opt {
        name: "launcher",
        key: "launcher",
        heading: Launch,
        kind: OptionKind::Text("COMMAND"),
        example: "mpirun -n {ranks} --bind-to none --oversubscribe",
        commands: &[ScalingPhew, ScalingFof],
        help: "How to start ranks: a command with {ranks} in it, or `threads`",
        doc: "threads: ranks are threads of one process, as with `phew --ranks`. Default: mpirun if it exists and the program \
              was built with MPI, else threads.",
        ..ROW
    },
    Opt {
        name: "simulate",
        key: "simulate",
        heading: Study,
        kind: OptionKind::Text("N,N,..."),
        example: "32..16384",
        commands: &[ScalingPhew, ScalingFof],
        help: "Numbers of ranks to model from the work and messages of each rank",
        doc: "Each rank is a thread with measured processor time. 32..16384 means 32, 64, ..., 16384.",
        ..ROW
    },
    Opt {
        name: "balance",
        key: "balance",
        heading: Launch,
        kind: OptionKind::Text("WORD,WORD,..."),
        default: "test-cells",
        commands: &[ScalingPhew],
        help: "Ways of dividing the mesh to simulate; real runs use the first",
        doc: "Any of work, test-cells and leaves.",
        ..ROW
    },
    Opt {
        name: "network",
        key: "network",
        heading: Study,
        kind: OptionKind::Choice(NETWORK_NAMES),
        default: "infiniband-hdr",
        commands: &[ScalingPhew, ScalingFof],
        help: "The network between modelled ranks",
        ..ROW
    },
    Opt {
        name: "latency",
        key: "latency",
        heading: Study,
        kind: OptionKind::Real,
        example: "1.3",
        commands: &[ScalingPhew, ScalingFof],
        help: "Latency of a message in microseconds; default: that of the network",
        ..ROW
    },
    Opt {
        name: "overhead",
        key: "overhead",
        heading: Study,
        kind: OptionKind::Real,
        example: "0.4",
        commands: &[ScalingPhew, ScalingFof],
        help: "Processor time per message in microseconds; default: that of the network",
        ..ROW
    },
    Opt {
        name: "bandwidth",
        key: "bandwidth",
        heading: Study,
        kind: OptionKind::Real,
        example: "12.5",
        commands: &[ScalingPhew, ScalingFof],
        help: "Gigabytes per second and rank; default: that of the network",
        ..ROW
    },
    Opt {
        name: "check-network",
        key: "check_network",
        heading: Study,
        kind: OptionKind::Choice(NETWORK_NAMES),
        default: "shared-memory",
        commands: &[ScalingPhew, ScalingFof],
        help: "The network between real ranks, for comparing the model with real runs",
        ..ROW
    },
];
