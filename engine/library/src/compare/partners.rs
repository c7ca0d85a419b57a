//! The best partner of each object.

use super::params::CompareParams;
use super::places::near;
use super::shared::{PairCount, SharedMembers, summed};
use super::side::{Level, LevelKind, Side};
use std::collections::HashMap;

/// Two objects that share members, or are at one place.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ObjectPair {
    /// The row of the object of the first catalogue.
    pub a: u32,
    /// That of the second one.
    pub b: u32,
    /// Members in common; 0 for pairs by place.
    pub n_shared: u64,
    /// n² / (`n_A` `n_B`) of members in common. For pairs by place, the smaller mass over the larger one.
    pub score: f64,
}

/// Objects of one level of two catalogues.
#[derive(Debug)]
#[non_exhaustive]
pub struct LevelComparison {
    /// Which objects.
    pub kind: LevelKind,
    /// Those of the first catalogue.
    pub a: Level,
    /// Those of the second one.
    pub b: Level,
    /// Whether pairs are those that share members.
    pub by_members: bool,
    /// The side of the periodic box, if there is one.
    pub side: Option<f64>,
    /// Pairs by ascending rows.
    pub pairs: Vec<ObjectPair>,
    /// The pair with the highest score of each object of the first catalogue; of equal ones the first.
    pub best_of_a: Vec<Option<u32>>,
    /// The same of the second one.
    pub best_of_b: Vec<Option<u32>>,
    /// Members by which shares are measured, of both.
    pub n: [Vec<u64>; 2],
}

/// The levels that both catalogues have. If they have none in common, their only ones.
pub fn levels(
    a: &Side,
    b: &Side,
    shared: Option<SharedMembers>,
    params: &CompareParams,
) -> Vec<LevelComparison> {
    let fine = shared.as_ref().map(|shared| Fine { shared });
    let mut levels = Vec::new();
    let least = params.match_distance * a.code_length();
    let side = a.side.filter(|_| a.is_periodic);
    let by_place = |kind, a: &Level, b: &Level| {
        LevelComparison::by_place(kind, a.clone(), b.clone(), near(a, b, least, side), side)
    };
    if let (Some(of_a), Some(of_b)) = (&a.objects, &b.objects) {
        levels.push(match &fine {
            Some(fine) => {
                let places = [fine.places(of_a, 0), fine.places(of_b, 1)];
                fine.level(LevelKind::Objects, (of_a, of_b), &places, side)
            }
            None => by_place(LevelKind::Objects, of_a, of_b),
        });
    }
    let hosts = [a.hosts.as_ref().or(a.objects.as_ref()), b.hosts.as_ref().or(b.objects.as_ref())];
    let is_new = a.hosts.is_some() && b.hosts.is_some() || levels.is_empty();
    if let ([Some(of_a), Some(of_b)], true) = (hosts, is_new) {
        levels.push(match &fine {
            Some(fine) => {
                let places = [fine.hosts(a, of_a, 0), fine.hosts(b, of_b, 1)];
                fine.level(LevelKind::Hosts, (of_a, of_b), &places, side)
            }
            None => by_place(LevelKind::Hosts, of_a, of_b),
        });
    }
    levels
}

/// Counts of members by the objects that have them.
struct Fine<'a> {
    shared: &'a SharedMembers,
}

/// The row of each place, if it is listed.
type Places = Vec<Option<u32>>;

impl Fine<'_> {
    /// The row in a level of objects of each place.
    fn places(&self, level: &Level, of: usize) -> Places {
        let rows: HashMap<u64, u32> = level.id.iter().copied().zip(0..).collect();
        self.shared.ids[of].iter().map(|id| rows.get(id).copied()).collect()
    }

    /// The row in a level of hosts of each place.
    fn hosts(&self, side: &Side, level: &Level, of: usize) -> Places {
        let (Some(objects), Some(host_of)) = (&side.objects, &side.host_of) else {
            return self.places(level, of);
        };
        let rows = self.places(objects, of);
        rows.into_iter().map(|row| row.and_then(|row| host_of[row as usize])).collect()
    }

    fn level(
        &self,
        kind: LevelKind,
        (a, b): (&Level, &Level),
        places: &[Places; 2],
        side: Option<f64>,
    ) -> LevelComparison {
        let n = [0, 1].map(|i| {
            let mut n = vec![0; [a, b][i].id.len()];
            for (place, members) in self.shared.n[i].iter().enumerate() {
                if let Some(row) = places[i][place] {
                    n[row as usize] += members;
                }
            }
            n
        });
        let of_rows = self.shared.pairs.iter().filter_map(|pair| {
            let (a, b) = (places[0][pair.a as usize]?, places[1][pair.b as usize]?);
            Some(PairCount { a, b, n: pair.n })
        });
        let score = |pair: &PairCount| {
            let (of_a, of_b) = (n[0][pair.a as usize] as f64, n[1][pair.b as usize] as f64);
            (pair.n as f64).powi(2) / (of_a * of_b)
        };
        let pairs = summed(of_rows);
        let pairs = pairs
            .iter()
            .map(|pair| ObjectPair { a: pair.a, b: pair.b, n_shared: pair.n, score: score(pair) })
            .collect();
        LevelComparison::new(kind, a.clone(), b.clone(), true, pairs, n, side)
    }
}

impl LevelComparison {
    fn new(
        kind: LevelKind,
        a: Level,
        b: Level,
        by_members: bool,
        pairs: Vec<ObjectPair>,
        n: [Vec<u64>; 2],
        side: Option<f64>,
    ) -> Self {
        let mut best_of_a: Vec<Option<u32>> = vec![None; a.id.len()];
        let mut best_of_b: Vec<Option<u32>> = vec![None; b.id.len()];
        for (i, pair) in pairs.iter().enumerate() {
            let take = |best: &mut Option<u32>| {
                if best.is_none_or(|best| pairs[best as usize].score < pair.score) {
                    *best = Some(i as u32);
                }
            };
            take(&mut best_of_a[pair.a as usize]);
            take(&mut best_of_b[pair.b as usize]);
        }
        Self { kind, a, b, by_members, side, pairs, best_of_a, best_of_b, n }
    }

    fn by_place(kind: LevelKind, a: Level, b: Level, near: Vec<(u32, u32)>, side: Option<f64>) -> Self {
        let pair = |(i, j): (u32, u32)| {
            let (of_a, of_b) = (a.mass[i as usize], b.mass[j as usize]);
            let score = if of_a > 0.0 && of_b > 0.0 { of_a.min(of_b) / of_a.max(of_b) } else { 0.0 };
            ObjectPair { a: i, b: j, n_shared: 0, score }
        };
        let pairs = near.into_iter().map(pair).collect();
        let n = [a.n_members.clone(), b.n_members.clone()];
        Self::new(kind, a, b, false, pairs, n, side)
    }

    /// The best pair of an object of the first catalogue.
    pub fn partner_of_a(&self, row: usize) -> Option<&ObjectPair> {
        self.best_of_a[row].map(|pair| &self.pairs[pair as usize])
    }

    /// The best pair of an object of the second catalogue.
    pub fn partner_of_b(&self, row: usize) -> Option<&ObjectPair> {
        self.best_of_b[row].map(|pair| &self.pairs[pair as usize])
    }

    /// Whether each is the best partner of the other.
    pub fn is_mutual(&self, pair: &ObjectPair) -> bool {
        let is_it = |best: Option<&ObjectPair>| best.is_some_and(|best| (best.a, best.b) == (pair.a, pair.b));
        is_it(self.partner_of_a(pair.a as usize)) && is_it(self.partner_of_b(pair.b as usize))
    }

    /// Whether a pair counts as a find. Pairs by place do, whatever their masses.
    pub fn is_find(&self, pair: &ObjectPair, params: &CompareParams) -> bool {
        !self.by_members || pair.score >= params.least_score
    }
}
