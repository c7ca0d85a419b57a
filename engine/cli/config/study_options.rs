//! The options of scaling studies.

use super::Command::ScalingPhew;
use super::Heading::{Input, Launch, Study};
use super::command::STUDIES;
use super::opt::{OUTPUT, Opt, OptionKind, ROW};
use crate::scaling::NETWORK_NAMES;

/// In the order of the help.
pub(super) const STUDY: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        heading: Input,
        kind: OptionKind::Paths,
        example: "output_00080",
        commands: STUDIES,
        help: "The input of all runs: one snapshot, or the catalogues of a tree",
        doc: "Any input of the command that is studied, also particles and plain arrays.",
        ..ROW
    },
    Opt {
        example: "study",
        commands: STUDIES,
        help: "The folder of the study: tables, plots, a page and JSON",
        doc: "It is created if absent. Files of an earlier study in it are replaced.",
        ..OUTPUT
    },
    Opt {
        name: "ranks",
        key: "ranks",
        heading: Launch,
        kind: OptionKind::Text("N,N,..."),
        example: "1,2,4",
        commands: STUDIES,
        help: "Numbers of ranks to run on; 1..8 means 1,2,4,8",
        ..ROW
    },
    Opt {
        name: "threads",
        key: "threads",
        heading: Launch,
        kind: OptionKind::Text("N,N,..."),
        example: "1,2,4",
        commands: STUDIES,
        help: "Numbers of threads per rank, each with each number of ranks",
        ..ROW
    },
    Opt {
        name: "repeats",
        key: "repeats",
        heading: Study,
        kind: OptionKind::Count,
        default: "3",
        commands: STUDIES,
        help: "Repeats of each run, interleaved",
        ..ROW
    },
    Opt {
        name: "launcher",
        key: "launcher",
        heading: Launch,
        kind: OptionKind::Text("COMMAND"),
        example: "mpirun -n {ranks} --bind-to none --oversubscribe",
        commands: STUDIES,
        help: "How to start ranks: a command with {ranks} in it, or `threads`",
        doc: "{threads} and {nodes} stand for the threads per rank and the nodes; {nodes} needs \
              --ranks-per-node. threads: ranks are threads of one process, as with `phew --ranks`. Default: \
              mpirun if it exists and the program was built with MPI, else threads.",
        ..ROW
    },
    Opt {
        name: "ranks-per-node",
        key: "ranks_per_node",
        heading: Launch,
        kind: OptionKind::Count,
        example: "4",
        commands: STUDIES,
        help: "Ranks on each node, for {nodes} in --launcher",
        ..ROW
    },
    Opt {
        name: "simulate",
        key: "simulate",
        heading: Study,
        kind: OptionKind::Text("N,N,..."),
        example: "32..16384",
        commands: STUDIES,
        help: "Numbers of ranks to model from the work and messages of each rank",
        doc: "Each rank is a thread with measured processor time. 32..16384 means 32, 64, ..., 16384.",
        ..ROW
    },
    Opt {
        name: "simulate-threads",
        key: "simulate_threads",
        heading: Study,
        kind: OptionKind::Text("N,N,..."),
        default: "1",
        commands: STUDIES,
        help: "Numbers of threads of each modelled rank",
        doc: "Real runs of one rank show how the work of each stage scales with threads, so more than one needs \
              --ranks with 1, and --threads with 1 and a greater number. Beyond that number the serial \
              fraction of the stage counts.",
        ..ROW
    },
    Opt {
        name: "weak",
        key: "weak",
        heading: Study,
        kind: OptionKind::Text("N,N,..."),
        example: "1e6",
        commands: STUDIES,
        help: "Weak scaling: make an input of this size per thread for each run",
        doc: "It takes the place of --input. With several sizes, each run is made with each of them. The size is in test cells for phew, in particles for fof and voids, \
              in members of four catalogues for tree. Inputs are removed at the end.",
        ..ROW
    },
    Opt {
        name: "join",
        key: "join",
        heading: Study,
        kind: OptionKind::Paths,
        example: "study",
        commands: STUDIES,
        help: "Also take the runs of these studies, each its folder or study.json",
        doc: "They must have the same input and the same options of the search; ranks, threads and hosts may \
              differ. A study may be joined to itself, with other ranks. Without --ranks, --threads and \
              --simulate, nothing runs.",
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
        commands: STUDIES,
        help: "The network between modelled ranks",
        ..ROW
    },
    Opt {
        name: "latency",
        key: "latency",
        heading: Study,
        kind: OptionKind::Real,
        example: "1.3",
        commands: STUDIES,
        help: "Latency of a message in microseconds; default: that of the network",
        ..ROW
    },
    Opt {
        name: "overhead",
        key: "overhead",
        heading: Study,
        kind: OptionKind::Real,
        example: "0.4",
        commands: STUDIES,
        help: "Processor time per message in microseconds; default: that of the network",
        ..ROW
    },
    Opt {
        name: "bandwidth",
        key: "bandwidth",
        heading: Study,
        kind: OptionKind::Real,
        example: "12.5",
        commands: STUDIES,
        help: "Gigabytes per second and rank; default: that of the network",
        ..ROW
    },
    Opt {
        name: "check-network",
        key: "check_network",
        heading: Study,
        kind: OptionKind::Choice(NETWORK_NAMES),
        default: "shared-memory",
        commands: STUDIES,
        help: "The network between real ranks, for comparing the model with real runs",
        ..ROW
    },
];
