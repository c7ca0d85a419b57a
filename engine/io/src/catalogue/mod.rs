//! Catalogues: named columns with units, grouped in tables, with their provenance.
//!
//! A catalogue is plain data. Writers loop over its columns without naming any, so a new property appears in
//! every format.
//!
//! | file | content |
//! |---|---|
//! | `attribute_list` | the attributes of a catalogue, as they are added |
//! | `writers` | the table of formats; [`write()`] and [`read()`] choose by the file's name |
//! | `hdf5`, [`csv`] | the formats |
//! | [`ramses_text`] | the clump and halo files of RAMSES, write only |
//! | `soap` | the layout of SOAP, write only |
//! | `viewers` | files for yt and VTK, write only; `objects` and `leaf_tree` have their content |
//! | `fits`, `ecsv` | tables for TOPCAT and astropy, write only; `cgs` has their units |
//! | [`merger_tree`] | merger trees, checked, for `hdf5/ytree`, `consistent_trees` and the program |
//! | [`finders`] | catalogues of other finders, read only |
//! | [`part`] | a catalogue distributed over several ranks; the only place here that uses ranks |
//! | `outline` | a catalogue without its values; some of its rows |
//! | `checksum` | the checksum of the content |
//! | [`info`] | a description as text |

mod attribute_list;
mod cgs;
mod checksum;
mod consistent_trees;
pub mod csv;
mod ecsv;
pub mod finders;
mod fits;
#[cfg(feature = "hdf5")]
pub mod hdf5;
pub mod info;
#[cfg_attr(not(feature = "hdf5"), allow(dead_code))]
mod leaf_tree;
pub mod merger_tree;
#[cfg_attr(not(feature = "hdf5"), allow(dead_code))]
mod objects;
mod outline;
pub mod part;
pub mod ramses_text;
mod row_runs;
mod shape;
mod soap;
pub mod units;
mod viewers;
mod writers;

pub use crate::attribute::Attribute;
pub use crate::dimension::Dimension;
pub use crate::staging::{Staged, WriteError, WriteResult};
pub use attribute_list::{ASSUMED_COSMOLOGY, AttributeList};
pub use consistent_trees::stage_consistent_trees;
pub use ecsv::stage_ecsv;
pub use fits::stage_fits;
pub use outline::{CatalogueOutline, TableOutline};
pub use part::{CataloguePart, PartError, PartTable, RowRun, bytes_of_first, stage_part, write_part};
pub use shape::check_shape;
pub use soap::{SoapPlace, check_soap, stage_soap};
pub use viewers::{
    DendrogramFile, DendrogramPart, NextPart, VtkCells, check_viewer, check_yt, stage_dendrogram, stage_vtk,
    stage_yt, stage_ytree, vtk_names, yt_name,
};
pub(crate) use writers::marks;
pub use writers::{
    Advance, Attributes, FORMATS, Format, PackedRows, PartFormat, PartWriter, attributes_if_whole,
    check_output, is_marked, outline, read, read_rows, stage, write, writer_for,
};

/// The attributes with the origin of a catalogue: the identity of its input, the options that decide the
/// result, and the other results of the same run. With them, a later run skips finished work.
pub const RUN_ATTRIBUTES: [&str; 3] = ["run_input", "run_options", "run_outputs"];

/// Values of one column, one entry per row.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Bytes: levels.
    U8(Vec<u8>),
    /// Counts, identifiers, identities, indices.
    U64(Vec<u64>),
    /// Rows and numbers that may be below 0.
    I64(Vec<i64>),
    /// Reals.
    F64(Vec<f64>),
    /// Reals in single precision.
    F32(Vec<f32>),
    /// Vectors.
    F64x3(Vec<[f64; 3]>),
    /// Integer cell coordinates.
    U32x3(Vec<[u32; 3]>),
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    /// Name of the dataset: `mass`, `peak_position`, ...
    pub name: String,
    /// Its dimension in code units.
    pub dimension: Dimension,
    /// A description in one sentence.
    pub description: String,
    /// The values.
    pub values: Values,
}

/// Columns of equal length under one name: `clumps`, `haloes`, `tree`, `cells`, `particles`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Name of the group.
    pub name: String,
    /// The columns, in the order to be written.
    pub columns: Vec<TableColumn>,
}

/// A whole catalogue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    /// Provenance, configuration, units, cosmology and totals, in the order to be written. Holds
    /// nothing that depends on the number of ranks or threads except under names that start with
    /// `run_`.
    pub attributes: Vec<(String, Attribute)>,
    /// The tables.
    pub tables: Vec<Table>,
}

impl Values {
    /// The name of their type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::U64(_) => "u64",
            Self::I64(_) => "i64",
            Self::F64(_) => "f64",
            Self::F32(_) => "f32",
            Self::F64x3(_) => "f64x3",
            Self::U32x3(_) => "u32x3",
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(v) => v.len(),
            Self::U64(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::F32(v) => v.len(),
            Self::F64x3(v) => v.len(),
            Self::U32x3(v) => v.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Identities of particles: unsigned, or signed with the same bits. `None` if they are not integers of 64
    /// bits.
    pub fn identities(&self) -> Option<&[u64]> {
        match self {
            Self::U64(v) => Some(v),
            Self::I64(v) => Some(bytemuck::cast_slice(v)),
            _ => None,
        }
    }

    /// These rows, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn rows(&self, rows: &[usize]) -> Self {
        fn picked<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|row| values[*row]).collect()
        }
        match self {
            Self::U8(v) => Self::U8(picked(v, rows)),
            Self::U64(v) => Self::U64(picked(v, rows)),
            Self::I64(v) => Self::I64(picked(v, rows)),
            Self::F64(v) => Self::F64(picked(v, rows)),
            Self::F32(v) => Self::F32(picked(v, rows)),
            Self::F64x3(v) => Self::F64x3(picked(v, rows)),
            Self::U32x3(v) => Self::U32x3(picked(v, rows)),
        }
    }
}

impl Table {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }

    /// A table of these rows, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn rows(&self, rows: &[usize]) -> Self {
        let column = |column: &TableColumn| TableColumn {
            name: column.name.clone(),
            dimension: column.dimension,
            description: column.description.clone(),
            values: column.values.rows(rows),
        };
        Self { name: self.name.clone(), columns: self.columns.iter().map(column).collect() }
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The column of reals called `name`.
    pub fn reals(&self, name: &str) -> Option<&[f64]> {
        match &self.column(name)?.values {
            Values::F64(v) => Some(v),
            _ => None,
        }
    }

    /// The column of counts or identifiers called `name`.
    pub fn counts(&self, name: &str) -> Option<&[u64]> {
        match &self.column(name)?.values {
            Values::U64(v) => Some(v),
            _ => None,
        }
    }

    /// The column of counts or identifiers called `name`, signed or not.
    pub fn integers(&self, name: &str) -> Option<Vec<i64>> {
        match &self.column(name)?.values {
            Values::U64(v) => Some(v.iter().map(|x| x.cast_signed()).collect()),
            Values::I64(v) => Some(v.clone()),
            Values::U8(v) => Some(v.iter().map(|x| i64::from(*x)).collect()),
            _ => None,
        }
    }

    /// The column of identities of particles called `name`. Catalogues of earlier versions have them signed,
    /// with the same bits.
    pub fn identities(&self, name: &str) -> Option<&[u64]> {
        self.column(name)?.values.identities()
    }

    /// The column of flags called `name`, which are 0 or 1.
    pub fn flags(&self, name: &str) -> Option<Vec<bool>> {
        match &self.column(name)?.values {
            Values::U8(v) => Some(v.iter().map(|flag| *flag != 0).collect()),
            Values::U64(v) => Some(v.iter().map(|flag| *flag != 0).collect()),
            _ => None,
        }
    }

    /// The column of vectors called `name`.
    pub fn vectors(&self, name: &str) -> Option<&[[f64; 3]]> {
        match &self.column(name)?.values {
            Values::F64x3(v) => Some(v),
            _ => None,
        }
    }

    /// The column of positions of cells called `name`.
    pub fn positions(&self, name: &str) -> Option<&[[u32; 3]]> {
        match &self.column(name)?.values {
            Values::U32x3(v) => Some(v),
            _ => None,
        }
    }

    /// The column of bytes called `name`.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        match &self.column(name)?.values {
            Values::U8(v) => Some(v),
            _ => None,
        }
    }
}

impl Catalogue {
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.name == name)
    }

    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, a)| a)
    }
}
