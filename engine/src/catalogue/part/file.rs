//! One file from many ranks.

use super::agree::{agree_on, same_everywhere};
use super::rows::{check_runs, share};
use super::{CataloguePart, PartError, PartTable};
use crate::catalogue::shape::check_tables;
use crate::catalogue::{PartFormat, Table, WriteResult, Writer, writer_for};
use crate::ranks::joint::{agree, hidden_name};
use crate::staging::{Pending, Staged, resolve, stage_path};
use inselberg_comm::{Comm, Rank};
use std::path::Path;

/// Collective: writes the catalogue of all ranks in the format that the ending of `path` asks for, whole or
/// not at all.
///
/// HDF5: rank 0 makes a hidden file, rows go to the ranks that write their chunks, these compress them, all at
/// once, and write them in turn, and rank 0 gives the file its name. Each rank needs room for its share of the
/// largest table again, twice at most; a table of up to 65536 rows is written by rank 0. All ranks must see the
/// folder of `path`. Other formats are gathered and written on rank 0, which needs room for the whole catalogue
/// again.
///
/// # Errors
/// The place cannot be written, the catalogue does not fit the format, or the parts do not make a whole, on
/// any rank: then all ranks get an error and `path` is as before. And when a rank is lost.
pub fn write_part(path: &Path, part: &CataloguePart, comm: &Comm) -> Result<(), PartError> {
    let staged = stage_part(path, part, comm)?;
    agree(comm, staged.commit())
}

/// Collective: as [`write_part`], but leaves the last step to rank 0, which gets the file: for files that belong
/// together.
///
/// # Errors
/// As [`write_part`].
pub fn stage_part(path: &Path, part: &CataloguePart, comm: &Comm) -> Result<Staged, PartError> {
    let tables: Vec<&Table> = part.tables.iter().map(|t| &t.table).collect();
    let writer = check_tables(path, &part.attributes, &tables).and_then(|()| writer_for(path));
    let writer = agree(comm, writer)?;
    same_everywhere(part, comm)?;
    agree_on(comm, part.tables.iter().try_for_each(check_runs))?;
    match writer.in_parts {
        Some(format) => in_turn(path, part, comm, &format),
        None => on_first(path, part, comm, writer),
    }
}

fn on_first(path: &Path, part: &CataloguePart, comm: &Comm, writer: &Writer) -> Result<Staged, PartError> {
    let whole = part.clone().gather(comm)?;
    let staged = whole.map(|catalogue| (writer.stage)(path, &catalogue)).transpose();
    Ok(agree(comm, staged)?.unwrap_or_default())
}

fn in_turn(path: &Path, part: &CataloguePart, comm: &Comm, format: &PartFormat) -> Result<Staged, PartError> {
    let tables: Vec<_> = part.tables.iter().map(|t| (&t.table, t.n_rows)).collect();
    let begin = || stage_path(path, |hidden| (format.begin)(path, hidden, &part.attributes, &tables));
    let is_first = comm.rank() == Rank(0);
    let pending = agree(comm, is_first.then(begin).transpose())?;
    let target = agree(comm, resolve(path))?;
    let hidden = hidden_name(&target, pending.as_ref().map(Pending::hidden), comm)?;
    for table in &part.tables {
        write_table(path, &hidden, table, comm, format)?;
    }
    let staged = pending.map(|pending| finish(path, pending, format)).transpose();
    Ok(agree(comm, staged)?.unwrap_or_default())
}

fn finish(path: &Path, pending: Pending, format: &PartFormat) -> WriteResult<Staged> {
    (format.finish)(path, pending.hidden())?;
    Ok(pending.synced()?.into())
}

fn write_table(
    path: &Path,
    hidden: &Path,
    part: &PartTable,
    comm: &Comm,
    format: &PartFormat,
) -> Result<(), PartError> {
    let rows_each = rows_each(part.n_rows, format.chunk as u64, comm.n_ranks() as u64);
    let (first, table) = share(part, rows_each, comm)?;
    let n_writers = part.n_rows.div_ceil(rows_each) as u32;
    let write = (format.ready)(&table, first, part.n_rows);
    take_turns(comm, n_writers, || write(path, hidden))
}

/// Rows of a share: whole chunks.
fn rows_each(n_rows: u64, chunk: u64, n_ranks: u64) -> u64 {
    n_rows.div_ceil(chunk).div_ceil(n_ranks).max(1) * chunk
}

/// Collective: the first `n_writers` ranks do `work` one after the other; after a failure nobody does.
fn take_turns(comm: &Comm, n_writers: u32, work: impl FnOnce() -> WriteResult<()>) -> Result<(), PartError> {
    let own = comm.rank().0;
    let (mut work, mut done, mut failed) = (Some(work), Ok(()), false);
    for turn in 0..n_writers {
        if own == turn && !failed {
            done = work.take().map_or(Ok(()), |work| work());
            failed = done.is_err();
        }
        // Ranks that hand nothing over make the call as well, which then ends at once.
        let next = Rank(turn + 1);
        let (neighbours, word) = match own {
            _ if turn + 1 == n_writers => (vec![], vec![]),
            own if own == turn => (vec![next], vec![(next, vec![u8::from(failed)])]),
            own if own == turn + 1 => (vec![Rank(turn)], vec![]),
            _ => (vec![], vec![]),
        };
        let came = comm.exchange_with(&neighbours, word)?;
        failed |= came.iter().any(|(_, word)| word.contains(&1));
    }
    agree(comm, done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_chunks_and_enough() {
        for (n_rows, n_ranks, expected) in
            [(0, 3, 10), (10, 3, 10), (11, 3, 10), (60, 3, 20), (61, 3, 30), (5, 8, 10)]
        {
            assert_eq!(rows_each(n_rows, 10, n_ranks), expected, "{n_rows} rows, {n_ranks} ranks");
        }
    }
}
