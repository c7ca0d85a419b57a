//! Images and cubes of observers: sky coordinates and dimensions in catalogues.
//!
//! All of it follows from the attributes of a catalogue, which keep the cards of the header ([`cards`]). So a
//! new cut of a stored catalogue has the same columns. Readers of files and the search do not depend on it.

mod array;
mod cards;
mod flat;
mod sky;

pub use array::SkyArray;
pub use cards::ImageSky;
pub use flat::is_flat;

use crate::tables::AttributeList;
use inselberg_io::Header;
use inselberg_io::catalogue::units::SKY_UNITS;
use inselberg_io::catalogue::{Attribute, Table};
use inselberg_kernels::sky::SkyError;

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
    let (sentence, units) = match ImageSky::from_attributes(attributes) {
        None => return,
        Some(Ok(sky)) => (sky.sentence(), sky.units()),
        Some(Err(problem)) => (format!("none: {problem}"), String::new()),
    };
    attributes.push((SKY.into(), Attribute::Text(sentence)));
    if !units.is_empty() {
        attributes.push((SKY_UNITS.into(), Attribute::Text(units)));
    }
}

/// The coordinates of the columns of a catalogue, or why it has none. `None` for inputs that are no images.
pub fn sky_of(attributes: &[(String, Attribute)]) -> Option<&str> {
    attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(sky) if name == SKY => Some(sky.as_str()),
        _ => None,
    })
}

/// Adds the sky coordinates of clumps and haloes, and gives columns of one plane their dimensions. Tables of
/// other catalogues do not change.
pub fn complete<'a>(attributes: &[(String, Attribute)], tables: impl Iterator<Item = &'a mut Table>) {
    let sky = ImageSky::from_attributes(attributes).and_then(Result::ok);
    let is_flat = flat::is_flat(attributes);
    for table in tables {
        if is_flat {
            flat::flatten(table);
        }
        if let Some(sky) = sky.as_ref().filter(|_| ["clumps", "haloes"].contains(&table.name.as_str())) {
            sky::add_columns(sky, table);
        }
    }
}

/// A note for users on the coordinates of a catalogue with these attributes.
pub fn warning(attributes: &[(String, Attribute)]) -> Option<String> {
    let problem = ImageSky::from_attributes(attributes)?.err().filter(|e| *e != SkyError::Nothing)?;
    Some(format!("catalogues have no sky coordinates: {problem}"))
}
