//! The options of `inselberg fof` that are its own.

use super::Command::{Fof, Phew, Voids};
use super::Heading::{Input, Results};
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
];
