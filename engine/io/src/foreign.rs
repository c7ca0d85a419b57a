//! Is a file the catalogue of another finder, or the output of a code that is not read?
//!
//! Such a file is recognised, so that the message names its format instead of a missing detail of a snapshot.
//! Each row of the table has a marker that the documentation or the writer of the code fixes.

use crate::{ReadError, input_file};
use std::io::Read;
use std::path::Path;

#[cfg(feature = "hdf5")]
use crate::hdf5_file::Hdf5File;

/// A catalogue of this program, which is not an input of particles or cells.
const OWN: &str = "a catalogue of inselberg";
/// What is said of one.
const OWN_GIVEN: &str = "it is a catalogue of inselberg; expected a snapshot. `inselberg info` describes it; \
                         `recut`, `view`, `tree` and `convert` take it";

/// The words for a catalogue of FoF and SUBFIND in Gadget-4.
pub const GADGET4_GROUPS: &str = "a catalogue of groups and subhaloes of Gadget-4";
/// The words for a catalogue of Rockstar in text.
pub const ROCKSTAR: &str = "a halo catalogue of Rockstar";

/// A format that is recognised but not read.
#[derive(Debug, PartialEq, Eq)]
pub struct ForeignFormat {
    /// The words for a file of this format, with an article.
    pub name: &'static str,
    /// The input that its users can give instead, if there is one.
    instead: Option<&'static str>,
    marker: Marker,
}

/// The mark of files of a format.
#[derive(Debug, PartialEq, Eq)]
enum Marker {
    /// Their first bytes.
    Start(&'static [u8]),
    /// A text that stands within the first bytes.
    Within(&'static str),
    /// An attribute of a group, and its text if that is fixed.
    Attribute(&'static str, &'static str, Option<&'static str>),
    /// Links that all exist in an HDF5 file.
    Links(&'static [&'static str]),
    /// A folder that is a table of casacore of this type.
    TableOf(&'static str),
}

/// Bytes that a marker may be in.
const N_BYTES: u64 = 1024;

const fn row(name: &'static str, marker: Marker) -> ForeignFormat {
    ForeignFormat { name, instead: None, marker }
}

/// An output of cells that no reader supports.
const fn cells(name: &'static str, marker: Marker) -> ForeignFormat {
    ForeignFormat { name, instead: Some("cells on one grid, as an HDF5 dataset or a .npy array"), marker }
}

/// Every format, the more special before the less special.
const FORMATS: &[ForeignFormat] = &[
    row(OWN, Marker::Attribute("/", "inselberg_catalogue", None)),
    row("a group catalogue of SWIFT", Marker::Attribute("Header", "OutputType", Some("FOF"))),
    row(GADGET4_GROUPS, Marker::Attribute("Header", "Nsubhalos_Total", None)),
    row("a halo catalogue of SOAP", Marker::Attribute("Header", "OutputType", Some("SOAP"))),
    row(
        "a catalogue of groups and subhaloes of Gadget-4 or AREPO",
        Marker::Attribute("Header", "Ngroups_Total", None),
    ),
    row(
        "a catalogue of groups and subhaloes of Gadget-3 or EAGLE",
        Marker::Attribute("Header", "TotNgroups", None),
    ),
    row("a catalogue of VELOCIraptor", Marker::Links(&["Num_of_groups", "Total_num_of_groups"])),
    row("a subhalo catalogue of HBT+", Marker::Links(&["Subhalos", "SnapshotId"])),
    row("a binary halo catalogue of Rockstar", Marker::Start(&0xfade_dace_c0c0_d0d0_u64.to_le_bytes())),
    row(ROCKSTAR, Marker::Start(b"#id num_p mvir mbound_vir ")),
    row(ROCKSTAR, Marker::Start(b"#ID DescID M")),
    row("merger trees of consistent-trees", Marker::Start(b"#scale(0) id(1) desc_scale(2)")),
    row("a halo catalogue of AHF", Marker::Start(b"#ID(1)\thostHalo(2)\tnumSubStruct(3)")),
    cells("an output of FLASH", Marker::Links(&["refine level", "node type"])),
    cells("an output of Chombo", Marker::Links(&["Chombo_global", "level_0"])),
    cells("an output of GAMER", Marker::Links(&["Info/KeyInfo", "Tree/LBIdx"])),
    cells("an output of Enzo", Marker::Links(&["Grid00000001"])),
    cells("the parameters of an output of Enzo", Marker::Start(b"InitialCycleNumber")),
    cells("a file of openPMD", Marker::Attribute("/", "openPMD", None)),
    cells("a file of VTK", Marker::Attribute("VTKHDF", "Version", None)),
    cells("a legacy file of VTK", Marker::Start(b"# vtk DataFile Version")),
    cells("a file of VTK", Marker::Within("<VTKFile ")),
    ForeignFormat {
        name: "a binary output of AthenaK",
        instead: Some("an .athdf file, as bin_convert.py of AthenaK writes it"),
        marker: Marker::Start(b"Athena binary output version="),
    },
    ForeignFormat {
        name: "an image of CASA",
        instead: Some("a FITS file, as exportfits(..., velocity=True, dropdeg=True) writes it"),
        marker: Marker::TableOf("Image"),
    },
    row("a file of HACC's GenericIO", Marker::Start(b"HACC01L\0")),
    row("a file of HACC's GenericIO", Marker::Start(b"HACC01B\0")),
];

/// The format of the file or folder at `path`, if it is in the table. It never fails: unreadable files have
/// none of these formats.
pub fn of_path(path: &Path) -> Option<&'static ForeignFormat> {
    if path.is_dir() {
        return of_folder(path);
    }
    let mut start = Vec::new();
    input_file::open(path).ok()?.take(N_BYTES).read_to_end(&mut start).ok()?;
    let of_bytes = FORMATS.iter().find(|format| match format.marker {
        Marker::Start(bytes) => start.starts_with(bytes),
        Marker::Within(text) => start.windows(text.len()).any(|part| part == text.as_bytes()),
        Marker::Attribute(..) | Marker::Links(_) | Marker::TableOf(_) => false,
    });
    of_bytes.or_else(|| of_hdf5(path, &start))
}

/// The refusal of a format in the table. `known` lists the expected formats, if this one has no way out.
pub(crate) fn refusal(path: &Path, known: impl Fn() -> String) -> Option<ReadError> {
    let ForeignFormat { name, instead, .. } = of_path(path)?;
    if *name == OWN {
        return Some(ReadError::absent(path, OWN_GIVEN));
    }
    let expected = instead.map_or_else(known, str::to_string);
    Some(ReadError::absent(path, format!("it is {name}; expected {expected}")))
}

/// The refusal of a catalogue of this program in another format than HDF5.
pub(crate) fn own_refusal(path: &Path) -> Option<ReadError> {
    crate::catalogue::is_marked(path).then(|| ReadError::absent(path, OWN_GIVEN))
}

/// Tables of casacore are folders, and a file in them states their type.
fn of_folder(folder: &Path) -> Option<&'static ForeignFormat> {
    let is_table = folder.join("table.dat").is_file();
    let about = is_table.then(|| input_file::read(&folder.join("table.info")).ok()).flatten()?;
    FORMATS.iter().find(|format| match format.marker {
        Marker::TableOf(kind) => about.starts_with(format!("Type = {kind}").as_bytes()),
        _ => false,
    })
}

#[cfg(feature = "hdf5")]
fn of_hdf5(path: &Path, start: &[u8]) -> Option<&'static ForeignFormat> {
    let source = start.starts_with(b"\x89HDF\r\n\x1a\n").then(|| Hdf5File::open(path).ok())??;
    FORMATS.iter().find(|format| match format.marker {
        Marker::Attribute(group, name, None) => source.has_attribute(group, name),
        Marker::Attribute(group, name, Some(text)) => {
            source.has_attribute(group, name) && source.text(group, name).is_some_and(|found| found == text)
        }
        Marker::Links(links) => links.iter().all(|link| source.has_link(link)),
        Marker::Start(_) | Marker::Within(_) | Marker::TableOf(_) => false,
    })
}

#[cfg(not(feature = "hdf5"))]
fn of_hdf5(_: &Path, _: &[u8]) -> Option<&'static ForeignFormat> {
    None
}
