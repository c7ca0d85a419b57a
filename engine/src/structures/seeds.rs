//! The clump of every peak, and the tree of the clumps, which every rank holds.

use crate::peaks::Peaks;
use crate::ranks::pointers::{Bare, Lead, Step, Target, lead_of, resolve};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, cut_in_order, is_noise};
use inselberg_kernels::phew::tree::{Death, MergeTree};
use inselberg_kernels::pointers::root;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A peak that is no noise, and all that its clump takes from it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Seed {
    /// Density.
    pub rho: f64,
    /// Density of the saddle at which it ends; 0 if never.
    pub saddle: f64,
    /// Refined position in code units.
    pub refined: [f64; 3],
    /// Where it ends in code units; NaN if never.
    pub saddle_position: [f64; 3],
    /// Level of its cell.
    pub level: u32,
    /// Position of its cell.
    pub ijk: [u32; 3],
    /// Its global index.
    pub global: PeakIdx,
    /// The two patches at which it ends, near side first.
    pub ends: [PeakIdx; 2],
    /// The clumps of these, by global index.
    pub end_clumps: [PeakIdx; 2],
    unused: u32,
}

/// Everything about the clumps but their sums. Clumps are known by their place among the seeds.
#[derive(Debug)]
pub struct Clumps {
    /// One a clump, discarded ones too, by global index.
    pub seeds: Vec<Seed>,
    /// What the thresholds make of them.
    pub hierarchy: Hierarchy,
    /// The clumps by identifier; discarded ones have none.
    pub by_id: Vec<PeakIdx>,
    /// Identifier of each; 0 for discarded ones.
    ids: Vec<u64>,
    /// The clump of each peak of this rank; `NONE` for discarded ones.
    pub of_peak: Vec<PeakIdx>,
}

impl Clumps {
    /// Identifier of a clump; 0 for none.
    pub fn id(&self, clump: PeakIdx) -> u64 {
        if clump.is_none() { 0 } else { self.ids[clump.at()] }
    }

    /// Collective: something of every seed, of which `of_peak` has one an own peak.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn gather<T: Pod>(&self, peaks: &Peaks, of_peak: &[T], comm: &Comm) -> Result<Vec<T>, CommError> {
        let own = |(i, s): (usize, &Seed)| peaks.own(s.global).map(|p| (i, of_peak[p]));
        let values: Vec<(usize, T)> = self.seeds.iter().enumerate().filter_map(own).collect();
        let places: Vec<u64> = values.iter().map(|v| v.0 as u64).collect();
        let values: Vec<T> = values.into_iter().map(|v| v.1).collect();
        let (places, values) = (comm.all_gather(&places)?.concat(), comm.all_gather(&values)?.concat());
        let mut all = vec![T::zeroed(); self.seeds.len()];
        places.iter().zip(values).for_each(|(&i, value)| all[i as usize] = value);
        Ok(all)
    }

    /// The halo of a clump.
    pub fn halo(&self, clump: PeakIdx) -> PeakIdx {
        if clump.is_none() { clump } else { self.hierarchy.halo[clump.at()] }
    }
}

/// Collective: cuts the tree.
///
/// # Errors
/// When another rank fails.
pub fn cut(peaks: &Peaks, thresholds: &Cut, rules: Rules, comm: &Comm) -> Result<Clumps, CommError> {
    let mut chains = Chains::new(peaks, thresholds.relevance, comm.rank().0);
    let ends = chains.follow_seeds(peaks);
    resolve(comm, &mut chains.exits, |global| chains.ends.step(global))?;
    let own: Vec<Seed> = chains
        .seeds
        .iter()
        .zip(ends)
        .map(|(&i, ends)| seed(peaks, i, ends.map(|e| chains.clump(e))))
        .collect();
    let mut seeds = comm.all_gather(&own)?.concat();
    seeds.sort_unstable_by_key(|s| s.global);
    let places = Places::of(&seeds, peaks);
    let tree = tree_of(&seeds, |global| places.find(global));
    let hierarchy = cut_in_order(&tree, by_death(&seeds), thresholds, rules);
    let of_peak =
        (0..peaks.len()).into_par_iter().map(|i| match places.find(chains.clump(chains.ends.of(i))) {
            PeakIdx::NONE => PeakIdx::NONE,
            clump => hierarchy.clump[clump.at()],
        });
    let of_peak = of_peak.collect();
    let (by_id, ids) = identify(&tree, &hierarchy);
    Ok(Clumps { seeds, hierarchy, by_id, ids, of_peak })
}

/// The places of the seeds, by global index.
struct Places<'a> {
    seeds: &'a [Seed],
    peaks: &'a Peaks,
    /// That of the seed at each own peak; `NONE` where there is none.
    of_own: Vec<PeakIdx>,
}

impl<'a> Places<'a> {
    fn of(seeds: &'a [Seed], peaks: &'a Peaks) -> Self {
        let mut of_own = vec![PeakIdx::NONE; peaks.len()];
        for (place, seed) in seeds.iter().enumerate() {
            if let Some(own) = peaks.own(seed.global) {
                of_own[own] = PeakIdx::new(place);
            }
        }
        Self { seeds, peaks, of_own }
    }

    fn find(&self, global: PeakIdx) -> PeakIdx {
        match self.peaks.own(global) {
            Some(own) => self.of_own[own],
            None => {
                let place = self.seeds.binary_search_by_key(&global, |s| s.global);
                place.map_or(PeakIdx::NONE, PeakIdx::new)
            }
        }
    }
}

fn seed(peaks: &Peaks, i: usize, end_clumps: [PeakIdx; 2]) -> Seed {
    let death = &peaks.tree.death[i];
    Seed {
        rho: peaks.tree.rho[i],
        saddle: death.saddle,
        refined: peaks.refined[i],
        saddle_position: peaks.saddle_position[i],
        level: u32::from(peaks.level[i]),
        ijk: peaks.ijk[i],
        global: peaks.global[i],
        ends: [death.near, death.endpoint],
        end_clumps,
        unused: 0,
    }
}

/// The tree of the seeds alone.
fn tree_of(seeds: &[Seed], place: impl Fn(PeakIdx) -> PeakIdx) -> MergeTree {
    let death = |s: &Seed| match s.ends[1].is_none() {
        true => Death::NEVER,
        false => Death { saddle: s.saddle, near: place(s.end_clumps[0]), endpoint: place(s.end_clumps[1]) },
    };
    MergeTree { rho: seeds.iter().map(|s| s.rho).collect(), death: seeds.iter().map(death).collect() }
}

/// The seeds that end, in the order in which they do: that of the edges between the patches.
fn by_death(seeds: &[Seed]) -> Vec<PeakIdx> {
    let mut dying: Vec<_> =
        (0..seeds.len()).map(PeakIdx::new).filter(|p| !seeds[p.at()].ends[1].is_none()).collect();
    let edge = |s: &Seed| (s.ends[0].min(s.ends[1]), s.ends[0].max(s.ends[1]));
    dying.sort_unstable_by(|a, b| {
        let (a, b) = (&seeds[a.at()], &seeds[b.at()]);
        b.saddle.total_cmp(&a.saddle).then_with(|| edge(a).cmp(&edge(b)))
    });
    dying
}

/// Identifiers from 1 by falling density of the clumps that are not discarded.
fn identify(tree: &MergeTree, hierarchy: &Hierarchy) -> (Vec<PeakIdx>, Vec<u64>) {
    let is_kept = |p: &PeakIdx| hierarchy.clump[p.at()] == *p;
    let by_id: Vec<PeakIdx> = tree.by_falling_density().into_iter().filter(is_kept).collect();
    let mut ids = vec![0; tree.len()];
    for (i, p) in by_id.iter().enumerate() {
        ids[p.at()] = i as u64 + 1;
    }
    (by_id, ids)
}

/// The pointers of noise to the patches where it ends. Items are global indices.
struct Chains<'a> {
    ends: Ends<'a>,
    /// Chains that leave this rank, and those from the ends of seeds on other ranks.
    exits: Vec<Bare>,
    /// The own peaks that are no noise.
    seeds: Vec<usize>,
}

/// Where the chain from each own peak comes to on this rank.
struct Ends<'a> {
    peaks: &'a Peaks,
    rank: u32,
    /// An own peak further on, or behind these the exits; roots where chains come to.
    up: Vec<AtomicU32>,
}

impl Ends<'_> {
    fn of(&self, peak: usize) -> Step<Bare> {
        let end = root(&self.up, peak as u32) as usize;
        match end.checked_sub(self.peaks.len()) {
            Some(exit) => Step::Exit(exit),
            None => Step::End(Bare::end(Target { rank: self.rank, index: self.peaks.global[end].0 })),
        }
    }

    /// For a peak of this rank by its global index.
    fn step(&self, global: u32) -> Step<Bare> {
        match self.peaks.own(PeakIdx(global)) {
            Some(peak) => self.of(peak),
            None => Step::End(Bare::end(Target { rank: self.rank, index: PeakIdx::NONE.0 })),
        }
    }
}

impl<'a> Chains<'a> {
    fn new(peaks: &'a Peaks, relevance: f64, rank: u32) -> Self {
        let n = peaks.len();
        let is_seed = |&i: &usize| {
            let death = &peaks.tree.death[i];
            death.is_never() || !is_noise(peaks.tree.rho[i], death.saddle, relevance)
        };
        let leaves = |&i: &usize| peaks.end_owners[i][1] != rank && !is_seed(&i);
        let seeds = (0..n).into_par_iter().filter(is_seed).collect();
        let leaving: Vec<usize> = (0..n).into_par_iter().filter(leaves).collect();
        let onward = |i: &usize| {
            Bare::onward(Target { rank: peaks.end_owners[*i][1], index: peaks.tree.death[*i].endpoint.0 })
        };
        let first = |i: usize| match i < n && !is_seed(&i) {
            true => peaks.own(peaks.tree.death[i].endpoint).unwrap_or(i),
            false => i,
        };
        let up: Vec<AtomicU32> =
            (0..n + leaving.len()).into_par_iter().map(|i| AtomicU32::new(first(i) as u32)).collect();
        leaving.iter().enumerate().for_each(|(exit, &i)| up[i].store((n + exit) as u32, Relaxed));
        Self { ends: Ends { peaks, rank, up }, exits: leaving.iter().map(onward).collect(), seeds }
    }

    /// Where the chains from the two patches come to at which each seed ends.
    fn follow_seeds(&mut self, peaks: &Peaks) -> Vec<[Step<Bare>; 2]> {
        let nowhere = Step::End(Bare::end(Target { rank: 0, index: PeakIdx::NONE.0 }));
        let mut all = Vec::with_capacity(self.seeds.len());
        for &i in &self.seeds {
            let (death, owners) = (&peaks.tree.death[i], peaks.end_owners[i]);
            let patches = [death.near, death.endpoint];
            all.push([0, 1].map(|side| match (patches[side], owners[side]) {
                (PeakIdx::NONE, _) => nowhere,
                (patch, owner) if owner == self.ends.rank => self.ends.step(patch.0),
                (patch, rank) => {
                    self.exits.push(Bare::onward(Target { rank, index: patch.0 }));
                    Step::Exit(self.exits.len() - 1)
                }
            }));
        }
        all
    }

    /// The peak that a chain ends at, once the exits are resolved.
    fn clump(&self, step: Step<Bare>) -> PeakIdx {
        PeakIdx(lead_of(step, &self.exits).target().index)
    }
}
