//! Clumps and haloes of given thresholds, from the peaks alone.

use crate::peaks::Peaks;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, cut};
use inselberg_kernels::props::combine::combine;
use inselberg_kernels::props::{PatchValues, Structure};

/// Clumps and haloes, and which patch belongs to which.
#[derive(Debug, Clone, PartialEq)]
pub struct Structures {
    /// The listed clumps by identifier.
    pub clumps: Vec<Structure>,
    /// The listed haloes by identifier.
    pub haloes: Vec<Structure>,
    /// Identifier of the clump of each patch; 0 for discarded ones.
    pub clump_of_patch: Vec<u64>,
    /// Identifier of the halo of each patch; 0 for discarded ones.
    pub halo_of_patch: Vec<u64>,
    /// Place of each peak by falling density, from 1.
    pub peak_rank: Vec<u64>,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
}

/// Cuts the tree. Clumps of haloes of at most `mass_threshold` are not listed.
pub fn structures(peaks: &Peaks, thresholds: &Cut, mass_threshold: f64, rules: Rules) -> Structures {
    let hierarchy = cut(&peaks.tree, thresholds, rules);
    let order = peaks.tree.by_falling_density();
    let mut peak_rank = vec![0; order.len()];
    for (i, p) in order.iter().enumerate() {
        peak_rank[p.at()] = i as u64 + 1;
    }
    let is_clump = |p: &PeakIdx| hierarchy.clump[p.at()] == *p;
    let heads: Vec<PeakIdx> = order.into_iter().filter(is_clump).collect();
    let mut id = vec![0; peaks.len()];
    for (i, p) in heads.iter().enumerate() {
        id[p.at()] = i as u64 + 1;
    }
    let assembly = Assembly { peaks, hierarchy, heads, id, peak_rank, rules };
    assembly.list(thresholds.relevance, mass_threshold)
}

/// A cut tree on its way to a list.
struct Assembly<'a> {
    peaks: &'a Peaks,
    hierarchy: Hierarchy,
    /// The peak of each clump by identifier.
    heads: Vec<PeakIdx>,
    /// Identifier of the clump of each peak that has one.
    id: Vec<u64>,
    peak_rank: Vec<u64>,
    rules: Rules,
}

impl Assembly<'_> {
    fn list(self, relevance: f64, mass_threshold: f64) -> Structures {
        let h = &self.hierarchy;
        let id_of = |p: PeakIdx| if p.is_none() { 0 } else { self.id[p.at()] };
        let clump_of_patch: Vec<u64> = h.clump.iter().map(|&c| id_of(c)).collect();
        let halo_of = |c: PeakIdx| if c.is_none() { 0 } else { self.id[h.halo[c.at()].at()] };
        let halo_of_patch: Vec<u64> = h.clump.iter().map(|&c| halo_of(c)).collect();
        let of_clumps = self.totals(&clump_of_patch);
        let of_haloes = self.totals(&halo_of_patch);
        let all: Vec<_> = self.heads.iter().map(|&p| self.structure(p, &of_clumps, &of_haloes)).collect();
        let max_level = all.iter().map(|s| s.level).max().unwrap_or(0);
        let heavy = |s: &&Structure| s.halo_mass > mass_threshold;
        let relevant = |s: &&Structure| self.rules == Rules::Paper || s.relevance > relevance;
        let clumps = all.iter().filter(relevant).filter(heavy).copied().collect();
        let haloes = all.iter().filter(heavy).filter(|s| s.halo == s.id);
        let haloes = haloes.map(|s| self.as_halo(s, &of_haloes)).collect();
        Structures { clumps, haloes, clump_of_patch, halo_of_patch, peak_rank: self.peak_rank, max_level }
    }

    /// Totals by identifier - 1 of the patches with that identifier; zeros where there is none.
    fn totals(&self, id_of_patch: &[u64]) -> Vec<PatchValues> {
        let group: Vec<u32> = id_of_patch.iter().map(|&id| (id as u32).wrapping_sub(1)).collect();
        let heads: Vec<usize> = self.heads.iter().map(|p| p.at()).collect();
        combine(&self.peaks.space, &self.peaks.patches, &group, &heads)
    }

    fn structure(&self, p: PeakIdx, of_clumps: &[PatchValues], of_haloes: &[PatchValues]) -> Structure {
        let (h, peaks, side) = (&self.hierarchy, self.peaks, self.peaks.space.side);
        let id = self.id[p.at()];
        let halo = self.id[h.halo[p.at()].at()];
        let own = &of_clumps[id as usize - 1];
        let totals = own.totals(&peaks.space);
        let key = &h.key_saddle[p.at()];
        let saddle_position =
            if key.dying.is_none() { [f64::NAN; 3] } else { peaks.saddle_position[key.dying.at()] };
        Structure {
            id,
            peak_rank: self.peak_rank[p.at()],
            halo,
            parent: self.id[h.parent[p.at()].at()],
            level: self.level(p),
            halo_mass: of_haloes[halo as usize - 1].totals(&peaks.space).mass,
            n_cells: own.n_cells,
            volume: totals.volume,
            mass: totals.mass,
            rho_peak: peaks.tree.rho[p.at()],
            rho_min: own.rho_min,
            peak: own.peak.map(|x| x * side),
            peak_refined: peaks.refined[p.at()],
            centre_of_mass: totals.centre_of_mass,
            velocity: totals.velocity,
            relevance: h.relevance[p.at()],
            saddle: key.density,
            saddle_position,
            saddle_neighbour: if key.neighbour.is_none() { 0 } else { self.id[key.neighbour.at()] },
        }
    }

    /// RAMSES counts the rounds of the saddle pass from 0, so that main clumps and those merged in
    /// the first round have the same level.
    fn level(&self, p: PeakIdx) -> u64 {
        let level = u64::from(self.hierarchy.level[p.at()]);
        if self.rules == Rules::Ramses { level.saturating_sub(1) } else { level }
    }

    /// The whole halo under the identifier of its main clump.
    fn as_halo(&self, main: &Structure, of_haloes: &[PatchValues]) -> Structure {
        let all = &of_haloes[main.id as usize - 1];
        let totals = all.totals(&self.peaks.space);
        Structure {
            n_cells: all.n_cells,
            rho_min: all.rho_min,
            volume: totals.volume,
            mass: totals.mass,
            centre_of_mass: totals.centre_of_mass,
            velocity: totals.velocity,
            ..*main
        }
    }
}
