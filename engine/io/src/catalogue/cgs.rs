//! Columns in cgs, for formats whose readers know physical units but no code units.

use super::units::{cgs_factor, cgs_name, image_unit};
use super::{Attribute, TableColumn, Values};
use std::borrow::Cow;

/// A column of a table, with the factor that brings it to cgs.
#[derive(Debug, Clone, Copy)]
pub struct CgsColumn<'a> {
    /// The column.
    pub column: &'a TableColumn,
    /// `None` for pure numbers, and if the catalogue has no units: the values are then in code units.
    factor: Option<f64>,
    /// The unit that an image states; the values are in this unit.
    of_image: Option<&'a str>,
}

impl<'a> CgsColumn<'a> {
    /// A column of a catalogue with these attributes.
    pub fn new(attributes: &'a [(String, Attribute)], column: &'a TableColumn) -> Self {
        let is_number = column.dimension == super::Dimension::NONE;
        let of_image = image_unit(attributes, column);
        let factor = cgs_factor(attributes, column.dimension).filter(|_| !is_number && of_image.is_none());
        Self { column, factor, of_image }
    }

    /// The name of its unit: that of an image, else as [`cgs_name`] writes it; empty for pure numbers and
    /// code units.
    pub fn unit(&self, times: &str, power: &str) -> String {
        match (self.of_image, self.factor) {
            (Some(unit), _) => unit.into(),
            (None, Some(_)) => cgs_name(self.column.dimension, times, power),
            (None, None) => String::new(),
        }
    }

    /// The values in that unit. Reals in single precision become double if they are multiplied.
    pub fn values(&self) -> Cow<'a, Values> {
        let Some(factor) = self.factor else { return Cow::Borrowed(&self.column.values) };
        Cow::Owned(match &self.column.values {
            Values::F64(list) => Values::F64(list.iter().map(|x| x * factor).collect()),
            Values::F32(list) => Values::F64(list.iter().map(|x| f64::from(*x) * factor).collect()),
            Values::F64x3(list) => Values::F64x3(list.iter().map(|x| x.map(|x| x * factor)).collect()),
            // Integers count things, so they have no unit.
            whole => whole.clone(),
        })
    }
}
