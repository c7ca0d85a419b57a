//! How often is a clump found again in halves of the particles?
//!
//! ```text
//!     all particles ─▶ clumps ─▶ members by hash of identity ─────────┐
//!     half of round r ─▶ same search ─▶ clumps ─▶ members likewise ───┴─▶ counts per pair ─▶ rank 0: partners
//! ```
//!
//! A clump of n_A members in the half and one of the round with n_B members share n of them. Their score is
//! n² / (n_A n_B), as in [`crate::compare`]. A clump is found again where it and a clump of the round are the
//! best partners of each other, with at least the score from which `compare` counts an object as found.
//!
//! Counts are integers, halves come from identities, and rank 0 adds masses in the order of the rounds. So
//! the columns are the same on any number of ranks and threads.

use crate::compare::{CompareParams, ObjectPair, PairCount, best, summed};
use crate::error::RunError;
use crate::exchange::{dealt, looked_up, rank_of_identity};
use crate::particles::{HALVES_SEED, HalfChoice};
use crate::phew::hierarchy::Structures;
use crate::phew::member_places::{MemberPlaces, PatchMember};
use crate::phew::tables::PatchIds;
use crate::tables::column;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Attribute, CataloguePart, Dimension, TableColumn, Values};
use inselberg_kernels::props::Structure;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// The beginning of the names of attributes and columns about halves.
pub const OF_SUBSAMPLES: &str = "subsample";

/// A particle and its clump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct IdentityInClump {
    id: u64,
    clump: u64,
}

/// The particles of clumps, each on the rank of its identity, by identity.
#[derive(Debug)]
pub struct MembersByIdentity(Vec<IdentityInClump>);

impl MembersByIdentity {
    /// Collective: the particles of the snapshot that are in clumps. As [`MemberPlaces::members`], and one more exchange.
    /// Costs 16 bytes per particle in a clump.
    ///
    /// # Errors
    /// When the particles cannot be read, or another rank fails.
    pub fn new(
        snapshot: &dyn Snapshot,
        places: &MemberPlaces,
        ids: &PatchIds,
        comm: &Comm,
    ) -> Result<Self, RunError> {
        let member = |of: &PatchMember| match ids.clump[of.patch.at()] {
            0 => None,
            clump => Some(IdentityInClump { id: of.id, clump }),
        };
        let members = places.members(snapshot, comm)?;
        let members: Vec<IdentityInClump> = members.par_iter().filter_map(member).collect();
        let sent = dealt(&members, |of| (rank_of_identity(of.id, comm.n_ranks()), *of));
        let mut all: Vec<IdentityInClump> = comm.exchange(sent)?.into_iter().flat_map(|(_, of)| of).collect();
        all.par_sort_unstable();
        Ok(Self(all))
    }

    /// Local: the members that clumps of both share, and with 0 in place of a partner the members of each
    /// clump. Of the first ones only those in the half count.
    fn counts(&self, half: &Self, choice: HalfChoice) -> Vec<PairCount> {
        let place = |clump: u64| u32::try_from(clump).expect("clumps of the same catalogue have 32-bit rows");
        let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        let mut add = |a: u64, b: u64| *counts.entry((place(a), place(b))).or_default() += 1;
        let mut rest = half.0.iter().peekable();
        for member in self.0.iter().filter(|of| choice.has(of.id)) {
            add(member.clump, 0);
            while rest.next_if(|of| of.id < member.id).is_some() {}
            // Each of several particles with one identity has one partner.
            if let Some(same) = rest.next_if(|of| of.id == member.id) {
                add(member.clump, same.clump);
            }
        }
        half.0.iter().for_each(|of| add(0, of.clump));
        counts.into_iter().map(|((a, b), n)| PairCount { a, b, n }).collect()
    }
}

/// The rank that matches clumps.
const MATCHES: Rank = Rank(0);

/// A clump of a round and its mass.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MassInRound {
    clump: u64,
    mass: f64,
}

/// What rounds say of a clump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct RoundsOfClump {
    /// Rounds in which it is found.
    n: u64,
    /// Mean of its masses there.
    mean: f64,
    /// Sum of their squared differences from the mean.
    squares: f64,
}

impl RoundsOfClump {
    /// One more round, by Welford's recurrence.
    fn add(&mut self, mass: f64) {
        self.n += 1;
        let difference = mass - self.mean;
        self.mean += difference / self.n as f64;
        self.squares += difference * (mass - self.mean);
    }

    /// The standard deviation of its masses over `mass`; infinite if it is found less than twice.
    fn spread(&self, mass: f64) -> f64 {
        if self.n < 2 { f64::INFINITY } else { (self.squares / (self.n - 1) as f64).sqrt() / mass }
    }
}

/// The clumps of all particles, and how often they were found in halves.
#[derive(Debug)]
pub struct FoundAgain {
    members: MembersByIdentity,
    /// By identifier, on the rank that matches.
    rounds: FxHashMap<u64, RoundsOfClump>,
}

impl FoundAgain {
    /// Before the first round.
    pub fn new(members: MembersByIdentity) -> Self {
        Self { members, rounds: FxHashMap::default() }
    }

    /// Collective: counts the clumps that a round found in its half. Two exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn count(
        &mut self,
        choice: HalfChoice,
        half: &MembersByIdentity,
        found: &Structures,
        comm: &Comm,
    ) -> Result<(), CommError> {
        let counts = comm.exchange(vec![(MATCHES, self.members.counts(half, choice))])?;
        let mass = |row: &Structure| MassInRound { clump: row.id, mass: row.mass };
        let masses: Vec<MassInRound> = found.clumps.iter().map(mass).collect();
        let masses = comm.exchange(vec![(MATCHES, masses)])?;
        let masses: FxHashMap<u64, f64> =
            masses.into_iter().flat_map(|(_, of)| of).map(|of| (of.clump, of.mass)).collect();
        for (clump, of_round) in partners(summed(counts.into_iter().flat_map(|(_, counts)| counts))) {
            let mass = masses.get(&of_round).expect("every clump of a half is listed");
            self.rounds.entry(clump).or_default().add(*mass);
        }
        Ok(())
    }

    /// Collective: adds the columns of clumps, and the attributes of `n_rounds` rounds. Two exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn add_to(self, catalogue: &mut CataloguePart, n_rounds: u64, comm: &Comm) -> Result<(), CommError> {
        let clumps = catalogue.tables.iter_mut().find(|part| part.table.name == "clumps");
        let clumps = &mut clumps.expect("every catalogue has clumps").table;
        let ids = clumps.counts("id").expect("clumps have identifiers").to_vec();
        let masses = clumps.reals("mass").expect("clumps have masses").to_vec();
        let value = |id: u64| self.rounds.get(&id).copied().unwrap_or_default();
        let rounds = looked_up(ids.clone(), |_| MATCHES, value, comm)?;
        let rounds: Vec<RoundsOfClump> = ids.iter().map(|id| rounds[id]).collect();
        clumps.columns.extend(columns(&rounds, &masses, n_rounds));
        let attributes = [("subsamples", n_rounds), ("subsample_seed", HALVES_SEED)];
        let attributes = attributes.map(|(name, n)| (name.to_string(), Attribute::Int(n.cast_signed())));
        catalogue.attributes.extend(attributes);
        Ok(())
    }
}

/// Clumps of all particles with their clumps of a round, by ascending identifier. `counts` are sorted.
fn partners(counts: Vec<PairCount>) -> Vec<(u64, u64)> {
    let (of_one, shared): (Vec<PairCount>, Vec<PairCount>) =
        counts.into_iter().partition(|count| count.a == 0 || count.b == 0);
    let sizes = |clump: fn(&PairCount) -> u32| {
        let n_rows = of_one.iter().map(|of| clump(of) as usize + 1).max().unwrap_or(0);
        let mut sizes = vec![0; n_rows];
        of_one.iter().for_each(|of| sizes[clump(of) as usize] = of.n);
        sizes
    };
    let (of_a, of_b): (Vec<u64>, Vec<u64>) = (sizes(|of| of.a), sizes(|of| of.b));
    let scored =
        |pair: PairCount| ObjectPair::by_members(pair, [of_a[pair.a as usize], of_b[pair.b as usize]]);
    let pairs: Vec<ObjectPair> = shared.into_iter().map(scored).collect();
    let best_of_a = best(&pairs, of_a.len(), |pair| pair.a);
    let best_of_b = best(&pairs, of_b.len(), |pair| pair.b);
    let least = CompareParams::default().least_score;
    let is_found = |(pair, i): &(&ObjectPair, u32)| {
        let is_mutual = [best_of_a[pair.a as usize], best_of_b[pair.b as usize]] == [Some(*i); 2];
        is_mutual && pair.score >= least
    };
    pairs.iter().zip(0..).filter(is_found).map(|(pair, _)| (pair.a.into(), pair.b.into())).collect()
}

fn columns(rounds: &[RoundsOfClump], masses: &[f64], n_rounds: u64) -> [TableColumn; 2] {
    let frequency = rounds.iter().map(|of| of.n as f64 / n_rounds as f64).collect();
    let spread = rounds.iter().zip(masses).map(|(of, mass)| of.spread(*mass)).collect();
    [
        column(
            "subsample_frequency",
            Dimension::NONE,
            "part of the halves of the particles in which it is found again; not a probability of being real",
            Values::F64(frequency),
        ),
        column(
            "subsample_mass_spread",
            Dimension::NONE,
            "standard deviation of its masses in these halves over its mass; infinite if found less than twice",
            Values::F64(spread),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(list: &[(u32, u32, u64)]) -> Vec<PairCount> {
        summed(list.iter().map(|(a, b, n)| PairCount { a: *a, b: *b, n: *n }))
    }

    #[test]
    fn partners_are_mutual_and_share_enough() {
        // Clump 1 splits into 1 and 2, of which 1 is the larger part. 2 shares too little with 3.
        let list =
            [(1, 0, 100), (2, 0, 50), (0, 1, 60), (0, 2, 40), (0, 3, 50), (1, 1, 60), (1, 2, 40), (2, 3, 24)];
        assert_eq!(partners(counts(&list)), [(1, 1)]);
        let enough = list.map(|(a, b, n)| (a, b, if (a, b) == (2, 3) { 25 } else { n }));
        assert_eq!(partners(counts(&enough)), [(1, 1), (2, 3)]);
    }

    #[test]
    fn of_equal_partners_the_first_counts() {
        let list = [(1, 0, 10), (0, 1, 5), (0, 2, 5), (1, 1, 5), (1, 2, 5)];
        assert_eq!(partners(counts(&list)), [(1, 1)]);
    }

    #[test]
    fn nothing_found_has_no_partners() {
        assert!(partners(Vec::new()).is_empty());
        assert!(partners(counts(&[(1, 0, 3)])).is_empty());
        assert!(partners(counts(&[(0, 1, 3)])).is_empty());
    }

    #[test]
    fn spread_is_a_standard_deviation() {
        let mut rounds = RoundsOfClump::default();
        rounds.add(2.0);
        assert_eq!(rounds.spread(1.0), f64::INFINITY);
        rounds.add(4.0);
        assert!((rounds.spread(3.0) - 2.0_f64.sqrt() / 3.0).abs() < 1e-15);
    }
}
