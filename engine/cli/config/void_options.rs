//! Options of `voids`, and those of `recut` for its catalogues.

use super::Command::Voids;
use super::opt::{OUTPUT, Opt, OptionKind, ROW};

/// The options of `voids`.
pub(super) const VOIDS: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Paths,
        example: "snap_0000.hdf5",
        commands: &[Voids],
        help: "The particles: SWIFT, Gadget or RAMSES snapshots, or a plain array with --box",
        doc: "Several snapshots need {number} in --output. snap_080.0.hdf5 alone means all of \
              snap_080.*.hdf5.",
        ..ROW
    },
    Opt {
        example: "voids.hdf5",
        commands: &[Voids],
        help: "The catalogue to write; the ending of its name sets the format",
        doc: "It is written under a hidden name and then renamed, so it is complete or absent. {number} stands for the number of the \
              snapshot. Complete catalogues of the same input and options are then kept; see --force.",
        ..OUTPUT
    },
];
