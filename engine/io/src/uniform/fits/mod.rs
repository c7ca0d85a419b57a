//! FITS cubes and images: `cube.fits`, `cube.fits[1]`, `cube.fits[SCI]`.
//!
//! Which part of the file is the image ([`parts`]), what are its values ([`image`]), and which of its cards belong into
//! catalogues ([`kept`])? Axis 1 is x, in which values lie closest. Cells are pixels; this module knows nothing of the sky.

mod cards;
mod image;
mod kept;
mod parts;

pub(super) use image::Scaling;
pub(super) use kept::KeptCard;

use super::{ArrayShape, ArrayValues, Uniform};
use crate::dataset_path::{file_of, split_part};
use crate::source_file::SourceFile;
use crate::{FieldDefaults, ReadError, ReadResult, Reader, facts, input_file};
use parts::WantedPart;
use std::io::Read;
use std::path::Path;

/// The reader of FITS files of cells.
pub const READER: Reader = Reader {
    name: "FITS",
    looks: "a FITS file with a cube or an image",
    recognises: |path, _| recognises(path),
    read_headers: |path, defaults| Ok(facts::encode(&open(path, defaults)?)),
    open: |known| Box::new(facts::decode::<Uniform>(known)),
};

const MAGIC: &[u8; 9] = b"SIMPLE  =";

/// Compressed files are recognised too, so that their refusal says what to do.
fn recognises(path: &Path) -> bool {
    first_bytes(file_of(path)).is_some_and(|start| start == *MAGIC || is_gzip(file_of(path), &start))
}

fn first_bytes(path: &Path) -> Option<[u8; 9]> {
    let mut start = [0; 9];
    input_file::open(path).ok()?.read_exact(&mut start).ok()?;
    Some(start)
}

fn is_gzip(path: &Path, start: &[u8; 9]) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    start.starts_with(b"\x1f\x8b") && [".fits.gz", ".fit.gz", ".fts.gz"].iter().any(|e| name.ends_with(e))
}

fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<Uniform> {
    let whole = file_of(path);
    if first_bytes(whole).is_some_and(|start| is_gzip(whole, &start)) {
        return Err(ReadError::absent(whole, "a compressed file; expected a plain one, as gunzip writes it"));
    }
    let file = SourceFile::open(whole)?;
    let wanted = split_part(path).map_or(WantedPart::First, |(_, part)| WantedPart::new(part));
    let part = parts::find(&file, &wanted)?;
    let cells = image::cells_of(&file, &part)?;
    let kept = kept::kept_cards(&file, &part.cards, &part.axes, &cells.axes)?;
    let name = part.cards.text(&file, "EXTNAME")?.or(part.cards.text(&file, "BTYPE")?);
    let name = name.unwrap_or_else(|| "image".into());
    let (size, order) = (cells.array.size, cells.array.order);
    let shape = ArrayShape { size, order, chunk: 1, is_flat: cells.axes.len() == 2 };
    let values = match cells.scaling {
        None => ArrayValues::Stored(cells.array),
        Some(scaling) => ArrayValues::Scaled(cells.array, scaling),
    };
    if !shape.is_flat {
        defaults.refuse_image(whole, "FITS with three axes")?;
    }
    let mut array = Uniform::new(whole, READER.name, &name, shape, values, defaults)?;
    array.kept = kept;
    Ok(array)
}
