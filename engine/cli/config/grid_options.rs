//! Options for what an input of cells leaves open.

use super::Command::{Info, Phew};
use super::Heading::Cells;
use super::opt::{Opt, OptionKind, ROW};

/// Options of `phew`, and of `info` for one of them.
pub(super) const GRID: &[Opt] = &[
    Opt {
        name: "periodic",
        key: "periodic",
        heading: Cells,
        kind: OptionKind::Text("AXES"),
        example: "xyz",
        commands: &[Phew],
        help: "Periodic axes of an input that does not state them: xyz, some of these letters, or none",
        doc: "For AMReX, Athena++ and plain arrays of cells. The default is none.",
        ..ROW
    },
    Opt {
        name: "spacing",
        key: "spacing",
        heading: Cells,
        kind: OptionKind::Real,
        example: "0.1",
        commands: &[Phew],
        help: "Side of a cell of a plain array of cells",
        doc: "The default is 1.",
        ..ROW
    },
    Opt {
        name: "origin",
        key: "origin",
        heading: Cells,
        kind: OptionKind::Text("X,Y,Z"),
        example: "-0.5,-0.5,-0.5",
        commands: &[Phew],
        help: "Lower corner of a plain array of cells",
        doc: "The default is 0,0,0.",
        ..ROW
    },
    Opt {
        name: "image",
        key: "image",
        heading: Cells,
        commands: &[Info, Phew],
        help: "A plain array of two axes is an image, not positions of particles",
        doc: "Its pixels have 8 neighbours and an area.",
        ..ROW
    },
];
