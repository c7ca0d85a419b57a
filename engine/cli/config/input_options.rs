//! Options for the files that commands read and write.

use super::Command::{Fof, Info, Phew, Recut, SynthField, SynthParticles};
use super::opt::{OUTPUT, Opt, OptionKind, ROW};

/// In the order of the help.
pub(super) const FILES: &[Opt] = &[
    Opt {
        name: "input",
        key: "input",
        positional: true,
        kind: OptionKind::Paths,
        example: "output_00002",
        commands: &[Phew],
        help: "The snapshot, or several: cells or particles, such as output_00002 or snap_0000.hdf5",
        doc: "Several snapshots need {number} in --output. Particles may be any input of `inselberg fof`, \
              such as a SWIFT or Gadget snapshot or a plain array with --box (box.npy, \
              file.hdf5:/path/to/a/dataset); they make a mesh, or a graph with --particle-graph.",
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
        doc: "Several snapshots need {number} in --output. A snapshot is one file, or all its files in order; \
              snap_080.0.hdf5 alone means all of snap_080.*.hdf5. It may be a RAMSES output folder, or an \
              array of shape (N, 3), as a .npy file or file.hdf5:/path/to/a/dataset, with --box or --open.",
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
        example: "clumps.hdf5",
        commands: &[Phew, Recut],
        help: "The catalogue to write; the ending of its name sets the format",
        doc: "It is written under a hidden name and then renamed, so it is complete or absent. {number} in the name of any result \
              stands for the number of the snapshot, such as 00080 for output_00080. phew then keeps complete \
              catalogues of the same input and options; see --force.",
        ..OUTPUT
    },
    Opt {
        example: "fof.hdf5",
        commands: &[Fof],
        help: "The catalogue of groups to write; the ending of its name sets the format",
        doc: "HDF5 catalogues have the layout of SWIFT's. The file is written under a hidden name and then renamed, so it is \
              complete or absent. {number} stands for the number of the snapshot, such as 0080 for \
              snap_0080.hdf5. Complete catalogues of the same input and options are then kept; see --force.",
        ..OUTPUT
    },
    Opt {
        example: "output_00001",
        commands: &[SynthField],
        help: "The output folder to write",
        doc: "A RAMSES output that `inselberg phew` and other codes read. If the name is not output_NNNNN, the output is \
              output_00001 in a folder of that name.",
        ..OUTPUT
    },
    Opt {
        example: "box.npy",
        commands: &[SynthParticles],
        help: "The positions to write: a .npy file of shape [N, 3], f32",
        doc: "A .json file in the same folder has the box side and the seeded haloes.",
        ..OUTPUT
    },
];
