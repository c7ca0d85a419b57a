//! Sends rows to the ranks that will hold them.
//!
//! Each rank gets consecutive rows, its *share*, so that one rank makes each chunk of the file once. A
//! compressed chunk that is rewritten would leave a hole in the file.

use super::{PartTable, RowRun};
use crate::catalogue::checksum::bytes_of;
use crate::catalogue::{Table, TableColumn, Values};
use bytemuck::cast_slice_mut;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::agree::agree_on;

/// Bytes of a share that are sent at a time, unless a column has more.
const ROUND: u64 = 1 << 24;

/// Row ranges to send: by rank, the first row and number of each, and their local positions.
type Outgoing = BTreeMap<u32, (Vec<[u64; 2]>, Vec<Range<usize>>)>;
/// Received row ranges and their senders, in the order of the rows.
type Incoming = Vec<(Rank, Vec<[u64; 2]>)>;

/// Whether `runs` are the rows of `range`, in order.
pub fn are_exactly(runs: &[RowRun], range: Range<u64>) -> bool {
    let mut next = range.start;
    let follows = |run: &RowRun| {
        let fits = run.first == next || run.n == 0;
        next += if fits { run.n as u64 } else { 0 };
        fits
    };
    runs.iter().all(follows) && next == range.end
}

/// Checks that the runs have the length of the local table and lie within the whole one.
pub fn check_runs(part: &PartTable) -> Result<(), String> {
    let (name, n_here) = (&part.table.name, part.table.n_rows());
    let n = part.runs.iter().fold(0usize, |n, run| n.saturating_add(run.n));
    // A table without columns has no rows to count.
    if n != n_here && !part.table.columns.is_empty() {
        return Err(format!("{name} has {n_here} rows here, and runs of {n}"));
    }
    let beyond = |run: &&RowRun| run.first.checked_add(run.n as u64).is_none_or(|end| end > part.n_rows);
    match part.runs.iter().find(beyond) {
        Some(run) => {
            let RowRun { first, n } = run;
            Err(format!("{name} has a run of {n} rows from row {first}, and {} rows in all", part.n_rows))
        }
        None => Ok(()),
    }
}

/// Collective: the first row and the rows of this rank's share. The shares of `rows_each` rows belong to the
/// ranks from `first` on; ranks before it have none. Borrowed if all ranks hold their shares already.
///
/// # Errors
/// A row occurs twice or not at all, or a rank fails.
pub fn share<'a>(
    part: &'a PartTable,
    rows_each: u64,
    first: Rank,
    comm: &Comm,
) -> Result<(u64, Cow<'a, Table>), CommError> {
    let range = match comm.rank().0.checked_sub(first.0) {
        Some(share) => {
            let start = u64::from(share).saturating_mul(rows_each).min(part.n_rows);
            start..start.saturating_add(rows_each).min(part.n_rows)
        }
        None => 0..0,
    };
    let start = range.start;
    let is_here = u64::from(are_exactly(&part.runs, range.clone()));
    if comm.all_reduce_counts(&[is_here], Reduce::Min)? == [1] {
        return Ok((start, Cow::Borrowed(&part.table)));
    }
    let outgoing = cut(&part.runs, rows_each, first);
    let ranges = outgoing.iter().map(|(rank, (ranges, _))| (Rank(*rank), ranges.clone()));
    let incoming = comm.exchange(ranges.collect())?;
    agree_on(comm, check_tiling(&part.table, &incoming, &range))?;
    let n = (range.end - range.start) as usize;
    let column = |column: &TableColumn| TableColumn {
        name: column.name.clone(),
        dimension: column.dimension,
        description: column.description.clone(),
        values: zeros(&column.values, n),
    };
    let columns = &part.table.columns;
    let mut table = Table { name: part.table.name.clone(), columns: columns.iter().map(column).collect() };
    for batch in batches(columns, rows_each) {
        let message = |(rank, (_, places)): (&u32, &(_, Vec<_>))| {
            (Rank(*rank), packed(&columns[batch.clone()], places))
        };
        let received = comm.exchange(outgoing.iter().map(message).collect())?;
        unpack(&mut table.columns[batch.clone()], &incoming, &range, &received)?;
    }
    Ok((start, Cow::Owned(table)))
}

/// Cuts runs where shares end.
fn cut(runs: &[RowRun], rows_each: u64, first_rank: Rank) -> Outgoing {
    let mut outgoing = Outgoing::new();
    let mut here = 0;
    for run in runs {
        let (mut first, end) = (run.first, run.first + run.n as u64);
        while first < end {
            let rank = first / rows_each;
            let n = ((rank + 1) * rows_each).min(end) - first;
            let (ranges, places) = outgoing.entry(first_rank.0 + rank as u32).or_default();
            ranges.push([first, n]);
            places.push(here..here + n as usize);
            here += n as usize;
            first += n;
        }
    }
    outgoing
}

/// Checks that the received ranges have each row of `range` once.
fn check_tiling(table: &Table, incoming: &Incoming, range: &Range<u64>) -> Result<(), String> {
    let mut all: Vec<[u64; 2]> = incoming.iter().flat_map(|(_, ranges)| ranges).copied().collect();
    all.sort_unstable();
    let mut next = range.start;
    for [first, n] in all.into_iter().chain([[range.end, 0]]) {
        if first != next {
            let (row, what) = if first > next { (next, "no rank") } else { (first, "more than one rank") };
            return Err(format!("row {row} of {} is held by {what}", table.name));
        }
        next += n;
    }
    Ok(())
}

/// Columns that are sent together: as many as fit into [`ROUND`] on a rank, at least one.
fn batches(columns: &[TableColumn], rows_each: u64) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (i, column) in columns.iter().enumerate() {
        let size = rows_each.saturating_mul(width(&column.values) as u64);
        match batches.last_mut() {
            Some(last) if size.saturating_add(bytes) <= ROUND => last.end = i + 1,
            _ => {
                batches.push(i..i + 1);
                bytes = 0;
            }
        }
        bytes = size.saturating_add(bytes);
    }
    batches
}

/// Bytes of a row of these columns.
pub(super) fn row_width(columns: &[TableColumn]) -> usize {
    columns.iter().map(|column| width(&column.values)).sum()
}

/// Bytes of a row of one column.
pub(super) fn width(values: &Values) -> usize {
    let (_, size, per_row) = bytes_of(values);
    size * per_row
}

/// The bytes of the rows at `places`, column by column.
pub(super) fn packed(columns: &[TableColumn], places: &[Range<usize>]) -> Vec<u8> {
    let n: usize = places.iter().map(Range::len).sum();
    let mut message = Vec::with_capacity(n * row_width(columns));
    for column in columns {
        let (bytes, width) = (bytes_of(&column.values).0, width(&column.values));
        places.iter().for_each(|p| message.extend(&bytes[p.start * width..p.end * width]));
    }
    message
}

/// Stores received rows.
fn unpack(
    columns: &mut [TableColumn],
    incoming: &Incoming,
    range: &Range<u64>,
    received: &[(Rank, Vec<u8>)],
) -> Result<(), CommError> {
    let row = row_width(columns);
    for ((from, ranges), (sender, message)) in incoming.iter().zip(received) {
        let n = ranges.iter().map(|s| s[1] as usize).sum::<usize>();
        if (from, n * row) != (sender, message.len()) {
            let what = format!("{} bytes came from {sender} where {from} announced {n} rows", message.len());
            return Err(CommError::Mismatch { what });
        }
        let mut rest = message.as_slice();
        for column in &mut *columns {
            let width = width(&column.values);
            let share = bytes_of_mut(&mut column.values);
            for &[first, n] in ranges {
                let (these, others) = rest.split_at(n as usize * width);
                share[(first - range.start) as usize * width..][..these.len()].copy_from_slice(these);
                rest = others;
            }
        }
    }
    Ok(())
}

/// `n` rows of the same type.
pub(super) fn zeros(values: &Values, n: usize) -> Values {
    match values {
        Values::U8(_) => Values::U8(vec![0; n]),
        Values::U64(_) => Values::U64(vec![0; n]),
        Values::I64(_) => Values::I64(vec![0; n]),
        Values::F64(_) => Values::F64(vec![0.0; n]),
        Values::F32(_) => Values::F32(vec![0.0; n]),
        Values::F64x3(_) => Values::F64x3(vec![[0.0; 3]; n]),
        Values::U32x3(_) => Values::U32x3(vec![[0; 3]; n]),
    }
}

pub(super) fn bytes_of_mut(values: &mut Values) -> &mut [u8] {
    match values {
        Values::U8(v) => v,
        Values::U64(v) => cast_slice_mut(v),
        Values::I64(v) => cast_slice_mut(v),
        Values::F64(v) => cast_slice_mut(v),
        Values::F32(v) => cast_slice_mut(v),
        Values::F64x3(v) => cast_slice_mut(v),
        Values::U32x3(v) => cast_slice_mut(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Dimension;

    #[test]
    fn columns_travel_together_up_to_a_bound() {
        let column = |values| TableColumn {
            name: "c".into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values,
        };
        let columns: Vec<TableColumn> = (0..4).map(|_| column(Values::F64x3(vec![]))).collect();
        assert_eq!(batches(&columns, 1000).iter().map(Range::len).collect::<Vec<_>>(), [4]);
        assert_eq!(batches(&columns, ROUND / 24), [0..1, 1..2, 2..3, 3..4]);
        assert_eq!(batches(&columns, ROUND / 48), [0..2, 2..4]);
        assert_eq!(batches(&columns, u64::MAX), [0..1, 1..2, 2..3, 3..4]);
        assert!(batches(&[], 7).is_empty());
    }
}
