//! Columns of sky coordinates.

use super::ImageSky;
use crate::tables::column;
use inselberg_io::catalogue::{Dimension, Table, Values};

/// Which positions of a structure get sky coordinates: beginning of the names, column, and what it is.
const PLACES: [(&str, &str, &str); 2] =
    [("peak", "peak_position", "its peak cell"), ("centre", "centre_of_mass", "its centre of mass")];

/// Adds a column per coordinate and position.
pub fn add_columns(sky: &ImageSky, table: &mut Table) {
    for (beginning, from, what) in PLACES {
        let positions = table.vectors(from).expect("clumps and haloes have positions");
        let axes = sky.grid.axes();
        let mut lists = vec![Vec::with_capacity(positions.len()); axes.len()];
        let mut world = Vec::new();
        for position in positions {
            sky.world(*position, &mut world);
            lists.iter_mut().zip(&world).for_each(|(list, x)| list.push(*x));
        }
        for (axis, list) in axes.iter().zip(lists) {
            let description = format!("{} of {what}", axis.description);
            let name = format!("{beginning}_{}", axis.name);
            let name = if table.column(&name).is_some() { format!("{name}_sky") } else { name };
            table.columns.push(column(&name, Dimension::NONE, &description, Values::F64(list)));
        }
    }
}
