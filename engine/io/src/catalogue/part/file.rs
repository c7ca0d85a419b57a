//! One file from many ranks.

use super::agree::{agree_on, same_everywhere};
use super::rows::{check_runs, share};
use super::stream::{ChunkPosition, ChunkStream, row_bytes};
use super::{CataloguePart, PartError, PartTable};
use crate::catalogue::shape::check_tables;
use crate::catalogue::{
    Advance, Format, PackedRows, PartFormat, PartWriter, Table, WriteError, WriteResult, writer_for,
};
use crate::staging::{BackgroundSync, Pending, Staged, stage_path};
use inselberg_comm::agree::agree;
use inselberg_comm::{Comm, Rank};
use rayon::prelude::*;
use std::path::Path;

/// Collective: writes the catalogue of all ranks in the format for the ending of `path`, completely or not at
/// all.
///
/// HDF5: only rank 0 opens a hidden file. Rows first go to the ranks that compress their chunks. Compressed
/// chunks then go to rank 0 in rounds; it writes them in a fixed order, so the file is equal for any number
/// of ranks. Each rank needs memory for one more copy of its share of the largest table, and rank 0 for two
/// rounds (64 MB each) as well. Rank 0 compresses tables of up to 65536 rows alone. While a round is written
/// and flushed, the next one is compressed.
///
/// Other formats are gathered and written on rank 0, which needs memory for the whole catalogue.
///
/// # Errors
/// On any rank the place cannot be written, the catalogue does not fit the format, the parts do not form a
/// whole, or a rank is lost. All ranks then get an error, and `path` is unchanged.
pub fn write_part(path: &Path, part: &CataloguePart, comm: &Comm) -> Result<(), PartError> {
    let staged = stage_part(path, part, comm, &|_| ())?;
    agree(comm, staged.commit())
}

/// Local: the bytes of values that rank 0 prepares for the file; 0 for a format that rank 0 writes alone.
pub fn bytes_of_first(path: &Path, part: &CataloguePart, n_ranks: usize) -> u64 {
    let Some(format) = writer_for(path).ok().and_then(|writer| writer.in_parts) else { return 0 };
    let bytes = |table: &PartTable| {
        let n_rows = table.n_rows.min(rows_each(table.n_rows, format.chunk as u64, n_ranks as u64));
        n_rows * row_bytes(&table.table).iter().sum::<u64>()
    };
    part.tables.iter().map(bytes).sum()
}

/// Collective: as [`write_part`], but rank 0 gets the staged file and commits it: for files that belong
/// together. `done` is called with the bytes that this rank prepares; on rank 0 they add up to
/// [`bytes_of_first`].
///
/// # Errors
/// As [`write_part`].
pub fn stage_part(
    path: &Path,
    part: &CataloguePart,
    comm: &Comm,
    done: Advance,
) -> Result<Staged, PartError> {
    let tables: Vec<&Table> = part.tables.iter().map(|t| &t.table).collect();
    let writer = check_tables(path, &part.attributes, &tables).and_then(|()| writer_for(path));
    let writer = agree(comm, writer)?;
    same_everywhere(part, comm)?;
    agree_on(comm, part.tables.iter().try_for_each(check_runs))?;
    match writer.in_parts {
        Some(format) => through_first(path, part, comm, &format, done),
        None => on_first(path, part, comm, writer),
    }
}

fn on_first(path: &Path, part: &CataloguePart, comm: &Comm, writer: &Format) -> Result<Staged, PartError> {
    let whole = part.clone().gather(comm)?;
    let staged = whole.map(|catalogue| (writer.stage)(path, &catalogue)).transpose();
    // Only rank 0 has the file.
    Ok(agree(comm, staged)?.unwrap_or_default())
}

fn through_first(
    path: &Path,
    part: &CataloguePart,
    comm: &Comm,
    format: &PartFormat,
    done: Advance,
) -> Result<Staged, PartError> {
    let is_first = comm.rank() == Rank(0);
    let mut open = agree(comm, is_first.then(|| OpenPart::new(path, part, format)).transpose())?;
    for (t, table) in part.tables.iter().enumerate() {
        write_table((t, table), open.as_mut(), comm, format, done)?;
    }
    // Only rank 0 has the file.
    Ok(agree(comm, open.map(|open| open.finish(path)).transpose())?.unwrap_or_default())
}

/// The file on rank 0.
struct OpenPart {
    pending: Pending,
    /// The writer, or its error: then data from other ranks are dropped.
    writer: WriteResult<Box<dyn PartWriter>>,
    /// Begins with the first round that is followed by others. `None` if that fails: everything is then
    /// flushed at the end.
    flushing: Option<BackgroundSync>,
}

impl OpenPart {
    fn new(path: &Path, part: &CataloguePart, format: &PartFormat) -> WriteResult<Self> {
        let tables: Vec<_> = part.tables.iter().map(|t| (&t.table, t.n_rows)).collect();
        let mut writer = None;
        let pending = stage_path(path, |hidden| {
            writer = Some((format.create)(path, hidden, &part.attributes, &tables)?);
            Ok(())
        })?;
        Ok(Self { pending, writer: Ok(writer.expect("it was made")), flushing: None })
    }

    fn put(&mut self, put: impl FnOnce(&mut dyn PartWriter) -> WriteResult<()>) {
        if let Ok(writer) = &mut self.writer
            && let Err(error) = put(writer.as_mut())
        {
            self.writer = Err(error);
        }
    }

    /// Flushes written data to the disk while more is prepared.
    fn flush_soon(&mut self) {
        if self.flushing.is_none() {
            self.flushing = BackgroundSync::new(self.pending.hidden()).ok();
        }
        self.flushing.iter().for_each(BackgroundSync::wake);
    }

    fn finish(self, path: &Path) -> WriteResult<Staged> {
        self.writer?.finish()?;
        if let Some(flushing) = self.flushing {
            flushing.finish().map_err(WriteError::io(path, "flushing to disk"))?;
        }
        Ok(self.pending.synced()?.into())
    }
}

/// Collective: writes the rows of a table into the file.
fn write_table(
    (t, part): (usize, &PartTable),
    mut open: Option<&mut OpenPart>,
    comm: &Comm,
    format: &PartFormat,
    done: Advance,
) -> Result<(), PartError> {
    let rows_each = rows_each(part.n_rows, format.chunk as u64, comm.n_ranks() as u64);
    let (start, rows) = share(part, rows_each, Rank(0), comm)?;
    let Some(chunk) = (format.rows_a_chunk)(part.n_rows as usize) else {
        if let Some(open) = open {
            open.put(|writer| writer.put_table(t, &rows));
            done(part.n_rows * row_bytes(&part.table).iter().sum::<u64>());
        }
        return Ok(());
    };
    let stream = ChunkStream::new(&part.table, part.n_rows, chunk as u64, rows_each);
    let pack = |batch: &[ChunkPosition]| -> Vec<PackedRows> {
        let own: Vec<_> = batch.iter().filter(|place| stream.owner(place) == comm.rank()).collect();
        let of_place = |place: &&ChunkPosition| {
            let first = place.chunk * chunk as u64 - start;
            let packed = (format.pack)(&rows.columns[place.column].values, first as usize, chunk);
            done(packed.values_bytes);
            packed
        };
        own.par_iter().map(of_place).collect()
    };
    // While a round is written, the next one is compressed.
    let mut batches = stream.batches();
    let mut batch = batches.next().unwrap_or_default();
    let mut packed = pack(&batch);
    while !batch.is_empty() {
        let received = stream.to_first(&batch, packed, comm)?;
        let next = batches.next().unwrap_or_default();
        let write = || {
            let Some(open) = &mut open else { return };
            for (place, rows) in batch.iter().zip(&received) {
                open.put(|writer| writer.put_rows(t, place.column, place.chunk * chunk as u64, rows));
            }
            if !next.is_empty() {
                open.flush_soon();
            }
        };
        packed = rayon::join(|| pack(&next), write).0;
        batch = next;
    }
    Ok(())
}

/// Rows per share: whole chunks.
fn rows_each(n_rows: u64, chunk: u64, n_ranks: u64) -> u64 {
    n_rows.div_ceil(chunk).div_ceil(n_ranks).max(1) * chunk
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

    /// On rank 0 the reported bytes are those announced, for a large table and a small one.
    #[test]
    #[cfg(feature = "hdf5")]
    fn the_bytes_of_the_first_rank_add_up() {
        use crate::catalogue::{Dimension, RowRun, TableColumn, Values};
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.hdf5");
        let part_of = |name: &str, first: u64, n: usize, n_rows: u64| {
            let column = |name: &str, values| TableColumn {
                name: name.into(),
                dimension: Dimension::NONE,
                description: String::new(),
                values,
            };
            let columns = vec![
                column("id", Values::U64(vec![first; n])),
                column("place", Values::F64x3(vec![[0.5; 3]; n])),
            ];
            let runs = if n > 0 { vec![RowRun { first, n }] } else { Vec::new() };
            PartTable { table: Table { name: name.into(), columns }, runs, n_rows }
        };
        for n_ranks in [1, 3] {
            let heard = inselberg_comm::run_threads(n_ranks, |comm| {
                let rank = u64::from(comm.rank().0);
                let large = part_of("tree", rank * 90_000, 90_000, 90_000 * n_ranks as u64);
                let small = part_of("clumps", 0, if rank == 0 { 10 } else { 0 }, 10);
                let part = CataloguePart { attributes: Vec::new(), tables: vec![small, large] };
                let heard = AtomicU64::new(0);
                let staged = stage_part(&path, &part, comm, &|bytes| {
                    heard.fetch_add(bytes, Relaxed);
                });
                drop(staged.expect("staged"));
                (heard.into_inner(), bytes_of_first(&path, &part, n_ranks))
            });
            let (heard, announced) = heard.expect("no panic")[0];
            assert_eq!(heard, announced, "{n_ranks} ranks");
            assert!(heard > 32 * 65_536, "{heard}");
        }
    }
}
