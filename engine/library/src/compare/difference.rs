//! The first value in which two of our catalogues differ. Columns are read in pieces.

use crate::trees::TreeError;
use inselberg_io::catalogue::{self, Attribute, CatalogueOutline, Table, Values};
use std::path::Path;

/// Rows of a piece.
const PIECE: u64 = 1 << 16;

/// Attributes of a run that do not belong to its result.
const OF_THE_RUN: &str = "run_";

/// How two catalogues differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// All tables and attributes are equal bit for bit, but for attributes of the run.
    None,
    /// An attribute differs: its name, and both values.
    Attribute(String, [String; 2]),
    /// A table, or a column of a table, is only in one of them: its name.
    Missing(String),
    /// A table has other numbers of rows.
    Rows(String, [u64; 2]),
    /// A value differs: table, column, row, and both values.
    Value {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The row, from 0.
        row: u64,
        /// Both values.
        values: [String; 2],
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => write!(f, "equal bit for bit"),
            Self::Attribute(name, [a, b]) => write!(f, "attribute {name}: {a} and {b}"),
            Self::Missing(name) => write!(f, "{name} is in only one of them"),
            Self::Rows(table, [a, b]) => write!(f, "{table}: {a} and {b} rows"),
            Self::Value { table, column, row, values: [a, b] } => {
                write!(f, "{table}, row {row}, column {column}: {a} and {b}")
            }
        }
    }
}

/// Local: the first difference of two catalogues in files: tables first, in their order, then attributes.
///
/// # Errors
/// One cannot be read.
pub fn first_difference(paths: [&Path; 2]) -> Result<Difference, TreeError> {
    let [a, b] = paths.map(catalogue::outline);
    let (a, b) = (a?, b?);
    for table in &a.tables {
        if let Some(found) = of_table(paths, &a, &b, &table.name)? {
            return Ok(found);
        }
    }
    if let Some(table) = b.tables.iter().find(|table| a.table(&table.name).is_none()) {
        return Ok(Difference::Missing(table.name.clone()));
    }
    Ok(of_attributes(&a, &b).unwrap_or(Difference::None))
}

fn of_attributes(a: &CatalogueOutline, b: &CatalogueOutline) -> Option<Difference> {
    let names = a.attributes.iter().chain(&b.attributes).map(|(name, _)| name);
    names.filter(|name| !name.starts_with(OF_THE_RUN)).find_map(|name| {
        match [a, b].map(|of| of.attribute(name)) {
            [Some(a), Some(b)] if is_same(a, b) => None,
            [Some(a), Some(b)] => Some(Difference::Attribute(name.clone(), [a, b].map(text_of))),
            _ => Some(Difference::Missing(format!("attribute {name}"))),
        }
    })
}

/// Whether attributes have the same bits.
fn is_same(a: &Attribute, b: &Attribute) -> bool {
    match (a, b) {
        (Attribute::Real(a), Attribute::Real(b)) => a.to_bits() == b.to_bits(),
        (Attribute::Reals(a), Attribute::Reals(b)) => {
            bytemuck::cast_slice::<f64, u8>(a) == bytemuck::cast_slice::<f64, u8>(b)
        }
        (a, b) => a == b,
    }
}

fn text_of(value: &Attribute) -> String {
    catalogue::info::attribute_text(value)
}

fn of_table(
    paths: [&Path; 2],
    a: &CatalogueOutline,
    b: &CatalogueOutline,
    name: &str,
) -> Result<Option<Difference>, TreeError> {
    let (Some(of_a), Some(of_b)) = (a.table(name), b.table(name)) else {
        return Ok(Some(Difference::Missing(name.into())));
    };
    let both = || of_a.columns.iter().chain(&of_b.columns);
    if let Some(column) = both().find(|column| !of_a.has(column) || !of_b.has(column)) {
        return Ok(Some(Difference::Missing(format!("{name}/{column}"))));
    }
    if of_a.n_rows != of_b.n_rows {
        return Ok(Some(Difference::Rows(name.into(), [of_a.n_rows, of_b.n_rows])));
    }
    let columns: Vec<&str> = of_a.columns.iter().map(String::as_str).collect();
    for first in (0..of_a.n_rows).step_by(PIECE as usize) {
        let rows = first..(first + PIECE).min(of_a.n_rows);
        let [a, b] = paths.map(|path| catalogue::read_rows(path, name, &columns, rows.clone()));
        if let Some((row, column, values)) = of_pieces(&a?, &b?) {
            let row = first + row as u64;
            return Ok(Some(Difference::Value { table: name.into(), column, row, values }));
        }
    }
    Ok(None)
}

/// The first row of two pieces that differs, with the first such column and both values.
fn of_pieces(a: &Table, b: &Table) -> Option<(usize, String, [String; 2])> {
    let row_of = |(a, b): (&catalogue::TableColumn, &catalogue::TableColumn)| {
        let row = first_row(&a.values, &b.values)?;
        Some((row, a.name.clone(), [&a.values, &b.values].map(|values| shown(values, row))))
    };
    // Of equal rows, the first column counts.
    a.columns.iter().zip(&b.columns).filter_map(row_of).min_by_key(|(row, ..)| *row)
}

/// The first row whose bits differ; 0 for columns of other types.
fn first_row(a: &Values, b: &Values) -> Option<usize> {
    fn of<T: bytemuck::Pod>(a: &[T], b: &[T]) -> Option<usize> {
        a.iter().zip(b).position(|(a, b)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b))
    }
    match (a, b) {
        (Values::U8(a), Values::U8(b)) => of(a, b),
        (Values::U64(a), Values::U64(b)) => of(a, b),
        (Values::I64(a), Values::I64(b)) => of(a, b),
        (Values::F64(a), Values::F64(b)) => of(a, b),
        (Values::F32(a), Values::F32(b)) => of(a, b),
        (Values::F64x3(a), Values::F64x3(b)) => of(a, b),
        (Values::U32x3(a), Values::U32x3(b)) => of(a, b),
        _ => Some(0),
    }
}

fn shown(values: &Values, row: usize) -> String {
    match values {
        Values::U8(v) => v[row].to_string(),
        Values::U64(v) => v[row].to_string(),
        Values::I64(v) => v[row].to_string(),
        Values::F64(v) => format!("{:?}", v[row]),
        Values::F32(v) => format!("{:?}", v[row]),
        Values::F64x3(v) => format!("{:?}", v[row]),
        Values::U32x3(v) => format!("{:?}", v[row]),
    }
}
