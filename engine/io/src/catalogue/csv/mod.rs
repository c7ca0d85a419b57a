//! Catalogues as CSV, for builds and readers without HDF5.
//!
//! `name.csv` has the attributes and the clumps (or the first table if there are none). Every other table has
//! a file in the same folder:
//! `name.haloes.csv`, `name.tree.csv`, ... Each file begins with comments:
//!
//! ```text
//! # inselberg catalogue 1
//! # checksum: 8c1f0c2d95b7a1e4                 of the whole catalogue, the same in all its files
//! # tables: clumps haloes tree                 main file only
//! # attribute: n_clumps int 23                 main file only; int, real, reals or text
//! # table: clumps
//! # rows: 23
//! # column: id u64 [dimensionless] "Identifier"
//! # column: peak_position f64x3 [code_length] "Centre of the densest cell"
//! id,peak_position_x,peak_position_y,peak_position_z
//! 1,0.5,0.25,0.125
//! ```
//!
//! Units are in brackets; texts are JSON strings. Reals are printed with as many digits as bring the same
//! bits back; every NaN reads back as the plain one. The checksum is that of the content, not of the bytes.
//! Older files have `run` in its place, which only distinguishes files of different catalogues.
//!
//! The crate csv would replace only the splitting of lines at commas. It accepts a truncated last line, and
//! quoted numbers. Comments, typed values and messages with lines would remain here.

mod checksum;
mod read;
mod text;
mod write;

pub use read::read;
pub use write::stage;

use super::{Catalogue, Values};
use std::path::{Path, PathBuf};

/// First line of every file.
pub(super) const MARK: &str = "# inselberg catalogue 1";

/// The file of `table`, in the folder of `path`.
fn side_path(path: &Path, table: &str) -> PathBuf {
    path.with_extension(format!("{table}.csv"))
}

/// The table in the main file.
pub(super) fn main_table(catalogue: &Catalogue) -> Option<&str> {
    let first = || catalogue.tables.first();
    catalogue.table("clumps").or_else(first).map(|t| t.name.as_str())
}

fn empty_values(type_name: &str) -> Option<Values> {
    Some(match type_name {
        "u8" => Values::U8(vec![]),
        "u64" => Values::U64(vec![]),
        "i64" => Values::I64(vec![]),
        "f64" => Values::F64(vec![]),
        "f32" => Values::F32(vec![]),
        "f64x3" => Values::F64x3(vec![]),
        "u32x3" => Values::U32x3(vec![]),
        _ => return None,
    })
}
