//! The commands, and how they are called.

use Command::{Fof, Info, Phew, Recut, SynthField, SynthParticles, Topology};

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
}

/// Every command, in the order of the help.
pub const COMMANDS: &[CommandInfo] = &[
    CommandInfo {
        command: Phew,
        words: &["phew"],
        table: "phew",
        help: "Find clumps, haloes and their hierarchy in a snapshot",
    },
    CommandInfo {
        command: Fof,
        words: &["fof"],
        table: "fof",
        help: "Find friends-of-friends groups of particles",
    },
    CommandInfo {
        command: Recut,
        words: &["recut"],
        table: "recut",
        help: "Apply new thresholds to a catalogue's stored tree, without the snapshot",
    },
    CommandInfo {
        command: Info,
        words: &["info"],
        table: "info",
        help: "Say what is in a snapshot or a catalogue",
    },
    CommandInfo {
        command: Topology,
        words: &["topology"],
        table: "topology",
        help: "Show the machine, where ranks and threads will run, and what is wrong with a launch",
    },
    CommandInfo {
        command: SynthField,
        words: &["synth", "field"],
        table: "synth.field",
        help: "Make an AMR density field with known peaks, as a RAMSES output",
    },
    CommandInfo {
        command: SynthParticles,
        words: &["synth", "particles"],
        table: "synth.particles",
        help: "Make a clustered particle box, as a NumPy file",
    },
];
