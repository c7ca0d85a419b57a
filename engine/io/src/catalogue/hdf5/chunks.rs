//! Chunks of large tables, compressed by all threads.
//!
//! The library would compress in one thread. This module makes the same chunks, shuffled bytes as a zlib stream, on all
//! threads. The library stores them unchanged, so every HDF5 reader can read them.

use crate::catalogue::checksum::{bytes_of, sum_of};
use crate::catalogue::{Advance, PackedColumns, PackedRows, Table, Values};
use flate2::{Compression, write::ZlibEncoder};
use rayon::prelude::*;
use std::io::{Result, Write};

/// Rows above which a table is compressed.
const LARGE: usize = 1 << 14;
/// Rows per chunk of a large table.
pub const CHUNK: usize = 1 << 16;
/// The cheapest level of gzip: shuffled columns gain little from more.
pub const GZIP: u8 = 1;

/// Rows per chunk for a table of `n_rows`; `None` if its values are stored plain.
pub fn rows_a_chunk(n_rows: usize) -> Option<usize> {
    (n_rows > LARGE).then(|| CHUNK.min(n_rows))
}

/// The chunks of each column, `rows` rows each. The rows begin at a chunk and end at a chunk or at the end of the table. `done` hears
/// the bytes of values of each chunk.
pub fn packed(table: &Table, rows: usize, done: Advance) -> Result<PackedColumns> {
    table.columns.par_iter().map(|column| packed_values(&column.values, rows, done)).collect()
}

/// The chunks of one column.
pub fn packed_values(values: &Values, rows: usize, done: Advance) -> Result<Vec<PackedRows>> {
    let (bytes, size, per_row) = bytes_of(values);
    let length = rows * per_row * size;
    let chunk = |chunk: &[u8]| {
        let packed = pack(chunk, size, length)?;
        done(chunk.len() as u64);
        Ok(packed)
    };
    bytes.par_chunks(length).map(chunk).collect()
}

fn pack(rows: &[u8], size: usize, length: usize) -> Result<PackedRows> {
    let bytes = compressed(&shuffled(rows, size, length))?;
    let sum = sum_of(&bytes).finalize();
    Ok(PackedRows { bytes, sum, values_sum: sum_of(rows).finalize(), values_bytes: rows.len() as u64 })
}

/// The first bytes of all numbers of `size` bytes, then the second ones, and so on; zeros fill a chunk up to `length`.
fn shuffled(numbers: &[u8], size: usize, length: usize) -> Vec<u8> {
    let mut shuffled = vec![0; length];
    for (i, bytes) in shuffled.chunks_exact_mut(length / size).enumerate() {
        bytes.iter_mut().zip(numbers.chunks_exact(size)).for_each(|(byte, number)| *byte = number[i]);
    }
    shuffled
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(GZIP.into()));
    encoder.write_all(bytes)?;
    encoder.finish()
}
