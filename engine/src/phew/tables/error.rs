//! Why a stored catalogue cannot be read back.

use inselberg_comm::CommError;

/// Why a catalogue could not be cut again.
#[derive(Debug, thiserror::Error)]
pub enum RecutError {
    /// It lacks a table.
    #[error("the catalogue has no table `{0}`; expected one written by `inselberg phew`")]
    NoTable(&'static str),
    /// Its tree lacks a column.
    #[error("the table `tree` has no sound column `{0}`; expected one written by `inselberg phew`")]
    NoColumn(&'static str),
    /// It lacks an attribute.
    #[error("the catalogue has no sound attribute `{0}`; expected one written by `inselberg phew`")]
    NoAttribute(&'static str),
    /// It follows RAMSES, whose mass threshold counts lightest particles, and does not tell their mass.
    #[error(
        "the catalogue follows RAMSES and does not tell the mass of the lightest particle; expected no new mass \
         threshold, or a catalogue that this version of `inselberg phew` wrote"
    )]
    NoMassUnit,
    /// A row that is not there is referred to.
    #[error("column `{column}` of `tree` names row {row}; expected at most {n_rows}")]
    BadRow {
        /// The column.
        column: &'static str,
        /// The row.
        row: u64,
        /// Rows that there are.
        n_rows: usize,
    },
    /// A row that cannot be: not finite, outside the box, or the end of a peak that does not end there.
    #[error("row {row} of `tree` is broken: its {what}; expected one written by `inselberg phew`")]
    Unsound {
        /// The row, from 1.
        row: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The ties beside the tree are none.
    #[error("the table `ties` of the catalogue is broken; expected one written by `inselberg phew`")]
    BadTies,
    /// Never: ranks fail, and this is one alone.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A saddle threshold below the density threshold.
    #[error(
        "saddle threshold {saddle} is below the catalogue's density threshold {density}; expected at least that"
    )]
    SaddleBelowDensity {
        /// The saddle threshold.
        saddle: f64,
        /// The density threshold.
        density: f64,
    },
}
