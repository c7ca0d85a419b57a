//! Columns of a stored table, and the rows that they name.

use crate::phew::tables::error::RecutError;
use inselberg_io::catalogue::{Table, Values};
use inselberg_kernels::ids::PeakIdx;

/// The peak of a row of `tree` from 1; `NONE` for 0.
pub fn peak_of_row(row: u64, n: usize, column: &'static str) -> Result<PeakIdx, RecutError> {
    match row {
        0 => Ok(PeakIdx::NONE),
        r if r <= n as u64 => Ok(PeakIdx(r as u32 - 1)),
        r => Err(RecutError::BadRow { column, row: r, n_rows: n }),
    }
}

/// Columns by name and kind.
pub struct StoredTable<'a>(pub &'a Table);

macro_rules! getter {
    ($name:ident, $variant:ident, $of:ty) => {
        pub fn $name(&self, name: &'static str) -> Result<Vec<$of>, RecutError> {
            match self.0.column(name).map(|c| &c.values) {
                Some(Values::$variant(v)) if v.len() == self.0.n_rows() => Ok(v.clone()),
                _ => Err(RecutError::NoColumn(name)),
            }
        }
    };
}

impl StoredTable<'_> {
    getter!(bytes, U8, u8);
    getter!(counts, U64, u64);
    getter!(reals, F64, f64);
    getter!(vectors, F64x3, [f64; 3]);
    getter!(positions, U32x3, [u32; 3]);
}
