//! The options of `inselberg phew` and `info`: fields, particles, tables.

use super::Command::{Info, Phew};
use super::Heading::{Input, Results};
use super::opt::{Opt, OptionKind, ROW};

/// In the order of the help.
pub(super) const PHEW: &[Opt] = &[
    Opt {
        name: "thresholds",
        key: "thresholds",
        heading: Results,
        commands: &[Info],
        help: "Also read the density of a snapshot, and suggest thresholds with their reasons",
        doc: "They are quantiles by mass and volume, and usual multiples of the mean density. The density is \
              read once for this.",
        ..ROW
    },
    Opt {
        name: "plot",
        key: "plot",
        heading: Results,
        kind: OptionKind::Path,
        example: "densities.png",
        commands: &[Info],
        help: "As --thresholds, and draw the volume and mass above each density (.png or .svg)",
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
        name: "mesh-from-particles",
        key: "mesh_from_particles",
        heading: Input,
        commands: &[Phew],
        help: "Make the mesh from the particles of a snapshot, or of an array with --box",
        doc: "This is the default for inputs that have only particles. If an output has cells, its particles \
              are taken instead. Cells with more than --m-refine particles are split; touching leaves differ \
              by at most one level. The density is \
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
        name: "ramses-text",
        key: "ramses_text",
        heading: Results,
        kind: OptionKind::Path,
        example: "ramses_text",
        commands: &[Phew],
        help: "Also write RAMSES's clump_ and halo_ text files into this folder",
        ..ROW
    },
];
