//! Options for what an input of particles leaves open.

use super::Command::{Fof, Phew, Voids};
use super::Heading::{Particles, Properties};
use super::opt::{Opt, OptionKind, ROW};

/// Options of `phew`, `fof` and `voids`.
pub(super) const PARTICLES: &[Opt] = &[
    Opt {
        name: "particle-mass",
        key: "particle_mass",
        heading: Particles,
        kind: OptionKind::Real,
        example: "0.01",
        commands: &[Fof, Phew, Voids],
        help: "Mass per particle (code units) where the snapshot has none",
        doc: "Required for such a snapshot. In a plain array, which has no units, the default is 1.",
        ..ROW
    },
    Opt {
        name: "unit-length",
        key: "unit_length",
        heading: Particles,
        kind: OptionKind::Real,
        example: "3.085678e24",
        commands: &[Fof, Phew, Voids],
        help: "Unit of length in cm, for a Gadget snapshot that does not state it",
        doc: "As its UnitLength_in_cm; factors of h and a from the snapshot apply as well. The default is Gadget's own, \
              3.085678e21. The summary and the catalogue attribute assumed_units name the assumed units.",
        ..ROW
    },
    Opt {
        name: "unit-mass",
        key: "unit_mass",
        heading: Particles,
        kind: OptionKind::Real,
        example: "1.989e43",
        commands: &[Fof, Phew, Voids],
        help: "Unit of mass in g, for a Gadget snapshot that does not state it",
        doc: "As its UnitMass_in_g. The default is Gadget's own, 1.989e43.",
        ..ROW
    },
    Opt {
        name: "unit-velocity",
        key: "unit_velocity",
        heading: Particles,
        kind: OptionKind::Real,
        example: "1e5",
        commands: &[Fof, Phew, Voids],
        help: "Unit of velocity in cm/s, for a Gadget snapshot that does not state it",
        doc: "As its UnitVelocity_in_cm_per_s. The default is Gadget's own, 1e5.",
        ..ROW
    },
    Opt {
        name: "expansion-factor",
        key: "expansion_factor",
        heading: Particles,
        kind: OptionKind::Real,
        example: "0.5",
        commands: &[Fof, Phew, Voids],
        help: "Expansion factor of a Gadget snapshot whose time and redshift do not agree",
        doc: "Required for such a snapshot. One that states its factor refuses it.",
        ..ROW
    },
    Opt {
        name: "gadget-blocks",
        key: "gadget_blocks",
        heading: Particles,
        kind: OptionKind::Choice(&["auto", "gadget", "gizmo"]),
        default: "auto",
        commands: &[Fof, Phew, Voids],
        help: "Order of blocks in a Gadget snapshot of type 1: gizmo has two more before masses",
        doc: "auto: lengths and values of the blocks decide, or the snapshot is refused.",
        ..ROW
    },
    Opt {
        name: "w0",
        key: "w0",
        heading: Properties,
        kind: OptionKind::Real,
        example: "-0.9",
        commands: &[Fof, Phew],
        help: "Pressure over density of dark energy today, where the snapshot does not state it",
        doc: "For the Hubble rate and the critical density of a cosmological snapshot: w(a) = w0 + wa (1 - a). The default is -1, \
              a cosmological constant. `info`, the summary and the catalogue attribute assumed_cosmology name what is assumed.",
        ..ROW
    },
    Opt {
        name: "wa",
        key: "wa",
        heading: Properties,
        kind: OptionKind::Real,
        example: "0.2",
        commands: &[Fof, Phew],
        help: "The part of it that changes with the expansion, where the snapshot does not state it",
        doc: "The default is 0.",
        ..ROW
    },
    Opt {
        name: "omega-r",
        key: "omega_r",
        heading: Properties,
        kind: OptionKind::Real,
        example: "9e-5",
        commands: &[Fof, Phew],
        help: "Density parameter of radiation, where the snapshot does not state it",
        doc: "The default is 0. Curvature is what is left of 1.",
        ..ROW
    },
    Opt {
        name: "omega-nu",
        key: "omega_nu",
        heading: Properties,
        kind: OptionKind::Real,
        example: "0.0014",
        commands: &[Fof, Phew],
        help: "Density parameter of massive neutrinos beside matter, where the snapshot does not state it",
        doc: "SWIFT's Omega_nu_0. It counts in the mean density of matter. The default is 0. Curvature is what is left of 1.",
        ..ROW
    },
    Opt {
        name: "duplicate-ids",
        key: "duplicate_ids",
        kind: OptionKind::Choice(&["error", "allow"]),
        default: "error",
        commands: &[Fof],
        help: "Whether particles of linking or attaching types may share an ID",
        doc: "allow: particles of one ID are ordered by position along x, then y, then z.",
        ..ROW
    },
];
