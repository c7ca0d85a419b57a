//! CSV to catalogue.

use super::checksum::checksum;
use super::text::heads;
use super::{MARK, empty_values, side_path};
use crate::catalogue::shape::is_plain;
use crate::catalogue::units::parse_unit;
use crate::catalogue::{Attribute, Catalogue, Table, TableColumn, Values};
use crate::input_file;
use crate::{ReadError, ReadResult};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::str::{FromStr, Split};

/// Reads the catalogue with the main file `path` and the tables in the same folder.
///
/// # Errors
/// A file is absent, is not a catalogue, is truncated, has an invalid value, or belongs to another catalogue
/// than the main file; a table has an invalid name; the checksum does not match.
pub fn read(path: &Path) -> ReadResult<Catalogue> {
    let mut main = read_file(path)?;
    let mut tables: Vec<Table> = Vec::new();
    let mut in_main = main.table.take();
    let names = main.tables.take().ok_or_else(|| {
        ReadError::content(path, "comments at the top", "no tables named", "the names of the tables")
    })?;
    // The name becomes part of a file name, and must not lead to another folder.
    if let Some(name) = names.iter().find(|name| !is_plain(name)) {
        let (problem, expected) = (format!("a table {name:?}"), "letters, digits and underscores");
        return Err(ReadError::content(path, "comments at the top", problem, expected));
    }
    for name in &names {
        if in_main.as_ref().is_some_and(|t| t.name == *name) {
            tables.extend(in_main.take());
        } else {
            tables.push(read_side(&side_of(path, name), name, &main)?);
        }
    }
    let catalogue = Catalogue { attributes: main.attributes, tables };
    match main.sum {
        Some(sum) if sum != checksum(&catalogue) => {
            let (problem, expected) = ("one of its files is damaged", "what was written");
            Err(ReadError::content(path, "checksum", problem, expected))
        }
        _ => Ok(catalogue),
    }
}

/// The file of a table: beside `path`, else beside the target of the link `path`.
fn side_of(path: &Path, name: &str) -> PathBuf {
    let side = side_path(path, name);
    match crate::staging::hidden::target_of(path) {
        Ok(target) if !side.exists() => side_path(&target, name),
        _ => side,
    }
}

/// The content of one file.
#[derive(Default)]
struct CsvContent {
    /// Identifies the catalogue of a file.
    run: String,
    /// The same as a checksum; `None` in older files.
    sum: Option<u64>,
    /// `None` before their line.
    tables: Option<Vec<String>>,
    attributes: Vec<(String, Attribute)>,
    table: Option<Table>,
    rows: u64,
}

fn read_side(path: &Path, name: &str, main: &CsvContent) -> ReadResult<Table> {
    let side = read_file(path)?;
    let bad = |problem: String, expected: String| {
        Err(ReadError::content(path, "comments at the top", problem, expected))
    };
    if (&side.run, side.sum) != (&main.run, main.sum) {
        return bad(
            format!("of catalogue {}", side.run),
            format!("catalogue {} as in the main file", main.run),
        );
    }
    match side.table {
        Some(table) if table.name == name => Ok(table),
        _ => bad("another table".into(), format!("table {name}")),
    }
}

fn read_file(path: &Path) -> ReadResult<CsvContent> {
    let file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
    let mut lines =
        CsvLines { path, input: BufReader::with_capacity(1 << 18, file), text: String::new(), number: 0 };
    if !lines.next()? || lines.text != MARK {
        return Err(lines.bad("not a catalogue", format!("{MARK:?}")));
    }
    let mut content = CsvContent::default();
    while lines.next()? {
        match lines.text.strip_prefix("# ") {
            Some(comment) => {
                let read = add_comment(&mut content, comment);
                read.ok_or_else(|| lines.bad("not understood", "a comment of a catalogue"))?;
            }
            None => return read_rows(lines, content),
        }
    }
    match content.table {
        None => Ok(content),
        Some(_) => Err(lines.bad("the file ends", "the names of the columns")),
    }
}

fn read_rows(mut lines: CsvLines<'_>, mut content: CsvContent) -> ReadResult<CsvContent> {
    let Some(table) = &mut content.table else {
        return Err(lines.bad("values without a table", "a comment that names the table"));
    };
    let expected = heads(table);
    if lines.text != expected {
        return Err(lines.bad(format!("columns {:?}", lines.text), format!("{expected:?}")));
    }
    for _ in 0..content.rows {
        if !lines.next()? {
            return Err(lines.bad("the file ends", format!("{} rows", content.rows)));
        }
        let mut fields = lines.text.split(',');
        for column in &mut table.columns {
            let pushed = push(&mut column.values, &mut fields);
            pushed.ok_or_else(|| lines.bad(format!("no {}", column.name), "a value of its type"))?;
        }
        if fields.next().is_some() {
            return Err(lines.bad("too many values", format!("{} columns", table.columns.len())));
        }
    }
    if lines.next()? {
        return Err(lines.bad("more lines", format!("{} rows", content.rows)));
    }
    Ok(content)
}

fn push(values: &mut Values, fields: &mut Split<'_, char>) -> Option<()> {
    match values {
        Values::U8(v) => v.push(value(fields)?),
        Values::U64(v) => v.push(value(fields)?),
        Values::I64(v) => v.push(value(fields)?),
        Values::F64(v) => v.push(value(fields)?),
        Values::F32(v) => v.push(value(fields)?),
        Values::F64x3(v) => v.push([value(fields)?, value(fields)?, value(fields)?]),
        Values::U32x3(v) => v.push([value(fields)?, value(fields)?, value(fields)?]),
    }
    Some(())
}

fn value<T: FromStr>(fields: &mut Split<'_, char>) -> Option<T> {
    fields.next()?.parse().ok()
}

/// Adds one comment; `None` if it is invalid.
fn add_comment(content: &mut CsvContent, comment: &str) -> Option<()> {
    let (key, rest) = comment.split_once(':')?;
    let rest = rest.trim();
    match key {
        "run" => content.run = rest.into(),
        "checksum" => {
            content.run = rest.into();
            content.sum = Some(u64::from_str_radix(rest, 16).ok()?);
        }
        "tables" => content.tables = Some(rest.split_whitespace().map(String::from).collect()),
        "attribute" => content.attributes.push(attribute(rest)?),
        "table" => content.table = Some(Table { name: rest.into(), columns: vec![] }),
        "rows" => content.rows = rest.parse().ok()?,
        "column" => content.table.as_mut()?.columns.push(column(rest)?),
        _ => return None,
    }
    Some(())
}

fn attribute(text: &str) -> Option<(String, Attribute)> {
    let (name, text) = text.split_once(' ')?;
    let (kind, text) = text.split_once(' ').unwrap_or((text, ""));
    let value = match kind {
        "int" => Attribute::Int(text.parse().ok()?),
        "real" => Attribute::Real(text.parse().ok()?),
        "reals" => Attribute::Reals(text.split_whitespace().map(|w| w.parse().ok()).collect::<Option<_>>()?),
        "text" => Attribute::Text(serde_json::from_str(text).ok()?),
        _ => return None,
    };
    Some((name.into(), value))
}

fn column(text: &str) -> Option<TableColumn> {
    let (name, text) = text.split_once(' ')?;
    let (kind, text) = text.split_once(" [")?;
    let (units, text) = text.split_once("] ")?;
    let dimension = parse_unit(units)?;
    let description = serde_json::from_str(text).ok()?;
    Some(TableColumn { name: name.into(), dimension, description, values: empty_values(kind)? })
}

/// Complete lines of a file, one at a time.
struct CsvLines<'a> {
    path: &'a Path,
    input: BufReader<File>,
    text: String,
    number: usize,
}

impl CsvLines<'_> {
    /// Moves to the next line; false at the end.
    fn next(&mut self) -> ReadResult<bool> {
        self.text.clear();
        self.number += 1;
        let read = self.input.read_line(&mut self.text);
        if read.map_err(|e| ReadError::io(self.path, "reading", e))? == 0 {
            return Ok(false);
        }
        if self.text.pop() != Some('\n') {
            return Err(self.bad("the line is cut short", "a complete line"));
        }
        if self.text.ends_with('\r') {
            self.text.pop();
        }
        Ok(true)
    }

    fn bad(&self, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, format!("line {}", self.number), problem, expected)
    }
}
