//! Sends compressed chunks to rank 0 in the order of writing: column by column, chunk by chunk. The size of a
//! table determines on all ranks the owner of each chunk and the chunks of each round.

use crate::catalogue::checksum::bytes_of;
use crate::catalogue::{PackedRows, Table};
use inselberg_comm::{Comm, CommError, Rank};
use std::collections::HashMap;

/// Bytes of values per round, the most that rank 0 holds of other ranks.
const ROUND: u64 = 1 << 26;
/// Bytes of the header of a chunk.
const HEADER: usize = 24;

/// A chunk of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPosition {
    /// Its column.
    pub column: usize,
    /// Its number in the column.
    pub chunk: u64,
}

/// The chunks of a table.
#[derive(Debug)]
pub struct ChunkStream {
    /// Bytes of a row, by column.
    widths: Vec<u64>,
    n_rows: u64,
    rows_a_chunk: u64,
    /// Rows of a rank's share.
    rows_each: u64,
}

/// Bytes of a row, by column.
pub fn row_bytes(table: &Table) -> Vec<u64> {
    let width = |(_, size, per_row): (&[u8], usize, usize)| (size * per_row) as u64;
    table.columns.iter().map(|column| width(bytes_of(&column.values))).collect()
}

impl ChunkStream {
    /// Those of a table with the columns of `table`.
    pub fn new(table: &Table, n_rows: u64, rows_a_chunk: u64, rows_each: u64) -> Self {
        Self { widths: row_bytes(table), n_rows, rows_a_chunk, rows_each }
    }

    /// The rounds of messages.
    pub fn batches(&self) -> impl Iterator<Item = Vec<ChunkPosition>> + '_ {
        let n_chunks = self.n_rows.div_ceil(self.rows_a_chunk);
        let columns = 0..self.widths.len();
        let mut places = columns
            .flat_map(move |column| (0..n_chunks).map(move |chunk| ChunkPosition { column, chunk }))
            .peekable();
        std::iter::from_fn(move || {
            let mut batch = vec![places.next()?];
            let size = |place: &ChunkPosition| self.widths[place.column] * self.rows_a_chunk;
            let mut bytes = size(&batch[0]);
            while let Some(place) = places.next_if(|place| bytes + size(place) <= ROUND) {
                bytes += size(&place);
                batch.push(place);
            }
            Some(batch)
        })
    }

    /// The rank that prepares a chunk.
    pub fn owner(&self, place: &ChunkPosition) -> Rank {
        Rank((place.chunk * self.rows_a_chunk / self.rows_each) as u32)
    }

    /// Collective: brings the chunks of a round to rank 0. `own` are those of this rank. Returns all chunks
    /// on rank 0 and none elsewhere, in the order of the round. One exchange if other ranks have any.
    pub fn to_first(
        &self,
        batch: &[ChunkPosition],
        own: Vec<PackedRows>,
        comm: &Comm,
    ) -> Result<Vec<PackedRows>, CommError> {
        if batch.iter().all(|place| self.owner(place) == Rank(0)) {
            return Ok(own);
        }
        if comm.rank() != Rank(0) {
            let mut message = Vec::new();
            own.iter().for_each(|rows| put(&mut message, rows));
            return comm.exchange(vec![(Rank(0), message)]).map(|_| Vec::new());
        }
        let received = comm.exchange::<u8>(Vec::new())?;
        let mut received: HashMap<Rank, &[u8]> =
            received.iter().map(|(from, bytes)| (*from, bytes.as_slice())).collect();
        let mut own = own.into_iter();
        let next = |place: &ChunkPosition| {
            let owner = self.owner(place);
            let chunk = match owner {
                Rank(0) => own.next(),
                _ => received.get_mut(&owner).and_then(take),
            };
            chunk.ok_or_else(|| CommError::Mismatch { what: format!("a chunk of {owner} did not come") })
        };
        batch.iter().map(next).collect()
    }
}

fn put(message: &mut Vec<u8>, rows: &PackedRows) {
    message.extend((rows.bytes.len() as u64).to_ne_bytes());
    message.extend(rows.values_bytes.to_ne_bytes());
    message.extend(rows.sum.to_ne_bytes());
    message.extend(rows.values_sum.to_ne_bytes());
    message.extend(&rows.bytes);
}

/// The next chunk of a message.
fn take(message: &mut &[u8]) -> Option<PackedRows> {
    let (header, rest) = message.split_first_chunk::<HEADER>()?;
    let ([length, values_bytes], sums) = (
        [0, 8].map(|at| u64::from_ne_bytes(std::array::from_fn(|i| header[at + i]))),
        [16, 20].map(|at| u32::from_ne_bytes(std::array::from_fn(|i| header[at + i]))),
    );
    let (bytes, rest) = rest.split_at_checked(length as usize)?;
    *message = rest;
    Some(PackedRows { bytes: bytes.to_vec(), sum: sums[0], values_sum: sums[1], values_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Dimension, TableColumn, Values};

    #[test]
    fn rounds_hold_every_chunk_once_in_order_and_are_bounded() {
        let column = |values| TableColumn {
            name: "c".into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values,
        };
        let columns = vec![column(Values::F64x3(vec![])), column(Values::U8(vec![]))];
        let stream = ChunkStream::new(&Table { name: "t".into(), columns }, 10_000_001, 65_536, 131_072);
        let batches: Vec<Vec<ChunkPosition>> = stream.batches().collect();
        let bytes =
            |batch: &Vec<ChunkPosition>| batch.iter().map(|p| stream.widths[p.column] * 65_536).sum::<u64>();
        assert!(batches.iter().all(|batch| bytes(batch) <= ROUND) && batches.len() > 3);
        let expected = (0..2).flat_map(|column| (0..153).map(move |chunk| ChunkPosition { column, chunk }));
        assert_eq!(batches.concat(), expected.collect::<Vec<_>>());
        assert_eq!(stream.owner(&ChunkPosition { column: 1, chunk: 5 }), Rank(2));
    }

    #[test]
    fn chunks_come_out_of_a_message_as_they_went_in() {
        let rows = |n: u8| PackedRows { bytes: vec![n; n.into()], sum: 7, values_sum: 9, values_bytes: 100 };
        let mut message = Vec::new();
        put(&mut message, &rows(3));
        put(&mut message, &rows(0));
        let mut left = message.as_slice();
        assert_eq!([take(&mut left), take(&mut left), take(&mut left)], [Some(rows(3)), Some(rows(0)), None]);
    }
}
