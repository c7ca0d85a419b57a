//! The options of synthetic inputs.

use super::Command::{SynthField, SynthParticles, SynthSeries};
use super::Heading::Made;
use super::opt::{OUTPUT, Opt, OptionKind, ROW};

/// In the order of the help.
pub(super) const SYNTH: &[Opt] = &[
    Opt {
        name: "test-cells",
        key: "test_cells",
        heading: Made,
        kind: OptionKind::Count,
        default: "1e5",
        commands: &[SynthField],
        help: "Approximate number of cells above the density threshold",
        doc: "The threshold is 80. The program prints the number reached.",
        ..ROW
    },
    Opt {
        name: "kind",
        key: "kind",
        heading: Made,
        kind: OptionKind::Choice(&["clumps", "lattice", "giant", "chain"]),
        default: "clumps",
        commands: &[SynthField],
        help: "The content of the box",
        doc: "clumps: seeded cuspy clumps with satellites and cell noise. lattice: a lattice of equal peaks on a uniform \
              background. giant: one clump with noise. chain: a winding chain of ever higher peaks.",
        ..ROW
    },
    Opt {
        name: "levels",
        key: "levels",
        heading: Made,
        kind: OptionKind::Text("MIN:MAX"),
        example: "5:9",
        commands: &[SynthField],
        help: "Coarsest and deepest level of the mesh; default: from --test-cells",
        ..ROW
    },
    Opt {
        name: "peaks",
        key: "peaks",
        heading: Made,
        kind: OptionKind::Count,
        example: "100",
        commands: &[SynthField],
        help: "Number of seeded clumps; default: one per 10000 test cells",
        ..ROW
    },
    Opt {
        name: "cells-per-peak",
        key: "cells_per_peak",
        heading: Made,
        kind: OptionKind::Real,
        default: "15",
        commands: &[SynthField],
        help: "Test cells per noise peak: 10 or more, or 0 for no noise",
        ..ROW
    },
    Opt {
        name: "number",
        key: "number",
        short: Some('n'),
        heading: Made,
        kind: OptionKind::Count,
        default: "262144",
        commands: &[SynthParticles],
        help: "Number of particles",
        ..ROW
    },
    Opt {
        example: "series",
        commands: &[SynthSeries],
        help: "The folder to write: clumps_00001.hdf5, clumps_00002.hdf5, ... and truth.hdf5",
        doc: "The catalogues have members, like those of `inselberg phew --unbind --with-members`. truth.hdf5 \
              has the true merger tree, in the tables of `inselberg tree`.",
        ..OUTPUT
    },
    Opt {
        name: "outputs",
        key: "outputs",
        heading: Made,
        kind: OptionKind::Count,
        default: "20",
        commands: &[SynthSeries],
        help: "Number of catalogues",
        ..ROW
    },
    Opt {
        name: "members",
        key: "members",
        heading: Made,
        kind: OptionKind::Count,
        default: "1e5",
        commands: &[SynthSeries],
        help: "Approximate number of members per catalogue",
        ..ROW
    },
    Opt {
        name: "rules",
        key: "rules",
        heading: Made,
        kind: OptionKind::Choice(&["gentle", "hard"]),
        default: "gentle",
        commands: &[SynthSeries],
        help: "How strongly haloes disturb each other",
        doc: "gentle: a halo keeps its innermost particles. hard: cores exchange particles in close passes, \
              haloes are \
              hidden for up to 7 outputs, fall into others of their own mass, and lose up to half of their particles per output.",
        ..ROW
    },
    Opt {
        name: "seed",
        key: "seed",
        heading: Made,
        kind: OptionKind::Count,
        default: "1",
        commands: &[SynthField, SynthParticles, SynthSeries],
        help: "Random seed; the result is the same on any number of threads",
        ..ROW
    },
];
