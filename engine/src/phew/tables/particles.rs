//! `particles`: every particle with the clump and halo of its leaf.

use crate::error::RunError;
use crate::partition::for_each_particle_block;
use crate::partition::ranking::sort;
use crate::phew::member_places::MemberPlaces;
use crate::phew::tables::PatchIds;
use crate::tables::{column, in_order};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Dimension, PartTable, Table, Values};
use rayon::prelude::*;

/// A particle as it is sent to the owner of its leaf.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Placed {
    id: i64,
    /// In units of the level-0 cell.
    position: [f64; 3],
}

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct ParticleRow {
    id: i64,
    clump: u64,
    halo: u64,
}

/// Collective: the particles by identity, then by clump and halo where identities repeat; 0 for no clump.
/// Particles are sent to the owners of their leaves, rows to the ranks that hold their identities.
///
/// # Errors
/// When the particles cannot be read, or another rank fails.
pub fn particles_table(
    snapshot: &dyn Snapshot,
    places: &MemberPlaces,
    ids: &PatchIds,
    comm: &Comm,
) -> Result<PartTable, RunError> {
    let side = snapshot.header().boxlen;
    let blocks = for_each_particle_block(snapshot, comm, |_, block| {
        let placed = block.id.iter().zip(&block.position);
        Ok(placed.map(|(&id, x)| Placed { id, position: x.map(|x| x / side) }).collect::<Vec<_>>())
    })?;
    let placed = places.to_owners(blocks.concat(), |p| p.position, comm)?;
    let row = |p: &Placed| {
        let patch = places.of(p.position, p.id.cast_unsigned()).map(|place| place.patch);
        ParticleRow {
            id: p.id,
            clump: patch.map_or(0, |p| ids.clump[p.at()]),
            halo: patch.map_or(0, |p| ids.halo[p.at()]),
        }
    };
    let mut rows: Vec<ParticleRow> = placed.par_iter().map(row).collect();
    drop(placed);
    if comm.n_ranks() > 1 {
        rows =
            sort(comm, rows, |row| u128::from((row.id as u64) ^ 1 << 63))?.into_iter().map(|r| r.1).collect();
    }
    rows.par_sort_unstable();
    Ok(in_order(table(&rows), comm)?)
}

fn table(rows: &[ParticleRow]) -> Table {
    let counts = |of: fn(&ParticleRow) -> u64| Values::U64(rows.iter().map(of).collect());
    let none = Dimension::NONE;
    let id = Values::I64(rows.iter().map(|r| r.id).collect());
    let columns = vec![
        column("id", none, "identity of the particle", id),
        column("clump", none, "identifier of its clump; 0 for none", counts(|r| r.clump)),
        column("halo", none, "identifier of its halo; 0 for none", counts(|r| r.halo)),
    ];
    Table { name: "particles".into(), columns }
}
