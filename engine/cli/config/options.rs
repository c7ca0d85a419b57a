//! The table of all options.

use super::Command::{
    Fof, Info, Phew, Recut, ScalingFof, ScalingPhew, SynthField, SynthParticles, Topology, Tree, View, Voids,
};
use super::Heading::{Diagnostics, General, Input, Launch, Particles, Pictures, Results};
use super::bound_options::BOUND;
use super::grid_options::GRID;
use super::opt::{Opt, OptionKind, ROW};
use super::particle_options::PARTICLES;
use super::report_options::REPORTS;
use super::study_options::STUDY;
use super::synth_options::SYNTH;
use super::tree_options::TREE;
use super::view_options::VIEW;
use super::viewer_options::VIEWERS;
use super::void_options::VOIDS;
use super::{COMMANDS, Command};

/// Every option, in the order of the help and of the reference file.
pub const OPTIONS: &[Opt] = &{
    let (mut part, mut n, mut all) = (0, 0, [ROW; N_OPTIONS]);
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

const N_OPTIONS: usize = {
    let (mut part, mut n) = (0, 0);
    while part < PARTS.len() {
        n += PARTS[part].len();
        part += 1;
    }
    n
};

const PARTS: [&[Opt]; 13] =
    [STUDY, WORK, VOIDS, GRID, TREE, BOUND, VIEWERS, VIEW, REPORTS, RUN, PARTICLES, SYNTH, COMMON];

/// What `phew`, `fof`, `recut`, `info` and `topology` read, find and write.
const WORK: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Paths,
        example: "output_00002",
        commands: &[Phew],
        help: "The snapshot, or several: RAMSES output folders such as output_00002",
        doc: "Several need {number} in --output. With --mesh-from-particles: any particles that `inselberg fof` reads, such as a SWIFT or Gadget snapshot or a \
              plain array (box.npy, file.hdf5:/path/to/a/dataset).",
        ..ROW
    },
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Paths,
        example: "snap_0000.hdf5",
        commands: &[Fof],
        help: "The particles: SWIFT, Gadget or RAMSES snapshots, or a plain array",
        doc: "Several snapshots need {number} in --output. One file, or all files of a snapshot in order; snap_080.0.hdf5 alone means all of snap_080.*.hdf5. Or a RAMSES \
              output folder. Or an array of shape (N, 3), as a .npy file or file.hdf5:/path/to/a/dataset, with --box or \
              --open.",
        ..ROW
    },
    Opt {
        name: "catalogue",
        key: "input",
        positional: true,
        kind: OptionKind::Path,
        example: "clumps.hdf5",
        commands: &[Recut],
        help: "A catalogue from `inselberg phew`",
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
        heading: Results,
        kind: OptionKind::Path,
        example: "clumps.hdf5",
        commands: &[Phew, Recut],
        help: "The catalogue to write; the ending of its name sets the format",
        doc: "It is written under a hidden name and then renamed, so it is complete or absent. {number} in the name of any result \
              stands for the number of the snapshot, such as 00080 for output_00080. phew then keeps catalogues that are \
              complete, with the same input and options; see --force.",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        heading: Results,
        kind: OptionKind::Path,
        example: "fof.hdf5",
        commands: &[Fof],
        help: "The catalogue of groups to write; the ending of its name sets the format",
        doc: "HDF5 catalogues have the layout of SWIFT's. The file is written under a hidden name and then renamed, so it is \
              complete or absent. {number} stands for the number of the snapshot, such as 0080 for snap_0080.hdf5. Catalogues \
              that are complete, with the same input and options, are then kept; see --force.",
        ..ROW
    },
    Opt {
        name: "basename",
        key: "basename",
        heading: Results,
        kind: OptionKind::Path,
        example: "fof_output",
        commands: &[Fof],
        help: "Without --output: write BASENAME_0000.hdf5, as SWIFT does",
        ..ROW
    },
    Opt {
        name: "group-ids",
        key: "group_ids",
        heading: Results,
        kind: OptionKind::Path,
        example: "ids.hdf5",
        commands: &[Fof],
        help: "Also write the group ID of every particle, in input order",
        doc: "The dataset is called GroupIDs. Inputs with PartTypeN groups give one per group.",
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
        help: "Linking length in units of the mean separation of dark-matter particles",
        doc: "The mean separation is the cube root of mean particle mass over mean matter density (dark-matter density if \
              there is gas). Without a cosmology it is the cube root of box volume over particle number.",
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
        help: "Linking length in the units of the positions, instead of a ratio",
        doc: "Particles closer than this are in one group. At most half the side of a periodic box. -1: not set.",
        ..ROW
    },
    Opt {
        name: "min-size",
        key: "min_size",
        alias: "min_group_size",
        kind: OptionKind::Count,
        default: "20",
        commands: &[Fof],
        help: "Smallest number of linking particles in a listed group",
        ..ROW
    },
    Opt {
        name: "linking-types",
        key: "linking_types",
        kind: OptionKind::Kinds,
        default: "0,1,0,0,0,0,0",
        commands: &[Fof],
        help: "Particle types that link and so form the groups",
        doc: "One digit each for gas, dark matter, background dark matter, sinks, stars, black holes and neutrinos.",
        ..ROW
    },
    Opt {
        name: "attaching-types",
        key: "attaching_types",
        kind: OptionKind::Kinds,
        default: "1,0,0,0,1,1,0",
        commands: &[Fof],
        help: "Particle types that join the group of the nearest linking particle in reach",
        doc: "No type can both link and attach. The default leaves out the types that link.",
        ..ROW
    },
    Opt {
        name: "group-id-default",
        key: "group_id_default",
        kind: OptionKind::Count,
        default: "2147483647",
        commands: &[Fof],
        help: "Group ID of particles in no group",
        ..ROW
    },
    Opt {
        name: "group-id-offset",
        key: "group_id_offset",
        kind: OptionKind::Count,
        default: "1",
        commands: &[Fof],
        help: "ID of the largest group; smaller groups have the next IDs",
        ..ROW
    },
    Opt {
        name: "seed-black-holes",
        key: "seed_black_holes",
        alias: "seed_black_holes_enabled",
        commands: &[Fof],
        help: "Also list the groups that would get a black hole, and where",
        doc: "These have gas, no black hole, and more mass than --black-hole-seed-mass. The site is the densest gas particle.",
        ..ROW
    },
    Opt {
        name: "black-hole-seed-mass",
        key: "black_hole_seed_mass",
        alias: "black_hole_seed_halo_mass_Msun",
        kind: OptionKind::Real,
        example: "1e10",
        commands: &[Fof],
        help: "Mass above which groups get a black hole (solar masses)",
        ..ROW
    },
    Opt {
        name: "box",
        key: "box",
        heading: Input,
        kind: OptionKind::Real,
        example: "100",
        commands: &[Fof, Phew, Voids],
        help: "Side of the periodic box of a plain array, in the units of the positions",
        ..ROW
    },
    Opt {
        name: "open",
        key: "open",
        heading: Input,
        commands: &[Fof],
        help: "The box is not periodic",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        heading: Results,
        kind: OptionKind::Path,
        example: "output_00001",
        commands: &[SynthField],
        help: "The output folder to write",
        doc: "A RAMSES output that `inselberg phew` and other codes read. If the name is not output_NNNNN, the output is \
              output_00001 in a folder of that name.",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        heading: Results,
        kind: OptionKind::Path,
        example: "box.npy",
        commands: &[SynthParticles],
        help: "The positions to write: a .npy file of shape [N, 3], f32",
        doc: "A .json file beside it has the box side and the seeded haloes.",
        ..ROW
    },
    Opt {
        name: "density-threshold",
        key: "density_threshold",
        kind: OptionKind::Real,
        example: "80",
        commands: &[Phew],
        help: "Density above which cells are segmented (code units)",
        doc: "Required, as an option or in the file. A positive number, or any with --relevance-difference in a field of cells; RAMSES's density_threshold. In a cosmological run the \
              code unit of density is the mean matter density of the box, so 80 means 80 times the mean. With \
              --mesh-from-particles the unit is always the mean density of the particles on the mesh.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        instead_of: "relevance-difference",
        kind: OptionKind::Real,
        default: "3",
        commands: &[Phew],
        help: "Smallest peak-to-saddle density ratio of a peak that is not noise",
        doc: "A peak with a smaller ratio to its highest saddle is merged through that saddle. 3 suits densities from \
              particles. RAMSES's relevance_threshold is 2 by default; the PHEW paper uses 1.5 for gas. 1 or less keeps \
              every peak.",
        ..ROW
    },
    Opt {
        name: "relevance-difference",
        key: "relevance_difference",
        instead_of: "relevance-threshold",
        kind: OptionKind::Real,
        example: "1.5",
        commands: &[Phew],
        help: "Instead of a ratio: smallest peak-to-saddle density difference (code units)",
        doc: "A peak is noise if its density minus its highest saddle is smaller. For fields such as overdensities: leaf cells \
              may then be negative, and so may the density threshold. Not with --compat ramses. With \
              --mesh-from-particles the unit is the mean density.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        instead_of: "relevance-difference",
        kind: OptionKind::Real,
        example: "5",
        commands: &[Recut],
        help: "New relevance threshold; default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "relevance-difference",
        key: "relevance_difference",
        instead_of: "relevance-threshold",
        kind: OptionKind::Real,
        example: "2",
        commands: &[Recut],
        help: "The same for a catalogue of `phew --relevance-difference` (code units)",
        doc: "For a mesh from particles the unit is the mean density, as in the first run.",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: OptionKind::Real,
        example: "200",
        commands: &[Phew],
        help: "Saddle density above which clumps merge into one halo (code units)",
        doc: "At least the density threshold, in the same units; RAMSES's saddle_threshold. Without it every clump is its own \
              halo.",
        ..ROW
    },
    Opt {
        name: "saddle-threshold",
        key: "saddle_threshold",
        kind: OptionKind::Real,
        example: "150",
        commands: &[Recut],
        help: "New saddle threshold (code units); default: that of the catalogue",
        doc: "For a mesh from particles the unit is the mean density, as in the first run.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: OptionKind::Real,
        default: "0",
        commands: &[Phew],
        help: "Largest halo mass whose clumps are not listed (code units)",
        doc: "With --compat ramses the unit is the mass of the lightest particle, as for RAMSES's mass_threshold.",
        ..ROW
    },
    Opt {
        name: "mass-threshold",
        key: "mass_threshold",
        kind: OptionKind::Real,
        example: "0",
        commands: &[Recut],
        help: "New mass threshold (code units); default: that of the catalogue",
        doc: "After --compat ramses the unit is the mass of the lightest particle, as in the first run.",
        ..ROW
    },
    Opt {
        name: "min-cells",
        key: "min_cells",
        kind: OptionKind::Count,
        default: "0",
        commands: &[Phew],
        help: "Least number of leaf cells of a halo whose clumps are listed",
        doc: "Every clump of such a halo is listed, however small, so that every parent is. Labels of cells and particles stay. \
              For pictures there is --plot-min-cells.",
        ..ROW
    },
    Opt {
        name: "min-particles",
        key: "min_particles",
        kind: OptionKind::Count,
        default: "0",
        commands: &[Phew],
        help: "Least number of particles, of any type, of a halo whose clumps are listed",
        doc: "The particles in the patches of the halo count, bound or not. They are read once more. As for --min-cells, every clump \
              of such a halo is listed. recut cannot apply it: the tree has no numbers of particles.",
        ..ROW
    },
    Opt {
        name: "min-cells",
        key: "min_cells",
        kind: OptionKind::Count,
        example: "20",
        commands: &[Recut],
        help: "New least number of leaf cells of a listed halo; default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "thresholds",
        key: "thresholds",
        heading: Results,
        commands: &[Info],
        help: "Also read the density of a snapshot, and suggest thresholds with their reasons",
        doc: "They are quantiles by mass and volume, and usual multiples of the mean density. Costs one reading of the density.",
        ..ROW
    },
    Opt {
        name: "plot",
        key: "plot",
        heading: Results,
        kind: OptionKind::Path,
        example: "densities.png",
        commands: &[Info],
        help: "As --thresholds, and draw how much volume and mass is denser than what (.png or .svg)",
        ..ROW
    },
    Opt {
        name: "field",
        key: "field",
        heading: Input,
        kind: OptionKind::Text("auto|cic|cic-ramses|NAME"),
        default: "auto",
        commands: &[Info],
        help: "The density of --thresholds; as in `inselberg phew`",
        ..ROW
    },
    Opt {
        name: "field",
        key: "field",
        heading: Input,
        kind: OptionKind::Text("auto|cic|cic-ramses|NAME"),
        default: "auto",
        commands: &[Phew],
        help: "The density to segment",
        doc: "auto: the gas density; without gas, rho of the grav files; without these, the dark-matter particles (by cic, or \
              by cic-ramses with --compat ramses). cic: mass-conserving cloud-in-cell of the dark-matter particles. \
              cic-ramses: level by level as RAMSES deposits them, plus any gas. NAME: a field that `inselberg info` lists, \
              such as density or rho.",
        ..ROW
    },
    Opt {
        name: "region",
        key: "region",
        heading: Input,
        kind: OptionKind::Text("box:X0,Y0,Z0,X1,Y1,Z1|sphere:X,Y,Z,R"),
        example: "sphere:0.5,0.5,0.5,0.1",
        commands: &[Phew],
        help: "Segment only the leaves whose centre is in this box or sphere (code units)",
        doc: "Other leaves count as not above the density threshold. Regions continue behind periodic walls: box:-0.1,0,0,0.1,1,1 lies \
              on both sides of x = 0. A box has its lower faces, not its upper ones. Several regions are separated by `;`. The summary \
              counts the dark-matter particles of the region that are heavier than the lightest one.",
        ..ROW
    },
    Opt {
        name: "levels",
        key: "levels",
        heading: Input,
        kind: OptionKind::Text("MIN:MAX"),
        example: "10:14",
        commands: &[Phew],
        help: "Segment only the leaves of these levels, both included",
        doc: "Other leaves count as not above the density threshold. With --region both must hold.",
        ..ROW
    },
    Opt {
        name: "mesh-from-particles",
        key: "mesh_from_particles",
        heading: Input,
        commands: &[Phew],
        help: "Make the mesh from the particles of a snapshot, or of an array with --box",
        doc: "Cells with more than --m-refine particles are split; touching leaves differ by at most one level. The density is \
              a mass-conserving cloud-in-cell of the particles. Density and saddle thresholds are in units of its mean. \
              The catalogue is in code units of the snapshot; its attribute mean_density is the conversion factor. \
              --with-cells lists the test cells.",
        ..ROW
    },
    Opt {
        name: "particle-graph",
        key: "particle_graph",
        heading: Input,
        commands: &[Phew],
        help: "Segment the particles themselves, linked to their nearest neighbours, without a mesh",
        doc: "Two particles are linked if either is among the --neighbours nearest of the other. The density of a particle is \
              the sum over these neighbours by the cubic spline. Density and saddle thresholds are in units of the mean. Each particle counts as \
              a cell, so n_cells is a number of particles.",
        ..ROW
    },
    Opt {
        name: "neighbours",
        key: "neighbours",
        heading: Particles,
        kind: OptionKind::Count,
        default: "32",
        commands: &[Phew],
        help: "With --particle-graph: number of nearest neighbours of each particle, 1 to 254",
        ..ROW
    },
    Opt {
        name: "given-density",
        key: "given_density",
        heading: Particles,
        commands: &[Phew, Voids],
        help: "Take densities of the particle graph from the input, as SPH codes store them",
        doc: "For gas: --particle-types 1,0,0,0,0,0,0. Otherwise densities are sums over the neighbours.",
        ..ROW
    },
    Opt {
        name: "m-refine",
        key: "m_refine",
        heading: Particles,
        kind: OptionKind::Count,
        default: "8",
        commands: &[Phew],
        help: "With --mesh-from-particles: split cells with more particles than this",
        ..ROW
    },
    Opt {
        name: "level-min",
        key: "level_min",
        heading: Particles,
        kind: OptionKind::Count,
        example: "7",
        commands: &[Phew],
        help: "With --mesh-from-particles: split all cells coarser than this level, 2 to 12",
        doc: "Default: the deepest level with no more cells than particles. Level l has 8^l cells, at most 2^30 or 4096 per \
              particle. Tasks and ranks share parts that are at least two levels coarser, so a small value limits the \
              number of ranks.",
        ..ROW
    },
    Opt {
        name: "level-max",
        key: "level_max",
        heading: Particles,
        kind: OptionKind::Count,
        default: "20",
        commands: &[Phew],
        help: "With --mesh-from-particles: never split cells of this level, 2 to 20",
        ..ROW
    },
    Opt {
        name: "particle-types",
        key: "particle_types",
        heading: Particles,
        kind: OptionKind::Kinds,
        default: "0,1,0,0,0,0,0",
        commands: &[Phew],
        help: "With --mesh-from-particles: the particle types that make the mesh",
        doc: "One digit each for gas, dark matter, background dark matter, sinks, stars, black holes and neutrinos.",
        ..ROW
    },
    Opt {
        name: "compat",
        key: "compat",
        kind: OptionKind::Choice(&["paper", "ramses"]),
        default: "paper",
        commands: &[Phew],
        help: "The rules to follow where the PHEW paper and RAMSES differ",
        doc: "ramses: the catalogues agree with RAMSES's own clump finder. docs/ramses.md lists the differences.",
        ..ROW
    },
    Opt {
        name: "ramses-text",
        key: "ramses_text",
        heading: Results,
        kind: OptionKind::Path,
        example: "ramses_text",
        commands: &[Phew],
        help: "Also write RAMSES's clump_ and halo_ text files into this folder",
        ..ROW
    },
    Opt {
        name: "with-cells",
        key: "with_cells",
        heading: Results,
        commands: &[Phew],
        help: "Also list every leaf cell with its clump and halo",
        ..ROW
    },
    Opt {
        name: "with-particles",
        key: "with_particles",
        heading: Results,
        commands: &[Phew],
        help: "Also list every particle with its clump and halo",
        ..ROW
    },
];

/// How they run, and pictures.
const RUN: &[Opt] = &[
    Opt {
        name: "force",
        key: "force",
        heading: Results,
        commands: &[Phew, Fof, Voids],
        help: "Compute snapshots again whose catalogues are complete",
        doc: "With {number} in --output, a complete catalogue of the same input and the same options is otherwise kept.",
        ..ROW
    },
    Opt {
        name: "dry-run",
        key: "dry_run",
        heading: General,
        commands: &[Phew, Fof, Voids],
        help: "Check input, options, memory and results, say what would be done, and write nothing",
        doc: "Headers are read, cells and particles are not. Of several snapshots each is told: computed or kept.",
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
        doc: "Needs the cells of a catalogue of `inselberg phew --with-cells`.",
        ..ROW
    },
    Opt {
        name: "ranks",
        key: "ranks",
        heading: Launch,
        kind: OptionKind::Count,
        default: "1",
        commands: &[Phew, Fof, Topology, SynthParticles, Tree, Voids],
        help: "Divide the work among this many ranks, each a thread of this process",
        doc: "Never changes the result. On one node a single rank with all threads is faster; this option tests how a run \
              divides. On a cluster, start one process per rank with mpirun or srun instead.",
        ..ROW
    },
    Opt {
        name: "pin",
        key: "pin",
        heading: Launch,
        kind: OptionKind::Choice(&["none", "cores", "numa"]),
        default: "none",
        commands: &[Phew, Fof, Topology, Tree, Voids],
        help: "Pin threads to processors, so that memory stays local to them",
        doc: "cores: each thread on its own core, or its own hardware thread if there are more threads than cores. numa: the \
              ranks of a host on its NUMA nodes in turn, and their threads on cores there, or on the whole node if there \
              are more threads than cores. Bindings by the launcher stay in force. The default is one thread per core. \
              Never changes the result.",
        ..ROW
    },
    Opt {
        name: "stall-timeout",
        key: "stall_timeout",
        heading: Launch,
        kind: OptionKind::Real,
        default: "600",
        commands: &[Phew, Fof, Tree, Voids],
        help: "Seconds without progress after which the run ends; 0: never",
        doc: "The message names the stage of each waiting rank. A rank that computes may take ten times as long.",
        ..ROW
    },
    Opt {
        name: "balance",
        key: "balance",
        heading: Launch,
        kind: OptionKind::Choice(&["work", "test-cells", "leaves"]),
        default: "test-cells",
        commands: &[Phew],
        help: "What is divided equally among ranks",
        doc: "test-cells: cells above the density threshold. work: these, with an extra cost for cells beside other ranks. \
              leaves: all leaf cells, as in most simulations. Never changes the result.",
        ..ROW
    },
    Opt {
        name: "diagnostics",
        key: "diagnostics",
        heading: Diagnostics,
        commands: &[Phew, Fof, Voids],
        help: "Also print the load of ranks and threads, the messages, and the place of memory",
        doc: "phew always prints the load of several ranks. With this option no output file is required.",
        ..ROW
    },
    Opt {
        name: "log",
        key: "log",
        heading: Diagnostics,
        kind: OptionKind::Path,
        example: "run.log",
        commands: &[Phew, Fof, Tree, Voids],
        help: "Also write what happens when into this file: stages, warnings, errors, the summary",
        doc: "Each line is written at once. A log that exists is continued. The stages are those of the first rank; the summary has \
              the load of all ranks.",
        ..ROW
    },
    Opt {
        name: "verbose",
        key: "verbose",
        heading: General,
        short: Some('v'),
        commands: &[Phew, Fof, Tree, Voids],
        help: "Print each stage on standard error as it begins and ends",
        ..ROW
    },
    Opt {
        name: "count-work",
        key: "count_work",
        heading: Diagnostics,
        commands: &[Phew, Fof, Voids],
        help: "Run each rank in one thread and measure its processor time for the diagnostics",
        doc: "Waiting does not count. So many ranks in one process show the work of each rank alone, as `inselberg scaling \
              --simulate` needs. --threads has no effect.",
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
const COMMON: &[Opt] = &[
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
        but: &[ScalingPhew, ScalingFof],
        help: "Number of threads; default: all cores. Never changes the result",
        doc: "Under Slurm the default is SLURM_CPUS_PER_TASK, but not more than the processors that the process may use. Without --pin at most four threads per processor start, or 16 if that is more.",
        ..ROW
    },
    Opt {
        name: "no-mpi",
        key: "no_mpi",
        heading: Launch,
        help: "Run in this process alone, even under a launcher",
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

/// Options of a command that a study sets itself or replaces.
const NOT_STUDIED: [&str; 23] = [
    "dry-run",
    "log",
    "verbose",
    "force",
    "output",
    "basename",
    "group-ids",
    "ramses-text",
    "soap",
    "yt",
    "vtk",
    "vtk-cells",
    "plot",
    "plot-axis",
    "plot-region",
    "plot-min-cells",
    "plot-min-particles",
    "report",
    "units",
    "trace",
    "task-graph",
    "diagnostics",
    "count-work",
];

/// The options that `command` passes on to the command that it runs, in order.
pub fn passed_on(command: Command) -> impl Iterator<Item = &'static Opt> {
    let runs = COMMANDS.iter().find(|info| info.command == command).and_then(|info| info.runs);
    let is_own = move |name: &str| options_of(command).any(|own| own.name == name);
    let suits = move |o: &&Opt| runs.is_some_and(|runs| o.commands.contains(&runs)) && !o.positional;
    OPTIONS.iter().filter(suits).filter(move |o| !is_own(o.name) && !NOT_STUDIED.contains(&o.name))
}

/// The options of `command`, in order.
pub fn options_of(command: Command) -> impl Iterator<Item = &'static Opt> {
    OPTIONS.iter().filter(move |o| o.belongs_to(command))
}
