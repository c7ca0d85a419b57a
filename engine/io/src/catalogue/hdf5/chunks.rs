//! Chunks of large tables, compressed by all threads.
//!
//! The library would compress in one thread. This module makes the same chunks, shuffled bytes as a zlib stream, on all
//! threads. The library stores them unchanged, so every HDF5 reader can read them.

use crate::catalogue::checksum::{bytes_of, sum_of};
use crate::catalogue::{PackedRows, Values};
use flate2::{Compression, write::ZlibEncoder};
use rayon::prelude::*;
use std::io::Write;

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

/// The chunks of one column, `rows` rows each.
pub fn packed(values: &Values, rows: usize) -> Vec<PackedRows> {
    (0..values.len().div_ceil(rows))
        .into_par_iter()
        .map(|chunk| packed_chunk(values, chunk * rows, rows))
        .collect()
}

/// The chunk of `rows` rows of a column that begins at row `first`. The column may end before it.
pub fn packed_chunk(values: &Values, first: usize, rows: usize) -> PackedRows {
    let (bytes, size, per_row) = bytes_of(values);
    let row = per_row * size;
    let plain = &bytes[first * row..bytes.len().min((first + rows) * row)];
    let bytes = compressed(&shuffled(plain, size, rows * row));
    let sum = sum_of(&bytes).finalize();
    PackedRows { bytes, sum, values_sum: sum_of(plain).finalize(), values_bytes: plain.len() as u64 }
}

/// The first bytes of all numbers of `size` bytes, then the second ones, and so on; zeros fill a chunk up to `length`.
fn shuffled(numbers: &[u8], size: usize, length: usize) -> Vec<u8> {
    let mut shuffled = vec![0; length];
    for (i, bytes) in shuffled.chunks_exact_mut(length / size).enumerate() {
        bytes.iter_mut().zip(numbers.chunks_exact(size)).for_each(|(byte, number)| *byte = number[i]);
    }
    shuffled
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(GZIP.into()));
    let all = encoder.write_all(bytes).and_then(|()| encoder.finish());
    all.expect("a vector takes all bytes")
}
