//! `particles`: every particle with the clump and halo of its leaf.

use crate::error::RunError;
use crate::partition::ranking::sort;
use crate::phew::member_places::{MemberPlaces, PlacedParticle};
use crate::phew::tables::PatchIds;
use crate::tables::{column, in_order};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Dimension, PartTable, Table, Values};
use rayon::prelude::*;

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct ParticleRow {
    id: u64,
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
    let row = |particle: &PlacedParticle| ParticleRow {
        id: particle.id,
        clump: particle.patch.map_or(0, |patch| ids.clump[patch.at()]),
        halo: particle.patch.map_or(0, |patch| ids.halo[patch.at()]),
    };
    let mut rows: Vec<ParticleRow> = places.of_all(snapshot, comm)?.par_iter().map(row).collect();
    if comm.n_ranks() > 1 {
        rows = sort(comm, rows, |row| u128::from(row.id))?.into_iter().map(|r| r.1).collect();
    }
    rows.par_sort_unstable();
    Ok(in_order(table(&rows), comm)?)
}

fn table(rows: &[ParticleRow]) -> Table {
    let counts = |of: fn(&ParticleRow) -> u64| Values::U64(rows.iter().map(of).collect());
    let none = Dimension::NONE;
    let id = Values::U64(rows.iter().map(|r| r.id).collect());
    let columns = vec![
        column("id", none, "identity of the particle", id),
        column("clump", none, "identifier of its clump; 0 for none", counts(|r| r.clump)),
        column("halo", none, "identifier of its halo; 0 for none", counts(|r| r.halo)),
    ];
    Table { name: "particles".into(), columns }
}
