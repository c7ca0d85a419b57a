//! The one ordered table of options.

use Command::{Info, Phew, Recut, SynthField, SynthParticles};

/// What the program can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Find clumps and haloes in a snapshot.
    Phew,
    /// New thresholds on a stored tree.
    Recut,
    /// What is in a file.
    Info,
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

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: there or not.
    Flag,
    /// A real number.
    Real,
    /// A count, also written as 2e7.
    Count,
    /// The name of a file or folder.
    Path,
    /// One word of a list.
    Choice(&'static [&'static str]),
    /// A text, shown as this in the help.
    Text(&'static str),
}

/// One option: a row of [`OPTIONS`].
#[derive(Debug)]
pub struct Opt {
    /// Its long name in kebab-case; for a positional, its name in lower case.
    pub name: &'static str,
    /// Its key in a configuration file; empty if it cannot be there.
    pub key: &'static str,
    /// Its one-letter name.
    pub short: Option<char>,
    /// Whether it is given by place rather than by name.
    pub positional: bool,
    /// What it takes.
    pub kind: Kind,
    /// Its value if it is not given, as it would be typed; empty for none.
    pub default: &'static str,
    /// A value for the reference file where there is no default.
    pub example: &'static str,
    /// Where it belongs; all of [`COMMANDS`] if empty, and then its key is at the top of the file.
    pub commands: &'static [Command],
    /// One line.
    pub help: &'static str,
    /// The rest of what there is to say; may be empty.
    pub doc: &'static str,
}

impl Opt {
    /// Whether `command` takes it.
    pub fn belongs_to(&self, command: Command) -> bool {
        self.commands.is_empty() || self.commands.contains(&command)
    }

    /// What stands for its value in the help.
    pub fn value_name(&self) -> String {
        match self.kind {
            Kind::Flag => String::new(),
            Kind::Real => "NUMBER".into(),
            Kind::Count => "N".into(),
            Kind::Path if self.positional => self.name.to_uppercase(),
            Kind::Path => "PATH".into(),
            Kind::Choice(words) => words.join("|"),
            Kind::Text(shown) => shown.into(),
        }
    }

    /// How a person refers to it: `--name` or `NAME`.
    pub fn label(&self) -> String {
        if self.positional { self.name.to_uppercase() } else { format!("--{}", self.name) }
    }
}

/// The rows that `command` takes, in order.
pub fn options_of(command: Command) -> impl Iterator<Item = &'static Opt> {
    OPTIONS.iter().filter(move |o| o.belongs_to(command))
}

const ROW: Opt = Opt {
    name: "",
    key: "",
    short: None,
    positional: false,
    kind: Kind::Flag,
    default: "",
    example: "",
    commands: &[],
    help: "",
    doc: "",
};

/// Every option, in the order of the help and of the reference file.
pub const OPTIONS: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: Kind::Path,
        example: "output_00002",
        commands: &[Phew],
        help: "The snapshot: a RAMSES output folder such as output_00002",
        ..ROW
    },
    Opt {
        name: "catalogue",
        key: "input",
        positional: true,
        kind: Kind::Path,
        example: "clumps.hdf5",
        commands: &[Recut],
        help: "A catalogue that `inselberg phew` wrote",
        ..ROW
    },
    Opt {
        name: "path",
        key: "input",
        positional: true,
        kind: Kind::Path,
        example: "output_00002",
        commands: &[Info],
        help: "A snapshot or a catalogue",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        kind: Kind::Path,
        example: "clumps.hdf5",
        commands: &[Phew, Recut],
        help: "Where the catalogue goes; its ending chooses the format",
        doc: "Written beside its name and then renamed, so that it is whole or not there.",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        kind: Kind::Path,
        example: "output_00001",
        commands: &[SynthField],
        help: "Where the output folder goes",
        doc: "A RAMSES output that `inselberg phew` and other codes read. With another name than \
              output_NNNNN, output_00001 is made in a folder of that name.",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        kind: Kind::Path,
        example: "box.npy",
        commands: &[SynthParticles],
        help: "Where the positions go: a .npy file, [N, 3] f32",
        doc: "The box size and what was seeded go into a .json file beside it.",
        ..ROW
    },
    Opt {
        name: "density-threshold",
        key: "density_threshold",
        kind: Kind::Real,
        example: "80",
        commands: &[Phew],
        help: "Cells denser than this are segmented (code units)",
        doc: "Required, here or in the file. A positive number; RAMSES's density_threshold. In a \
              cosmological run the code unit of density is the mean matter density of the box, so 80 is \
              80 times that.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        kind: Kind::Real,
        default: "3",
        commands: &[Phew],
        help: "Peaks with a smaller peak-to-saddle density ratio are noise",
        doc: "A peak is merged through its highest saddle if its density over that of the saddle is \
              below this. 3 suits densities made from particles. RAMSES's relevance_threshold is 2 by \
              default, and the PHEW paper takes 1.5 for gas. 1 or less keeps every peak.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        kind: Kind::Real,
        example: "5",
        commands: &[Recut],
        help: "The new relevance threshold; the catalogue's own if not given",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: Kind::Real,
        example: "200",
        commands: &[Phew],
        help: "Clumps that meet at a higher density are merged into one halo (code units)",
        doc: "At least the density threshold; RAMSES's saddle_threshold. Leave it out for no such pass: \
              then every clump is a halo of its own.",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: Kind::Real,
        example: "150",
        commands: &[Recut],
        help: "The new saddle threshold (code units); the catalogue's own if not given",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: Kind::Real,
        default: "0",
        commands: &[Phew],
        help: "Clumps of haloes up to this mass are not listed (code units)",
        doc: "With --compat ramses in masses of the lightest particle, as RAMSES's mass_threshold.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: Kind::Real,
        example: "0",
        commands: &[Recut],
        help: "The new mass threshold (code units); the catalogue's own if not given",
        ..ROW
    },
    Opt {
        name: "field",
        key: "field",
        kind: Kind::Text("auto|cic|cic-ramses|NAME"),
        default: "auto",
        commands: &[Phew],
        help: "Which density is segmented",
        doc: "auto: the gas density if there is one, else rho of the grav files, else the dark-matter \
              particles (by cic, or by cic-ramses with --compat ramses). cic: dark-matter particles by \
              cloud-in-cell, every gram kept. cic-ramses: the same, level by level as RAMSES deposits \
              them. NAME: any field that `inselberg info` lists, such as density or rho.",
        ..ROW
    },
    Opt {
        name: "compat",
        key: "compat",
        kind: Kind::Choice(&["paper", "ramses"]),
        default: "paper",
        commands: &[Phew],
        help: "Whose rules hold where the PHEW paper and RAMSES differ",
        doc: "ramses: catalogues agree with those of RAMSES's own clump finder. The README lists the \
              differences.",
        ..ROW
    },
    Opt {
        name: "ramses-text",
        key: "ramses_text",
        kind: Kind::Path,
        example: "ramses_text",
        commands: &[Phew],
        help: "Also write clump_ and halo_ text files as RAMSES does, into this folder",
        ..ROW
    },
    Opt {
        name: "with-cells",
        key: "with_cells",
        commands: &[Phew],
        help: "Also list every leaf cell with its clump and halo",
        ..ROW
    },
    Opt {
        name: "with-particles",
        key: "with_particles",
        commands: &[Phew],
        help: "Also list every particle with its clump and halo",
        ..ROW
    },
    Opt {
        name: "plot",
        key: "plot",
        kind: Kind::Path,
        example: "clumps.png",
        commands: &[Phew],
        help: "Also draw the projected density, the clumps and their mass function (.png or .svg)",
        ..ROW
    },
    Opt {
        name: "ranks",
        key: "ranks",
        kind: Kind::Count,
        default: "1",
        commands: &[Phew],
        help: "Divide the mesh among this many ranks, each a thread of this process",
        doc: "Never changes the result. One rank with all threads is faster on one node; this is for \
              trying how a run divides. On a cluster, start one process a rank with mpirun or srun instead, \
              and leave this out.",
        ..ROW
    },
    Opt {
        name: "stall-timeout",
        key: "stall_timeout",
        kind: Kind::Real,
        default: "600",
        commands: &[Phew],
        help: "Seconds without any progress after which ranks give up; 0 is never",
        doc: "Where all ranks wait for each other for so long, the run ends and says where each stands. A \
              rank that computes has ten times as long.",
        ..ROW
    },
    Opt {
        name: "diagnostics",
        key: "diagnostics",
        commands: &[Phew],
        help: "Also print how evenly ranks and workers worked, what ranks sent, and where memory lies",
        doc: "Ranks are part of the summary of every run on several of them.",
        ..ROW
    },
    Opt {
        name: "trace",
        key: "trace",
        kind: Kind::Path,
        example: "run.json",
        commands: &[Phew],
        help: "Also write when every task ran on which worker, and every message, for ui.perfetto.dev",
        ..ROW
    },
    Opt {
        name: "task-graph",
        key: "task_graph",
        kind: Kind::Path,
        example: "graph.dot",
        commands: &[Phew],
        help: "Also write the graphs of tasks that were run on the first rank, for Graphviz",
        ..ROW
    },
    Opt {
        name: "test-cells",
        key: "test_cells",
        kind: Kind::Count,
        default: "1e5",
        commands: &[SynthField],
        help: "About how many cells lie above the density threshold",
        doc: "The threshold is 80; the numbers reached are printed.",
        ..ROW
    },
    Opt {
        name: "kind",
        key: "kind",
        kind: Kind::Choice(&["clumps", "lattice", "giant", "chain"]),
        default: "clumps",
        commands: &[SynthField],
        help: "What is in the box",
        doc: "clumps: seeded cuspy clumps and their satellites, with noise from cell to cell. lattice: \
              a lattice of equal peaks on a plain of equal cells. giant: one clump with noise. chain: a \
              chain of ever higher peaks that winds through the box.",
        ..ROW
    },
    Opt {
        name: "levels",
        key: "levels",
        kind: Kind::Text("MIN:MAX"),
        example: "5:9",
        commands: &[SynthField],
        help: "Coarsest and deepest level of the mesh; chosen from --test-cells if not given",
        ..ROW
    },
    Opt {
        name: "peaks",
        key: "peaks",
        kind: Kind::Count,
        example: "100",
        commands: &[SynthField],
        help: "How many clumps are seeded; one in 10000 test cells if not given",
        ..ROW
    },
    Opt {
        name: "cells-per-peak",
        key: "cells_per_peak",
        kind: Kind::Real,
        default: "15",
        commands: &[SynthField],
        help: "Test cells in the patch of a noise peak: 10 or more, or 0 for no noise",
        ..ROW
    },
    Opt {
        name: "number",
        key: "number",
        short: Some('n'),
        kind: Kind::Count,
        default: "262144",
        commands: &[SynthParticles],
        help: "How many particles",
        ..ROW
    },
    Opt {
        name: "seed",
        key: "seed",
        kind: Kind::Count,
        default: "1",
        commands: &[SynthField, SynthParticles],
        help: "The same seed gives the same values on any number of threads",
        ..ROW
    },
    Opt {
        name: "config",
        kind: Kind::Path,
        help: "Read options from this TOML file; flags win over it",
        ..ROW
    },
    Opt {
        name: "threads",
        key: "threads",
        kind: Kind::Count,
        example: "4",
        help: "How many threads work; all cores if not given. Never changes the result",
        ..ROW
    },
    Opt { name: "quiet", key: "quiet", short: Some('q'), help: "Print errors only", ..ROW },
    Opt {
        name: "json",
        key: "json",
        help: "Print the summary as JSON",
        doc: "One object on standard output, and no progress.",
        ..ROW
    },
];
