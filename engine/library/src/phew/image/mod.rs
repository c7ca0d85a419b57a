//! Images and cubes of observers: sky coordinates and dimensions in catalogues.
//!
//! All of it follows from the attributes of a catalogue, which keep the cards of the header ([`cards`]). So a
//! new cut of a stored catalogue has the same columns. Readers of files and the search do not depend on it.

mod array;
mod brightness;
mod cards;
mod distinct;
mod errors;
mod flat;
mod frame;
mod label_files;
mod labels;
mod noise;
mod observer;
mod params;
mod pixels;
mod regions;
mod sky;

pub use array::{SkyArray, side_of_cells, sides_of_cells};
pub use cards::ImageSky;
pub use distinct::{places_of_patches, sky_pixels, sky_place};
pub use flat::is_flat;
pub use label_files::{LabelFormat, stage_labels_of_catalogue, stage_labels_of_part};
pub use labels::{LabelsOf, stage_labels};
pub use noise::{GivenNoise, ImageNoise, NOISE_OF_CELLS, tells_noise};
pub use params::ImageParams;
pub use regions::RegionFormat;

use crate::phew::hierarchy::Structures;
use crate::tables::AttributeList;
use inselberg_io::Header;
use inselberg_io::catalogue::units::SKY_UNITS;
use inselberg_io::catalogue::{Attribute, Table};
use inselberg_kernels::props::pixels::PixelShape;
use inselberg_kernels::sky::SkyError;
use observer::Observation;
pub use observer::{Beam, MissingFact};

/// The attribute with the coordinates of the columns, or the reason why there are none.
const SKY: &str = "sky";

/// The attributes with the positions of the cells of a box.
pub fn box_attributes(header: &Header) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.input(header, false);
    list.into_attributes()
}

/// Adds the meaning of the cards to the attributes of an image. Other attributes do not change.
pub fn add_attributes(attributes: &mut Vec<(String, Attribute)>) {
    let (sentence, mut units) = match ImageSky::from_attributes(attributes) {
        None => return,
        Some(Ok(sky)) => (sky.sentence(), sky.units()),
        Some(Err(problem)) => (format!("none: {problem}"), Vec::new()),
    };
    let of_columns =
        Observation::from_attributes(attributes).map_or(Vec::new(), |observed| observed.columns(true));
    let of_columns = of_columns.iter().filter(|column| !column.unit.is_empty());
    units.extend(of_columns.map(|column| format!("{} [{}]", column.name, column.unit)));
    attributes.push((SKY.into(), Attribute::Text(sentence)));
    if !units.is_empty() {
        attributes.push((SKY_UNITS.into(), Attribute::Text(units.join(", "))));
    }
}

/// The coordinates of the columns of a catalogue, or why it has none. `None` for inputs that are no images.
pub fn sky_of(attributes: &[(String, Attribute)]) -> Option<&str> {
    attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(sky) if name == SKY => Some(sky.as_str()),
        _ => None,
    })
}

/// The attribute with the axes of a FITS image or cube.
const AXES: &str = "fits_axes";
/// The beginning of the names of attributes with types of axes.
const AXIS_TYPE: &str = "fits_CTYPE";

/// Whether these are the attributes of a FITS image or cube.
pub fn is_fits(attributes: &[(String, Attribute)]) -> bool {
    attributes.iter().any(|(name, _)| name == AXES)
}

/// Whether these are the attributes of a FITS image or cube whose axes have types. Its patches have shapes.
pub fn has_axes(attributes: &[(String, Attribute)]) -> bool {
    is_fits(attributes) && attributes.iter().any(|(name, _)| name.starts_with(AXIS_TYPE))
}

/// Sizes of pixels, channels and the beam of an image, as names and texts, where its header has them.
pub fn scales(attributes: &[(String, Attribute)]) -> Vec<(&'static str, String)> {
    Observation::from_attributes(attributes).map_or(Vec::new(), |observed| observed.scales())
}

/// What the header of an image does not say, and columns need. Empty for other inputs.
pub fn missing(attributes: &[(String, Attribute)]) -> Vec<MissingFact> {
    Observation::from_attributes(attributes).map_or(Vec::new(), |observed| observed.missing())
}

/// The axes of the box that are the sky of a cube; `None` of images, where each pixel has its own place, and
/// of other inputs.
pub fn sky_axes(attributes: &[(String, Attribute)]) -> Option<[usize; 2]> {
    let observed = Observation::from_attributes(attributes)?;
    observed.channel_axis.map(|_| observed.sky_axes)
}

/// Adds the columns of observers to the tables of these clumps and haloes, and gives columns of one plane
/// their dimensions. Tables of other catalogues do not change. `sky_pixels` has the number of places on the
/// sky of clumps and haloes, where it is known.
pub fn complete<'a>(
    attributes: &[(String, Attribute)],
    found: &Structures,
    sky_pixels: Option<&[Vec<u64>; 2]>,
    tables: impl Iterator<Item = &'a mut Table>,
) {
    for table in tables {
        let kind = ["clumps", "haloes"].iter().position(|name| *name == table.name);
        match (kind, &found.pixels) {
            (Some(kind), Some(shapes)) => {
                let places = sky_pixels.map(|all| all[kind].as_slice());
                complete_table(attributes, table, Some((&shapes[kind], places)));
            }
            (Some(_), None) => complete_table(attributes, table, None),
            (None, _) if flat::is_flat(attributes) => flat::flatten(table),
            (None, _) => {}
        }
    }
}

/// Adds the columns of observers to one table of objects, as [`complete`]: with their shapes, and the number
/// of their places on the sky where it is known.
pub fn complete_table(
    attributes: &[(String, Attribute)],
    table: &mut Table,
    shapes: Option<(&[PixelShape], Option<&[u64]>)>,
) {
    if let (Some(observed), Some((shapes, places))) = (Observation::from_attributes(attributes), shapes) {
        observed.add_columns(table, shapes, places);
    }
    if flat::is_flat(attributes) {
        flat::flatten(table);
    }
    if let Some(sky) = ImageSky::from_attributes(attributes).and_then(Result::ok) {
        sky::add_columns(&sky, table);
    }
}

/// A note for users on the coordinates of a catalogue with these attributes.
pub fn warning(attributes: &[(String, Attribute)]) -> Option<String> {
    let problem = ImageSky::from_attributes(attributes)?.err().filter(|e| *e != SkyError::Nothing)?;
    Some(format!("catalogues have no sky coordinates: {problem}"))
}
