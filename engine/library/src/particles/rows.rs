//! The rows that one rank reads.

use crate::progress::Observer;
use inselberg_comm::Comm;
use inselberg_comm::agree::share_of_rank;
use inselberg_io::ReadResult;
use inselberg_io::particles::{Columns, ParticleInput};
use rayon::prelude::*;
use std::ops::Range;

/// Consecutive rows of a species that one rank reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRange {
    /// The index of the species in
    /// [`ParticleHeader::species`](inselberg_io::particles::ParticleHeader::species).
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

/// The rows of each of these species that a rank reads: those in its memory, or about as many as any other
/// rank.
///
/// # Panics
/// Where rows are in memory: for another number of ranks than they are on.
pub fn rows_of_rank(input: &dyn ParticleInput, species: &[usize], comm: &Comm) -> Vec<RowRange> {
    let (rank, n_ranks) = (comm.rank(), comm.n_ranks());
    let rows_of = |species: usize| {
        let rows = match input.first_rows() {
            Some(first) => {
                assert_eq!(first.len(), n_ranks + 1, "particles in the memory of other ranks");
                first[rank.at()]..first[rank.at() + 1]
            }
            None => share_of_rank(input.about().species[species].n, rank, n_ranks),
        };
        RowRange { species, rows }
    };
    species.iter().map(|species| rows_of(*species)).collect()
}

/// Number of rows of all ranges.
pub fn n_rows(ranges: &[RowRange]) -> u64 {
    ranges.iter().map(RowRange::n).sum()
}

/// Local: appends the rows of all ranges to the requested columns, in runs that the input prefers. All
/// threads read.
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
    let runs = input.runs(range.species, range.rows.clone());
    if let [rows] = &runs[..] {
        input.read(range.species, rows.clone(), columns)?;
        observer.advance(range.n());
        return Ok(());
    }
    // So many at a time that no thread waits, and that what waits to be appended stays small.
    for runs in runs.chunks(4 * rayon::current_num_threads()) {
        let read = |rows: &Range<u64>| {
            let mut block = columns.without_rows();
            input.read(range.species, rows.clone(), &mut block)?;
            observer.advance(rows.end - rows.start);
            Ok(block)
        };
        let blocks: Vec<ReadResult<Columns>> = runs.par_iter().with_max_len(1).map(read).collect();
        blocks.into_iter().try_for_each(|block| block.map(|block| columns.append(&block)))?;
    }
    Ok(())
}
