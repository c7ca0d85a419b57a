//! Small clumps of a halo in slices: each goes whole to one rank, and the members that it passes up come
//! back.

use super::members::{SlicedHalo, SlicedMember, columns};
use super::{ClumpPiece, SpanningClumps, SpanningRow};
use crate::bound::rank_slices::RankSlices;
use crate::bound::unbind::BoundParticle;
use crate::bound::workers::even_workers;
use crate::thread_loops::ThreadLoops;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::CommError;
use inselberg_kernels::bound::slices::{SlicePart, Slices};
use inselberg_kernels::bound::unbind::UnbindScratch;
use inselberg_kernels::bound::unbind::clump_members::ClumpMember;
use inselberg_kernels::bound::unbind::hierarchy::UnboundClump;
use inselberg_kernels::bound::{HaloMembers, properties::bound_properties_of_slices};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A member of a small clump on its way.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SentMember {
    member: SlicedMember,
    /// Number of its block among those of all slices.
    block: u64,
    /// In the list of its clump, by its number in its slice.
    listed: ClumpMember,
    clump: u64,
}

/// A member that its clump passes up, on its way back.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct HandedMember {
    clump: u32,
    /// By its number in its slice.
    listed: ClumpMember,
}

/// The result for a small clump.
struct WholeClump {
    row: SpanningRow,
    piece: ClumpPiece,
    handed: Vec<(usize, HandedMember)>,
}

impl SpanningClumps<'_> {
    /// Collective: unbinds these clumps, with these numbers of members in all slices. Returns the members
    /// that each clump passes up in this slice. Two exchanges.
    pub(super) fn unbind_whole(
        &mut self,
        clumps: &[(u32, u64)],
        lists: &[Vec<ClumpMember>],
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<Vec<(u32, ClumpMember)>, CommError> {
        let mut parts: BTreeMap<usize, Vec<SentMember>> = BTreeMap::new();
        for (clump, worker) in even_workers(clumps, slices.number()) {
            let sent = |listed: &ClumpMember| SentMember {
                member: halo.member(listed.member),
                block: halo.block_of(listed.member),
                listed: *listed,
                clump: clump.into(),
            };
            parts.entry(worker).or_default().extend(lists[clump as usize].iter().map(sent));
        }
        let received = slices.exchange(parts.into_iter().collect())?;
        let mut of_clump: BTreeMap<u32, Vec<(usize, SentMember)>> = BTreeMap::new();
        for (from, part) in received {
            for sent in part {
                of_clump.entry(sent.clump as u32).or_default().push((from, sent));
            }
        }
        let work: Vec<(u32, Vec<(usize, SentMember)>)> = of_clump.into_iter().collect();
        let one = |scratch: &mut UnbindScratch, (clump, list): &(u32, Vec<(usize, SentMember)>)| {
            self.unbind_one(*clump, list, halo, scratch)
        };
        let found: Vec<WholeClump> =
            work.par_iter().with_max_len(1).map_init(UnbindScratch::default, one).collect();
        let mut back: BTreeMap<usize, Vec<HandedMember>> = BTreeMap::new();
        for WholeClump { row, piece, handed } in found {
            self.rows.push(row);
            self.pieces.push(piece);
            handed.into_iter().for_each(|(to, handed)| back.entry(to).or_default().push(handed));
        }
        let received: Vec<SlicePart<HandedMember>> = slices.exchange(back.into_iter().collect())?;
        let handed = received.into_iter().flat_map(|(_, part)| part);
        Ok(handed.map(|handed| (handed.clump, handed.listed)).collect())
    }

    /// Local: unbinds one clump. Members are in their order.
    fn unbind_one(
        &self,
        clump: u32,
        list: &[(usize, SentMember)],
        halo: &SlicedHalo,
        scratch: &mut UnbindScratch,
    ) -> WholeClump {
        let has_heat = self.unbinder.method.is_thermal();
        let columns = columns(list.iter().map(|(_, sent)| &sent.member), has_heat, self.unbinder.has_tracks);
        let is_first = |i: &u32| {
            let at = *i as usize;
            at == 0 || list[at].1.block != list[at - 1].1.block
        };
        let starts = (0..list.len() as u32).filter(is_first).collect();
        let members = HaloMembers::of_slice(columns, *halo.members.bounds(), starts);
        let listed: Vec<ClumpMember> =
            (0..).zip(list).map(|(i, (_, sent))| sent.listed.renumbered(i)).collect();
        let Ok(UnboundClump { found, handed }) =
            self.unbind_clump(clump, &members, &listed, &ThreadLoops, scratch);
        let Ok(properties) =
            bound_properties_of_slices(&members, &found.bound, &self.unbinder.gravity, &ThreadLoops);
        let Ok(mass) = found.bound.mass(&members, &ThreadLoops);
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
        let particles: Vec<BoundParticle> =
            found.bound.ranked(&members, &ThreadLoops).iter().map(particle).collect();
        let deepest = found.bound.deepest(&members).map(|place| {
            let member = &list[found.bound.member[place] as usize].1.member;
            (member.id, member.particle_type as u8)
        });
        let n_bound = particles.len() as u64;
        let row = self.row(clump, n_bound, mass, deepest, &found.report, properties.as_ref());
        let back = |listed: &ClumpMember| {
            let (from, sent) = &list[listed.member as usize];
            (*from, HandedMember { clump, listed: listed.renumbered(sent.listed.member) })
        };
        let handed = handed.iter().map(back).collect();
        WholeClump { row, piece: ClumpPiece { clump, first: 0, particles }, handed }
    }
}
