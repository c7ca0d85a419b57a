//! Options about what an input of particles does not say, or says twice.

use super::Command::{Fof, Phew};
use super::opt::{Opt, OptionKind, ROW};

/// What `phew` and `fof` take of particles.
pub(super) const PARTICLES: &[Opt] = &[
    Opt {
        name: "particle-mass",
        key: "particle_mass",
        kind: OptionKind::Real,
        example: "0.01",
        commands: &[Fof, Phew],
        help: "The mass in code units of each particle to which its snapshot gives none",
        doc: "Without it such a snapshot is refused. In a plain array, which has no units, a particle counts as 1.",
        ..ROW
    },
    Opt {
        name: "unit-length",
        key: "unit_length",
        kind: OptionKind::Real,
        example: "3.085678e24",
        commands: &[Fof, Phew],
        help: "Centimetres in the unit of length of a Gadget snapshot that does not say it",
        doc: "As its UnitLength_in_cm: factors of h and a come on top, as the snapshot says. Without this option \
              Gadget's own, 3.085678e21; the summary and the attribute assumed_units of the catalogue then say so.",
        ..ROW
    },
    Opt {
        name: "unit-mass",
        key: "unit_mass",
        kind: OptionKind::Real,
        example: "1.989e43",
        commands: &[Fof, Phew],
        help: "Grams in the unit of mass of a Gadget snapshot that does not say it",
        doc: "As its UnitMass_in_g. Gadget's own is 1.989e43.",
        ..ROW
    },
    Opt {
        name: "unit-velocity",
        key: "unit_velocity",
        kind: OptionKind::Real,
        example: "1e5",
        commands: &[Fof, Phew],
        help: "cm/s in the unit of velocity of a Gadget snapshot that does not say it",
        doc: "As its UnitVelocity_in_cm_per_s. Gadget's own is 1e5.",
        ..ROW
    },
    Opt {
        name: "duplicate-ids",
        key: "duplicate_ids",
        kind: OptionKind::Choice(&["error", "allow"]),
        default: "error",
        commands: &[Fof],
        help: "Whether particles that link or are attached may share an ID",
        doc: "allow: among particles of one ID the lowest position along x, then y, then z comes first.",
        ..ROW
    },
];
