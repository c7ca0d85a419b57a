//! The best partner of each object.

use super::params::CompareParams;
use super::places::near;
use super::scaled::{LevelKind, LevelObjects, ScaledCatalogue};
use super::shared::{PairCount, SharedMembers, summed};

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

impl ObjectPair {
    /// A pair that shares members; `n` are the numbers of members of both.
    pub(crate) fn by_members(PairCount { a, b, n: n_shared }: PairCount, n: [u64; 2]) -> Self {
        let [of_a, of_b] = n.map(|n| n as f64);
        Self { a, b, n_shared, score: (n_shared as f64).powi(2) / (of_a * of_b) }
    }
}

/// Objects of one level of two catalogues.
#[derive(Debug)]
#[non_exhaustive]
pub struct LevelComparison {
    /// Which objects.
    pub kind: LevelKind,
    /// Those of the first catalogue.
    pub a: LevelObjects,
    /// Those of the second one.
    pub b: LevelObjects,
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
    both: [&ScaledCatalogue; 2],
    shared: Option<&SharedMembers>,
    params: &CompareParams,
) -> Vec<LevelComparison> {
    let [a, b] = both;
    let least = params.match_distance * a.code_length;
    let side = a.side.filter(|_| a.is_periodic);
    let compared = |kind: LevelKind, of: [&LevelObjects; 2]| match shared {
        None => LevelComparison::by_place(kind, of, least, side),
        Some(shared) => {
            let rows = [0, 1].map(|i| shared.rows_of(i, kind, both[i], of[i]));
            LevelComparison::by_members(kind, of, shared, &rows, side)
        }
    };
    let mut levels = Vec::new();
    if let [Some(of_a), Some(of_b)] = [&a.objects, &b.objects] {
        levels.push(compared(LevelKind::Objects, [of_a, of_b]));
    }
    let both_have_hosts = a.hosts.is_some() && b.hosts.is_some();
    let hosts = both.map(|of| of.hosts.as_ref().or(of.objects.as_ref()));
    if let [Some(of_a), Some(of_b)] = hosts
        && (both_have_hosts || levels.is_empty())
    {
        levels.push(compared(LevelKind::Hosts, [of_a, of_b]));
    }
    levels
}

/// The row in a level of each object with members, if it is listed.
type RowsOfObjects = Vec<Option<u32>>;

impl SharedMembers {
    /// The rows in this level of catalogue `i`: of objects their own ones, or those of their hosts.
    fn rows_of(
        &self,
        i: usize,
        kind: LevelKind,
        catalogue: &ScaledCatalogue,
        level: &LevelObjects,
    ) -> RowsOfObjects {
        let rows = |level: &LevelObjects| {
            let rows = level.rows_by_id();
            self.ids[i].iter().map(|id| rows.get(id).copied()).collect::<RowsOfObjects>()
        };
        match (kind, &catalogue.objects, &catalogue.host_of) {
            (LevelKind::Hosts, Some(objects), Some(host_of)) => {
                rows(objects).into_iter().map(|row| host_of[row? as usize]).collect()
            }
            _ => rows(level),
        }
    }
}

/// The pair with the highest score of each of `n` rows; of equal ones the first.
pub(crate) fn best(pairs: &[ObjectPair], n: usize, row: impl Fn(&ObjectPair) -> u32) -> Vec<Option<u32>> {
    let mut best: Vec<Option<u32>> = vec![None; n];
    for (pair, i) in pairs.iter().zip(0..) {
        let of = &mut best[row(pair) as usize];
        if of.is_none_or(|best: u32| pairs[best as usize].score < pair.score) {
            *of = Some(i);
        }
    }
    best
}

impl LevelComparison {
    /// What sizes count: `particles`, `cells`, or `members` if the two catalogues count different things.
    pub fn size_word(&self) -> &'static str {
        if self.a.size_word == self.b.size_word { self.a.size_word } else { "members" }
    }

    fn new(
        kind: LevelKind,
        [a, b]: [&LevelObjects; 2],
        by_members: bool,
        pairs: Vec<ObjectPair>,
        n: [Vec<u64>; 2],
        side: Option<f64>,
    ) -> Self {
        let best_of_a = best(&pairs, a.id.len(), |pair| pair.a);
        let best_of_b = best(&pairs, b.id.len(), |pair| pair.b);
        Self { kind, a: a.clone(), b: b.clone(), by_members, side, pairs, best_of_a, best_of_b, n }
    }

    /// `rows` are those of the objects with members.
    fn by_members(
        kind: LevelKind,
        of: [&LevelObjects; 2],
        shared: &SharedMembers,
        rows: &[RowsOfObjects; 2],
        side: Option<f64>,
    ) -> Self {
        let n = [0, 1].map(|i| {
            let mut n = vec![0; of[i].id.len()];
            for (members, row) in shared.n[i].iter().zip(&rows[i]) {
                row.iter().for_each(|row| n[*row as usize] += members);
            }
            n
        });
        let in_rows = |pair: &PairCount| {
            let (a, b) = (rows[0][pair.a as usize]?, rows[1][pair.b as usize]?);
            Some(PairCount { a, b, n: pair.n })
        };
        let scored =
            |pair: PairCount| ObjectPair::by_members(pair, [n[0][pair.a as usize], n[1][pair.b as usize]]);
        let pairs = summed(shared.pairs.iter().filter_map(in_rows)).into_iter().map(scored).collect();
        Self::new(kind, of, true, pairs, n, side)
    }

    /// Objects are pairs if they are closer than `least`, or than the half-mass radius of one of them.
    fn by_place(kind: LevelKind, [a, b]: [&LevelObjects; 2], least: f64, side: Option<f64>) -> Self {
        let pair = |(i, j): (u32, u32)| {
            let (of_a, of_b) = (a.mass[i as usize], b.mass[j as usize]);
            let score = if of_a > 0.0 && of_b > 0.0 { of_a.min(of_b) / of_a.max(of_b) } else { 0.0 };
            ObjectPair { a: i, b: j, n_shared: 0, score }
        };
        let pairs = near(a, b, least, side).into_iter().map(pair).collect();
        Self::new(kind, [a, b], false, pairs, [a.n_members.clone(), b.n_members.clone()], side)
    }

    /// The words for the objects: `clumps`, or `groups and clumps`.
    pub fn title(&self) -> String {
        let (a, b) = (self.a.word, self.b.word);
        if a == b { a.into() } else { format!("{a} and {b}") }
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
