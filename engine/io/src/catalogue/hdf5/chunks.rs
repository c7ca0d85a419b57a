//! Chunks of large tables, compressed by all threads.
//!
//! The library would compress in one thread. This module makes such chunks, shuffled bytes as a zlib stream,
//! on all threads. The library stores them unchanged, so every HDF5 reader can read them.
//!
//! The shuffled bytes of a chunk are *planes*: the first bytes of all numbers, then the second ones, and so
//! on. The low bytes of reals are noise. Compressing such a plane is slow and makes it longer, so it is
//! stored uncompressed in the stream.

use crate::catalogue::checksum::{bytes_of, sum_of};
use crate::catalogue::{PackedRows, Values};
use flate2::{Compress, Compression, FlushCompress};
use rayon::prelude::*;
use zlib_rs::adler32::adler32;

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
    let bytes = compressed(&shuffled(plain, size, rows * row), size);
    let sum = sum_of(&bytes).finalize();
    PackedRows { bytes, sum, values_sum: sum_of(plain).finalize(), values_bytes: plain.len() as u64 }
}

/// The first bytes of all numbers of `size` bytes, then the second ones, and so on; zeros fill a chunk up to
/// `length`.
fn shuffled(numbers: &[u8], size: usize, length: usize) -> Vec<u8> {
    let mut shuffled = vec![0; length];
    for (i, bytes) in shuffled.chunks_exact_mut(length / size).enumerate() {
        bytes.iter_mut().zip(numbers.chunks_exact(size)).for_each(|(byte, number)| *byte = number[i]);
    }
    shuffled
}

/// The zlib stream of some planes of equal length: its header, blocks of deflate for each plane, an empty
/// last block, and the sum of all bytes (RFC 1950 and 1951).
fn compressed(planes: &[u8], n_planes: usize) -> Vec<u8> {
    const HEADER: [u8; 2] = [0x78, 1];
    const EMPTY_LAST_BLOCK: [u8; 2] = [3, 0];
    let [mut short, mut plain] = [GZIP, 0].map(|level| Compress::new(Compression::new(level.into()), false));
    // The fixed code of deflate takes at most 9 bits per byte.
    let mut bytes = Vec::with_capacity(planes.len() + planes.len() / 8 + 1024);
    bytes.extend(HEADER);
    for plane in planes.chunks_exact(planes.len() / n_planes) {
        let stream = if shrinks(plane, &mut short) { &mut short } else { &mut plain };
        stream.reset();
        add(stream, plane, &mut bytes);
    }
    bytes.extend(EMPTY_LAST_BLOCK);
    bytes.extend(adler32(1, planes).to_be_bytes());
    bytes.shrink_to_fit();
    bytes
}

/// Whether compression makes a plane shorter, judged by four samples of it.
fn shrinks(plane: &[u8], stream: &mut Compress) -> bool {
    const SAMPLE: usize = 1 << 10;
    stream.reset();
    let mut bytes = Vec::with_capacity(5 * SAMPLE);
    for quarter in plane.chunks(plane.len().div_ceil(4)) {
        add(stream, &quarter[..quarter.len().min(SAMPLE)], &mut bytes);
    }
    (bytes.len() as u64) < stream.total_in() / 32 * 31
}

/// Adds all of `plain` to a stream, and whole blocks of it to `bytes`, which must have room.
fn add(stream: &mut Compress, plain: &[u8], bytes: &mut Vec<u8>) {
    let before = stream.total_in();
    stream.compress_vec(plain, bytes, FlushCompress::Sync).expect("the stream is sound");
    assert_eq!(stream.total_in() - before, plain.len() as u64, "there is room for all bytes");
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    /// Numbers of all kinds come back: noise, counters, constants, and lengths below those of a sample.
    #[test]
    fn planes_come_back() {
        let noise =
            |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i << 31).wrapping_mul(0x2545_f491_4f6c_dd1d);
        let kinds: [fn(u64, u64) -> u64; 4] =
            [|_, noise| noise, |i, _| i, |_, _| 7, |i, noise| if i < 30_000 { noise } else { 0 }];
        for n in [1, 3, 1023, 16_385, 65_536] {
            for kind in kinds {
                let numbers: Vec<u64> = (0..n).map(|i| kind(i, noise(i))).collect();
                let planes = shuffled(bytemuck::cast_slice(&numbers), 8, 8 * n as usize);
                let packed = compressed(&planes, 8);
                let mut unpacked = Vec::new();
                ZlibDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).expect("a zlib stream");
                assert!(unpacked == planes, "{n} numbers");
            }
        }
    }

    #[test]
    fn noise_is_stored_and_all_else_is_compressed() {
        let numbers: Vec<u64> = (0..1u64 << 16).map(|i| 0x4000_0000_0000_0000 | (i * i * i) << 20).collect();
        let planes = shuffled(bytemuck::cast_slice(&numbers), 8, 8 << 16);
        let packed = compressed(&planes, 8);
        let mut all = Compress::new(Compression::new(GZIP.into()), false);
        let mut whole = Vec::with_capacity(planes.len() * 2);
        add(&mut all, &planes, &mut whole);
        assert!(packed.len() < whole.len(), "{} and {} bytes", packed.len(), whole.len());
        let counters: Vec<u64> = (0..1 << 16).collect();
        let packed = compressed(&shuffled(bytemuck::cast_slice(&counters), 8, 8 << 16), 8);
        assert!(packed.len() < 1 << 14, "{} bytes", packed.len());
    }
}
