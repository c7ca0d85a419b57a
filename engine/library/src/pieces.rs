//! Which pieces of a snapshot do a rank and its threads read?
//!
//! In the flow: reader → **pieces** → density, partition, members of clumps. Every block of a snapshot is
//! read by one thread of one rank. This module does not know what becomes of cells and particles.

use inselberg_comm::{Comm, Rank};
use inselberg_io::{Every, OctBlock, ParticleBlock, ReadResult, Snapshot};
use rayon::prelude::*;

/// A piece, and which of its blocks are read.
pub type Part = (usize, Every);

/// The pieces of a snapshot that `rank` reads, and which of their blocks. Consecutive whole pieces, since
/// these are mostly neighbours in space and so belong to few ranks. Where there are fewer pieces than ranks,
/// several ranks read the blocks of one piece by turns.
fn parts(n_pieces: usize, rank: Rank, n_ranks: usize) -> Vec<Part> {
    if n_pieces >= n_ranks {
        let first = |rank: usize| n_pieces * rank / n_ranks;
        return (first(rank.at())..first(rank.at() + 1)).map(|piece| (piece, Every::ALL)).collect();
    }
    if n_pieces == 0 {
        return Vec::new();
    }
    let piece = rank.at() % n_pieces;
    let readers = (n_ranks - piece).div_ceil(n_pieces);
    vec![(piece, Every { first: rank.at() / n_pieces, step: readers })]
}

/// The pieces that begin with a part: 1, or 0 for a part of which another one has the first block.
pub fn begun(part: Part) -> u64 {
    u64::from(part.1.first == 0)
}

/// The parts of a snapshot that this rank reads, at least one per thread if it has any. Where there are fewer,
/// threads take the blocks of a part by turns.
fn parts_of_threads(snapshot: &dyn Snapshot, comm: &Comm) -> Vec<Part> {
    let parts = parts(snapshot.header().n_pieces, comm.rank(), comm.n_ranks());
    let per_part = rayon::current_num_threads().div_ceil(parts.len().max(1));
    parts.into_iter().flat_map(|(piece, blocks)| blocks.dealt(per_part).map(move |b| (piece, b))).collect()
}

/// Local: the results of `read` for all parts of pieces that this rank reads, part by part. Parts in parallel,
/// several of a piece if there are more threads than pieces.
///
/// # Errors
/// One of those of `read`.
pub fn each_part<T: Send, E: Send>(
    snapshot: &dyn Snapshot,
    comm: &Comm,
    read: impl Fn(Part) -> Result<T, E> + Send + Sync,
) -> Result<Vec<T>, E> {
    parts_of_threads(snapshot, comm).into_par_iter().with_max_len(1).map(read).collect()
}

/// Local: applies `make` to the number of the piece and every block of particles that this rank reads, parts in
/// parallel. The order of the results depends on the number of threads.
///
/// # Errors
/// When a piece cannot be read, or `make` fails.
pub fn for_each_particle_block<T: Send>(
    snapshot: &dyn Snapshot,
    comm: &Comm,
    make: impl Fn(usize, &ParticleBlock) -> ReadResult<T> + Sync,
) -> ReadResult<Vec<T>> {
    let made = each_part(snapshot, comm, |(piece, blocks)| {
        let mut made = Vec::new();
        snapshot.particles_of(piece, blocks, &mut |block| {
            made.push(make(piece, block)?);
            Ok(())
        })?;
        Ok(made)
    })?;
    Ok(made.into_iter().flatten().collect())
}

/// Local: as [`for_each_particle_block`], of the cells that this rank reads with the values of `fields`.
///
/// # Errors
/// When a piece cannot be read, or `make` fails.
pub fn for_each_oct_block<T: Send>(
    snapshot: &dyn Snapshot,
    fields: &[&str],
    comm: &Comm,
    make: impl Fn(usize, &OctBlock) -> ReadResult<T> + Sync,
) -> ReadResult<Vec<T>> {
    let made = each_part(snapshot, comm, |(piece, blocks)| {
        let mut made = Vec::new();
        snapshot.octs_of(piece, blocks, fields, &mut |block| {
            made.push(make(piece, block)?);
            Ok(())
        })?;
        Ok(made)
    })?;
    Ok(made.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_read_by_one_rank() {
        for n_pieces in [0, 1, 2, 3, 5, 8, 9] {
            for n_ranks in 1..12 {
                let mut readers = vec![[0; 10]; n_pieces];
                let of_ranks = (0..n_ranks).flat_map(|r| parts(n_pieces, Rank(r as u32), n_ranks));
                // Each rank has three threads.
                let of_threads = of_ranks.flat_map(|(piece, of)| of.dealt(3).map(move |of| (piece, of)));
                for (piece, blocks) in of_threads {
                    let mut taken = blocks.counted();
                    (0..10).filter(|_| taken.next_is_taken()).for_each(|block| readers[piece][block] += 1);
                }
                assert!(readers.iter().flatten().all(|n| *n == 1), "{n_pieces} pieces, {n_ranks} ranks");
            }
        }
    }
}
