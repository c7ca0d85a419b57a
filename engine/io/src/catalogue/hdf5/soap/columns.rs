//! A dataset of SOAP: its type, its mask, and its values from columns of the catalogue.

use crate::catalogue::{Dimension, Table, Values};

/// The type of a dataset. Reals are `f4` as in SOAP, or `f8` where a value does not fit, as masses in grams.
#[derive(Debug, Clone, Copy)]
pub enum SoapType {
    /// A real.
    Real,
    /// Three reals.
    Three,
    /// Six reals, from two columns.
    Six,
    /// `f8[3]`.
    Double3,
    /// `u4`.
    Count,
    /// `i8`.
    Integer,
    /// `u8`.
    Identity,
}

/// A dataset.
#[derive(Debug, Clone, Copy)]
pub struct SoapColumn {
    /// Its name in its group.
    pub name: &'static str,
    /// The columns of the catalogue.
    pub from: &'static [&'static str],
    /// Its type.
    pub kind: SoapType,
    /// Comoving, else physical.
    pub is_comoving: bool,
    /// The rows in which it is not computed; `None` if it always is.
    pub mask: Option<SoapMask>,
}

/// Rows in which a dataset is not computed, and is 0: those with a number below the threshold.
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
    /// `f4`, or `f8`.
    Real(SoapReals<1>),
    /// `f4[3]`, or `f8[3]`.
    Three(SoapReals<3>),
    /// `f4[6]`, or `f8[6]`.
    Six(SoapReals<6>),
    /// `f8[3]`.
    Double3(Vec<[f64; 3]>),
    /// `u4`.
    Count(Vec<u32>),
    /// `i4`.
    Short(Vec<i32>),
    /// `i8`.
    Integer(Vec<i64>),
    /// `u8`.
    Identity(Vec<u64>),
}

/// Reals in the least precision that holds them all.
#[derive(Debug, Clone)]
pub enum SoapReals<const N: usize> {
    /// `f4`.
    Single(Vec<[f32; N]>),
    /// `f8`.
    Double(Vec<[f64; N]>),
}

impl<const N: usize> SoapReals<N> {
    /// In single precision, unless a number would become infinite or lose digits there.
    pub fn new(rows: Vec<[f64; N]>) -> Self {
        match rows.as_flattened().iter().all(|x| is_single(*x)) {
            true => Self::Single(rows.iter().map(|row| row.map(|x| x as f32)).collect()),
            false => Self::Double(rows),
        }
    }
}

/// Whether a number in single precision is neither infinite nor subnormal.
pub fn is_single(x: f64) -> bool {
    x == 0.0 || (x as f32).is_normal()
}

/// A dataset with its values, in units of the file.
pub struct SoapDataset {
    /// The dataset.
    pub column: SoapColumn,
    /// Its dimension.
    pub dimension: Dimension,
    /// Its description.
    pub description: String,
    /// Its values.
    pub values: SoapValues,
}

impl SoapDataset {
    /// A dataset without a column: a position if it has three numbers, else a pure number.
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
            // SOAP has 0 for unknown values.
            if value.is_finite() { value } else { 0.0 }
        };
        let vector = |row: Option<usize>, of: usize| -> [f64; 3] {
            let x = row.map_or([0.0; 3], |row| vector(&columns[of].values, row));
            x.map(|x| factor * x)
        };
        let each = rows.iter().copied();
        let values = match self.kind {
            SoapType::Real => SoapValues::Real(SoapReals::new(each.map(|row| [real(row)]).collect())),
            SoapType::Three => SoapValues::Three(SoapReals::new(each.map(|row| vector(row, 0)).collect())),
            SoapType::Six => {
                let six = |row| {
                    let (on, off) = (vector(row, 0), vector(row, 1));
                    [on[0], on[1], on[2], off[0], off[1], off[2]]
                };
                SoapValues::Six(SoapReals::new(each.map(six).collect()))
            }
            SoapType::Double3 => SoapValues::Double3(each.map(|row| vector(row, 0)).collect()),
            SoapType::Count => SoapValues::Count(
                each.map(|row| row.map_or(0, |row| integer(&columns[0].values, row) as u32)).collect(),
            ),
            SoapType::Integer => SoapValues::Integer(
                each.map(|row| row.map_or(0, |row| integer(&columns[0].values, row))).collect(),
            ),
            SoapType::Identity => SoapValues::Identity(
                each.map(|row| row.map_or(0, |row| integer(&columns[0].values, row).cast_unsigned()))
                    .collect(),
            ),
        };
        let description = columns[0].description.clone();
        Some(SoapDataset { column: self, dimension, description, values })
    }
}

/// The power of the expansion factor by which a comoving value becomes physical: units of length and time
/// have one factor each.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_single_where_all_fit() {
        let is_single = |x: f64| matches!(SoapReals::new(vec![[1.0, -x], [0.0, -0.0]]), SoapReals::Single(_));
        assert!([0.0, 1e-37, 3.4e38].into_iter().all(is_single));
        assert!(![1e-39, 3.5e38, 1e300, 1e-300].into_iter().any(is_single));
    }
}
