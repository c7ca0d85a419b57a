//! Why a stored catalogue cannot be read back.

use inselberg_comm::CommError;
use inselberg_io::params::ParamError;

/// Why a stored catalogue cannot be cut again.
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
    /// It follows RAMSES, whose mass threshold counts masses of the lightest particle, and lacks that mass.
    #[error(
        "the catalogue follows RAMSES and lacks the mass of the lightest particle; expected no new mass \
         threshold, or a catalogue that this version of `inselberg phew` wrote"
    )]
    NoMassUnit,
    /// A threshold of the significance for a catalogue without it.
    #[error(
        "the catalogue has no significance of peaks; expected no such threshold, or a catalogue of a density that is made of \
         particles that this version of `inselberg phew` wrote"
    )]
    NoSignificance,
    /// A column names a row that does not exist.
    #[error("column `{column}` of `tree` names row {row}; expected at most {n_rows}")]
    BadRow {
        /// The column.
        column: &'static str,
        /// The row.
        row: u64,
        /// Number of rows.
        n_rows: usize,
    },
    /// An impossible row: not finite, outside the box, or a death that ends no component.
    #[error("row {row} of `tree` is broken: its {what}; expected one written by `inselberg phew`")]
    Unsound {
        /// The row, from 1.
        row: usize,
        /// The fault.
        what: &'static str,
    },
    /// The table `ties` has edges that do not tie with the tree.
    #[error("the table `ties` of the catalogue is broken; expected one written by `inselberg phew`")]
    BadTies,
    /// Cannot occur: other ranks fail, and there is only one.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// A threshold that the catalogue cannot convert, or that is out of range.
    #[error(transparent)]
    Parameter(#[from] ParamError),
    /// A threshold of a ratio for a catalogue of differences, or the other way round.
    #[error(
        "the catalogue measures persistence as a {kind} of peak and saddle density; expected a threshold for that",
        kind = if *is_difference { "difference" } else { "ratio" }
    )]
    OtherPersistence {
        /// Whether the catalogue measures differences.
        is_difference: bool,
    },
    /// A wall that is denser than all members of voids.
    #[error(
        "wall threshold {wall} is above the catalogue's density threshold {density}; expected at most that"
    )]
    WallAboveDensity {
        /// The wall threshold.
        wall: f64,
        /// The density threshold.
        density: f64,
    },
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
