//! Catalogues as ECSV: CSV with types, units and descriptions in a header that astropy and TOPCAT read.
//!
//! `name.ecsv` has the clumps, or the first table if there are none; every other table has a file in the same
//! folder: `name.haloes.ecsv`, ... Values are in cgs, or in code units without a unit if the catalogue has no
//! units. Vectors are three columns. Attributes are the `meta` of each file.

use super::cgs::CgsColumn;
use super::csv::main_table;
use super::row_runs::write_runs;
use super::{Attribute, Catalogue, Table, Values, WriteResult, check_shape};
use crate::staging::mark::MARK;
use crate::staging::{Staged, resolve, stage_file};
use std::borrow::Cow;
use std::io::{Result, Write};
use std::path::Path;

/// Stages `catalogue` for `path`, with further files beside it, or beside its target if it is a link.
///
/// # Errors
/// The place cannot be written, or a name does not fit the format.
pub fn stage_ecsv(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(path, catalogue)?;
    let target = resolve(path)?;
    let main = main_table(catalogue);
    let (first, beside): (Vec<_>, Vec<_>) =
        catalogue.tables.iter().partition(|table| Some(table.name.as_str()) == main);
    let mut staged = Staged::default();
    for table in beside {
        let side = target.with_extension(format!("{}.ecsv", table.name));
        staged.extend(stage_file(&side, |out| write_table(out, catalogue, table))?);
    }
    let empty = Table::default();
    let table = first.first().copied().unwrap_or(&empty);
    staged.extend(stage_file(path, |out| write_table(out, catalogue, table))?);
    Ok(staged)
}

fn write_table(out: &mut dyn Write, catalogue: &Catalogue, table: &Table) -> Result<()> {
    let columns: Vec<_> = table.columns.iter().map(|c| CgsColumn::new(&catalogue.attributes, c)).collect();
    let values: Vec<Cow<Values>> = columns.iter().map(CgsColumn::values).collect();
    writeln!(out, "# %ECSV 1.0\n# ---\n# datatype:")?;
    for (column, values) in columns.iter().zip(&values) {
        let unit = column.unit(" ", "");
        let unit = if unit.is_empty() { unit } else { format!(", unit: {}", quoted(&unit)) };
        let rest =
            format!("datatype: {}, description: {}", type_name(values), quoted(&column.column.description));
        for name in names(column) {
            writeln!(out, "# - {{name: {name}{unit}, {rest}}}")?;
        }
    }
    writeln!(out, "# delimiter: ','\n# meta: !!omap\n# - {{table: {}}}", quoted(&table.name))?;
    writeln!(out, "# - {{creator: {}}}", quoted(MARK))?;
    for (name, value) in &catalogue.attributes {
        writeln!(out, "# - {{{name}: {}}}", yaml(value))?;
    }
    writeln!(out, "# schema: astropy-2.0")?;
    writeln!(out, "{}", columns.iter().flat_map(names).collect::<Vec<_>>().join(","))?;
    write_runs(out, table.n_rows(), |rows| {
        let mut text = Vec::new();
        rows.into_iter().try_for_each(|row| write_row(&mut text, &values, row))?;
        Ok(text)
    })
}

fn names(column: &CgsColumn) -> Vec<String> {
    let name = &column.column.name;
    match column.column.values {
        Values::F64x3(_) | Values::U32x3(_) => ["x", "y", "z"].map(|a| format!("{name}_{a}")).to_vec(),
        _ => vec![name.clone()],
    }
}

fn type_name(values: &Values) -> &'static str {
    match values {
        Values::U8(_) => "uint8",
        Values::U64(_) => "uint64",
        Values::I64(_) => "int64",
        Values::F64(_) | Values::F64x3(_) => "float64",
        Values::F32(_) => "float32",
        Values::U32x3(_) => "uint32",
    }
}

fn write_row(out: &mut Vec<u8>, values: &[Cow<Values>], row: usize) -> Result<()> {
    for (i, values) in values.iter().enumerate() {
        out.write_all(if i == 0 { b"" } else { b"," })?;
        match values.as_ref() {
            Values::U8(list) => write!(out, "{}", list[row])?,
            Values::U64(list) => write!(out, "{}", list[row])?,
            Values::I64(list) => write!(out, "{}", list[row])?,
            Values::F64(list) => write!(out, "{:?}", list[row])?,
            Values::F32(list) => write!(out, "{:?}", list[row])?,
            Values::F64x3(list) => write!(out, "{:?},{:?},{:?}", list[row][0], list[row][1], list[row][2])?,
            Values::U32x3(list) => write!(out, "{},{},{}", list[row][0], list[row][1], list[row][2])?,
        }
    }
    out.write_all(b"\n")
}

/// A text of YAML: a text of JSON is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn yaml(value: &Attribute) -> String {
    match value {
        Attribute::Int(value) => value.to_string(),
        Attribute::Real(value) => yaml_real(*value),
        Attribute::Reals(list) => {
            format!("[{}]", list.iter().map(|x| yaml_real(*x)).collect::<Vec<_>>().join(", "))
        }
        Attribute::Text(text) => quoted(text),
    }
}

/// YAML takes a real for one only with a point, and with a sign in its exponent.
fn yaml_real(value: f64) -> String {
    if value.is_nan() {
        return ".nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    let text = format!("{value:?}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let point = if digits.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{digits}{point}e{sign}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_reals_in_yaml() {
        let found = [80.0, 1e-7, 3e24, -2.5e-9, f64::NAN, f64::NEG_INFINITY].map(yaml_real);
        assert_eq!(found, ["80.0", "1.0e-7", "3.0e+24", "-2.5e-9", ".nan", "-.inf"]);
    }
}
