//! The rows that one rank reads.

use crate::progress::Observer;
use inselberg_comm::Comm;
use inselberg_comm::agree::share_of_rank;
use inselberg_io::ReadResult;
use inselberg_io::particles::{Columns, ParticleHeader, ParticleInput};
use std::ops::Range;

/// Consecutive rows of a species that one rank reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRange {
    /// The index of the species in [`ParticleHeader::species`].
    pub species: usize,
    /// The rows.
    pub rows: Range<u64>,
}

impl RowRange {
    /// Number of rows.
    pub fn n(&self) -> u64 {
        self.rows.end - self.rows.start
    }
}

/// The rows of each of these species that a rank reads: about as many as any other rank.
pub fn rows_of_rank(about: &ParticleHeader, species: &[usize], comm: &Comm) -> Vec<RowRange> {
    let rows_of = |species: usize| {
        let rows = share_of_rank(about.species[species].n, comm.rank(), comm.n_ranks());
        RowRange { species, rows }
    };
    species.iter().map(|species| rows_of(*species)).collect()
}

/// Number of rows of all ranges.
pub fn n_rows(ranges: &[RowRange]) -> u64 {
    ranges.iter().map(RowRange::n).sum()
}

/// Local: appends the rows of all ranges to the requested columns, in blocks of the size that the input
/// prefers.
///
/// # Errors
/// When the input cannot be read, or memory does not suffice.
pub fn read_rows(
    input: &dyn ParticleInput,
    ranges: &[RowRange],
    columns: &mut Columns,
    observer: &dyn Observer,
) -> ReadResult<()> {
    if let Some(first) = ranges.iter().find(|range| range.n() > 0) {
        let (path, _) = input.place_of(first.species, first.rows.start);
        columns.reserve(n_rows(ranges) as usize, &path)?;
    }
    ranges.iter().try_for_each(|range| read_range(input, range, columns, observer))
}

fn read_range(
    input: &dyn ParticleInput,
    range: &RowRange,
    columns: &mut Columns,
    observer: &dyn Observer,
) -> ReadResult<()> {
    let (mut first, block) = (range.rows.start, input.rows_at_a_time());
    while first < range.rows.end {
        let end = range.rows.end.min(first.saturating_add(block));
        input.read(range.species, first..end, columns)?;
        observer.advance(end - first);
        first = end;
    }
    Ok(())
}
