//! The options of synthetic inputs.

use super::Command::{SynthField, SynthParticles};
use super::Heading::Made;
use super::opt::{Opt, OptionKind, ROW};

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
        name: "seed",
        key: "seed",
        heading: Made,
        kind: OptionKind::Count,
        default: "1",
        commands: &[SynthField, SynthParticles],
        help: "Random seed; the result is the same on any number of threads",
        ..ROW
    },
];
