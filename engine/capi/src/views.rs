//! What do tables look like to a caller?

use crate::given::{INSELBERG_F32, INSELBERG_F64, INSELBERG_I64, INSELBERG_U8, INSELBERG_U32, INSELBERG_U64};
use inselberg::{Clumps, Dimension, Error, FofGroups, FoundCatalogue, Table, TableColumn, Values, Voids};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::ptr::null;

/// A table of the last result.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct TableView {
    /// Its name: "clumps", "haloes", "tree", "cells", "members", "Groups", "voids", ... NULL: there is no
    /// such table.
    pub name: *const c_char,
    /// Number of rows on this rank.
    pub rows: i64,
    /// Number of rows on all ranks.
    pub total_rows: i64,
    /// Number of columns.
    pub columns: i64,
}

/// A column of a table. Its values are packed.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ColumnView {
    /// Its name: "mass", "peak_position", ... NULL: there is no such column.
    pub name: *const c_char,
    /// A description in one sentence.
    pub description: *const c_char,
    /// The values of this rank, row by row.
    pub data: *const c_void,
    /// Number of rows on this rank.
    pub rows: i64,
    /// Numbers per row: 1, or 3 for vectors.
    pub parts: i32,
    /// Type of the numbers: INSELBERG_F64, ...
    pub number_type: i32,
    /// The unit is length^length * mass^mass * time^time, in the units of what was handed over.
    pub length: i32,
    /// Power of the unit of mass.
    pub mass: i32,
    /// Power of the unit of time.
    pub time: i32,
    /// Where lengths are comoving and velocities peculiar: the power of the scale factor that makes values
    /// physical.
    pub scale_factor: i32,
}

/// What a handle has found.
pub enum Found {
    /// By PHEW.
    Clumps(Box<Clumps>),
    /// By friends-of-friends.
    Groups(Box<FofGroups>),
    /// Of particles.
    Voids(Box<Voids>),
}

impl Found {
    /// Warnings about what may surprise, one line each.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Clumps(clumps) => clumps.warnings(),
            Self::Groups(groups) => groups.warnings(),
            Self::Voids(voids) => voids.warnings(),
        }
    }

    /// What all results have.
    pub fn catalogue(&self) -> &FoundCatalogue {
        match self {
            Self::Clumps(clumps) => clumps,
            Self::Groups(groups) => groups,
            Self::Voids(voids) => voids,
        }
    }

    fn catalogue_mut(&mut self) -> &mut FoundCatalogue {
        match self {
            Self::Clumps(clumps) => clumps,
            Self::Groups(groups) => groups,
            Self::Voids(voids) => voids,
        }
    }

    fn tables(&self) -> Vec<(&Table, u64)> {
        self.catalogue().tables().collect()
    }
}

/// What was found, with names as C reads them.
pub struct Views {
    pub found: Found,
    names: Vec<TableNames>,
    /// Tables that show the rows that this rank picked, in place of its own range.
    picked: HashMap<String, Table>,
}

struct TableNames {
    table: CString,
    /// Name and description of each column.
    columns: Vec<[CString; 2]>,
}

impl Views {
    pub fn new(found: Found) -> Self {
        let text = |text: &str| CString::new(text).expect("names have no zero bytes");
        let of_column = |column: &TableColumn| [text(&column.name), text(&column.description)];
        let of_table = |(table, _): (&Table, u64)| TableNames {
            table: text(&table.name),
            columns: table.columns.iter().map(of_column).collect(),
        };
        let names = found.tables().into_iter().map(of_table).collect();
        Self { found, names, picked: HashMap::new() }
    }

    /// Shows other rows of a table.
    pub fn pick(&mut self, rows: Table) {
        self.picked.insert(rows.name.clone(), rows);
    }

    /// Adds a column of reals to a table, which then shows its own rows again.
    pub fn add_columns(&mut self, table: &str, columns: Vec<(String, Vec<f64>)>) -> Result<(), Error> {
        self.picked.remove(table);
        let at =
            self.tables().iter().position(|(other, _)| other.name == table).expect("its labels are known");
        for (name, values) in columns {
            let description = format!("sum of {name} over its cells or particles");
            let text = |text: &str| CString::new(text).expect("texts of C have no zero bytes");
            let names = [text(&name), text(&description)];
            let (dimension, values) = (Dimension::NONE, Values::F64(values));
            self.found
                .catalogue_mut()
                .add_column(table, TableColumn { name, dimension, description, values })?;
            self.names[at].columns.push(names);
        }
        Ok(())
    }

    /// The tables as they are shown, with the number of rows on all ranks.
    fn tables(&self) -> Vec<(&Table, u64)> {
        let tables = self.found.tables().into_iter();
        tables.map(|(table, total)| (self.picked.get(&table.name).unwrap_or(table), total)).collect()
    }

    /// Table `i`.
    pub fn table(&self, i: usize) -> TableView {
        let none = TableView { name: null(), rows: 0, total_rows: 0, columns: 0 };
        let Some((table, total)) = self.tables().get(i).copied() else { return none };
        TableView {
            name: self.names[i].table.as_ptr(),
            rows: table.n_rows() as i64,
            total_rows: total as i64,
            columns: table.columns.len() as i64,
        }
    }

    /// Column `i` of a table.
    pub fn column(&self, table: &str, i: usize) -> ColumnView {
        let tables = self.tables();
        let at = tables.iter().position(|(other, _)| other.name == table);
        let found = at.and_then(|at| Some((tables[at].0.columns.get(i)?, &self.names[at].columns[i])));
        found.map_or(NO_COLUMN, |(column, [name, description])| {
            let (data, parts, number_type) = numbers(&column.values);
            let powers = [column.dimension.length, column.dimension.mass, column.dimension.time];
            let [length, mass, time] = powers.map(i32::from);
            ColumnView {
                name: name.as_ptr(),
                description: description.as_ptr(),
                data,
                rows: column.values.len() as i64,
                parts,
                number_type,
                length,
                mass,
                time,
                scale_factor: if time == 0 { length } else { 0 },
            }
        })
    }
}

const NO_COLUMN: ColumnView = ColumnView {
    name: null(),
    description: null(),
    data: null(),
    rows: 0,
    parts: 0,
    number_type: 0,
    length: 0,
    mass: 0,
    time: 0,
    scale_factor: 0,
};

/// Address, numbers per row and type.
fn numbers(values: &Values) -> (*const c_void, i32, i32) {
    match values {
        Values::U8(v) => (v.as_ptr().cast(), 1, INSELBERG_U8),
        Values::U64(v) => (v.as_ptr().cast(), 1, INSELBERG_U64),
        Values::I64(v) => (v.as_ptr().cast(), 1, INSELBERG_I64),
        Values::F64(v) => (v.as_ptr().cast(), 1, INSELBERG_F64),
        Values::F32(v) => (v.as_ptr().cast(), 1, INSELBERG_F32),
        Values::F64x3(v) => (v.as_ptr().cast(), 3, INSELBERG_F64),
        Values::U32x3(v) => (v.as_ptr().cast(), 3, INSELBERG_U32),
    }
}
