//! How commands run.

use super::Command::{
    Atlas, Compare, Convert, Fof, Info, Phew, Recut, ScalingFof, ScalingPhew, ScalingTree, ScalingVoids,
    SynthParticles, SynthSeries, Topology, Tree, View, Voids,
};
use super::Heading::{Diagnostics, General, Launch, Pictures, Results};
use super::command::STUDIES;
use super::opt::{Opt, OptionKind, ROW};

/// How they run, and pictures.
pub(super) const RUN: &[Opt] = &[
    Opt {
        name: "force",
        key: "force",
        heading: Results,
        commands: &[Phew, Fof, Voids],
        help: "Replace files of other programs, and compute complete snapshots again",
        doc: "Without it, no file is replaced that inselberg did not write. With {number} in --output, \
              complete catalogues of the same input and options are kept. Inputs are never replaced.",
        ..ROW
    },
    Opt {
        name: "force",
        key: "force",
        heading: Results,
        commands: &[
            Recut,
            Tree,
            Compare,
            Atlas,
            Convert,
            View,
            Info,
            ScalingPhew,
            ScalingFof,
            ScalingVoids,
            ScalingTree,
            SynthParticles,
            SynthSeries,
        ],
        help: "Replace files that inselberg did not write",
        doc: "Inputs are never replaced, nor what a catalogue was made from.",
        ..ROW
    },
    Opt {
        name: "dry-run",
        key: "dry_run",
        heading: General,
        commands: &[Phew, Fof, Voids],
        help: "Check input, options, memory and results, print what would be done, and write nothing",
        doc: "Only headers are read, no cells or particles. Each of several snapshots is listed as computed \
              or kept.",
        ..ROW
    },
    Opt {
        name: "plot",
        key: "plot",
        heading: Pictures,
        kind: OptionKind::Path,
        example: "picture.png",
        commands: &[Phew, Fof, Voids],
        help: "Also draw the projected density, the objects and their mass function (.png or .svg)",
        ..ROW
    },
    Opt {
        name: "plot",
        key: "plot",
        heading: Pictures,
        kind: OptionKind::Path,
        example: "clump17.png",
        commands: &[View],
        help: "Also draw the density around the object, with what is in it (.png or .svg)",
        doc: "With the cells of a catalogue of `inselberg phew --with-cells`, the picture has a map and a radial profile. Without them, \
              as of groups and voids, it has the circles of the objects around.",
        ..ROW
    },
    Opt {
        name: "plot",
        key: "plot",
        heading: Pictures,
        kind: OptionKind::Path,
        example: "recut.png",
        commands: &[Recut],
        help: "Also draw the objects of the new cut and their mass function (.png or .svg)",
        doc: "With the cells of a catalogue of `inselberg phew --with-cells`, the picture has their density.",
        ..ROW
    },
    Opt {
        name: "ranks",
        key: "ranks",
        heading: Launch,
        kind: OptionKind::Count,
        default: "1",
        commands: &[Phew, Fof, Topology, SynthParticles, Tree, Voids, Compare, Atlas],
        help: "Divide the work among this many ranks, each a thread of this process",
        doc: "Never changes the result. On one node a single rank with all threads is faster; this option tests how a run \
              divides. On a cluster, start one process per rank with mpirun or srun instead.",
        ..ROW
    },
    Opt {
        name: "pin",
        key: "pin",
        heading: Launch,
        kind: OptionKind::Choice(&["auto", "none", "cores", "numa"]),
        default: "auto",
        commands: &[Phew, Fof, Topology, Tree, Voids, Compare, Atlas],
        help: "Pin threads to processors, so that memory stays local to them",
        doc: "auto: as cores, where the launcher or the job has given the process a part of the machine, or where the ranks of \
              the job fill it. Anywhere else as none. Launches that do not know each other never get the same cores. cores: each thread on its own core, or its own hardware thread if there are more threads than \
              cores. numa: the ranks of a host on its NUMA nodes in turn, and their threads on cores there, or on the \
              whole node if there are more threads than cores. Bindings by the launcher stay in force. With cores and \
              numa the default is one thread per core. Never changes the result.",
        ..ROW
    },
    Opt {
        name: "diagnostics",
        key: "diagnostics",
        heading: Diagnostics,
        commands: &[Phew, Fof, Tree, Voids, Compare, Atlas],
        help: "Also print the load of ranks and threads, the messages, and the placement of memory",
        doc: "phew and tree always print the load of several ranks. With this option no output file is required.",
        ..ROW
    },
    Opt {
        name: "log",
        key: "log",
        heading: Diagnostics,
        kind: OptionKind::Path,
        example: "run.log",
        commands: &[Phew, Fof, Tree, Voids, Compare, Atlas],
        help: "Also write a log into this file: stages with times, warnings, errors, the summary",
        doc: "Each line is written at once. An existing log is continued. The stages are those of rank 0; the \
              summary has the load of all ranks.",
        ..ROW
    },
    Opt {
        name: "verbose",
        key: "verbose",
        heading: General,
        short: Some('v'),
        commands: &[Phew, Fof, Tree, Voids, Compare, Atlas],
        help: "Print each stage on standard error as it begins and ends",
        ..ROW
    },
    Opt {
        name: "count-work",
        key: "count_work",
        heading: Diagnostics,
        commands: &[Phew, Fof, Tree, Voids, Compare, Atlas],
        help: "Run each rank in one thread and measure its processor time for the diagnostics",
        doc: "Waiting does not count. So a process with any number of ranks shows the work of each rank, as \
              `inselberg scaling --simulate` needs. --threads has no effect.",
        ..ROW
    },
    Opt {
        name: "trace",
        key: "trace",
        heading: Diagnostics,
        kind: OptionKind::Path,
        example: "run.json",
        commands: &[Phew],
        help: "Also write a trace of all tasks and messages for ui.perfetto.dev",
        ..ROW
    },
    Opt {
        name: "task-graph",
        key: "task_graph",
        heading: Diagnostics,
        kind: OptionKind::Path,
        example: "graph.dot",
        commands: &[Phew],
        help: "Also write the task graphs of the first rank for Graphviz",
        ..ROW
    },
];

/// Options of every command.
pub(super) const COMMON: &[Opt] = &[
    Opt {
        name: "config",
        heading: General,
        kind: OptionKind::Path,
        help: "Read options from this TOML file; options on the command line override it",
        ..ROW
    },
    Opt {
        name: "threads",
        key: "threads",
        heading: Launch,
        kind: OptionKind::Count,
        example: "4",
        but: STUDIES,
        help: "Number of threads; default: all cores. Never changes the result",
        doc: "Under Slurm the default is SLURM_CPUS_PER_TASK, but not more than the processors that the \
              process may use. Processes of one job with the same processors divide their cores. At most four \
              threads per processor are started, or 16 if that is more.",
        ..ROW
    },
    Opt {
        name: "no-mpi",
        key: "no_mpi",
        heading: Launch,
        help: "Run only in this process, even under a launcher",
        doc: "For jobs with one independent run per process, such as srun with one snapshot per task. Otherwise all processes \
              of a launcher share one run if MPI confirms their number. On the command line this option avoids MPI \
              altogether; in the file it takes effect after MPI has started.",
        ..ROW
    },
    Opt { name: "quiet", key: "quiet", heading: General, short: Some('q'), help: "Print errors only", ..ROW },
    Opt {
        name: "json",
        key: "json",
        heading: General,
        help: "Print the summary as JSON",
        doc: "One object on standard output, and no progress.",
        ..ROW
    },
];
