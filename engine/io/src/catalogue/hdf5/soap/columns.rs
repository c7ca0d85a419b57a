//! A dataset of SOAP: its type, its mask, and how our columns become its values.

use crate::catalogue::{Dimension, Table, Values};

/// The type of a dataset.
#[derive(Debug, Clone, Copy)]
pub enum SoapType {
    /// `f4`.
    Single,
    /// `f4[3]`.
    Single3,
    /// `f4[6]`, from two columns.
    Single6,
    /// `f8[3]`.
    Double3,
    /// `u4`.
    Count,
    /// `i8`.
    Integer,
}

/// A dataset.
#[derive(Debug, Clone, Copy)]
pub struct SoapColumn {
    /// Its name in its group.
    pub name: &'static str,
    /// Our columns.
    pub from: &'static [&'static str],
    /// Its type.
    pub kind: SoapType,
    /// Comoving, else physical.
    pub is_comoving: bool,
    /// Where it is not computed, if it is not always.
    pub mask: Option<SoapMask>,
}

/// Rows in which a dataset is not computed, and 0: those where a number is below the threshold.
#[derive(Debug, Clone, Copy)]
pub struct SoapMask {
    /// The dataset with the numbers, from the root.
    pub number: &'static str,
    /// The threshold.
    pub threshold: i64,
}

/// The values of a dataset.
#[derive(Debug, Clone)]
pub enum SoapValues {
    /// `f4`.
    Single(Vec<f32>),
    /// `f4[3]`.
    Single3(Vec<[f32; 3]>),
    /// `f4[6]`.
    Single6(Vec<[f32; 6]>),
    /// `f8[3]`.
    Double3(Vec<[f64; 3]>),
    /// `u4`.
    Count(Vec<u32>),
    /// `i4`.
    Short(Vec<i32>),
    /// `i8`.
    Integer(Vec<i64>),
}

/// A dataset with its values, in units of the file.
pub struct SoapDataset {
    /// What it is.
    pub column: SoapColumn,
    /// Its dimension.
    pub dimension: Dimension,
    /// Its description.
    pub description: String,
    /// Its values.
    pub values: SoapValues,
}

impl SoapDataset {
    /// A dataset that comes from no column: a place if it has three numbers, else a pure number.
    pub fn own(name: &'static str, description: &str, values: SoapValues) -> Self {
        let is_place = matches!(values, SoapValues::Double3(_));
        let dimension = if is_place { Dimension::LENGTH } else { Dimension::NONE };
        let column =
            SoapColumn { name, from: &[], kind: SoapType::Integer, is_comoving: is_place, mask: None };
        Self { column, dimension, description: description.into(), values }
    }
}

impl SoapColumn {
    /// The dataset for the subhaloes; `None` if the table lacks a column. Rows without a row of the table get 0. `a` is the
    /// expansion factor.
    pub fn dataset(self, table: &Table, rows: &[Option<usize>], a: f64) -> Option<SoapDataset> {
        let columns = self.from.iter().map(|name| table.column(name)).collect::<Option<Vec<_>>>()?;
        let dimension = columns[0].dimension;
        let factor = if self.is_comoving { 1.0 } else { a.powi(a_power(dimension)) };
        let real = |row: Option<usize>| {
            let value = factor * row.map_or(0.0, |row| number(&columns[0].values, row));
            // SOAP has 0 where nothing is known.
            if value.is_finite() { value } else { 0.0 }
        };
        let vector = |row: Option<usize>, of: usize| -> [f64; 3] {
            let x = row.map_or([0.0; 3], |row| vector(&columns[of].values, row));
            x.map(|x| factor * x)
        };
        let single = |x: [f64; 3]| x.map(|x| x as f32);
        let each = rows.iter().copied();
        let values = match self.kind {
            SoapType::Single => SoapValues::Single(each.map(|row| real(row) as f32).collect()),
            SoapType::Single3 => SoapValues::Single3(each.map(|row| single(vector(row, 0))).collect()),
            SoapType::Single6 => {
                let six = |row| {
                    let (on, off) = (single(vector(row, 0)), single(vector(row, 1)));
                    [on[0], on[1], on[2], off[0], off[1], off[2]]
                };
                SoapValues::Single6(each.map(six).collect())
            }
            SoapType::Double3 => SoapValues::Double3(each.map(|row| vector(row, 0)).collect()),
            SoapType::Count => SoapValues::Count(
                each.map(|row| row.map_or(0, |row| integer(&columns[0].values, row) as u32)).collect(),
            ),
            SoapType::Integer => SoapValues::Integer(
                each.map(|row| row.map_or(0, |row| integer(&columns[0].values, row))).collect(),
            ),
        };
        let description = columns[0].description.clone();
        Some(SoapDataset { column: self, dimension, description, values })
    }
}

/// The power of the expansion factor by which a comoving value becomes physical: units of length and time have one factor each.
fn a_power(dimension: Dimension) -> i32 {
    i32::from(dimension.length) + i32::from(dimension.time)
}

fn number(values: &Values, row: usize) -> f64 {
    match values {
        Values::F64(list) => list[row],
        Values::F32(list) => list[row].into(),
        other => panic!("a column of {} is no column of reals", other.type_name()),
    }
}

fn vector(values: &Values, row: usize) -> [f64; 3] {
    match values {
        Values::F64x3(list) => list[row],
        other => panic!("a column of {} is no column of vectors", other.type_name()),
    }
}

fn integer(values: &Values, row: usize) -> i64 {
    match values {
        Values::U64(list) => list[row].cast_signed(),
        Values::I64(list) => list[row],
        other => panic!("a column of {} is no column of integers", other.type_name()),
    }
}
