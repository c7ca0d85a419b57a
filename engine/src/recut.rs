//! New thresholds for a stored catalogue, from its tree alone.

use crate::catalogue::{Attribute, Catalogue};
use crate::structures::structures;
use crate::tables::{RecutHeader, clumps_table, haloes_table, read_tree, ties_table, tree_table};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::phew::hierarchy::Cut;

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

/// Thresholds that may change after the fact; `None` leaves the catalogue's own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NewThresholds {
    /// Peaks with a smaller peak-to-saddle ratio are noise.
    pub relevance: Option<f64>,
    /// Clumps that meet above it are merged into one halo; in mean densities where the mesh was made from particles.
    pub saddle: Option<f64>,
    /// Clumps of haloes up to this mass are not listed: in code units under the paper's rules, in masses of the
    /// lightest particle under RAMSES's.
    pub mass: Option<f64>,
}

/// The catalogue that a run with these thresholds would have written, bit for bit, without labels of
/// cells and particles. Costs a sort of the peaks.
///
/// # Errors
/// When the catalogue's tree is not there or broken, or a threshold does not go with it.
pub fn recut(stored: &Catalogue, thresholds: &NewThresholds) -> Result<Catalogue, RecutError> {
    let header = RecutHeader::of(stored)?;
    let relevance = thresholds.relevance.unwrap_or(header.relevance_threshold);
    let saddle = thresholds.saddle.map(|saddle| saddle * header.unit).or(header.saddle_threshold);
    let mass = match thresholds.mass {
        None => header.mass_threshold,
        Some(0.0) => 0.0,
        Some(mass) => mass * header.mass_unit.ok_or(RecutError::NoMassUnit)?,
    };
    if let Some(saddle) = saddle.filter(|s| *s < header.density_threshold) {
        let density = header.density_threshold / header.unit;
        return Err(RecutError::SaddleBelowDensity { saddle: saddle / header.unit, density });
    }
    let peaks = read_tree(stored, &header)?;
    let cut = Cut { density: header.density_threshold, relevance, saddle };
    let found = structures(&peaks, &cut, mass, header.rules, &Comm::solo())?;
    let mut attributes = stored.attributes.clone();
    let changed = [
        ("relevance_threshold", Attribute::Real(relevance)),
        ("saddle_threshold", Attribute::Real(saddle.unwrap_or(0.0))),
        ("mass_threshold", Attribute::Real(mass)),
        ("n_clumps", Attribute::Int(found.clumps.len() as i64)),
        ("n_haloes", Attribute::Int(found.haloes.len() as i64)),
        ("n_levels", Attribute::Int(found.max_level as i64)),
    ];
    for (name, value) in changed {
        if let Some(slot) = attributes.iter_mut().find(|(n, _)| n == name) {
            slot.1 = value;
        }
    }
    let mut tables = vec![
        clumps_table(&found.clumps, peaks.momenta.is_some()),
        haloes_table(&found.haloes, peaks.momenta.is_some()),
        tree_table(&peaks, &found.peak_rank),
    ];
    if !peaks.ties.is_empty() {
        tables.push(ties_table(&peaks.ties));
    }
    Ok(Catalogue { attributes, tables })
}
