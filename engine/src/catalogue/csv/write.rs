//! Catalogue to CSV.

use super::{MARK, main_table, side_path};
use crate::catalogue::atomic::{Pending, stage_file};
use crate::catalogue::units::unit_name;
use crate::catalogue::{Attribute, Catalogue, Column, Table, Values, WriteResult, check_shape};
use rayon::prelude::*;
use std::io::{Result, Write};
use std::path::Path;

/// Writes `catalogue` to `path` and the files beside it.
///
/// All files are complete on the disk before the first takes its name, the main one last; the
/// reader tells a main file from another run's side files.
///
/// # Errors
/// The place cannot be written, or a name does not fit the format.
pub fn write(path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
    check_shape(path, catalogue)?;
    let run = fingerprint(catalogue);
    let main = main_table(catalogue);
    let mut pending: Vec<Pending> = Vec::new();
    for table in catalogue.tables.iter().filter(|t| Some(t.name.as_str()) != main) {
        let side = |out: &mut dyn Write| write_side(out, run, table);
        pending.push(stage_file(&side_path(path, &table.name), side)?);
    }
    pending.push(stage_file(path, |out| write_main(out, run, catalogue))?);
    pending.into_iter().try_for_each(Pending::commit)
}

fn write_main(out: &mut dyn Write, run: u64, catalogue: &Catalogue) -> Result<()> {
    write_mark(out, run)?;
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

fn write_side(out: &mut dyn Write, run: u64, table: &Table) -> Result<()> {
    write_mark(out, run)?;
    write_table(out, table)
}

fn write_mark(out: &mut dyn Write, run: u64) -> Result<()> {
    writeln!(out, "{MARK}\n# run: {run:016x}")
}

fn write_table(out: &mut dyn Write, table: &Table) -> Result<()> {
    writeln!(out, "# table: {}\n# rows: {}", table.name, table.n_rows())?;
    for column in &table.columns {
        let (kind, units) = (column.values.type_name(), unit_name(column.dimension));
        writeln!(out, "# column: {} {kind} [{units}] {}", column.name, json(&column.description))?;
    }
    let heads: Vec<_> = table.columns.iter().map(head).collect();
    writeln!(out, "{}", heads.join(","))?;
    let starts: Vec<usize> = (0..table.n_rows()).step_by(RUN).collect();
    starts.chunks(4 * rayon::current_num_threads()).try_for_each(|starts| {
        let texts: Vec<Vec<u8>> =
            starts.par_iter().map(|first| text(table, *first)).collect::<Result<_>>()?;
        texts.iter().try_for_each(|text| out.write_all(text))
    })
}

/// Rows that a thread puts into words at once.
const RUN: usize = 1 << 10;

/// The rows of a run.
fn text(table: &Table, first: usize) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    (first..table.n_rows().min(first + RUN)).try_for_each(|row| write_row(&mut text, table, row))?;
    Ok(text)
}

fn head(column: &Column) -> String {
    match column.values {
        Values::F64x3(_) | Values::U32x3(_) => {
            ["x", "y", "z"].map(|a| format!("{}_{a}", column.name)).join(",")
        }
        _ => column.name.clone(),
    }
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

fn attribute_text(value: &Attribute) -> String {
    match value {
        Attribute::Int(v) => format!("int {v}"),
        Attribute::Real(v) => format!("real {v:?}"),
        Attribute::Reals(v) => {
            let words: Vec<_> = v.iter().map(|x| format!("{x:?}")).collect();
            format!("reals {}", words.join(" ")).trim_end().into()
        }
        Attribute::Text(v) => format!("text {}", json(v)),
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A number that differs between catalogues of different content (FNV-1a).
fn fingerprint(catalogue: &Catalogue) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    for (name, value) in &catalogue.attributes {
        name.bytes().chain(attribute_text(value).bytes()).for_each(|b| add(b.into()));
    }
    for column in catalogue.tables.iter().flat_map(|t| &t.columns) {
        column.name.bytes().for_each(|b| add(b.into()));
        add_values(&column.values, &mut add);
    }
    hash
}

fn add_values(values: &Values, add: &mut impl FnMut(u64)) {
    match values {
        Values::U8(v) => v.iter().for_each(|x| add((*x).into())),
        Values::U64(v) => v.iter().for_each(|x| add(*x)),
        Values::I64(v) => v.iter().for_each(|x| add(x.cast_unsigned())),
        Values::F64(v) => v.iter().for_each(|x| add(x.to_bits())),
        Values::F32(v) => v.iter().for_each(|x| add(x.to_bits().into())),
        Values::F64x3(v) => v.iter().flatten().for_each(|x| add(x.to_bits())),
        Values::U32x3(v) => v.iter().flatten().for_each(|x| add((*x).into())),
    }
}
