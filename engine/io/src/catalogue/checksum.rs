//! The checksum of a catalogue's content: equal for equal attributes and rows, on any format, ranks and
//! threads.
//!
//! CRC-32 of a text with one line per attribute, table and column. The line of a column ends with the CRC-32
//! of its values as little-endian numbers in the order of their rows. Checksums of parts combine, so no rank
//! needs a whole column. Attributes that start with `run_` do not count.

use super::units::unit_name;
use super::{Attribute, Catalogue, Table, TableColumn, Values};
use bytemuck::cast_slice;
use crc32fast::Hasher;
use std::fmt::Write;

/// The checksums of the columns of a table, from consecutive parts.
#[derive(Debug)]
pub(super) struct TableSums {
    /// The line of each column without its checksum, and the checksum of its values so far.
    columns: Vec<(String, Hasher)>,
    title: String,
}

impl TableSums {
    /// For a table of `n_rows` with the names and types of `table`, before any values.
    pub(super) fn new(table: &Table, n_rows: u64) -> Self {
        let columns = table.columns.iter().map(|column| (line_of(column), Hasher::new())).collect();
        Self { columns, title: format!("table {} {n_rows}\n", table.name) }
    }

    /// Adds the values that follow in a column.
    pub(super) fn add(&mut self, column: usize, values: &Hasher) {
        self.columns[column].1.combine(values);
    }

    fn text(&self) -> String {
        let mut text = self.title.clone();
        for (line, values) in &self.columns {
            let _ = writeln!(text, "{line} {:08x}", values.clone().finalize());
        }
        text
    }
}

/// The checksum of these attributes and tables.
pub(super) fn content(attributes: &[(String, Attribute)], tables: &[TableSums]) -> u32 {
    let mut sum = Hasher::new();
    for (name, value) in attributes.iter().filter(|(name, _)| !name.starts_with("run_")) {
        sum.update(format!("attribute {name} {value:?}\n").as_bytes());
    }
    tables.iter().for_each(|table| sum.update(table.text().as_bytes()));
    sum.finalize()
}

/// The checksum of some bytes, with their number.
pub(super) fn sum_of(bytes: &[u8]) -> Hasher {
    let mut sum = Hasher::new();
    sum.update(bytes);
    sum
}

/// The bytes of all values, those of one number, and how many numbers a row has.
pub(super) fn bytes_of(values: &Values) -> (&[u8], usize, usize) {
    match values {
        Values::U8(v) => (v, 1, 1),
        Values::U64(v) => (cast_slice(v), 8, 1),
        Values::I64(v) => (cast_slice(v), 8, 1),
        Values::F64(v) => (cast_slice(v), 8, 1),
        Values::F32(v) => (cast_slice(v), 4, 1),
        Values::F64x3(v) => (cast_slice(v), 8, 3),
        Values::U32x3(v) => (cast_slice(v), 4, 3),
    }
}

fn line_of(column: &TableColumn) -> String {
    let (name, kind, units) = (&column.name, column.values.type_name(), unit_name(column.dimension));
    format!("column {name} {kind} [{units}] {:?}", column.description)
}

impl Catalogue {
    /// The checksum of the content, without attributes that start with `run_`.
    pub fn checksum(&self) -> u32 {
        let sums = |table: &Table| {
            let mut sums = TableSums::new(table, table.n_rows() as u64);
            for (i, column) in table.columns.iter().enumerate() {
                sums.add(i, &sum_of(bytes_of(&column.values).0));
            }
            sums
        };
        content(&self.attributes, &self.tables.iter().map(sums).collect::<Vec<_>>())
    }
}
