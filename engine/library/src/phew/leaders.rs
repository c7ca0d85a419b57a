//! Leaders of groups of ranks decide the deaths that single ranks cannot decide: a pipeline.
//!
//! Ranks form groups of eight, these form groups of eight again, and so on until one group holds all ranks.
//! All groups of a size are a *tier*; in tier 0 each rank is a group. A leader decides the deaths that follow
//! from the edges of its group (`kernels/src/phew/pending_merges.rs`). The undecided edges go to the leader
//! one tier above. Their number grows with the border of the group, so the last leaders have most of the
//! work.
//!
//! These leaders work at the same time. Edges are decided in falling order, so a leader can pass on the
//! greatest ones before it decides the others. Leaders in the third tier from the top cut their edges into
//! *parts*, all at the same saddles. While they decide a part, the leaders above them decide parts with
//! greater saddles. Each leader is another rank. On 4096 ranks, with parts `a` to `d`:
//!
//! ```text
//!     step                1     2   3   4   5   6   7   8   9
//!     leaders of 8        all
//!     leaders of 64             a   b   c   d
//!     leaders of 512                a   b   c   d
//!     the leader of all                 a   b   c   d
//!     owners of peaks                           a   b   c   d     take note of deaths
//! ```
//!
//! A step is an exchange, and the work on the received records. Deaths go down two tiers per step: 64
//! messages cost about as much as an exchange.

use crate::exchange::bundle::{Bundle, SendBuffers, all_records};
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::bound::slices::ordered_bits;
use inselberg_kernels::phew::global::{GlobalDeath, GlobalEdge, NewName};
use inselberg_kernels::phew::pending_merges::{GroupMerges, PendingMerges, next_groups, rename};
use std::collections::VecDeque;
use std::mem::take;

/// Groups of a tier that join into one of the next. With more of them there are fewer tiers, but each leader
/// has more work.
pub const RADIX: u32 = 8;

/// The kinds of records that leaders send: undecided edges,
const EDGES: usize = 0;
/// the new names of their nodes,
const NAMES: usize = 1;
/// and deaths on their way to the owners of the peaks.
const DEATHS: usize = 2;

/// The records that one rank sends in a step.
type Outbox = SendBuffers<3>;

/// Collective: decides all deaths that follow from `edges`, the undecided edges of the own peaks. Returns the
/// deaths of the own peaks.
///
/// Two exchanges on at most 15 ranks, 9 on 4096: one for each part but the first, for each tier, and for each
/// two tiers on the way down. And one other call if there are several parts.
///
/// # Errors
/// When another rank fails.
pub fn decide(comm: &Comm, edges: Vec<GlobalEdge>, radix: u32) -> Result<Vec<GlobalDeath>, CommError> {
    let tiers = Tiers::new(comm.n_ranks() as u32, radix);
    let rank = comm.rank().0;
    let (mut own, mut outbox) = (Vec::new(), Outbox::default());
    leader(tiers, 0, rank).decide(edges, &mut own, &mut outbox);
    let led = (1..=tiers.top).find(|tier| tiers.leader(*tier, rank) == rank);
    let mut led = led.map(|tier| leader(tiers, tier, rank));
    // Parts that this rank has cut and not decided yet.
    let mut waiting = VecDeque::new();
    for step in 1..=tiers.n_exchanges() {
        let _step = Stage::within(STEPS[step.min(STEPS.len()) - 1], comm);
        let received = take(&mut outbox).exchange(comm)?;
        let mut part = edges_of(&received);
        if step == tiers.cut() as usize {
            waiting = in_parts(comm, take(&mut part), tiers.n_parts())?;
        }
        let mut deaths = all_records(&received, DEATHS);
        if let Some(leader) = &mut led {
            leader.decide(waiting.pop_front().unwrap_or(part), &mut deaths, &mut outbox);
        }
        for death in deaths {
            match (death.dying.owner(), &led) {
                (owner, _) if owner == rank => own.push(death),
                (owner, Some(leader)) => outbox.put(leader.below(owner), DEATHS, &[death]),
                (_, None) => unreachable!("deaths of other ranks' peaks reach leaders only"),
            }
        }
    }
    assert!(
        outbox.is_empty(),
        "one group of all ranks decides everything, and its deaths have reached their owners"
    );
    Ok(own)
}

/// The received edges, with the newest names.
fn edges_of(received: &[Bundle<3>]) -> Vec<GlobalEdge> {
    let mut edges = all_records(received, EDGES);
    rename(&mut edges, &all_records(received, NAMES));
    edges
}

/// Names of the steps, for counts of messages and work. The last one covers all further steps.
const STEPS: [&str; 16] = [
    "forest 1",
    "forest 2",
    "forest 3",
    "forest 4",
    "forest 5",
    "forest 6",
    "forest 7",
    "forest 8",
    "forest 9",
    "forest 10",
    "forest 11",
    "forest 12",
    "forest 13",
    "forest 14",
    "forest 15",
    "later forest",
];

/// Groups of consecutive ranks, by tier.
#[derive(Clone, Copy)]
struct Tiers {
    n_ranks: u32,
    /// Groups that join into one.
    radix: u32,
    /// The tier of one group.
    top: u32,
}

impl Tiers {
    fn new(n_ranks: u32, radix: u32) -> Self {
        let mut tiers = Self { n_ranks, radix, top: 0 };
        while tiers.n_groups(tiers.top) > 1 {
            tiers.top += 1;
        }
        assert!(tiers.top <= radix, "no rank leads groups of two tiers");
        tiers
    }

    /// Ranks in a group.
    fn width(&self, tier: u32) -> u32 {
        self.radix.saturating_pow(tier)
    }

    /// The last group gets the remaining ranks.
    fn n_groups(&self, tier: u32) -> u32 {
        (self.n_ranks / self.width(tier)).max(1)
    }

    /// The rank that leads the group of a rank. Leaders of tier `t` are at place `t` in their groups. So a
    /// rank leads only one tier besides itself in tier 0, and leaders of large groups have no work from lower
    /// tiers.
    fn leader(&self, tier: u32, rank: u32) -> u32 {
        let width = self.width(tier);
        (rank / width).min(self.n_groups(tier) - 1) * width + tier
    }

    /// The tier to which deaths go from this one: every second tier.
    fn below(&self, tier: u32) -> u32 {
        (tier - 1) / 2 * 2
    }

    /// The tier whose leaders cut their edges into parts: three tiers work at a time. Those below have little
    /// work.
    fn cut(&self) -> u32 {
        self.top.saturating_sub(2)
    }

    /// Parts of the edges: one on at most 127 ranks, 8 on 16 384. With more tiers there is more work to
    /// share.
    fn n_parts(&self) -> usize {
        1 << self.cut()
    }

    /// Exchanges until all owners know of all deaths.
    fn n_exchanges(&self) -> usize {
        self.n_parts() - 1 + self.top as usize + self.top.div_ceil(2) as usize
    }
}

/// A group, as its leader decides it.
struct Leader<F> {
    tiers: Tiers,
    tier: u32,
    rank: u32,
    is_inside: F,
    merges: GroupMerges<F>,
}

/// A rank as the leader of its group in a tier.
fn leader(tiers: Tiers, tier: u32, rank: u32) -> Leader<impl Fn(u32) -> bool> {
    let is_inside = move |other| tiers.leader(tier, other) == rank;
    Leader { tiers, tier, rank, is_inside, merges: GroupMerges::new(is_inside) }
}

impl<F: Fn(u32) -> bool> Leader<F> {
    /// Decides a part of the edges, which have the newest names. Undecided edges, and the new names of nodes,
    /// go to the next leaders.
    ///
    /// An edge goes with the name that this group knows of the node at its other end. A new name belongs to
    /// the same group as the old one, so the edge reaches the right groups under either. The group of the
    /// node sends its name to both of them.
    fn decide(&mut self, edges: Vec<GlobalEdge>, deaths: &mut Vec<GlobalDeath>, outbox: &mut Outbox) {
        let PendingMerges { edges, told } = self.merges.decide(edges, deaths);
        let next = |owner: u32| self.tiers.leader(self.tier + 1, owner);
        let own = next(self.rank);
        let mut names: Vec<(u32, NewName)> =
            told.into_iter().flat_map(|(other, name)| [next(other), own].map(|to| (to, name))).collect();
        names.sort_unstable_by_key(|(to, name)| (*to, name.old));
        names.dedup_by_key(|(to, name)| (*to, name.old));
        names.iter().for_each(|(to, name)| outbox.put(Rank(*to), NAMES, &[*name]));
        for edge in edges {
            next_groups(&edge, &self.is_inside, next).for_each(|to| outbox.put(Rank(to), EDGES, &[edge]));
        }
    }

    /// The next rank on the way of a death to the owner of the peak.
    fn below(&self, owner: u32) -> Rank {
        Rank(self.tiers.leader(self.tiers.below(self.tier), owner))
    }
}

/// Collective: the edges in `n` parts of about equal size on all ranks together, those with the greatest
/// saddles first. Equal saddles are in one part. Empty for a rank without edges.
fn in_parts(
    comm: &Comm,
    mut edges: Vec<GlobalEdge>,
    n: usize,
) -> Result<VecDeque<Vec<GlobalEdge>>, CommError> {
    edges.sort_by(GlobalEdge::order);
    let cuts = cuts(comm, &edges, n)?;
    let mut parts = VecDeque::new();
    if edges.is_empty() {
        return Ok(parts);
    }
    for cut in cuts.into_iter().rev() {
        let start = edges.partition_point(|edge| key(edge) > cut);
        parts.push_front(edges.split_off(start));
    }
    parts.push_front(edges);
    Ok(parts)
}

/// Collective: the greatest keys of all parts but the first. Each is the mean of those that ranks would
/// choose, by their numbers of edges. The results do not depend on it.
fn cuts(comm: &Comm, edges: &[GlobalEdge], n: usize) -> Result<Vec<u64>, CommError> {
    let count = edges.len() as u64;
    let first_key = |part: usize| edges.get(edges.len() * part / n).map_or(0, key);
    let sums: Vec<u64> = (1..n).map(|part| count * first_key(part)).chain([count]).collect();
    let mut sums = comm.all_reduce_counts(&sums, Reduce::Sum)?;
    let count = sums.pop().map_or(1, |count| count.max(1));
    Ok(sums.into_iter().map(|sum| sum / count).collect())
}

/// The saddle in 32 bits, rounded: sums over 2³² edges fit 64 bits.
fn key(edge: &GlobalEdge) -> u64 {
    ordered_bits(edge.saddle) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_leads_one_tier_at_most() {
        for n_ranks in (1..700).chain([1023, 1024, 4095, 4096, 8191, 16_384]) {
            let tiers = Tiers::new(n_ranks, RADIX);
            let mut leaders = Vec::new();
            for tier in 1..=tiers.top {
                let of_ranks: Vec<u32> = (0..n_ranks).map(|rank| tiers.leader(tier, rank)).collect();
                assert!(of_ranks.is_sorted() && of_ranks.iter().all(|leader| *leader < n_ranks));
                assert!(of_ranks.iter().all(|leader| of_ranks[*leader as usize] == *leader));
                let is_nested =
                    |rank: u32| tiers.leader(tier, tiers.leader(tier - 1, rank)) == of_ranks[rank as usize];
                assert!((0..n_ranks).all(is_nested), "{n_ranks} ranks, tier {tier}");
                leaders.extend(of_ranks.chunk_by(|a, b| a == b).map(|group| group[0]));
            }
            let n = leaders.len();
            leaders.sort_unstable();
            leaders.dedup();
            assert_eq!(leaders.len(), n, "{n_ranks} ranks");
        }
    }

    #[test]
    fn few_ranks_take_few_exchanges() {
        let of = |n_ranks| (Tiers::new(n_ranks, RADIX).n_parts(), Tiers::new(n_ranks, RADIX).n_exchanges());
        assert_eq!([1, 2, 15, 16, 127].map(of), [(1, 0), (1, 2), (1, 2), (1, 3), (1, 3)]);
        assert_eq!([128, 1023, 1024, 4096, 16_384].map(of), [(2, 6), (2, 6), (4, 9), (4, 9), (8, 15)]);
        assert!(Tiers::new(16_384, RADIX).n_exchanges() <= STEPS.len());
    }
}
