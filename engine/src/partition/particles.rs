//! Particles of a snapshot, each read by one rank, and the owners of their positions.

use super::held_cells::{only, parts};
use inselberg_comm::Comm;
use inselberg_io::{Every, ParticleBlock, ReadResult, Snapshot};
use rayon::prelude::*;

/// Local: applies `make` to every block of particles that this rank reads, and returns the results in the order of the
/// blocks. Pieces in parallel.
///
/// # Errors
/// When a piece cannot be read.
pub fn for_each_particle_block<T: Send>(
    snapshot: &dyn Snapshot,
    comm: &Comm,
    make: impl Fn(&ParticleBlock) -> T + Sync,
) -> ReadResult<Vec<T>> {
    let read = |part: (usize, Every)| {
        let mut made = Vec::new();
        let mut take = only(part.1, |block: &ParticleBlock| {
            made.push(make(block));
            Ok(())
        });
        snapshot.particles(part.0, &mut take)?;
        drop(take);
        Ok(made)
    };
    let parts = parts(snapshot.header().n_pieces, comm.rank(), comm.n_ranks());
    Ok(parts.into_par_iter().map(read).collect::<ReadResult<Vec<_>>>()?.into_iter().flatten().collect())
}
