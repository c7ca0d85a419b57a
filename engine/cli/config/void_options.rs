//! Options of `voids`, and those of `recut` for its catalogues.

use super::Command::{Recut, Voids};
use super::Heading::{Particles, Results};
use super::opt::{Opt, OptionKind, ROW};

/// What is expected of radii.
pub(super) const RADIUS: &str = "a finite radius, 0 or more";

/// What `voids` reads, finds and writes.
pub(super) const VOIDS: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Paths,
        example: "snap_0000.hdf5",
        commands: &[Voids],
        help: "The particles: SWIFT, Gadget or RAMSES snapshots, or a plain array with --box",
        doc: "Several need {number} in --output. snap_080.0.hdf5 alone means all of snap_080.*.hdf5.",
        ..ROW
    },
    Opt {
        name: "output",
        key: "output",
        short: Some('o'),
        heading: Results,
        kind: OptionKind::Path,
        example: "voids.hdf5",
        commands: &[Voids],
        help: "The catalogue to write; the ending of its name sets the format",
        doc: "It is written under a hidden name and then renamed, so it is complete or absent. {number} stands for the number of the \
              snapshot. Catalogues that are complete, with the same input and options, are then kept; see --force.",
        ..ROW
    },
    Opt {
        name: "relevance-threshold",
        key: "relevance_threshold",
        kind: OptionKind::Real,
        default: "2",
        commands: &[Voids],
        help: "Smallest ratio of wall to least density of a zone that is not noise",
        doc: "The wall is that over which the zone overflows into an emptier one; ZOBOV calls the ratio r. A zone with a smaller ratio \
              is merged over that wall. docs/voids.md says how often noise alone reaches a ratio. 1 or less keeps every zone.",
        ..ROW
    },
    Opt {
        name: "wall-threshold",
        key: "wall_threshold",
        kind: OptionKind::Real,
        default: "0.2",
        commands: &[Voids],
        help: "Zones that meet below this density are one void (mean densities); 0: none do",
        doc: "VIDE merges zones below 0.2 as well.",
        ..ROW
    },
    Opt {
        name: "wall-threshold",
        key: "wall_threshold",
        kind: OptionKind::Real,
        example: "0.3",
        commands: &[Recut],
        help: "New wall threshold of voids (mean densities); default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "density-threshold",
        key: "density_threshold",
        kind: OptionKind::Real,
        example: "1",
        commands: &[Voids],
        help: "Only particles less dense than this take part (mean densities); default: all do",
        doc: "At least the wall threshold. Without it every particle belongs to a zone, as for ZOBOV.",
        ..ROW
    },
    Opt {
        name: "min-radius",
        key: "min_radius",
        kind: OptionKind::Real,
        default: "0",
        commands: &[Voids],
        help: "Least effective radius of a listed void (code units)",
        doc: "Every zone of such a void is listed, however small. Labels of particles stay.",
        ..ROW
    },
    Opt {
        name: "min-radius",
        key: "min_radius",
        kind: OptionKind::Real,
        example: "5",
        commands: &[Recut],
        help: "New least radius of voids (code units); default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "min-particles",
        key: "min_particles",
        kind: OptionKind::Count,
        default: "0",
        commands: &[Voids],
        help: "Least number of particles of a listed void",
        ..ROW
    },
    Opt {
        name: "min-particles",
        key: "min_particles",
        kind: OptionKind::Count,
        example: "50",
        commands: &[Recut],
        help: "New least number of particles of a listed void; default: that of the catalogue",
        ..ROW
    },
    Opt {
        name: "neighbours",
        key: "neighbours",
        heading: Particles,
        kind: OptionKind::Count,
        default: "32",
        commands: &[Voids],
        help: "Number of nearest neighbours of each particle, 1 to 254",
        ..ROW
    },
    Opt {
        name: "particle-types",
        key: "particle_types",
        heading: Particles,
        kind: OptionKind::Kinds,
        default: "0,1,0,0,0,0,0",
        commands: &[Voids],
        help: "The particle types that take part",
        doc: "One digit each for gas, dark matter, background dark matter, sinks, stars, black holes and neutrinos.",
        ..ROW
    },
    Opt {
        name: "with-particles",
        key: "with_particles",
        heading: Results,
        commands: &[Voids],
        help: "Also list every particle with its zone and void",
        ..ROW
    },
];
