//! Rows to the ranks that are to hold them.
//!
//! Each rank gets one stretch of consecutive rows, its *share*, so that a chunk of a file is made by one
//! rank, once: chunks are compressed, and one that is written again leaves a hole in the file.

use super::{PartTable, Run};
use crate::catalogue::{Column, Table, Values};
use inselberg_comm::{Comm, CommError, Pod, Rank, Reduce};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::agree::agree_on;

/// What stretches of rows go where: by rank, first row and number of each, and where they lie here.
type Outgoing = BTreeMap<u32, (Vec<[u64; 2]>, Vec<Range<usize>>)>;
/// What stretches came from whom, in the order of their rows.
type Incoming = Vec<(Rank, Vec<[u64; 2]>)>;

/// Whether `runs` are the rows of `range`, in order.
pub fn are_exactly(runs: &[Run], range: Range<u64>) -> bool {
    let mut next = range.start;
    let follows = |run: &Run| {
        let fits = run.first == next || run.n == 0;
        next += if fits { run.n as u64 } else { 0 };
        fits
    };
    runs.iter().all(follows) && next == range.end
}

/// That the runs are as long as the table and within the whole one.
pub fn check_runs(part: &PartTable) -> Result<(), String> {
    let (name, n_here) = (&part.table.name, part.table.n_rows());
    let n = part.runs.iter().fold(0usize, |n, run| n.saturating_add(run.n));
    // A table without columns has no rows to count.
    if n != n_here && !part.table.columns.is_empty() {
        return Err(format!("{name} has {n_here} rows here, and runs of {n}"));
    }
    let beyond = |run: &&Run| run.first.checked_add(run.n as u64).is_none_or(|end| end > part.n_rows);
    match part.runs.iter().find(beyond) {
        Some(run) => {
            let Run { first, n } = run;
            Err(format!("{name} has a run of {n} rows from row {first}, and {} rows in all", part.n_rows))
        }
        None => Ok(()),
    }
}

/// Collective: the share of this rank, which is rank times `rows_each` rows and the next `rows_each` of the
/// whole table, and its first row. Borrowed where all ranks hold their shares already.
///
/// # Errors
/// A row is there twice or not at all, or a rank fails.
pub fn share<'a>(
    part: &'a PartTable,
    rows_each: u64,
    comm: &Comm,
) -> Result<(u64, Cow<'a, Table>), CommError> {
    let start = u64::from(comm.rank().0).saturating_mul(rows_each).min(part.n_rows);
    let range = start..start.saturating_add(rows_each).min(part.n_rows);
    let is_here = u64::from(are_exactly(&part.runs, range.clone()));
    if comm.all_reduce_counts(&[is_here], Reduce::Min)? == [1] {
        return Ok((start, Cow::Borrowed(&part.table)));
    }
    let outgoing = cut(&part.runs, rows_each);
    let stretches = outgoing.iter().map(|(rank, (stretches, _))| (Rank(*rank), stretches.clone()));
    let incoming = comm.exchange(stretches.collect())?;
    agree_on(comm, check_tiling(&part.table, &incoming, &range))?;
    let mut table = Table { name: part.table.name.clone(), columns: Vec::new() };
    for column in &part.table.columns {
        let values = move_values(&column.values, &outgoing, &incoming, &range, comm)?;
        let (name, description) = (column.name.clone(), column.description.clone());
        table.columns.push(Column { name, dimension: column.dimension, description, values });
    }
    Ok((start, Cow::Owned(table)))
}

/// Cuts runs where shares end.
fn cut(runs: &[Run], rows_each: u64) -> Outgoing {
    let mut outgoing = Outgoing::new();
    let mut here = 0;
    for run in runs {
        let (mut first, end) = (run.first, run.first + run.n as u64);
        while first < end {
            let rank = first / rows_each;
            let n = ((rank + 1) * rows_each).min(end) - first;
            let (stretches, places) = outgoing.entry(rank as u32).or_default();
            stretches.push([first, n]);
            places.push(here..here + n as usize);
            here += n as usize;
            first += n;
        }
    }
    outgoing
}

/// That what comes is each row of `range` once.
fn check_tiling(table: &Table, incoming: &Incoming, range: &Range<u64>) -> Result<(), String> {
    let mut all: Vec<[u64; 2]> = incoming.iter().flat_map(|(_, stretches)| stretches).copied().collect();
    all.sort_unstable();
    let mut next = range.start;
    for [first, n] in all.into_iter().chain([[range.end, 0]]) {
        if first != next {
            let (row, what) = if first > next { (next, "nobody") } else { (first, "more than one rank") };
            return Err(format!("row {row} of {} is held by {what}", table.name));
        }
        next += n;
    }
    Ok(())
}

fn move_values(
    values: &Values,
    outgoing: &Outgoing,
    incoming: &Incoming,
    range: &Range<u64>,
    comm: &Comm,
) -> Result<Values, CommError> {
    Ok(match values {
        Values::U8(v) => Values::U8(move_rows(v, outgoing, incoming, range, comm)?),
        Values::U64(v) => Values::U64(move_rows(v, outgoing, incoming, range, comm)?),
        Values::I64(v) => Values::I64(move_rows(v, outgoing, incoming, range, comm)?),
        Values::F64(v) => Values::F64(move_rows(v, outgoing, incoming, range, comm)?),
        Values::F32(v) => Values::F32(move_rows(v, outgoing, incoming, range, comm)?),
        Values::F64x3(v) => Values::F64x3(move_rows(v, outgoing, incoming, range, comm)?),
        Values::U32x3(v) => Values::U32x3(move_rows(v, outgoing, incoming, range, comm)?),
    })
}

fn move_rows<T: Pod>(
    values: &[T],
    outgoing: &Outgoing,
    incoming: &Incoming,
    range: &Range<u64>,
    comm: &Comm,
) -> Result<Vec<T>, CommError> {
    let rows_for =
        |places: &[Range<usize>]| places.iter().flat_map(|p| &values[p.clone()]).copied().collect();
    let parts = outgoing.iter().map(|(rank, (_, places))| (Rank(*rank), rows_for(places)));
    let came: Vec<(Rank, Vec<T>)> = comm.exchange(parts.collect())?;
    let mut share = vec![T::zeroed(); (range.end - range.start) as usize];
    for ((_, stretches), (from, rows)) in incoming.iter().zip(came) {
        let n: u64 = stretches.iter().map(|s| s[1]).sum();
        if n != rows.len() as u64 {
            let what = format!("{} rows came from {from} where {n} were announced", rows.len());
            return Err(CommError::Mismatch { what });
        }
        let mut rows = rows.as_slice();
        for &[first, n] in stretches {
            let (these, rest) = rows.split_at(n as usize);
            share[(first - range.start) as usize..][..n as usize].copy_from_slice(these);
            rows = rest;
        }
    }
    Ok(share)
}
