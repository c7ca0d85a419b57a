//! The commands, and how they are called.

use Command::{Fof, Info, Phew, Recut, ScalingFof, ScalingPhew, SynthField, SynthParticles, Topology};

/// What the program can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Find clumps and haloes in a snapshot.
    Phew,
    /// Find friends-of-friends groups of particles.
    Fof,
    /// New thresholds on a stored tree.
    Recut,
    /// What is in a file.
    Info,
    /// What the machine is, and where ranks and threads go.
    Topology,
    /// How `Phew` scales.
    ScalingPhew,
    /// How `Fof` scales.
    ScalingFof,
    /// A synthetic density field.
    SynthField,
    /// A synthetic particle box.
    SynthParticles,
}

/// How a command is called and what it is for.
pub struct CommandInfo {
    /// The command.
    pub command: Command,
    /// As typed: one word, or two for a command of a group.
    pub words: &'static [&'static str],
    /// The table of its keys in a configuration file.
    pub table: &'static str,
    /// One line.
    pub help: &'static str,
    /// The command that it runs, whose options it takes as well.
    pub runs: Option<Command>,
}

/// Every command, in the order of the help.
pub const COMMANDS: &[CommandInfo] = &[
    CommandInfo {
        command: Phew,
        words: &["phew"],
        table: "phew",
        help: "Find clumps, haloes and their hierarchy in a snapshot",
        runs: None,
    },
    CommandInfo {
        command: Fof,
        words: &["fof"],
        table: "fof",
        help: "Find friends-of-friends groups of particles",
        runs: None,
    },
    CommandInfo {
        command: Recut,
        words: &["recut"],
        table: "recut",
        help: "Apply new thresholds to a catalogue's stored tree, without the snapshot",
        runs: None,
    },
    CommandInfo {
        command: Info,
        words: &["info"],
        table: "info",
        help: "Say what is in a snapshot or a catalogue",
        runs: None,
    },
    CommandInfo {
        command: Topology,
        words: &["topology"],
        table: "topology",
        help: "Show the machine, where ranks and threads will run, and what is wrong with a launch",
        runs: None,
    },
    CommandInfo {
        command: ScalingPhew,
        words: &["scaling", "phew"],
        table: "scaling.phew",
        help: "Measure how phew scales with ranks and threads, and model more ranks than there are cores",
        runs: Some(Phew),
    },
    CommandInfo {
        command: ScalingFof,
        words: &["scaling", "fof"],
        table: "scaling.fof",
        help: "Measure how fof scales with ranks and threads, and model more ranks than there are cores",
        runs: Some(Fof),
    },
    CommandInfo {
        command: SynthField,
        words: &["synth", "field"],
        table: "synth.field",
        help: "Make an AMR density field with known peaks, as a RAMSES output",
        runs: None,
    },
    CommandInfo {
        command: SynthParticles,
        words: &["synth", "particles"],
        table: "synth.particles",
        help: "Make a clustered particle box, as a NumPy file",
        runs: None,
    },
];
