//! All particles of a snapshot, each read by one rank, and the ranks where they are.

use super::LocalField;
use super::deposit::owner_of_place;
use super::held_cells::{only, parts};
use inselberg_comm::{Comm, Rank};
use inselberg_io::{Every, ParticleBlock, ReadResult, Snapshot};
use rayon::prelude::*;

/// What `make` makes of every block of particles that is this rank's to read. Local; pieces in parallel.
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

impl LocalField {
    /// The rank that owns the leaf around a point in units of the level-0 cell; none for points outside.
    pub fn owner_of(&self, position: [f64; 3]) -> Option<Rank> {
        owner_of_place(&self.splits, self.field.mesh.domain(), position)
    }
}
