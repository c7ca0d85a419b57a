//! Outputs of codes that are not read, by the markers that their writers document, so that a refusal names them.

use crate::{ReadError, input_file};
use std::io::Read;
use std::path::Path;

/// How a code's files begin, its name, and what its users can give in place of them.
struct Beginning {
    bytes: &'static [u8],
    name: &'static str,
    instead: &'static str,
}

const BEGINNINGS: [Beginning; 6] = [
    Beginning {
        bytes: b"Athena binary output version=",
        name: "a binary output of AthenaK",
        instead: "an .athdf file, as bin_convert.py of AthenaK writes it",
    },
    Beginning { bytes: b"# vtk DataFile Version", name: "a legacy VTK file", instead: HDF5_OR_NPY },
    Beginning { bytes: b"<VTKFile", name: "a VTK file", instead: HDF5_OR_NPY },
    Beginning { bytes: b"<?xml version=\"1.0\"?>\n<VTKFile", name: "a VTK file", instead: HDF5_OR_NPY },
    Beginning { bytes: b"InitialCycleNumber", name: "an output of Enzo", instead: UNIGRID },
    Beginning { bytes: b"HACC01", name: "a GenericIO file of HACC", instead: "positions as a .npy array" },
];

const HDF5_OR_NPY: &str = "cells as an HDF5 dataset or a .npy array";
const UNIGRID: &str = "cells on one grid, as an HDF5 dataset or a .npy array";

/// What an HDF5 file has that tells a code: an attribute or a link at a place.
#[cfg(feature = "hdf5")]
struct Inside {
    group: &'static str,
    attribute: &'static str,
    links: &'static [&'static str],
    name: &'static str,
}

#[cfg(feature = "hdf5")]
const INSIDE: [Inside; 6] = [
    Inside { group: "/", attribute: "openPMD", links: &[], name: "an openPMD file" },
    Inside {
        group: "/",
        attribute: "",
        links: &["bounding box", "node type", "refine level"],
        name: "an output of FLASH",
    },
    Inside { group: "/", attribute: "", links: &["Chombo_global", "level_0"], name: "a Chombo file" },
    Inside { group: "/", attribute: "", links: &["Info/KeyInfo", "Tree/LBIdx"], name: "an output of GAMER" },
    Inside {
        group: "/",
        attribute: "",
        links: &["Metadata.MetadataString", "Grid00000001"],
        name: "an output of Enzo",
    },
    Inside { group: "/VTKHDF", attribute: "Version", links: &[], name: "a VTKHDF file" },
];

/// The refusal of a file or folder of another code; `None` if no marker tells one. Cheap.
pub(crate) fn refusal(path: &Path) -> Option<ReadError> {
    let (name, instead) = named(path)?;
    Some(ReadError::absent(path, format!("{name}, which is not read; expected {instead}")))
}

/// What a file or folder of another code is, and what can be given in place of it.
fn named(path: &Path) -> Option<(&'static str, &'static str)> {
    if path.is_dir() {
        return is_casa_image(path).then_some((
            "a folder of casacore",
            "a FITS file, as exportfits(..., velocity=True, dropdeg=True) writes it",
        ));
    }
    let mut start = Vec::new();
    input_file::open(path).ok()?.take(64).read_to_end(&mut start).ok()?;
    let by_beginning = BEGINNINGS.iter().find(|code| start.starts_with(code.bytes));
    by_beginning.map(|code| (code.name, code.instead)).or_else(|| inside(path, &start))
}

/// Tables of casacore are folders; that of an image says so.
fn is_casa_image(folder: &Path) -> bool {
    let info = input_file::read(&folder.join("table.info"));
    folder.join("table.dat").is_file() && info.is_ok_and(|text| text.starts_with(b"Type = Image"))
}

#[cfg(feature = "hdf5")]
fn inside(path: &Path, start: &[u8]) -> Option<(&'static str, &'static str)> {
    if !start.starts_with(b"\x89HDF\r\n\x1a\n") {
        return None;
    }
    let file = crate::hdf5_file::Hdf5File::open(path).ok()?;
    let is_of = |code: &&Inside| {
        (code.attribute.is_empty() || file.has_attribute(code.group, code.attribute))
            && code.links.iter().all(|link| file.has_link(link))
    };
    INSIDE.iter().find(is_of).map(|code| (code.name, UNIGRID))
}

#[cfg(not(feature = "hdf5"))]
fn inside(_: &Path, _: &[u8]) -> Option<(&'static str, &'static str)> {
    None
}
