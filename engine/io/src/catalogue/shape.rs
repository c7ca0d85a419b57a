//! Checks of a catalogue before it is written in any format.

use super::{Attribute, Catalogue, Table, WriteError, WriteResult};
use std::collections::HashSet;
use std::path::Path;

/// Checks that names are valid in every format and unique, and that the columns of a table are equally long.
/// `path` is for the message.
///
/// # Errors
/// The first invalid name or column.
pub fn check_shape(path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
    check_tables(path, &catalogue.attributes, &catalogue.tables.iter().collect::<Vec<_>>())
}

/// The same for attributes and tables.
pub(super) fn check_tables(
    path: &Path,
    attributes: &[(String, Attribute)],
    tables: &[&Table],
) -> WriteResult<()> {
    check_names(path, "attribute", attributes.iter().map(|(name, _)| name.as_str()))?;
    check_names(path, "table", tables.iter().map(|t| t.name.as_str()))?;
    tables.iter().try_for_each(|table| check_table(path, table))
}

fn check_table(path: &Path, table: &Table) -> WriteResult<()> {
    check_names(path, &format!("column of {}", table.name), table.columns.iter().map(|c| c.name.as_str()))?;
    match table.columns.iter().find(|c| c.values.len() != table.n_rows()) {
        None => Ok(()),
        Some(column) => {
            let place = format!("{}/{}", table.name, column.name);
            let problem = format!("{} rows", column.values.len());
            Err(WriteError::content(path, place, problem, format!("{} rows", table.n_rows())))
        }
    }
}

fn check_names<'a>(path: &Path, what: &str, names: impl Iterator<Item = &'a str>) -> WriteResult<()> {
    let mut seen = HashSet::new();
    for name in names {
        let place = format!("{what} {name:?}");
        if !is_plain(name) {
            let expected = "letters, digits and underscores";
            return Err(WriteError::content(path, place, "not a name", expected));
        }
        if !seen.insert(name) {
            return Err(WriteError::content(path, place, "the name is there twice", "each name once"));
        }
    }
    Ok(())
}

/// Whether a name is valid in every format and in file names.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
