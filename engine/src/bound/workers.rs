//! Haloes to ranks: each rank gets whole haloes, in ranges of their identifiers, with nearly equal work.
//!
//! ```text
//!   rank with particles      rank with the row of the halo           rank that works on it
//!        |  halo 7: 300 here  --->  7: 300 + 500 in all                        |
//!        |                          work before halo 7: 40 of 100 %            |
//!        |  <---  7: to rank 1      (of 4 ranks: rank 1)  --- clumps of 7 --->  |
//!        |  ------------------------ 300 particles -------------------------->  |
//! ```

use crate::bound::candidates::{ClumpParticle, HaloMember};
use crate::bound::error::BoundError;
use crate::bound::member_type::MemberType;
use crate::bound::rows::{HaloClump, HaloRows, RowDirectory};
use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::exchange::grouped;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Whole haloes that this rank works on.
#[derive(Debug, Default)]
pub struct HaloWork<M> {
    /// Members in their order, by halo.
    pub members: Vec<M>,
    /// Clumps by halo and identifier; the main clump is the first of its halo.
    pub clumps: Vec<HaloClump>,
}

impl<M: HaloMember> HaloWork<M> {
    /// The members of a halo.
    pub fn members_of(&self, halo: u64) -> &[M] {
        let first = self.members.partition_point(|member| member.halo() < halo);
        let end = self.members.partition_point(|member| member.halo() <= halo);
        &self.members[first..end]
    }

    /// The clumps of each halo, the main one first.
    pub fn haloes(&self) -> Vec<&[HaloClump]> {
        self.clumps.chunk_by(|a, b| a.halo == b.halo).collect()
    }
}

impl HaloWork<ClumpParticle> {
    /// Local: checks that no particles of a halo share type and ID. The cloud particles of a sink in RAMSES share its ID, so
    /// those of [`MemberType::Other`] may.
    ///
    /// # Errors
    /// Type and ID of the first two that share them.
    pub fn check_ids(&self) -> Result<(), BoundError> {
        let is_same = |pair: &&[ClumpParticle]| {
            pair[0].name() == pair[1].name() && pair[0].particle_type != MemberType::Other as u32
        };
        match self.members.windows(2).find(is_same) {
            Some(pair) => Err(BoundError::SharedId { halo: pair[0].halo, id: pair[0].id.cast_signed() }),
            None => Ok(()),
        }
    }
}

/// A number of a halo: of its members on one rank, or the rank that works on it.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct OfHalo {
    halo: u64,
    number: u64,
}

const NUMBERS: usize = 0;
const CLUMPS: usize = 1;

/// Collective: sends members and clumps to the ranks that work on their haloes. Members of haloes that are not listed are left
/// out. Three exchanges.
///
/// # Errors
/// When another rank fails.
pub fn to_workers<M: HaloMember>(
    mut members: Vec<M>,
    rows: &HaloRows,
    comm: &Comm,
) -> Result<HaloWork<M>, CommError> {
    members.par_sort_unstable_by(M::order);
    let asked = ask(&members, rows, comm)?;
    let answers = answer(&asked, &rows.haloes, comm)?;
    let of = |bundle: &Bundle<2>| bundle.records::<OfHalo>(NUMBERS);
    let workers: BTreeMap<u64, Rank> =
        answers.iter().flat_map(of).map(|of| (of.halo, Rank(of.number as u32))).collect();
    // Workers ascend with haloes, so the members of each are adjacent.
    members.retain(|member| workers.contains_key(&member.halo()));
    let parts = grouped(&members, |member| (workers[&member.halo()], *member));
    drop(members);
    let mut members: Vec<M> = comm.exchange(parts)?.into_iter().flat_map(|(_, part)| part).collect();
    members.par_sort_unstable_by(M::order);
    let mut clumps: Vec<HaloClump> =
        answers.iter().flat_map(|bundle| bundle.records::<HaloClump>(CLUMPS)).collect();
    clumps.sort_unstable_by_key(|clump| (clump.halo, clump.id));
    Ok(HaloWork { members, clumps })
}

/// Collective: tells the ranks with the rows of haloes how many members are here, and which clumps belong to them.
fn ask<M: HaloMember>(members: &[M], rows: &HaloRows, comm: &Comm) -> Result<Vec<Bundle<2>>, CommError> {
    let holders = RowDirectory::new(&rows.haloes, comm)?;
    let mut buffers = SendBuffers::default();
    for run in members.chunk_by(|a, b| a.halo() == b.halo()) {
        let count = OfHalo { halo: run[0].halo(), number: run.len() as u64 };
        if let Some(holder) = holders.holder(count.halo) {
            buffers.put(holder, NUMBERS, &[count]);
        }
    }
    for clump in rows.clumps.iter().filter(|clump| clump.id != clump.halo) {
        let holder = holders.holder(clump.halo).expect("the halo of a listed clump is listed");
        buffers.put(holder, CLUMPS, &[*clump]);
    }
    buffers.exchange(comm)
}

/// Collective: tells the ranks with particles who works on their haloes, and sends clumps there. Haloes that are not listed
/// get no answer.
fn answer(asked: &[Bundle<2>], haloes: &[HaloClump], comm: &Comm) -> Result<Vec<Bundle<2>>, CommError> {
    let place = |halo: u64| haloes.binary_search_by_key(&halo, |row| row.id).ok();
    let mut n_particles = vec![0; haloes.len()];
    for count in asked.iter().flat_map(|bundle| bundle.records::<OfHalo>(NUMBERS)) {
        if let Some(place) = place(count.halo) {
            n_particles[place] += count.number;
        }
    }
    let workers = share(&n_particles, comm)?;
    let mut buffers = SendBuffers::default();
    for bundle in asked {
        for OfHalo { halo, .. } in bundle.records::<OfHalo>(NUMBERS) {
            if let Some(place) = place(halo) {
                buffers.put(bundle.from, NUMBERS, &[OfHalo { halo, number: workers[place].0.into() }]);
            }
        }
        for clump in bundle.records::<HaloClump>(CLUMPS) {
            let place = place(clump.halo).expect("the halo of a listed clump is listed");
            buffers.put(workers[place], CLUMPS, &[clump]);
        }
    }
    for (row, worker) in haloes.iter().zip(&workers) {
        buffers.put(*worker, CLUMPS, &[*row]);
    }
    buffers.exchange(comm)
}

/// Collective: the rank that works on each halo of this rank's rows. The work before a halo, over all ranks, decides.
fn share(n_particles: &[u64], comm: &Comm) -> Result<Vec<Rank>, CommError> {
    let work = |n: &u64| 1 + n * u64::from(u64::BITS - n.leading_zeros());
    let own: u64 = n_particles.iter().map(work).sum();
    let total = comm.all_reduce_counts(&[own], Reduce::Sum)?[0];
    let mut before = comm.sum_before(own)?;
    let n_ranks = comm.n_ranks() as u128;
    let worker = |n: &u64| {
        let rank = u128::from(before) * n_ranks / u128::from(total);
        before += work(n);
        Rank(rank as u32)
    };
    Ok(n_particles.iter().map(worker).collect())
}
