//! The tree of the clumps whose haloes this rank cuts, and its cut.
//!
//! It has the peak of each clump that is not noise. If such a clump touches one of a halo that another rank
//! cuts, it also has that clump, with the facts that the contact contains. A [`PeakIdx`] here is the place of
//! a clump among all of these, in the order of their numbers.

use crate::phew::hierarchy::chains::ClumpAt;
use crate::phew::peaks::{PeakProminence, Peaks};
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, SaddleOf, cut_in_order};
use inselberg_kernels::phew::significance::Prominence;
use inselberg_kernels::phew::ties::{Tie, cut_with_ties};
use inselberg_kernels::phew::tree::{Death, MergeTree};
use rayon::prelude::*;

/// A peak that is not noise, with the properties that its clump takes from it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpPeak {
    /// Density.
    pub rho: f64,
    /// Density of the saddle at which it dies; 0 if never.
    pub saddle: f64,
    /// Refined position in code units.
    pub refined: [f64; 3],
    /// Position of the saddle in code units; NaN if it never dies.
    pub saddle_position: [f64; 3],
    /// Its cell.
    pub cell: PeakCell,
    /// Its name.
    pub name: PeakName,
    /// The two patches at whose contact it dies, near side first.
    pub ends: [PeakName; 2],
    /// The clumps of these patches, by the names of their peaks.
    pub end_clumps: [PeakName; 2],
    /// The ranks that cut the haloes of these.
    pub end_cutters: [u32; 2],
    /// The rank that cuts its halo.
    pub cutter: u32,
    /// Always 0.
    pub unused: u32,
    /// Significance and mass above the saddle at which it dies; NaN where they are not known.
    pub prominence: [f64; 2],
}

/// The cell of a peak.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PeakCell {
    /// Its level.
    pub level: u32,
    /// Its position on the grid of that level.
    pub ijk: [u32; 3],
}

/// The identity of a clump and of its halo.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpIdentity {
    /// Identifiers of clump and halo; 0 for discarded ones.
    pub ids: [u64; 2],
    /// The cells of their highest peaks.
    pub heads: [PeakCell; 2],
}

/// The row of a clump without its sums.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ClumpRow {
    /// Identifier.
    pub id: u64,
    /// Place of its peak by falling density.
    pub peak_rank: u64,
    /// Identifier of its halo.
    pub halo: u64,
    /// Identifier of the clump it merges into.
    pub parent: u64,
    /// Level of the saddle through which it merges; 0 for a main clump.
    pub level: u64,
    /// Peak density.
    pub rho_peak: f64,
    /// Persistence above the key saddle, or above the density threshold.
    pub relevance: f64,
    /// Significance and mass above the saddle at which its peak dies; NaN where they are not known.
    pub prominence: [f64; 2],
    /// Density of the key saddle; 0 without one.
    pub saddle: f64,
    /// Position of the key saddle; NaN without one.
    pub saddle_position: [f64; 3],
    /// Clump on the other side of it; 0 without one.
    pub saddle_neighbour: u64,
    /// Refined position of its peak in code units.
    pub refined: [f64; 3],
    /// The cell of its peak.
    pub cell: PeakCell,
}

impl ClumpPeak {
    /// An own peak.
    pub fn new(peaks: &Peaks, peak: PeakIdx, cutter: u32, ends: [ClumpAt; 2]) -> Self {
        let i = peak.at();
        let death = &peaks.tree.death[i];
        let of_peak = |of_peaks: &Vec<PeakProminence>| {
            let Prominence { significance, mass } = of_peaks[i].prominence;
            [significance, mass]
        };
        let prominence = peaks.prominence.as_ref().map(of_peak);
        Self {
            rho: peaks.tree.rho[i],
            saddle: death.saddle,
            refined: peaks.refined[i],
            saddle_position: peaks.saddle_position[i],
            cell: PeakCell { level: u32::from(peaks.level[i]), ijk: peaks.ijk[i] },
            name: peaks.name[i],
            ends: [death.near, death.endpoint].map(|patch| peaks.name_of(patch)),
            end_clumps: ends.map(|end| end.clump),
            end_cutters: ends.map(|end| end.cutter),
            cutter,
            unused: 0,
            prominence: prominence.unwrap_or([f64::NAN; 2]),
        }
    }

    /// A clump of which only the name is known here.
    fn only_name(name: PeakName, cutter: u32) -> Self {
        let never = [PeakName::NONE; 2];
        Self { name, cutter, ends: never, end_clumps: never, ..Self::zeroed() }
    }

    /// Whether it dies.
    pub fn dies(&self) -> bool {
        !self.ends[1].is_none()
    }
}

/// The clumps whose haloes a rank cuts, and their neighbours.
pub struct CutTree {
    /// The peaks of clumps, discarded ones too, by name.
    peaks: Vec<ClumpPeak>,
    /// Their names, for look-ups.
    names: Vec<PeakName>,
    /// The ties between clumps.
    ties: Vec<Tie>,
    hierarchy: Hierarchy,
    /// The clumps that this rank cuts and does not discard, by name.
    kept: Vec<PeakIdx>,
    /// Place by falling density and identifier of each clump, from 1; 0 for discarded ones, and until they
    /// are known.
    ranks: Vec<ClumpRanks>,
}

/// The place and the identifier of a clump.
#[derive(Debug, Clone, Copy, Default)]
struct ClumpRanks {
    /// Place of its peak by falling density.
    peak_rank: u64,
    /// Its identifier.
    id: u64,
}

impl CutTree {
    /// From the peaks of the clumps that the rank `cutter` cuts, and of all clumps that die at a contact with
    /// one of these, each of them once. `ties` name clumps by their peaks in the tree of all ranks.
    pub fn new(
        mut peaks: Vec<ClumpPeak>,
        mut ties: Vec<Tie>,
        thresholds: &Cut,
        rules: Rules,
        cutter: u32,
    ) -> Self {
        let names = add_neighbours(&mut peaks);
        let tree = tree_of(&peaks, &names);
        for tie in &mut ties {
            tie.patches = tie.patches.map(|clump| index_of_number(&names, clump.at() as u64));
        }
        let hierarchy = match ties.is_empty() {
            true => cut_in_order(&tree, by_death(&peaks), thresholds, rules),
            false => cut_with_ties(&tree, &ties, thresholds),
        };
        let is_kept = |p: &PeakIdx| peaks[p.at()].cutter == cutter && hierarchy.clump[p.at()] == *p;
        let kept = (0..peaks.len()).into_par_iter().map(PeakIdx::new).filter(is_kept).collect();
        let ranks = vec![ClumpRanks::default(); peaks.len()];
        Self { peaks, names, ties, hierarchy, kept, ranks }
    }

    /// Number of clumps that this rank cuts and does not discard.
    pub fn n_kept(&self) -> usize {
        self.kept.len()
    }

    /// Density and name of the peaks of these clumps.
    pub fn kept(&self) -> impl IndexedParallelIterator<Item = (f64, PeakName)> + '_ {
        self.kept.par_iter().map(|p| (self.peaks[p.at()].rho, self.peaks[p.at()].name))
    }

    /// Sets the places of these clumps from 0: among all peaks by falling density, and among the clumps that
    /// are not discarded.
    pub fn set_places(&mut self, places: &[[u64; 2]]) {
        for (clump, [among_peaks, among_clumps]) in self.kept.iter().zip(places) {
            self.ranks[clump.at()] = ClumpRanks { peak_rank: among_peaks + 1, id: among_clumps + 1 };
        }
    }

    /// The contacts of clumps that this rank cuts with clumps that others cut: the other rank, the clump here
    /// and its identifier.
    pub fn across(&self, cutter: u32) -> impl ParallelIterator<Item = (u32, PeakName, u64)> + '_ {
        let dying = self.peaks.par_iter().filter(|peak| peak.dies());
        dying.flat_map_iter(|peak| [(0, 1), (1, 0)].map(|(here, there)| (peak, here, there))).filter_map(
            move |(peak, here, there)| {
                let cutters = peak.end_cutters;
                let clump = peak.end_clumps[here];
                let is_across = cutters[here] == cutter && cutters[there] != cutter;
                is_across.then(|| (cutters[there], clump, self.id(index(&self.names, clump))))
            },
        )
    }

    /// Sets the identifier of a clump that another rank cuts.
    pub fn set_neighbour(&mut self, clump: PeakName, id: u64) {
        self.ranks[index(&self.names, clump).at()].id = id;
    }

    /// The clump into which the cut has turned a clump of this name; zeros if it was discarded.
    pub fn identity(&self, name: PeakName) -> ClumpIdentity {
        let clump = self.hierarchy.clump[index(&self.names, name).at()];
        if clump.is_none() {
            return ClumpIdentity::zeroed();
        }
        let both = [clump, self.hierarchy.halo[clump.at()]];
        ClumpIdentity { ids: both.map(|c| self.id(c)), heads: both.map(|c| self.peaks[c.at()].cell) }
    }

    /// 0 for no clump.
    fn id(&self, clump: PeakIdx) -> u64 {
        if clump.is_none() { 0 } else { self.ranks[clump.at()].id }
    }

    /// The rows of the clumps that this rank cuts and does not discard.
    pub fn rows(&self, rules: Rules) -> Vec<ClumpRow> {
        let h = &self.hierarchy;
        let row = |&clump: &PeakIdx| {
            let (peak, key) = (&self.peaks[clump.at()], &h.key_saddle[clump.at()]);
            let saddle_position = match key.of {
                SaddleOf::Nothing => [f64::NAN; 3],
                SaddleOf::Death(dying) => self.peaks[dying.at()].saddle_position,
                SaddleOf::Tie(tie) => self.ties[tie as usize].position,
            };
            ClumpRow {
                id: self.id(clump),
                peak_rank: self.ranks[clump.at()].peak_rank,
                halo: self.id(h.halo[clump.at()]),
                parent: self.id(h.parent[clump.at()]),
                level: level(h.level[clump.at()], rules),
                rho_peak: peak.rho,
                relevance: h.relevance[clump.at()],
                prominence: peak.prominence,
                saddle: key.density,
                saddle_position,
                saddle_neighbour: self.id(key.neighbour),
                refined: peak.refined,
                cell: peak.cell,
            }
        };
        self.kept.par_iter().map(row).collect()
    }

    /// Highest level of a saddle that merged clumps here; 0 without clumps.
    pub fn max_level(&self, rules: Rules) -> u64 {
        self.kept.iter().map(|c| level(self.hierarchy.level[c.at()], rules)).max().unwrap_or(0)
    }
}

/// The level that a catalogue shows. RAMSES counts the rounds of the saddle pass from 0, so that main clumps
/// (level 0) and those merged in the first round (level 1) have the same level.
fn level(level: u32, rules: Rules) -> u64 {
    u64::from(if rules == Rules::Ramses { level.saturating_sub(1) } else { level })
}

/// Adds the clumps that contacts name and that are not among the peaks. Sorts by name. Returns the names.
fn add_neighbours(peaks: &mut Vec<ClumpPeak>) -> Vec<PeakName> {
    let sorted_names = |peaks: &mut Vec<ClumpPeak>| -> Vec<PeakName> {
        peaks.par_sort_unstable_by_key(|peak| peak.name);
        peaks.par_iter().map(|peak| peak.name).collect()
    };
    let known = sorted_names(peaks);
    let dying = peaks.par_iter().filter(|peak| peak.dies());
    let ends = dying.flat_map_iter(|peak| peak.end_clumps.into_iter().zip(peak.end_cutters));
    let mut missing: Vec<(PeakName, u32)> = ends.filter(|end| known.binary_search(&end.0).is_err()).collect();
    if missing.is_empty() {
        return known;
    }
    missing.sort_unstable();
    missing.dedup();
    peaks.extend(missing.into_iter().map(|(name, cutter)| ClumpPeak::only_name(name, cutter)));
    sorted_names(peaks)
}

fn index(names: &[PeakName], name: PeakName) -> PeakIdx {
    PeakIdx::new(names.binary_search(&name).expect("all clumps that contacts name are listed"))
}

fn index_of_number(names: &[PeakName], number: u64) -> PeakIdx {
    let place = names.binary_search_by_key(&number, |name| name.number());
    PeakIdx::new(place.expect("all clumps that ties name are listed"))
}

/// The tree of the clump peaks alone.
fn tree_of(peaks: &[ClumpPeak], names: &[PeakName]) -> MergeTree {
    let death = |peak: &ClumpPeak| match peak.dies() {
        false => Death::NEVER,
        true => {
            let [near, endpoint] = peak.end_clumps.map(|clump| index(names, clump));
            Death { saddle: peak.saddle, near, endpoint }
        }
    };
    MergeTree {
        rho: peaks.par_iter().map(|peak| peak.rho).collect(),
        death: peaks.par_iter().map(death).collect(),
    }
}

/// The peaks that die, in the order in which they do: that of the edges between the patches.
fn by_death(peaks: &[ClumpPeak]) -> Vec<PeakIdx> {
    let all = (0..peaks.len()).into_par_iter().map(PeakIdx::new);
    let mut dying: Vec<_> = all.filter(|p| peaks[p.at()].dies()).collect();
    let edge = |peak: &ClumpPeak| (peak.ends[0].min(peak.ends[1]), peak.ends[0].max(peak.ends[1]));
    dying.par_sort_unstable_by(|a, b| {
        let (a, b) = (&peaks[a.at()], &peaks[b.at()]);
        b.saddle.total_cmp(&a.saddle).then_with(|| edge(a).cmp(&edge(b)))
    });
    dying
}
