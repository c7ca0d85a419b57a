//! The options of synthetic inputs: rows of the one table.

use super::Command::{SynthField, SynthParticles};
use super::opt::{Opt, OptionKind, ROW};

/// In the order of the help.
pub(super) const SYNTH: &[Opt] = &[
    Opt {
        name: "test-cells",
        key: "test_cells",
        kind: OptionKind::Count,
        default: "1e5",
        commands: &[SynthField],
        help: "About how many cells lie above the density threshold",
        doc: "The threshold is 80; the numbers reached are printed.",
        ..ROW
    },
    Opt {
        name: "kind",
        key: "kind",
        kind: OptionKind::Choice(&["clumps", "lattice", "giant", "chain"]),
        default: "clumps",
        commands: &[SynthField],
        help: "What is in the box",
        doc: "clumps: seeded cuspy clumps and their satellites, with noise from cell to cell. lattice: \
              a lattice of equal peaks on a plain of equal cells. giant: one clump with noise. chain: a \
              chain of ever higher peaks that winds through the box.",
        ..ROW
    },
    Opt {
        name: "levels",
        key: "levels",
        kind: OptionKind::Text("MIN:MAX"),
        example: "5:9",
        commands: &[SynthField],
        help: "Coarsest and deepest level of the mesh; chosen from --test-cells if not given",
        ..ROW
    },
    Opt {
        name: "peaks",
        key: "peaks",
        kind: OptionKind::Count,
        example: "100",
        commands: &[SynthField],
        help: "How many clumps are seeded; one in 10000 test cells if not given",
        ..ROW
    },
    Opt {
        name: "cells-per-peak",
        key: "cells_per_peak",
        kind: OptionKind::Real,
        default: "15",
        commands: &[SynthField],
        help: "Test cells in the patch of a noise peak: 10 or more, or 0 for no noise",
        ..ROW
    },
    Opt {
        name: "number",
        key: "number",
        short: Some('n'),
        kind: OptionKind::Count,
        default: "262144",
        commands: &[SynthParticles],
        help: "How many particles",
        ..ROW
    },
    Opt {
        name: "seed",
        key: "seed",
        kind: OptionKind::Count,
        default: "1",
        commands: &[SynthField, SynthParticles],
        help: "The same seed gives the same values on any number of threads",
        ..ROW
    },
];
