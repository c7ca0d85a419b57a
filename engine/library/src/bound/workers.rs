//! Haloes to ranks: each rank gets whole haloes, in ranges of their identifiers, with nearly equal work.
//! Members of haloes that span ranks stay where they are.
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
use crate::bound::request::SpanRules;
use crate::bound::rows::{HaloClump, HaloRows, RowDirectory};
use crate::chunks::joined;
use crate::exchange::bundle::{Bundle, SendBuffers, all_records};
use crate::particles::MemberType;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Whole haloes that this rank processes.
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
    /// Local: checks that no particles of a halo share type and ID. The cloud particles of a sink in RAMSES
    /// share its ID, so those of [`MemberType::Other`] may.
    ///
    /// # Errors
    /// Type and ID of the first two that share them.
    pub fn check_ids(&self) -> Result<(), BoundError> {
        let is_same = |pair: &&[ClumpParticle]| {
            pair[0].name() == pair[1].name() && pair[0].particle_type != MemberType::Other as u32
        };
        match self.members.par_windows(2).find_first(is_same) {
            Some(pair) => Err(BoundError::SharedId { halo: pair[0].halo, id: pair[0].id.cast_signed() }),
            None => Ok(()),
        }
    }
}

/// A number for a halo: of its members on one rank, or the rank that processes it.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct OfHalo {
    halo: u64,
    number: u64,
}

const NUMBERS: usize = 0;
const CLUMPS: usize = 1;
const AT_HOME: usize = 2;

/// Haloes that all ranks process together.
#[derive(Debug)]
pub struct SpanningHaloes<M> {
    /// The haloes, ascending; the same ones on all ranks.
    pub haloes: Vec<SpanningHalo<M>>,
    /// The least number of members of such a halo.
    pub limit: u64,
}

/// A halo that all ranks process together.
#[derive(Debug)]
pub struct SpanningHalo<M> {
    /// Its clumps, the main one first.
    pub clumps: Vec<HaloClump>,
    /// The rank that gets the rows of its clumps.
    pub home: Rank,
    /// Its members on this rank.
    pub members: Vec<M>,
}

/// Stands for the rank of a halo that spans ranks.
const SPANS: u64 = u64::MAX;

/// Collective: sends members and clumps to the ranks that process their haloes. Members of haloes that span
/// ranks stay.
/// Members of haloes that are not listed are left out. Three exchanges and two gatherings.
///
/// # Errors
/// When another rank fails.
pub fn to_workers<M: HaloMember>(
    mut members: Vec<M>,
    rows: &HaloRows,
    rules: &SpanRules,
    comm: &Comm,
) -> Result<(HaloWork<M>, SpanningHaloes<M>), CommError> {
    members.par_sort_unstable_by(M::order);
    let runs = halo_runs(&members);
    let asked = ask(&runs, rows, comm)?;
    let (answers, limit) = answer(&asked, &rows.haloes, rules, comm)?;
    let of = |bundle: &Bundle<3>| bundle.records::<OfHalo>(NUMBERS);
    let (spanning, whole): (Vec<OfHalo>, Vec<OfHalo>) =
        answers.iter().flat_map(of).partition(|of| of.number == SPANS);
    let workers: BTreeMap<u64, Rank> = whole.iter().map(|of| (of.halo, Rank(of.number as u32))).collect();
    let mut staying: BTreeMap<u64, Vec<M>> = spanning.iter().map(|of| (of.halo, Vec::new())).collect();
    // Workers ascend with haloes, so the members of each are adjacent.
    let mut parts: Vec<(Rank, Vec<&[M]>)> = Vec::new();
    let mut first = 0;
    for OfHalo { halo, number } in runs {
        let run = &members[first..first + number as usize];
        first += run.len();
        match (workers.get(&halo), parts.last_mut()) {
            (Some(worker), Some((last, part))) if last == worker => part.push(run),
            (Some(worker), _) => parts.push((*worker, vec![run])),
            (None, _) => staying.get_mut(&halo).into_iter().for_each(|to| to.extend_from_slice(run)),
        }
    }
    let members = match &parts[..] {
        // All are here, and stay.
        [(_, part)] if comm.n_ranks() == 1 && part.iter().map(|run| run.len()).sum::<usize>() == first => {
            members
        }
        _ => {
            let parts = parts.into_iter().map(|(to, part)| (to, joined(part))).collect();
            let received: Vec<Vec<M>> = comm.exchange(parts)?.into_iter().map(|(_, part)| part).collect();
            drop(members);
            let mut members = joined(received);
            members.par_sort_unstable_by(M::order);
            members
        }
    };
    let mut clumps: Vec<HaloClump> = all_records(&answers, CLUMPS);
    clumps.sort_unstable_by_key(|clump| (clump.halo, clump.id));
    let haloes = match limit {
        u64::MAX => Vec::new(),
        _ => spanning_haloes(&mut clumps, &answers, staying, comm)?,
    };
    Ok((HaloWork { members, clumps }, SpanningHaloes { haloes, limit }))
}

/// Collective: takes the clumps of haloes that span ranks out of those here, and gathers them on all ranks.
fn spanning_haloes<M>(
    clumps: &mut Vec<HaloClump>,
    answers: &[Bundle<3>],
    mut staying: BTreeMap<u64, Vec<M>>,
    comm: &Comm,
) -> Result<Vec<SpanningHalo<M>>, CommError> {
    let at_home = answers.iter().flat_map(|bundle| bundle.each::<u64>(AT_HOME));
    let at_home: BTreeSet<u64> = at_home.collect();
    let (own, whole): (Vec<_>, Vec<_>) = clumps.iter().partition(|clump| at_home.contains(&clump.halo));
    *clumps = whole;
    let mut haloes = Vec::new();
    for (rank, of_rank) in (0..).map(Rank).zip(comm.all_gather_lists(&own)?) {
        for clumps in of_rank.chunk_by(|a, b| a.halo == b.halo) {
            let members = staying.remove(&clumps[0].halo).unwrap_or_default();
            haloes.push(SpanningHalo { clumps: clumps.to_vec(), home: rank, members });
        }
    }
    Ok(haloes)
}

/// The number of members of each halo, which are adjacent.
fn halo_runs<M: HaloMember>(members: &[M]) -> Vec<OfHalo> {
    let count = |run: &[M]| OfHalo { halo: run[0].halo(), number: run.len() as u64 };
    members.par_chunk_by(|a, b| a.halo() == b.halo()).map(count).collect()
}

/// Collective: sends the numbers of members on this rank, and their clumps, to the ranks with the rows of
/// haloes.
fn ask(runs: &[OfHalo], rows: &HaloRows, comm: &Comm) -> Result<Vec<Bundle<2>>, CommError> {
    let holders = RowDirectory::new(&rows.haloes, comm)?;
    let mut buffers = SendBuffers::default();
    for count in runs {
        if let Some(holder) = holders.holder(count.halo) {
            buffers.put(holder, NUMBERS, &[*count]);
        }
    }
    for clump in rows.clumps.iter().filter(|clump| clump.id != clump.halo) {
        let holder = holders.holder(clump.halo).expect("the halo of a listed clump is listed");
        buffers.put(holder, CLUMPS, &[*clump]);
    }
    buffers.exchange(comm)
}

/// Collective: sends the ranks with particles the processing ranks of their haloes, and sends clumps there.
/// Haloes that are not listed get no answer.
fn answer(
    asked: &[Bundle<2>],
    haloes: &[HaloClump],
    rules: &SpanRules,
    comm: &Comm,
) -> Result<(Vec<Bundle<3>>, u64), CommError> {
    let place = |halo: u64| haloes.binary_search_by_key(&halo, |row| row.id).ok();
    let mut n_particles = vec![0; haloes.len()];
    for count in asked.iter().flat_map(|bundle| bundle.each::<OfHalo>(NUMBERS)) {
        if let Some(place) = place(count.halo) {
            n_particles[place] += count.number;
        }
    }
    let n_members = comm.all_reduce_counts(&[n_particles.iter().sum()], Reduce::Sum)?[0];
    let limit = rules.limit(n_members, comm.n_ranks());
    let spans = |place: usize| n_particles[place] >= limit;
    // Haloes that all ranks process do not count for a single one.
    let work: Vec<u64> = n_particles.iter().map(|n| if *n >= limit { 0 } else { *n }).collect();
    let workers = share(&work, comm)?;
    let mut buffers = SendBuffers::default();
    for bundle in asked {
        for OfHalo { halo, .. } in bundle.records::<OfHalo>(NUMBERS) {
            if let Some(place) = place(halo) {
                let number = if spans(place) { SPANS } else { workers[place].0.into() };
                buffers.put(bundle.from, NUMBERS, &[OfHalo { halo, number }]);
            }
        }
        for clump in bundle.records::<HaloClump>(CLUMPS) {
            let place = place(clump.halo).expect("the halo of a listed clump is listed");
            buffers.put(workers[place], CLUMPS, &[clump]);
        }
    }
    for (place, (row, worker)) in haloes.iter().zip(&workers).enumerate() {
        buffers.put(*worker, CLUMPS, &[*row]);
        if spans(place) {
            buffers.put(*worker, AT_HOME, &[row.id]);
        }
    }
    Ok((buffers.exchange(comm)?, limit))
}

/// Collective: the rank that processes each halo of this rank's rows. It follows from the work before the
/// halo, over all ranks.
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

/// The rank that processes each clump, from the number of members of each: in ranges of clumps, with nearly
/// equal work.
pub fn even_workers(clumps: &[(u32, u64)], n_ranks: usize) -> Vec<(u32, usize)> {
    let work = |n: u64| 1 + n * u64::from(u64::BITS - n.leading_zeros());
    let total: u64 = clumps.iter().map(|(_, n)| work(*n)).sum();
    let mut before = 0;
    let worker = |(clump, n): &(u32, u64)| {
        let rank = u128::from(before) * n_ranks as u128 / u128::from(total);
        before += work(*n);
        (*clump, rank as usize)
    };
    clumps.iter().map(worker).collect()
}
