//! One plane of pixels: areas in place of volumes.

use inselberg_io::catalogue::{Attribute, Table};

/// Whether a catalogue with these attributes is of an image.
pub fn is_flat(attributes: &[(String, Attribute)]) -> bool {
    attributes.iter().any(|(name, value)| name == "dimensions" && *value == Attribute::Int(2))
}

/// Gives columns the dimensions of a plane. Pixels have sides of 1, so no value changes.
pub fn flatten(table: &mut Table) {
    let is_of_structures = table.name != "tree";
    for column in &mut table.columns {
        match column.dimension.length {
            3 => column.dimension.length = 2,
            -3 => column.dimension.length = -2,
            _ => continue,
        }
        column.description = column.description.replace("volume", "area");
        // The columns of the tree keep their names, by which a new cut finds them.
        if is_of_structures && column.name == "volume" {
            column.name = "area".into();
        }
    }
}
