//! Which rows of the table of members are on this rank? A halo that spans ranks has rows on all of them.

use crate::bound::unbind::{BoundClump, BoundHaloes, BoundParticle};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::RowRun;
use std::collections::BTreeMap;

/// Rows of the table of members on this rank.
#[derive(Debug, Default)]
pub struct MemberRows {
    /// The bound particles of the runs, in order.
    pub particles: Vec<BoundParticle>,
    /// The places of these rows in the whole table.
    pub runs: Vec<RowRun>,
    /// The place of each among the bound particles of its clump, the most bound first.
    pub ranks: Vec<u32>,
    /// Number of rows of the whole table.
    pub n_rows: u64,
}

/// The first row of a clump.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FirstRow {
    clump: u64,
    row: u64,
}

impl MemberRows {
    /// Collective: numbers the rows by clump, in the order of haloes, and sets the first row of each clump.
    /// `with_ranks` fills [`Self::ranks`].
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(bound: &mut BoundHaloes, with_ranks: bool, comm: &Comm) -> Result<Self, CommError> {
        let own: u64 = bound.clumps.iter().map(|clump| clump.n_bound).sum();
        let mut row = comm.sum_before(own)?;
        let n_rows = comm.all_reduce_counts(&[own], Reduce::Sum)?[0];
        for clump in &mut bound.clumps {
            clump.first_member = row;
            row += clump.n_bound;
        }
        let spans = |halo: u64| bound.spanning.binary_search(&halo).is_ok();
        let (of_ranks, whole): (Vec<_>, Vec<_>) = bound.clumps.iter().partition(|clump| spans(clump.halo));
        let mut firsts = BTreeMap::new();
        if !bound.spanning.is_empty() {
            let first = |clump: &&BoundClump| FirstRow { clump: clump.id, row: clump.first_member };
            let of_ranks: Vec<FirstRow> = of_ranks.iter().map(first).collect();
            firsts.extend(comm.all_gather(&of_ranks)?.into_iter().map(|first| (first.clump, first.row)));
        }
        // First row, place of the first one in its clump, particles.
        let mut parts: Vec<(u64, u64, &[BoundParticle])> = Vec::new();
        let mut rest = bound.particles.as_slice();
        for clump in whole {
            let (particles, others) = rest.split_at(clump.n_bound as usize);
            parts.push((clump.first_member, 0, particles));
            rest = others;
        }
        for piece in &bound.pieces {
            parts.push((firsts[&piece.clump] + piece.first, piece.first, &piece.particles));
        }
        parts.retain(|(_, _, particles)| !particles.is_empty());
        parts.sort_unstable_by_key(|(first, ..)| *first);
        let mut rows = Self { n_rows, ..Self::default() };
        for (first, rank, particles) in parts {
            rows.particles.extend_from_slice(particles);
            if with_ranks {
                rows.ranks.extend((rank..).take(particles.len()).map(|rank| rank as u32));
            }
            match rows.runs.last_mut() {
                Some(run) if run.first + run.n as u64 == first => run.n += particles.len(),
                _ => rows.runs.push(RowRun { first, n: particles.len() }),
            }
        }
        Ok(rows)
    }
}
