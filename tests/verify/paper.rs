//! The paper's merging procedure as it is written (sections 2.4 to 2.7 and algorithm 2), round by round.
//!
//! A round: peaks are taken in falling order. Each has its key saddle, the greatest of its row, and
//! merges to the key neighbour if that is greater and the criterion holds: it takes the final-peak
//! label that the neighbour has by then, so labels run through chains within the round. Then the
//! rows of the merged are merged into those of their final peaks, the greater of two saddles being
//! kept. Rounds go on until one merges nothing. A saddle keeps the pair of peaks that it was found
//! between, and among equally dense ones the one between earlier peaks is the greater.

use super::brute::order;
use inselberg_kernels::phew::persistence::Persistence;
use std::collections::BTreeMap;

/// Peaks in the order of their keys, and the saddles between their patches.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Density of each peak.
    pub rho: Vec<f64>,
    /// Density, and the two peaks, earlier first; each pair once.
    pub saddles: Vec<(f64, [usize; 2])>,
}

/// Thresholds.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds {
    pub density: f64,
    pub persistence: Persistence,
    pub saddle: Option<f64>,
    /// Of the second merging by relevance.
    pub halo_relevance: Option<f64>,
}

/// What comes of it, by peak. All but `clump` means something for clumps only.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The clump of each patch; `None` where it is discarded.
    pub clump: Vec<Option<usize>>,
    pub halo: Vec<usize>,
    /// The round of the saddle pass in which it merged, from 1; 0 if it did not.
    pub level: Vec<u32>,
    /// Its final-peak label in that round; itself if it did not merge.
    pub parent: Vec<usize>,
    pub relevance: Vec<f64>,
    /// Its key saddle after noise removal, and the clump beyond.
    pub key: Vec<Option<(f64, usize)>>,
}

/// Both passes.
pub fn run(graph: &Graph, thresholds: &Thresholds) -> Outcome {
    let mut noise = Procedure::new(graph);
    let (relevance_of, least): (fn(f64, f64) -> f64, f64) = match thresholds.persistence {
        Persistence::Ratio(least) => (|rho, saddle| rho / saddle, least),
        Persistence::Difference(least) => (|rho, saddle| rho - saddle, least),
    };
    noise.merge_all(&|rho, saddle| relevance_of(rho, saddle) < least);
    let n = graph.rho.len();
    let key: Vec<_> = (0..n).map(|p| noise.key(p).map(|(other, s)| (s.density, other))).collect();
    let relevance: Vec<f64> =
        (0..n).map(|p| relevance_of(graph.rho[p], key[p].map_or(thresholds.density, |k| k.0))).collect();
    let discarded = |p: usize| key[p].is_none() && relevance[p] < least;
    let clump = noise.label.iter().map(|&c| (!discarded(c)).then_some(c)).collect();
    let mut haloes = noise.of_survivors();
    match thresholds.halo_relevance {
        Some(least) => haloes.merge_all(&|rho, saddle| relevance_of(rho, saddle) < least),
        None => haloes.merge_all(&|_, saddle| thresholds.saddle.is_some_and(|s| saddle > s)),
    }
    Outcome { clump, halo: haloes.label, level: haloes.level, parent: haloes.parent, relevance, key }
}

/// A saddle in the row of a peak.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    density: f64,
    /// Which peaks it was found between.
    found: [usize; 2],
}

impl Link {
    fn is_greater(&self, other: &Self) -> bool {
        self.density > other.density || self.density == other.density && self.found < other.found
    }
}

type Row = BTreeMap<usize, Link>;

/// The merging of one pass.
struct Procedure {
    rho: Vec<f64>,
    rows: Vec<Row>,
    /// The living, in falling order.
    alive: Vec<usize>,
    label: Vec<usize>,
    level: Vec<u32>,
    parent: Vec<usize>,
}

impl Procedure {
    fn new(graph: &Graph) -> Self {
        let n = graph.rho.len();
        let mut rows = vec![Row::new(); n];
        for &(density, [a, b]) in &graph.saddles {
            raise(&mut rows, a, b, Link { density, found: [a, b] });
        }
        let mut alive: Vec<usize> = (0..n).collect();
        alive.sort_by(|&a, &b| order(|p| graph.rho[p], b, a));
        let own = || (0..n).collect();
        Self { rho: graph.rho.clone(), rows, alive, label: own(), level: vec![0; n], parent: own() }
    }

    /// The next pass begins with what this one left.
    fn of_survivors(self) -> Self {
        let n = self.rho.len();
        Self { label: (0..n).collect(), level: vec![0; n], parent: (0..n).collect(), ..self }
    }

    fn merge_all(&mut self, criterion: &dyn Fn(f64, f64) -> bool) {
        for round in 1.. {
            let final_peak = self.propagate(criterion);
            let merged: Vec<usize> = self.alive.iter().copied().filter(|&p| final_peak[p] != p).collect();
            if merged.is_empty() {
                return;
            }
            for &p in &merged {
                (self.level[p], self.parent[p]) = (round, final_peak[p]);
                self.merge_row(p, final_peak[p]);
            }
            self.alive.retain(|&p| final_peak[p] == p);
            self.label.iter_mut().for_each(|label| *label = final_peak[*label]);
        }
    }

    /// The final-peak label of every peak after one round.
    fn propagate(&self, criterion: &dyn Fn(f64, f64) -> bool) -> Vec<usize> {
        let mut final_peak: Vec<usize> = (0..self.rho.len()).collect();
        for &p in &self.alive {
            let Some((neighbour, saddle)) = self.key(p) else { continue };
            let is_upward = order(|q| self.rho[q], neighbour, p).is_gt();
            if is_upward && criterion(self.rho[p], saddle.density) {
                final_peak[p] = final_peak[neighbour];
            }
        }
        final_peak
    }

    /// Key neighbour and key saddle.
    fn key(&self, peak: usize) -> Option<(usize, Link)> {
        let row = self.rows[peak].iter().map(|(&other, &link)| (other, link));
        row.reduce(|best, next| if next.1.is_greater(&best.1) { next } else { best })
    }

    fn merge_row(&mut self, dead: usize, into: usize) {
        for (other, link) in std::mem::take(&mut self.rows[dead]) {
            self.rows[other].remove(&dead);
            if other != into {
                raise(&mut self.rows, into, other, link);
            }
        }
    }
}

/// Keeps the greater of two saddles between the same peaks.
fn raise(rows: &mut [Row], a: usize, b: usize, link: Link) {
    for (from, to) in [(a, b), (b, a)] {
        let kept = rows[from].entry(to).or_insert(link);
        if link.is_greater(kept) {
            *kept = link;
        }
    }
}
