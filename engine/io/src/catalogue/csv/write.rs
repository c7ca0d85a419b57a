//! Catalogue to CSV.

use super::checksum::checksum;
use super::text::{attribute_text, heads, json};
use super::{MARK, main_table, side_path};
use crate::catalogue::row_runs::write_runs;
use crate::catalogue::units::unit_name;
use crate::catalogue::{Catalogue, Table, Values, WriteResult, check_shape};
use crate::staging::{Staged, resolve, stage_file};
use std::io::{Result, Write};
use std::path::Path;

/// Stages `catalogue` for `path`, with further files beside it, or beside its target if it is a link.
///
/// The main file gets its name last; the reader detects side files of another catalogue.
///
/// # Errors
/// The place cannot be written, or a name does not fit the format.
pub fn stage(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(path, catalogue)?;
    let target = resolve(path)?;
    let sum = checksum(catalogue);
    let main = main_table(catalogue);
    let mut staged = Staged::default();
    for table in catalogue.tables.iter().filter(|t| Some(t.name.as_str()) != main) {
        let side = |out: &mut dyn Write| write_side(out, sum, table);
        staged.extend(stage_file(&side_path(&target, &table.name), side)?);
    }
    staged.extend(stage_file(path, |out| write_main(out, sum, catalogue))?);
    Ok(staged)
}

fn write_main(out: &mut dyn Write, sum: u64, catalogue: &Catalogue) -> Result<()> {
    write_mark(out, sum)?;
    let names: Vec<_> = catalogue.tables.iter().map(|t| t.name.as_str()).collect();
    writeln!(out, "# tables: {}", names.join(" "))?;
    for (name, value) in &catalogue.attributes {
        writeln!(out, "# attribute: {name} {}", attribute_text(value))?;
    }
    match main_table(catalogue).and_then(|name| catalogue.table(name)) {
        Some(table) => write_table(out, table),
        None => Ok(()),
    }
}

fn write_side(out: &mut dyn Write, sum: u64, table: &Table) -> Result<()> {
    write_mark(out, sum)?;
    write_table(out, table)
}

fn write_mark(out: &mut dyn Write, sum: u64) -> Result<()> {
    writeln!(out, "{MARK}\n# checksum: {sum:016x}")
}

fn write_table(out: &mut dyn Write, table: &Table) -> Result<()> {
    writeln!(out, "# table: {}\n# rows: {}", table.name, table.n_rows())?;
    for column in &table.columns {
        let (kind, units) = (column.values.type_name(), unit_name(column.dimension));
        writeln!(out, "# column: {} {kind} [{units}] {}", column.name, json(&column.description))?;
    }
    writeln!(out, "{}", heads(table))?;
    write_runs(out, table.n_rows(), |rows| {
        let mut text = Vec::new();
        rows.into_iter().try_for_each(|row| write_row(&mut text, table, row))?;
        Ok(text)
    })
}

fn write_row(out: &mut Vec<u8>, table: &Table, row: usize) -> Result<()> {
    for (i, column) in table.columns.iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        write_value(out, &column.values, row)?;
    }
    out.write_all(b"\n")
}

fn write_value(out: &mut Vec<u8>, values: &Values, row: usize) -> Result<()> {
    match values {
        Values::U8(v) => write!(out, "{}", v[row]),
        Values::U64(v) => write!(out, "{}", v[row]),
        Values::I64(v) => write!(out, "{}", v[row]),
        Values::F64(v) => write!(out, "{:?}", v[row]),
        Values::F32(v) => write!(out, "{:?}", v[row]),
        Values::F64x3(v) => write!(out, "{:?},{:?},{:?}", v[row][0], v[row][1], v[row][2]),
        Values::U32x3(v) => write!(out, "{},{},{}", v[row][0], v[row][1], v[row][2]),
    }
}
