//! FITS cubes and images: `cube.fits`, `cube.fits[1]`, `cube.fits[SCI]`.
//!
//! Which part of the file is the image ([`parts`]), what are its values ([`image`]; [`packed`] in compressed
//! tiles), and which of its cards belong into catalogues ([`kept`])? Axis 1 is x, in which values lie
//! closest. Cells are pixels; this module knows nothing of the sky.

mod beams;
mod cards;
mod image;
mod inflated;
mod kept;
mod packed;
mod parts;
mod quantized;
mod rice;
mod stokes;
mod table_columns;

pub(super) use image::Scaling;
pub(super) use inflated::unpacked;
pub(super) use packed::{OpenTiles, PackedTiles};

use super::{ArrayShape, ArrayValues, Uniform};
use crate::dataset_path::{file_of, split_part};
use crate::source_file::SourceFile;
use crate::{FieldDefaults, ReadResult, Reader, facts, input_file};
use image::ImageNumbers;
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

fn recognises(path: &Path) -> bool {
    first_bytes(file_of(path)).is_some_and(|start| start == *MAGIC) || inflated::is_packed(file_of(path))
}

fn first_bytes(path: &Path) -> Option<[u8; 9]> {
    let mut start = [0; 9];
    input_file::open(path).ok()?.read_exact(&mut start).ok()?;
    Some(start)
}

fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<Uniform> {
    let whole = file_of(path);
    let is_unpacked = inflated::is_packed(whole);
    let file = if is_unpacked { unpacked(whole)? } else { SourceFile::open(whole)? };
    let wanted = split_part(path).map_or(WantedPart::First, |(_, part)| WantedPart::new(part));
    let part = parts::find(&file, &wanted)?;
    let cells = image::cells_of(&file, &part, defaults.stokes.as_deref())?;
    let mut kept = kept::kept_cards(&file, &part.cards, &part.axes, &cells.axes)?;
    let beams = beams::of_channels(&file, &part)?;
    kept.extend(beams.iter().flat_map(beams::ChannelBeams::cards));
    let name = part.cards.text(&file, "EXTNAME")?.filter(|name| name != "COMPRESSED_IMAGE");
    let name = name.or(part.cards.text(&file, "BTYPE")?).unwrap_or_else(|| "image".into());
    let (size, order) = (cells.size, cells.order);
    let shape = ArrayShape { size, order, chunk: 1, is_flat: cells.axes.len() == 2 };
    let is_rounded = matches!(&cells.numbers, ImageNumbers::Packed(tiles) if tiles.is_rounded());
    let values = match (cells.numbers, cells.scaling) {
        (ImageNumbers::Packed(tiles), scaling) => ArrayValues::Packed(tiles, scaling),
        (ImageNumbers::Stored(array), None) => ArrayValues::Stored(array),
        (ImageNumbers::Stored(array), Some(scaling)) => ArrayValues::Scaled(array, scaling),
    };
    if !shape.is_flat {
        defaults.refuse_image(whole, "FITS with three axes")?;
    }
    let mut array = Uniform::new(whole, READER.name, &name, shape, values, defaults)?;
    (array.kept, array.is_unpacked) = (kept, is_unpacked);
    array.notes = [
        cells.stokes.map(|plane| format!("the plane of Stokes {plane} is taken; --stokes takes another one")),
        is_rounded.then(|| "values were rounded when the image was compressed".to_string()),
        beams.map(|beams| beams.sentence()),
    ]
    .into_iter()
    .flatten()
    .collect();
    Ok(array)
}
