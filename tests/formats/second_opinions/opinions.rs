//! What each program reads of each input. docs/verification.md has the same reasons.

/// What a program reads of an input.
pub enum Opinion {
    /// Everything that our readers read.
    Same,
    /// The same except for these quantities, for this reason.
    Except(&'static [&'static str], &'static str),
    /// It refuses the input or takes it for something else.
    Unread(&'static str),
}

use Opinion::{Except, Same, Unread};

impl Opinion {
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Same => None,
            Except(_, reason) | Unread(reason) => Some(reason),
        }
    }
}

/// The programs, in the order of a row.
pub const PROGRAMS: [&str; 4] = ["yt", "pynbody", "swiftsimio", "astropy"];

/// Inputs whose names begin so.
pub struct Row {
    pub name: &'static str,
    pub opinions: [Opinion; 4],
}

const NOT_SWIFT: Opinion = Unread("reads snapshots of SWIFT alone");
const NOT_FITS: Opinion = Unread("reads FITS alone");
const NOT_PARTICLES: Opinion = Unread("reads snapshots of particles and outputs of RAMSES alone");
const YT_SWIFT: Opinion =
    Unread("expects the groups of a run with gas, and scalars where SWIFT writes lists of one number");
const ROUNDED: Opinion =
    Except(&["hubble"], "takes a unit of time near to one of astronomers for that one, so h by 2e-6");
const BOUNDLESS: Opinion = Except(&["box"], "gives no box of a SWIFT run that does not expand");
const BARE_SWIFT: Opinion = Unread("wants more of SWIFT's groups than this sample has");
const GHOSTS: Opinion = Except(&["cells"], "reads ghost cells of Parthenon as cells");
const NO_UNIT: Opinion = Unread("expects a unit (`BUNIT`)");
const NO_GAS: Opinion = Except(&["cells"], "gives cells of outputs with gas alone");
const TRIMMED: Opinion =
    Except(&["cells"], "finds leaves by RAMSES's refinement map, which these trimmed outputs lack");
const DOUBLE: Opinion = Unread("takes reals of 8 bytes in Gadget's binary for reals of 4 bytes");
const GADGET_4: Opinion = Unread("does not know GADGET-4's own binary header");
const GIZMO_BLOCKS: Opinion = Except(&["density", "mass"], "takes GIZMO's blocks of integers for masses");
const GIZMO_BLOCKS_PYNBODY: Opinion = Unread("takes GIZMO's blocks of integers for masses");
const GIZMO_NAMES: &str = "does not know the names that GIZMO has for units and cosmology";
const BLOCKS: Opinion =
    Except(&["density"], "expects other blocks after the internal energy of binary type 1");
const TYPE_5: Opinion = Except(
    &["density", "types"],
    "takes type 5 of binary snapshots for dark matter; expects other blocks, as above",
);
const LONG: Opinion = Except(&["box"], "does not know `LONG_X` of `Config`");
const AGE: Opinion = Except(&["time"], "gives the time of a run that does not expand in other units");
const SEVEN: Opinion = Unread("knows six types of particles");
const SINGLE: Opinion = Unread("expects particles of RAMSES in double precision");
const GROUPS: Opinion = Unread("does not look into RAMSES's groups of files");
const FAMILIES: Opinion =
    Except(&["types"], "recognises no families, or not all, where RAMSES has not written them");

const fn row(name: &'static str, yt: Opinion, pynbody: Opinion) -> Row {
    Row { name, opinions: [yt, pynbody, NOT_SWIFT, NOT_FITS] }
}

/// All rows. An input belongs to the row with the longest name that it begins with.
pub static TABLE: &[Row] = &[
    row("Gadget-4, bundled", Same, Same),
    Row { name: "SWIFT, bundled", opinions: [YT_SWIFT, BOUNDLESS, Same, NOT_FITS] },
    Row { name: "SWIFT, bundled, in an expanding box", opinions: [YT_SWIFT, Same, ROUNDED, NOT_FITS] },
    row("RAMSES dm_", Same, NO_GAS),
    row("RAMSES gas_2ranks", Same, Same),
    row("RAMSES gas_and_dm", Same, TRIMMED),
    row("RAMSES ties", Same, TRIMMED),
    row("RAMSES walls", Same, TRIMMED),
    row("RAMSES ramses_32", Same, NO_GAS),
    row("particle checklist: RAMSES", Same, Same),
    row("particle checklist: NumPy array", Same, NOT_PARTICLES),
    row("particle checklist: HDF5 array", Same, NOT_PARTICLES),
    row("particle checklist: SWIFT or Gadget HDF5", Same, Same),
    row("particle checklist: Gadget binary", Same, Same),
    row("cell checklist: RAMSES", Same, Same),
    row("cell checklist: AMReX", Same, NOT_PARTICLES),
    row("cell checklist: NumPy array of cells", Same, NOT_PARTICLES),
    Row { name: "cell checklist: FITS", opinions: [NO_UNIT, NOT_PARTICLES, NOT_SWIFT, Same] },
    row("cell checklist: Athena++", Same, NOT_PARTICLES),
    row("cell checklist: Parthenon", GHOSTS, NOT_PARTICLES),
    row("cell checklist: HDF5 array of cells", Same, NOT_PARTICLES),
    Row { name: "FITS with a unit", opinions: [Same, NOT_PARTICLES, NOT_SWIFT, Same] },
    row("Gadget binary type 1", Same, BLOCKS),
    row("Gadget binary type 1, several files", Same, TYPE_5),
    row("Gadget binary type 2", Same, Same),
    row("Gadget binary type 1, little-endian, double", DOUBLE, DOUBLE),
    row("Gadget binary type 2, little-endian, double", DOUBLE, DOUBLE),
    row("Gadget binary type 1, big-endian, double", DOUBLE, DOUBLE),
    row("Gadget binary type 2, big-endian, double", DOUBLE, DOUBLE),
    row("Gadget binary type 1, GADGET-4's header", GADGET_4, GADGET_4),
    row("Gadget binary type 2, GADGET-4's header", GADGET_4, GADGET_4),
    row("Gadget binary type 1, GIZMO's blocks", GIZMO_BLOCKS, GIZMO_BLOCKS_PYNBODY),
    row(
        "GIZMO's names",
        Except(&["box", "scale", "hubble", "matter", "lambda", "position", "velocity", "mass"], GIZMO_NAMES),
        Except(&["box", "matter", "lambda", "position", "mass"], GIZMO_NAMES),
    ),
    row("EAGLE's names", Same, Same),
    row("AREPO's long box", LONG, LONG),
    Row { name: "SWIFT, generated", opinions: [YT_SWIFT, BARE_SWIFT, BARE_SWIFT, NOT_FITS] },
    row("Gadget HDF5", Same, Same),
    row("Gadget HDF5 without expansion", Same, AGE),
    row("Gadget HDF5 of seven types", SEVEN, Same),
    row("RAMSES, generated", Same, Same),
    row("RAMSES, generated, single precision", SINGLE, SINGLE),
    row("RAMSES, generated, groups of files", Same, GROUPS),
    row("RAMSES, generated, no families", FAMILIES, FAMILIES),
    row("RAMSES, generated, old descriptors", FAMILIES, FAMILIES),
    row("RAMSES, generated, no descriptors", FAMILIES, FAMILIES),
];

/// The row of an input.
pub fn row_of(input: &str) -> &'static Row {
    let rows = TABLE.iter().filter(|row| input.starts_with(row.name));
    rows.max_by_key(|row| row.name.len())
        .unwrap_or_else(|| panic!("no program has read {input}, and no reason is given"))
}
