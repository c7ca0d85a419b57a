//! The tree of the clumps of all ranks, and its cut.
//!
//! Of each clump it has the peak that is not noise. A [`PeakIdx`] here is the place of a clump among them, in the order of
//! their numbers.

use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::ids::{PeakIdx, PeakNumber};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, SaddleOf, cut_in_order};
use inselberg_kernels::phew::ties::{Tie, cut_with_ties};
use inselberg_kernels::phew::tree::{Death, MergeTree};

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
    /// Its place by falling density among the peaks of all ranks, from 1.
    pub peak_rank: u64,
    /// Its cell.
    pub cell: PeakCell,
    /// Its number.
    pub number: PeakNumber,
    /// The two patches at whose contact it dies, near side first.
    pub ends: [PeakNumber; 2],
    /// The clumps of these patches, by the numbers of their peaks.
    pub end_clumps: [PeakNumber; 2],
    unused: u32,
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
    pub fn new(peaks: &Peaks, peak: PeakIdx, end_clumps: [PeakNumber; 2], peak_rank: u64) -> Self {
        let i = peak.at();
        let death = &peaks.tree.death[i];
        Self {
            rho: peaks.tree.rho[i],
            saddle: death.saddle,
            refined: peaks.refined[i],
            saddle_position: peaks.saddle_position[i],
            peak_rank,
            cell: PeakCell { level: u32::from(peaks.level[i]), ijk: peaks.ijk[i] },
            number: peaks.number[i],
            ends: [death.near, death.endpoint],
            end_clumps,
            unused: 0,
        }
    }
}

/// The tree of the clumps of all ranks, cut.
pub struct CutTree {
    /// The peak of each clump, discarded ones too, by number.
    peaks: Vec<ClumpPeak>,
    /// The ties between clumps.
    ties: Vec<Tie>,
    hierarchy: Hierarchy,
    /// The clumps by identifier. Discarded ones have none.
    by_id: Vec<PeakIdx>,
    /// Identifier of each clump; 0 for discarded ones.
    ids: Vec<u64>,
}

impl CutTree {
    /// From the clump peaks of all ranks. `ties` name clumps by their peaks in the tree of all ranks.
    pub fn new(mut peaks: Vec<ClumpPeak>, mut ties: Vec<Tie>, thresholds: &Cut, rules: Rules) -> Self {
        peaks.sort_unstable_by_key(|peak| peak.number);
        let tree = tree_of(&peaks);
        for tie in &mut ties {
            tie.patches = tie.patches.map(|clump| index(&peaks, clump.to_number()));
        }
        let hierarchy = match ties.is_empty() {
            true => cut_in_order(&tree, by_death(&peaks), thresholds, rules),
            false => cut_with_ties(&tree, &ties, thresholds),
        };
        let (by_id, ids) = identify(&tree, &hierarchy);
        Self { peaks, ties, hierarchy, by_id, ids }
    }

    /// Number of clumps, discarded ones left out.
    pub fn n_clumps(&self) -> usize {
        self.by_id.len()
    }

    /// The clump that a clump of this number has become by the cut; zeros where it was discarded.
    pub fn identity(&self, number: PeakNumber) -> ClumpIdentity {
        let clump = self.hierarchy.clump[index(&self.peaks, number).at()];
        if clump.is_none() {
            return ClumpIdentity::zeroed();
        }
        let both = [clump, self.hierarchy.halo[clump.at()]];
        ClumpIdentity { ids: both.map(|c| self.id(c)), heads: both.map(|c| self.peaks[c.at()].cell) }
    }

    /// 0 for no clump.
    fn id(&self, clump: PeakIdx) -> u64 {
        if clump.is_none() { 0 } else { self.ids[clump.at()] }
    }

    /// The rows of the clumps, by identifier.
    pub fn rows(&self, rules: Rules) -> impl Iterator<Item = ClumpRow> + '_ {
        let h = &self.hierarchy;
        self.by_id.iter().map(move |&clump| {
            let (peak, key) = (&self.peaks[clump.at()], &h.key_saddle[clump.at()]);
            let saddle_position = match key.of {
                SaddleOf::Nothing => [f64::NAN; 3],
                SaddleOf::Death(dying) => self.peaks[dying.at()].saddle_position,
                SaddleOf::Tie(tie) => self.ties[tie as usize].position,
            };
            ClumpRow {
                id: self.id(clump),
                peak_rank: peak.peak_rank,
                halo: self.id(h.halo[clump.at()]),
                parent: self.id(h.parent[clump.at()]),
                level: level(h.level[clump.at()], rules),
                rho_peak: peak.rho,
                relevance: h.relevance[clump.at()],
                saddle: key.density,
                saddle_position,
                saddle_neighbour: self.id(key.neighbour),
                refined: peak.refined,
                cell: peak.cell,
            }
        })
    }

    /// Highest level of a saddle that merged clumps; 0 without clumps.
    pub fn max_level(&self, rules: Rules) -> u64 {
        self.by_id.iter().map(|c| level(self.hierarchy.level[c.at()], rules)).max().unwrap_or(0)
    }
}

/// The level that a catalogue shows. RAMSES counts the rounds of the saddle pass from 0, so that main clumps (level 0)
/// and those merged in the first round (level 1) have the same level.
fn level(level: u32, rules: Rules) -> u64 {
    u64::from(if rules == Rules::Ramses { level.saturating_sub(1) } else { level })
}

fn index(peaks: &[ClumpPeak], number: PeakNumber) -> PeakIdx {
    let place = peaks.binary_search_by_key(&number, |peak| peak.number);
    PeakIdx::new(place.expect("the peak of a clump is not noise, so its rank has sent it"))
}

/// The tree of the clump peaks alone.
fn tree_of(peaks: &[ClumpPeak]) -> MergeTree {
    let death = |peak: &ClumpPeak| match peak.ends[1].is_none() {
        true => Death::NEVER,
        false => {
            let [near, endpoint] = peak.end_clumps.map(|clump| index(peaks, clump));
            Death { saddle: peak.saddle, near, endpoint }
        }
    };
    MergeTree { rho: peaks.iter().map(|p| p.rho).collect(), death: peaks.iter().map(death).collect() }
}

/// The peaks that die, in the order in which they do: that of the edges between the patches.
fn by_death(peaks: &[ClumpPeak]) -> Vec<PeakIdx> {
    let mut dying: Vec<_> =
        (0..peaks.len()).map(PeakIdx::new).filter(|p| !peaks[p.at()].ends[1].is_none()).collect();
    let edge = |peak: &ClumpPeak| (peak.ends[0].min(peak.ends[1]), peak.ends[0].max(peak.ends[1]));
    dying.sort_unstable_by(|a, b| {
        let (a, b) = (&peaks[a.at()], &peaks[b.at()]);
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
