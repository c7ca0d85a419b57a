//! Particles and leaves of a snapshot, each read by one rank, and the owners of their positions.

use super::held_cells::{only, parts};
use super::local_field::LocalField;
use crate::exchange::grouped;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::{Every, OctBlock, ParticleBlock, ReadResult, Snapshot};
use rayon::prelude::*;

/// Local: applies `make` to the number of the piece and every block of particles that this rank reads, and returns the
/// results in the order of the blocks. Pieces in parallel.
///
/// # Errors
/// When a piece cannot be read, or `make` fails.
pub fn for_each_particle_block<T: Send>(
    snapshot: &dyn Snapshot,
    comm: &Comm,
    make: impl Fn(usize, &ParticleBlock) -> ReadResult<T> + Sync,
) -> ReadResult<Vec<T>> {
    let read = |(piece, blocks): (usize, Every)| {
        let mut made = Vec::new();
        let mut take = only(blocks, |block: &ParticleBlock| {
            made.push(make(piece, block)?);
            Ok(())
        });
        snapshot.particles(piece, &mut take)?;
        drop(take);
        Ok(made)
    };
    in_pieces(snapshot, comm, read)
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
    let read = |(piece, blocks): (usize, Every)| {
        let mut made = Vec::new();
        let mut take = |block: &OctBlock| {
            made.push(make(piece, block)?);
            Ok(())
        };
        snapshot.octs_of(piece, blocks, fields, &mut take)?;
        Ok(made)
    };
    in_pieces(snapshot, comm, read)
}

/// The results of `read` of all parts of pieces that this rank reads, in their order.
fn in_pieces<T: Send>(
    snapshot: &dyn Snapshot,
    comm: &Comm,
    read: impl Fn((usize, Every)) -> ReadResult<Vec<T>> + Send + Sync,
) -> ReadResult<Vec<T>> {
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
