//! Options for what an input of cells leaves open.

use super::Command::{Info, Phew};
use super::Heading::Cells;
use super::opt::{Opt, OptionKind, ROW};

/// Options of `phew`, and of `info` for some of them.
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
        name: "hydro-names",
        key: "hydro_names",
        heading: Cells,
        kind: OptionKind::Text("NAME,..."),
        example: "density,velocity_x,velocity_y,velocity_z,pressure",
        commands: &[Info, Phew],
        help: "Names of the hydro variables of a RAMSES output without a descriptor, in their order",
        doc: "As many as the hydro files have. With 11 or more, gas with and without a magnetic field look alike, so properties of gas \
              and --unbind need them. RAMSES's names are density, velocity_x, pressure, B_x_left, B_x_right and so on.",
        ..ROW
    },
    Opt {
        name: "stokes",
        key: "stokes",
        heading: Cells,
        kind: OptionKind::Text("I|Q|U|V|XX|..."),
        example: "I",
        commands: &[Info, Phew],
        help: "The plane to take of the Stokes axis of a FITS image or cube",
        doc: "The default is I.",
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
