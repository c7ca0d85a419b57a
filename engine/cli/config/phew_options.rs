//! The options of `inselberg phew` and `info`: fields, particles, tables.

use super::Command::{Info, Phew, Voids};
use super::Heading::{Input, Particles, Results};
use super::opt::{Opt, OptionKind, ROW};

/// In the order of the help.
pub(super) const PHEW: &[Opt] = &[
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
        kind: OptionKind::Text("auto|matter|cic|cic-ramses|NAME"),
        default: "auto",
        commands: &[Info],
        help: "The density of --thresholds; as in `inselberg phew`",
        ..ROW
    },
    Opt {
        name: "field",
        key: "field",
        heading: Input,
        kind: OptionKind::Text("auto|matter|cic|cic-ramses|NAME"),
        default: "auto",
        commands: &[Phew],
        help: "The density to segment",
        doc: "auto: matter in a cosmological output with gas and particles. Otherwise, and with --compat ramses: \
              the gas density; without gas, rho; without these, the dark-matter particles (by cic, or by cic-ramses with --compat \
              ramses). matter: all particles with mass and the gas, by cloud-in-cell. cic: mass-conserving cloud-in-cell of the \
              dark-matter particles. cic-ramses: these level by level as RAMSES deposits them, plus any gas. NAME: a field that \
              `inselberg info` lists, such as density or rho.",
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
        doc: "The default for inputs of particles alone. Of an output with cells it takes the particles instead. Cells with more than --m-refine particles are split; touching leaves differ by at most one level. The density is \
              a mass-conserving cloud-in-cell of the particles. The catalogue is in code units of the snapshot; its attribute mean_density is the unit of the thresholds. \
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
              the sum over these neighbours by the cubic spline. Each particle counts as \
              a cell, so n_cells is a number of particles.",
        ..ROW
    },
    Opt {
        name: "neighbours",
        key: "neighbours",
        heading: Particles,
        kind: OptionKind::Count,
        default: "16",
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
        default: "6",
        commands: &[Phew],
        help: "Mesh from particles: split cells with more particles than this",
        ..ROW
    },
    Opt {
        name: "level-min",
        key: "level_min",
        heading: Particles,
        kind: OptionKind::Count,
        example: "7",
        commands: &[Phew],
        help: "Mesh from particles: split all cells coarser than this level, 2 to 12",
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
        help: "Mesh from particles: never split cells of this level, 2 to 20",
        ..ROW
    },
    Opt {
        name: "particle-types",
        key: "particle_types",
        heading: Particles,
        kind: OptionKind::Kinds,
        default: "0,1,0,0,0,0,0",
        commands: &[Phew],
        help: "Of inputs of particles: the types that make the mesh or the graph",
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
