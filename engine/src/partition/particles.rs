//! Particles of a snapshot, each read by one rank, and the owners of their positions.

use super::held_cells::{only, parts};
use super::local_field::LocalField;
use crate::exchange::grouped;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
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

/// Collective: sends every item to the rank that owns the leaf around its position, which is in units of the level-0 cell.
/// Items outside the box stay.
///
/// # Errors
/// When another rank fails.
pub fn to_leaf_owners<T: Pod + Send + Sync>(
    mut items: Vec<T>,
    position: impl Fn(&T) -> [f64; 3] + Sync,
    part: &LocalField,
    comm: &Comm,
) -> Result<Vec<T>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(items);
    }
    let here = comm.rank();
    let owner = |item: &T| part.owner_of(position(item)).unwrap_or(here);
    items.par_sort_by_key(owner);
    let parts: Vec<(Rank, Vec<T>)> = grouped(&items, |item| (owner(item), *item));
    drop(items);
    Ok(comm.exchange(parts)?.into_iter().flat_map(|(_, items)| items).collect())
}
