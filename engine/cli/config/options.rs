//! The one ordered table of options.

use super::Command::{Fof, Info, Phew, Recut, ScalingFof, ScalingPhew, SynthField, SynthParticles, Topology};
use super::opt::{Opt, OptionKind, ROW};
use super::particle_options::PARTICLES;
use super::study_options::STUDY;
use super::synth_options::SYNTH;
use super::{COMMANDS, Command};

/// Every option, in the order of the help and of the reference file.
pub const OPTIONS: &[Opt] = &{
    let mut all = [ROW; STUDY.len() + WORK.len() + PARTICLES.len() + SYNTH.len() + COMMON.len()];
    let (mut part, mut n) = (0, 0);
    while part < PARTS.len() {
        let mut i = 0;
        while i < PARTS[part].len() {
            all[n] = PARTS[part][i];
            (i, n) = (i + 1, n + 1);
        }
        part += 1;
    }
    all
};

const PARTS: [&[Opt]; 5] = [STUDY, WORK, PARTICLES, SYNTH, COMMON];

/// What `phew`, `fof`, `recut`, `info` and `topology` take.
const WORK: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Path,
        example: "output_00002",
        commands: &[Phew],
        help: "The snapshot: a RAMSES output folder such as output_00002",
        doc: "With --mesh-from-particles any particles that `inselberg fof` takes: a file of a snapshot of SWIFT or \
              Gadget, or a plain array (box.npy, file.hdf5:/path/to/a/dataset).",
        ..ROW
    },
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Paths,
        example: "snap_0000.hdf5",
        commands: &[Fof],
        help: "The particles: a snapshot of SWIFT, Gadget or RAMSES, or a plain array",
        doc: "One file, or all files of a snapshot in their order; snap_080.0.hdf5 alone stands for all of \
              snap_080.*.hdf5. A RAMSES output folder. A .npy file, or file.hdf5:/path/to/a/dataset, of shape \
              (N, 3), with --box or --open.",
        ..ROW
    },
    Opt {
        name: "catalogue",
        key: "input",
        positional: true,
        kind: OptionKind::Path,
        example: "clumps.hdf5",
        commands: &[Recut],
        help: "A catalogue that `inselberg phew` wrote",
        ..ROW
    },
    Opt {
        name: "path",
        key: "input",
        positional: true,
        kind: OptionKind::Path,
        example: "output_00002",
        commands: &[Info],
        help: "A snapshot, a catalogue, or a file of particles",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        kind: OptionKind::Path,
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
        kind: OptionKind::Path,
        example: "fof.hdf5",
        commands: &[Fof],
        help: "Where the catalogue of groups goes; its ending chooses the format",
        doc: "HDF5 has the layout of SWIFT's catalogues. Written beside its name and then renamed, so that it \
              is whole or not there.",
        ..ROW
    },
    Opt {
        name: "basename",
        key: "basename",
        kind: OptionKind::Path,
        example: "fof_output",
        commands: &[Fof],
        help: "Name the catalogue as SWIFT does, BASENAME_0000.hdf5, where --output is not given",
        ..ROW
    },
    Opt {
        name: "group-ids",
        key: "group_ids",
        kind: OptionKind::Path,
        example: "ids.hdf5",
        commands: &[Fof],
        help: "Also write the group of every particle, in the order of the input",
        doc: "A dataset GroupIDs, one in each PartTypeN where the input has them.",
        ..ROW
    },
    Opt {
        name: "linking-ratio",
        key: "linking_ratio",
        alias: "linking_length_ratio",
        instead_of: "linking-length",
        kind: OptionKind::Real,
        default: "0.2",
        commands: &[Fof],
        help: "The linking length in mean separations of the dark-matter particles",
        doc: "The mean separation is the cube root of their mean mass over the mean density of matter (of dark \
              matter, where there is gas); without a cosmology, of the volume of the box over their number.",
        ..ROW
    },
    Opt {
        name: "linking-length",
        key: "linking_length",
        alias: "absolute_linking_length",
        instead_of: "linking-ratio",
        kind: OptionKind::Real,
        example: "0.04",
        commands: &[Fof],
        help: "The linking length in the units of the positions, instead of a ratio",
        doc: "Particles closer than this are in one group. At most half the side of a periodic box. -1 is none.",
        ..ROW
    },
    Opt {
        name: "min-size",
        key: "min_size",
        alias: "min_group_size",
        kind: OptionKind::Count,
        default: "20",
        commands: &[Fof],
        help: "Groups with fewer linkable particles are not listed",
        ..ROW
    },
    Opt {
        name: "linking-types",
        key: "linking_types",
        kind: OptionKind::Kinds,
        default: "0,1,0,0,0,0,0",
        commands: &[Fof],
        help: "Which kinds of particles link: they make the groups",
        doc: "For gas, dark matter, background dark matter, sinks, stars, black holes and neutrinos.",
        ..ROW
    },
    Opt {
        name: "attaching-types",
        key: "attaching_types",
        kind: OptionKind::Kinds,
        default: "1,0,0,0,1,1,0",
        commands: &[Fof],
        help: "Which kinds join the group of the nearest linkable particle in reach",
        doc: "Where this is not given, kinds that link are left out of the default. No kind can do both.",
        ..ROW
    },
    Opt {
        name: "group-id-default",
        key: "group_id_default",
        kind: OptionKind::Count,
        default: "2147483647",
        commands: &[Fof],
        help: "The group of particles that are in none",
        ..ROW
    },
    Opt {
        name: "group-id-offset",
        key: "group_id_offset",
        kind: OptionKind::Count,
        default: "1",
        commands: &[Fof],
        help: "The ID of the largest group; the others follow by falling size",
        ..ROW
    },
    Opt {
        name: "seed-black-holes",
        key: "seed_black_holes",
        alias: "seed_black_holes_enabled",
        commands: &[Fof],
        help: "Also say which groups would get a black hole, and where",
        doc: "Groups with gas and without a black hole, above the mass of --black-hole-seed-mass: the site is \
              their densest gas particle.",
        ..ROW
    },
    Opt {
        name: "black-hole-seed-mass",
        key: "black_hole_seed_mass",
        alias: "black_hole_seed_halo_mass_Msun",
        kind: OptionKind::Real,
        example: "1e10",
        commands: &[Fof],
        help: "The mass above which groups get a black hole (solar masses)",
        ..ROW
    },
    Opt {
        name: "box",
        key: "box",
        kind: OptionKind::Real,
        example: "100",
        commands: &[Fof, Phew],
        help: "The side of the periodic box of a plain array, in the units of the positions",
        ..ROW
    },
    Opt { name: "open", key: "open", commands: &[Fof], help: "The box does not wrap around", ..ROW },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        kind: OptionKind::Path,
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
        kind: OptionKind::Path,
        example: "box.npy",
        commands: &[SynthParticles],
        help: "Where the positions go: a .npy file, [N, 3] f32",
        doc: "The box size and what was seeded go into a .json file beside it.",
        ..ROW
    },
    Opt {
        name: "density-threshold",
        key: "density_threshold",
        kind: OptionKind::Real,
        example: "80",
        commands: &[Phew],
        help: "Cells denser than this are segmented (code units)",
        doc: "Required, here or in the file. A positive number; RAMSES's density_threshold. In a \
              cosmological run the code unit of density is the mean matter density of the box, so 80 is \
              80 times that. With --mesh-from-particles in mean densities of the particles on the mesh, always.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        kind: OptionKind::Real,
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
        kind: OptionKind::Real,
        example: "5",
        commands: &[Recut],
        help: "The new relevance threshold; the catalogue's own if not given",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: OptionKind::Real,
        example: "200",
        commands: &[Phew],
        help: "Clumps that meet at a higher density are merged into one halo (code units)",
        doc: "At least the density threshold, and in its units; RAMSES's saddle_threshold. Leave it out for no such \
              pass: then every clump is a halo of its own.",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: OptionKind::Real,
        example: "150",
        commands: &[Recut],
        help: "The new saddle threshold (code units); the catalogue's own if not given",
        doc: "In mean densities where the mesh was made from particles, as it was given then.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: OptionKind::Real,
        default: "0",
        commands: &[Phew],
        help: "Clumps of haloes up to this mass are not listed (code units)",
        doc: "With --compat ramses in masses of the lightest particle, as RAMSES's mass_threshold.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: OptionKind::Real,
        example: "0",
        commands: &[Recut],
        help: "The new mass threshold (code units); the catalogue's own if not given",
        doc: "With --compat ramses in masses of the lightest particle, as it was given then.",
        ..ROW
    },
    Opt {
        name: "field",
        key: "field",
        kind: OptionKind::Text("auto|cic|cic-ramses|NAME"),
        default: "auto",
        commands: &[Phew],
        help: "Which density is segmented",
        doc: "auto: the gas density if there is one, else rho of the grav files, else the dark-matter \
              particles (by cic, or by cic-ramses with --compat ramses). cic: dark-matter particles by \
              cloud-in-cell, every gram kept. cic-ramses: the same, level by level as RAMSES deposits \
              them, and the gas where there is any. NAME: any field that `inselberg info` lists, such as density or rho.",
        ..ROW
    },
    Opt {
        name: "mesh-from-particles",
        key: "mesh_from_particles",
        commands: &[Phew],
        help: "Make the mesh from the particles of any snapshot, or of an array with --box",
        doc: "Cells with more than --m-refine particles are split, and touching leaves differ by one level at most. \
              The density is that of the particles by cloud-in-cell, every gram kept, on this mesh. Density and saddle \
              thresholds are in mean densities of these particles; what is written is in the code units of the \
              snapshot, and its attribute mean_density is the factor. --with-cells lists the test cells.",
        ..ROW
    },
    Opt {
        name: "m-refine",
        key: "m_refine",
        kind: OptionKind::Count,
        default: "8",
        commands: &[Phew],
        help: "Cells with more particles than this are split, for --mesh-from-particles",
        ..ROW
    },
    Opt {
        name: "level-min",
        key: "level_min",
        kind: OptionKind::Count,
        example: "7",
        commands: &[Phew],
        help: "All cells above this level are split, for --mesh-from-particles: 2 to 12",
        doc: "Where it is not given, the deepest level with no more cells than there are particles. Level l has 8^l \
              cells: at most 2^30, or 4096 per particle. Parts that tasks and ranks work on are two levels coarser or more: a small \
              one leaves few.",
        ..ROW
    },
    Opt {
        name: "level-max",
        key: "level_max",
        kind: OptionKind::Count,
        default: "20",
        commands: &[Phew],
        help: "Cells of this level are not split, for --mesh-from-particles: 2 to 20",
        ..ROW
    },
    Opt {
        name: "particle-types",
        key: "particle_types",
        kind: OptionKind::Kinds,
        default: "0,1,0,0,0,0,0",
        commands: &[Phew],
        help: "Which kinds of particles the mesh is made from, for --mesh-from-particles",
        doc: "For gas, dark matter, background dark matter, sinks, stars, black holes and neutrinos.",
        ..ROW
    },
    Opt {
        name: "compat",
        key: "compat",
        kind: OptionKind::Choice(&["paper", "ramses"]),
        default: "paper",
        commands: &[Phew],
        help: "Whose rules hold where the PHEW paper and RAMSES differ",
        doc: "ramses: catalogues agree with those of RAMSES's own clump finder. docs/ramses.md lists the \
              differences.",
        ..ROW
    },
    Opt {
        name: "ramses-text",
        key: "ramses_text",
        kind: OptionKind::Path,
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
        kind: OptionKind::Path,
        example: "picture.png",
        commands: &[Phew, Fof],
        help: "Also draw the projected density, what was found and its mass function (.png or .svg)",
        ..ROW
    },
    Opt {
        name: "ranks",
        key: "ranks",
        kind: OptionKind::Count,
        default: "1",
        commands: &[Phew, Fof, Topology, SynthParticles],
        help: "Divide the work among this many ranks, each a thread of this process",
        doc: "Never changes the result. One rank with all threads is faster on one node; this is for \
              trying how a run divides. On a cluster, start one process a rank with mpirun or srun instead, \
              and leave this out.",
        ..ROW
    },
    Opt {
        name: "pin",
        key: "pin",
        kind: OptionKind::Choice(&["none", "cores", "numa"]),
        default: "none",
        commands: &[Phew, Fof, Topology],
        help: "Tie threads to processors, so that memory stays where it is used",
        doc: "cores: each to a core of its own, and to a hardware thread where there are more threads than cores. \
              numa: the ranks of a host go to its NUMA nodes in turn, their threads to cores there, or to the whole \
              node where there are more threads than cores. What the launcher bound a rank to is kept. Without \
              --threads one thread a core. Never changes the result.",
        ..ROW
    },
    Opt {
        name: "stall-timeout",
        key: "stall_timeout",
        kind: OptionKind::Real,
        default: "600",
        commands: &[Phew, Fof],
        help: "Seconds without any progress after which ranks give up; 0 is never",
        doc: "Where all ranks wait for each other for so long, the run ends and says where each stands. A \
              rank that computes has ten times as long.",
        ..ROW
    },
    Opt {
        name: "balance",
        key: "balance",
        kind: OptionKind::Choice(&["work", "test-cells", "leaves"]),
        default: "test-cells",
        commands: &[Phew],
        help: "What each rank gets as much of as any other",
        doc: "test-cells: cells above the density threshold. work: these, and what those next to other ranks cost \
              on top. leaves: all leaf cells, as simulations divide their mesh. Never changes the result.",
        ..ROW
    },
    Opt {
        name: "diagnostics",
        key: "diagnostics",
        commands: &[Phew, Fof],
        help: "Also print how evenly ranks and workers worked, what ranks sent, and where memory lies",
        doc: "Ranks are part of the summary of every run of phew on several of them. With this nothing need be \
              written.",
        ..ROW
    },
    Opt {
        name: "count-work",
        key: "count_work",
        commands: &[Phew, Fof],
        help: "Each rank works in one thread, and the diagnostics say how long that took the processor",
        doc: "Without the time in which it waits, so that many ranks in one process show what each would have to do \
              alone: what `inselberg scaling --simulate` does. --threads says nothing then.",
        ..ROW
    },
    Opt {
        name: "trace",
        key: "trace",
        kind: OptionKind::Path,
        example: "run.json",
        commands: &[Phew],
        help: "Also write when every task ran on which worker, and every message, for ui.perfetto.dev",
        ..ROW
    },
    Opt {
        name: "task-graph",
        key: "task_graph",
        kind: OptionKind::Path,
        example: "graph.dot",
        commands: &[Phew],
        help: "Also write the graphs of tasks that were run on the first rank, for Graphviz",
        ..ROW
    },
];

/// What every command takes.
const COMMON: &[Opt] = &[
    Opt {
        name: "config",
        kind: OptionKind::Path,
        help: "Read options from this TOML file; flags win over it",
        ..ROW
    },
    Opt {
        name: "threads",
        key: "threads",
        kind: OptionKind::Count,
        example: "4",
        but: &[ScalingPhew, ScalingFof],
        help: "How many threads work; all cores if not given. Never changes the result",
        doc: "Without --pin at most four per processor are started, or 16 where these are more.",
        ..ROW
    },
    Opt {
        name: "no-mpi",
        key: "no_mpi",
        help: "Run in this process alone, whatever launched it",
        doc: "For jobs that start a run per process, as srun does with a script that takes a snapshot per task. Where a \
              launcher says that it started several processes and MPI confirms it, these share one run otherwise. As a \
              flag it leaves MPI alone; in the file it is read once MPI has started.",
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

/// Rows of a command that make no sense in a study of it, which sets them or has its own.
const NOT_STUDIED: [&str; 9] = [
    "output",
    "basename",
    "group-ids",
    "ramses-text",
    "plot",
    "trace",
    "task-graph",
    "diagnostics",
    "count-work",
];

/// The rows of the command that `command` runs which it takes as well, in order.
pub fn passed_on(command: Command) -> impl Iterator<Item = &'static Opt> {
    let runs = COMMANDS.iter().find(|info| info.command == command).and_then(|info| info.runs);
    let is_own = move |name: &str| options_of(command).any(|own| own.name == name);
    let suits = move |o: &&Opt| runs.is_some_and(|runs| o.commands.contains(&runs)) && !o.positional;
    OPTIONS.iter().filter(suits).filter(move |o| !is_own(o.name) && !NOT_STUDIED.contains(&o.name))
}

/// The rows that `command` takes, in order.
pub fn options_of(command: Command) -> impl Iterator<Item = &'static Opt> {
    OPTIONS.iter().filter(move |o| o.belongs_to(command))
}
