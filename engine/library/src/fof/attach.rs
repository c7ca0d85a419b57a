//! Which group does an attachable particle join? That of the nearest linkable particle within the linking
//! length.

use super::borders::SortedWithGhosts;
use super::components::{Components, NONE};
use super::rows::KnownGroup;
use super::search::Sorted;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::fof::near::{Nearest, SlabWithBlocks, nearest};
use inselberg_kernels::fof::record::Record;
use rayon::prelude::*;

/// An attachable particle that joins a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attached {
    /// The index of the group among the known ones.
    pub known: u32,
    /// The index of the particle.
    pub index: u32,
    /// Its position.
    pub position: [f64; 3],
}

/// Collective: the groups that the `attachable` particles join, as indices into `known`. Appends groups of
/// other ranks that have no own linkable members. Two exchanges.
///
/// # Errors
/// When another rank fails.
pub fn attach<R: Record>(
    comm: &Comm,
    border: &SortedWithGhosts<R>,
    attachable: &Sorted<R>,
    id_of: impl Fn(u32) -> u64 + Sync,
    components: &Components,
    known: &mut Vec<KnownGroup>,
) -> Result<Vec<Attached>, CommError> {
    let nearest = all_nearest(border, attachable, id_of);
    let cells = nearest.iter().map(|n| n.cell).filter(|cell| *cell != NONE);
    let is_foreign = |cell: &u32| components.of_cell[*cell as usize] == NONE && border.is_ghost(*cell);
    let mut foreign: Vec<u32> = cells.filter(is_foreign).collect();
    foreign.sort_unstable();
    foreign.dedup();
    let known_of = |cell: u32| match components.of_cell[cell as usize] {
        NONE => KnownGroup::NONE,
        component => known[component as usize],
    };
    let answers = border.ask(comm, &foreign, known_of)?;
    let first = known.len() as u32;
    known.extend(answers);
    let group = |cell: u32| match (components.of_cell[cell as usize], foreign.binary_search(&cell)) {
        (NONE, Ok(at)) => Some(first + at as u32),
        // The component is too small for a group.
        (NONE, Err(_)) => None,
        (component, _) => Some(component),
    };
    let pairs = nearest.iter().zip(&attachable.records).filter(|(near, _)| near.cell != NONE);
    // A component without a group attaches nothing.
    let attached = pairs.filter_map(|(near, record)| {
        let known = group(near.cell).filter(|group| known[*group as usize].id != 0)?;
        Some(Attached { known, index: record.index(), position: record.position() })
    });
    Ok(attached.collect())
}

/// The nearest linkable particle of each attachable one, in their order.
fn all_nearest<R: Record>(
    border: &SortedWithGhosts<R>,
    attachable: &Sorted<R>,
    id_of: impl Fn(u32) -> u64 + Sync,
) -> Vec<Nearest> {
    let frame = border.frame;
    if border.sorted.records.is_empty() {
        return vec![Nearest::NONE; attachable.records.len()];
    }
    let linkable = SlabWithBlocks { blocks: &border.sorted.blocks, records: &border.sorted.records };
    let others = SlabWithBlocks { blocks: &attachable.blocks, records: &attachable.records };
    let of_row = |row| nearest((&frame.grid, &frame.reach, &frame.metric), linkable, &id_of, others, row);
    (0..attachable.blocks.n_rows()).into_par_iter().with_min_len(4).flat_map_iter(of_row).collect()
}
