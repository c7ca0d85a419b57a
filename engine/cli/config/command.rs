//! The commands of the program.

use Command::{
    Atlas, Compare, Convert, Fof, Info, Phew, Recut, ScalingFof, ScalingPhew, ScalingTree, ScalingVoids,
    SynthField, SynthParticles, SynthSeries, Topology, Tree, View, Voids,
};

/// A command of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Find clumps and haloes in a snapshot.
    Phew,
    /// Find friends-of-friends groups of particles.
    Fof,
    /// Find voids among particles.
    Voids,
    /// Apply new thresholds to a stored merge tree.
    Recut,
    /// Show what each threshold of a catalogue does.
    Atlas,
    /// Link objects of consecutive catalogues.
    Tree,
    /// Put two catalogues beside each other.
    Compare,
    /// Write a catalogue for another program.
    Convert,
    /// Look at one object of a catalogue.
    View,
    /// Describe a file.
    Info,
    /// Show the machine and the placement of ranks and threads.
    Topology,
    /// Measure how `Phew` scales.
    ScalingPhew,
    /// Measure how `Fof` scales.
    ScalingFof,
    /// Measure how `Voids` scales.
    ScalingVoids,
    /// Measure how `Tree` scales.
    ScalingTree,
    /// Make a synthetic density field.
    SynthField,
    /// Make a synthetic particle box.
    SynthParticles,
    /// Make a synthetic series of catalogues.
    SynthSeries,
}

/// The name and purpose of a command.
pub struct CommandInfo {
    /// The command.
    pub command: Command,
    /// Its words on the command line: one, or two for a command of a group.
    pub words: &'static [&'static str],
    /// The table of its keys in a configuration file.
    pub table: &'static str,
    /// One line.
    pub help: &'static str,
    /// What a study runs.
    pub runs: Option<Studied>,
}

/// A command that is studied.
#[derive(Debug, Clone, Copy)]
pub struct Studied {
    /// The command, whose options are passed on.
    pub command: Command,
    /// Its input in a study of weak scaling.
    pub input: &'static MadeInput,
}

/// A synthetic input of any size.
#[derive(Debug)]
pub struct MadeInput {
    /// The command that makes it.
    pub command: Command,
    /// The option of that command for the size.
    pub size: &'static str,
    /// Its further options.
    pub options: &'static [&'static str],
    /// What the size is divided by for that option.
    pub parts: u64,
    /// The name that it writes to.
    pub name: &'static str,
    /// What a run reads, from there.
    pub read: &'static str,
    /// An option of the runs, and the key of its value in what the command prints.
    pub given: Option<(&'static str, &'static str)>,
}

/// A density field.
const FIELD: MadeInput = MadeInput {
    command: SynthField,
    size: "test-cells",
    options: &[],
    parts: 1,
    name: "output_00001",
    read: "output_00001",
    given: Some(("density-threshold", "density_threshold")),
};

/// A particle box.
const PARTICLES: MadeInput = MadeInput {
    command: SynthParticles,
    size: "number",
    options: &[],
    parts: 1,
    name: "box.npy",
    read: "box.npy",
    given: Some(("box", "box")),
};

/// Catalogues of haloes.
const SERIES: MadeInput = MadeInput {
    command: SynthSeries,
    size: "members",
    options: &["--outputs=4"],
    parts: 4,
    name: "series",
    read: "series/clumps_*.hdf5",
    given: None,
};

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
        command: Voids,
        words: &["voids"],
        table: "voids",
        help: "Find voids among particles, their zones and their hierarchy",
        runs: None,
    },
    CommandInfo {
        command: Recut,
        words: &["recut"],
        table: "recut",
        help: "Apply new thresholds to the merge tree of a catalogue, without the snapshot",
        runs: None,
    },
    CommandInfo {
        command: Atlas,
        words: &["atlas"],
        table: "atlas",
        help: "Show what each threshold of a catalogue does, on one page with sliders",
        runs: None,
    },
    CommandInfo {
        command: Tree,
        words: &["tree"],
        table: "tree",
        help: "Link the objects of a series of catalogues to a merger tree",
        runs: None,
    },
    CommandInfo {
        command: Compare,
        words: &["compare"],
        table: "compare",
        help: "Compare two catalogues of one snapshot, also with those of other finders",
        runs: None,
    },
    CommandInfo {
        command: Convert,
        words: &["convert"],
        table: "convert",
        help: "Write a catalogue for yt, ParaView, TOPCAT or astropy, or a merger tree for ytree",
        runs: None,
    },
    CommandInfo {
        command: View,
        words: &["view"],
        table: "view",
        help: "Look at one clump, halo, group or track of a catalogue, as text or as a picture",
        runs: None,
    },
    CommandInfo {
        command: Info,
        words: &["info"],
        table: "info",
        help: "Describe a snapshot, particles or a catalogue",
        runs: None,
    },
    CommandInfo {
        command: Topology,
        words: &["topology"],
        table: "topology",
        help: "Show the machine, the placement of ranks and threads, and problems of a launch",
        runs: None,
    },
    CommandInfo {
        command: ScalingPhew,
        words: &["scaling", "phew"],
        table: "scaling.phew",
        help: "Measure how phew scales with ranks and threads, and model more ranks than cores",
        runs: Some(Studied { command: Phew, input: &FIELD }),
    },
    CommandInfo {
        command: ScalingFof,
        words: &["scaling", "fof"],
        table: "scaling.fof",
        help: "Measure how fof scales with ranks and threads, and model more ranks than cores",
        runs: Some(Studied { command: Fof, input: &PARTICLES }),
    },
    CommandInfo {
        command: ScalingVoids,
        words: &["scaling", "voids"],
        table: "scaling.voids",
        help: "Measure how voids scales with ranks and threads, and model more ranks than cores",
        runs: Some(Studied { command: Voids, input: &PARTICLES }),
    },
    CommandInfo {
        command: ScalingTree,
        words: &["scaling", "tree"],
        table: "scaling.tree",
        help: "Measure how tree scales with ranks and threads, and model more ranks than cores",
        runs: Some(Studied { command: Tree, input: &SERIES }),
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
    CommandInfo {
        command: SynthSeries,
        words: &["synth", "series"],
        table: "synth.series",
        help: "Make catalogues of haloes that merge, with their true merger tree",
        runs: None,
    },
];

/// The commands that measure how another one scales.
pub(super) const STUDIES: &[Command] = &[ScalingPhew, ScalingFof, ScalingVoids, ScalingTree];

impl CommandInfo {
    /// The row of a command.
    pub fn of(command: Command) -> &'static Self {
        COMMANDS.iter().find(|info| info.command == command).expect("every command is listed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_runs_a_command_and_no_other_command_does() {
        let running: Vec<Command> =
            COMMANDS.iter().filter(|info| info.runs.is_some()).map(|info| info.command).collect();
        assert_eq!(running, STUDIES);
    }
}
