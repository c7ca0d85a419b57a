//! A catalogue without its values, and some of its rows: for readers that do not need all of it.

use super::{Attribute, Attributes, Catalogue, Table};
use crate::{ReadError, ReadResult};
use std::ops::Range;
use std::path::Path;

/// A catalogue without its values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CatalogueOutline {
    /// Its attributes.
    pub attributes: Attributes,
    /// Its tables.
    pub tables: Vec<TableOutline>,
}

/// A table without its values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOutline {
    /// Its name.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Number of rows.
    pub n_rows: u64,
}

impl CatalogueOutline {
    /// Of a whole catalogue.
    pub fn new(catalogue: &Catalogue) -> Self {
        let outline = |table: &Table| TableOutline {
            name: table.name.clone(),
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            n_rows: table.n_rows() as u64,
        };
        Self {
            attributes: catalogue.attributes.clone(),
            tables: catalogue.tables.iter().map(outline).collect(),
        }
    }

    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&TableOutline> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
}

impl TableOutline {
    /// Whether there is a column called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

/// Some columns and rows of a table of a catalogue; `path` is for the message.
pub(super) fn select(
    path: &Path,
    catalogue: &Catalogue,
    table: &str,
    columns: &[&str],
    rows: Range<u64>,
) -> ReadResult<Table> {
    let absent = |what: String| ReadError::absent(path, format!("no {what} in the catalogue"));
    let from = catalogue.table(table).ok_or_else(|| absent(format!("table {table}")))?;
    if rows.end > from.n_rows() as u64 {
        return Err(absent(format!("row {} of {table}", rows.end.saturating_sub(1))));
    }
    let column =
        |name: &&str| from.column(name).cloned().ok_or_else(|| absent(format!("column {table}/{name}")));
    let columns = columns.iter().map(column).collect::<ReadResult<_>>()?;
    let rows: Vec<usize> = (rows.start as usize..rows.end as usize).collect();
    Ok(Table { name: table.into(), columns }.rows(&rows))
}
