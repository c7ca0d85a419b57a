//! Small clumps of a halo in slices: each goes whole to one rank, and its losers come back.

use super::members::{SlicedHalo, SlicedMember, columns};
use super::{ClumpPiece, SpanningClumps, SpanningRow};
use crate::bound::rank_slices::RankSlices;
use crate::bound::unbind::BoundParticle;
use crate::bound::workers::even_workers;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::CommError;
use inselberg_kernels::bound::slices::{SlicePart, Slices, Whole};
use inselberg_kernels::bound::unbind::{UnbindCall, UnbindScratch, unbind_slices};
use inselberg_kernels::bound::{HaloMembers, properties::bound_properties};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A candidate of a small clump on its way.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Candidate {
    member: SlicedMember,
    /// Number of its block among those of all slices.
    block: u64,
    /// The clump whose candidate it is.
    clump: u32,
    /// Number in its slice.
    at: u32,
}

/// A candidate that its clump does not hold, on its way back.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Loser {
    clump: u32,
    at: u32,
}

/// What is found about a small clump.
struct WholeClump {
    row: SpanningRow,
    piece: ClumpPiece,
    losers: Vec<(usize, Loser)>,
}

impl SpanningClumps<'_> {
    /// Collective: unbinds these clumps, with these numbers of candidates in all slices. Gives the losers of each clump in this
    /// slice. Two exchanges.
    pub(super) fn unbind_whole(
        &mut self,
        clumps: &[(u32, u64)],
        candidates: &[Vec<u32>],
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<Vec<(u32, u32)>, CommError> {
        let mut parts: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
        for (clump, worker) in even_workers(clumps, slices.number()) {
            let candidate =
                |at: &u32| Candidate { member: halo.member(*at), block: halo.block_of(*at), clump, at: *at };
            parts.entry(worker).or_default().extend(candidates[clump as usize].iter().map(candidate));
        }
        let received = slices.exchange(parts.into_iter().collect())?;
        let mut of_clump: BTreeMap<u32, Vec<(usize, Candidate)>> = BTreeMap::new();
        for (from, part) in received {
            for candidate in part {
                of_clump.entry(candidate.clump).or_default().push((from, candidate));
            }
        }
        let work: Vec<(u32, Vec<(usize, Candidate)>)> = of_clump.into_iter().collect();
        let one = |scratch: &mut UnbindScratch, (clump, list): &(u32, Vec<(usize, Candidate)>)| {
            self.unbind_one(*clump, list, halo, scratch)
        };
        let found: Vec<WholeClump> =
            work.par_iter().with_max_len(1).map_init(UnbindScratch::default, one).collect();
        let mut back: BTreeMap<usize, Vec<Loser>> = BTreeMap::new();
        for WholeClump { row, piece, losers } in found {
            self.rows.push(row);
            self.pieces.push(piece);
            losers.into_iter().for_each(|(to, loser)| back.entry(to).or_default().push(loser));
        }
        let received: Vec<SlicePart<Loser>> = slices.exchange(back.into_iter().collect())?;
        Ok(received.into_iter().flat_map(|(_, part)| part).map(|loser| (loser.clump, loser.at)).collect())
    }

    /// Local: unbinds one clump. Candidates are in their order.
    fn unbind_one(
        &self,
        clump: u32,
        list: &[(usize, Candidate)],
        halo: &SlicedHalo,
        scratch: &mut UnbindScratch,
    ) -> WholeClump {
        let has_heat = self.unbinder.method.is_thermal();
        let columns = columns(list.iter().map(|(_, candidate)| &candidate.member), has_heat);
        let is_first = |i: &u32| {
            let at = *i as usize;
            at == 0 || list[at].1.block != list[at - 1].1.block
        };
        let starts = (0..list.len() as u32).filter(is_first).collect();
        let members = HaloMembers::of_slice(columns, *halo.members.bounds(), starts);
        let gravity = &self.unbinder.gravity;
        let call = UnbindCall { gravity, rules: self.rules, slices: &Whole };
        let centre = self.centres[clump as usize];
        let Ok(found) = unbind_slices(&members, &members.all(), centre, &call, scratch);
        let properties = bound_properties(&members, &found.bound, gravity);
        let Ok(mass) = found.bound.mass(&members, &Whole);
        let particle = |place: &u32| {
            let at = *place as usize;
            let member = &list[found.bound.member[at] as usize].1.member;
            BoundParticle {
                clump: self.clumps[clump as usize].id,
                id: member.id,
                particle_type: member.particle_type as u8,
                energy: found.bound.energy[at],
                potential: found.bound.potential[at],
            }
        };
        let particles: Vec<BoundParticle> = found.bound.ranked(&members).iter().map(particle).collect();
        let most_bound = particles.first().map(|particle| (particle.id, particle.particle_type));
        let n_bound = particles.len() as u64;
        let row = self.row(clump, n_bound, mass, most_bound, &found.report, properties.as_ref());
        let loser = |member: &u32| {
            let (from, candidate) = &list[*member as usize];
            (*from, Loser { clump, at: candidate.at })
        };
        let losers = found.unbound.iter().map(loser).collect();
        WholeClump { row, piece: ClumpPiece { clump, first: 0, particles }, losers }
    }
}
