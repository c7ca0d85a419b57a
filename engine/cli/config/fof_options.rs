//! The options that only `inselberg fof` has.

use super::Command::Fof;
use super::Heading::Results;
use super::opt::{Opt, OptionKind, ROW};

/// In the order of the help.
pub(super) const FOF: &[Opt] = &[
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
        name: "seed-black-holes",
        key: "seed_black_holes",
        alias: "seed_black_holes_enabled",
        commands: &[Fof],
        help: "Also list the groups that would get a black hole, and where",
        doc: "These have gas, no black hole, and more mass than --black-hole-seed-mass. The site is the densest gas particle.",
        ..ROW
    },
];
