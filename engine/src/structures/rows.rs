//! The rows of clumps and haloes: sums over their patches, and what follows from them.

use super::seeds::{Clumps, Seed};
use crate::peaks::Peaks;
use crate::pieces::chunks;
use crate::ranks::grouped;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::cell_centre;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::props::combine::Groups;
use inselberg_kernels::props::sums::N_SUMS;
use inselberg_kernels::props::{PatchSums, PatchValues, Structure};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use std::ops::Range;

/// What makes a row.
pub struct Listing {
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Relevance threshold.
    pub relevance: f64,
    /// Clumps of haloes up to this mass are not listed.
    pub mass: f64,
}

/// The totals of the clumps whose rows are on this rank.
pub struct Rows {
    /// Their identifiers, less 1.
    ids: Range<usize>,
    /// Totals as clumps.
    as_clumps: Vec<PatchValues>,
    /// Totals as haloes; of haloes' main clumps.
    as_haloes: Vec<PatchValues>,
    /// Mass of every halo by the identifier, less 1, of its main clump.
    halo_mass: Vec<f64>,
}

/// Part of the sums of a clump (0) or halo (1) on its way to its row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Share {
    sums: PatchSums,
    id: u64,
    kind: u64,
}

impl Rows {
    /// Collective: adds up the patches of each clump and of each halo. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn sum(
        peaks: &Peaks,
        clumps: &Clumps,
        id_of_patch: [&[u64]; 2],
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let head: Vec<[f64; 3]> = clumps.by_id.iter().map(|c| centre(&clumps.seeds[c.at()])).collect();
        let ids = ids_of(comm.rank().at(), comm.n_ranks(), head.len());
        let group =
            id_of_patch.map(|ids| ids.par_iter().map(|&id| (id as u32).wrapping_sub(1)).collect::<Vec<_>>());
        let groups = |kind: usize| Groups {
            space: &peaks.space,
            patches: &peaks.patches,
            group: &group[kind],
            head: &head,
        };
        let bounds = comm.all_max(&[bounds(&groups(0)), bounds(&groups(1))].concat())?;
        let quanta = |kind: usize| -> [Quantum; N_SUMS] {
            std::array::from_fn(|i| Quantum::for_terms(bounds[kind * N_SUMS + i], peaks.n_global))
        };
        let mut shares = Vec::new();
        for kind in [0, 1] {
            let mut totals = vec![PatchSums::default(); head.len()];
            let (quanta, run) = (quanta(kind), head.len().div_ceil(rayon::current_num_threads()).max(1));
            totals
                .par_chunks_mut(run)
                .enumerate()
                .for_each(|(i, part)| groups(kind).add(&quanta, i * run, part));
            let some = totals.into_iter().enumerate().filter(|(_, sums)| sums.n_cells > 0);
            shares.extend(some.map(|(id, sums)| Share { sums, id: id as u64, kind: kind as u64 }));
        }
        shares.sort_unstable_by_key(|s| (s.id, s.kind));
        let home = |s: &Share| (Rank(home(s.id as usize, comm.n_ranks(), head.len()) as u32), *s);
        let mut totals = [0, 1].map(|_| vec![PatchSums::default(); ids.len()]);
        for (_, shares) in comm.exchange(grouped(&shares, home))? {
            for share in shares {
                totals[share.kind as usize][share.id as usize - ids.start].merge(&share.sums);
            }
        }
        let values = |kind: usize| -> Vec<PatchValues> {
            let (quanta, heads) = (quanta(kind), &head[ids.clone()]);
            totals[kind].iter().zip(heads).map(|(t, h)| PatchValues::new(t, &quanta, 1.0, *h)).collect()
        };
        let (as_clumps, as_haloes) = (values(0), values(1));
        let masses: Vec<f64> = as_haloes.iter().map(|v| v.totals(&peaks.space).mass).collect();
        let halo_mass = comm.all_gather(&masses)?.concat();
        Ok(Self { ids, as_clumps, as_haloes, halo_mass })
    }

    /// The rows of this rank: clumps and haloes. `peak_rank` is the place of every seed by falling density.
    pub fn list(
        &self,
        peaks: &Peaks,
        clumps: &Clumps,
        peak_rank: &[u64],
        listing: &Listing,
    ) -> (Vec<Structure>, Vec<Structure>) {
        let heavy = |s: &&Structure| s.halo_mass > listing.mass;
        let relevant = |s: &&Structure| listing.rules == Rules::Paper || s.relevance > listing.relevance;
        let all: Vec<_> = self
            .ids
            .clone()
            .map(|i| self.structure(peaks, clumps, clumps.by_id[i], peak_rank, listing.rules))
            .collect();
        let rows = all.iter().filter(relevant).filter(heavy).copied().collect();
        let haloes = all.iter().filter(heavy).filter(|s| s.halo == s.id);
        (rows, haloes.map(|s| self.as_halo(peaks, s)).collect())
    }

    fn structure(
        &self,
        peaks: &Peaks,
        clumps: &Clumps,
        clump: PeakIdx,
        peak_rank: &[u64],
        rules: Rules,
    ) -> Structure {
        let (h, seed, side) = (&clumps.hierarchy, &clumps.seeds[clump.at()], peaks.space.side);
        let (id, halo) = (clumps.id(clump), clumps.id(clumps.halo(clump)));
        let own = &self.as_clumps[id as usize - 1 - self.ids.start];
        let totals = own.totals(&peaks.space);
        let key = &h.key_saddle[clump.at()];
        let saddle_position = match key.dying {
            PeakIdx::NONE => [f64::NAN; 3],
            dying => clumps.seeds[dying.at()].saddle_position,
        };
        Structure {
            id,
            peak_rank: peak_rank[clump.at()],
            halo,
            parent: clumps.id(h.parent[clump.at()]),
            level: level(h.level[clump.at()], rules),
            halo_mass: self.halo_mass[halo as usize - 1],
            n_cells: own.n_cells,
            volume: totals.volume,
            mass: totals.mass,
            rho_peak: seed.rho,
            rho_min: own.rho_min,
            peak: own.peak.map(|x| x * side),
            peak_refined: seed.refined,
            centre_of_mass: totals.centre_of_mass,
            velocity: totals.velocity,
            relevance: h.relevance[clump.at()],
            saddle: key.density,
            saddle_position,
            saddle_neighbour: clumps.id(key.neighbour),
        }
    }

    /// The whole halo under the identifier of its main clump.
    fn as_halo(&self, peaks: &Peaks, main: &Structure) -> Structure {
        let all = &self.as_haloes[main.id as usize - 1 - self.ids.start];
        let totals = all.totals(&peaks.space);
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

/// Highest level of a saddle that merged clumps.
pub fn max_level(clumps: &Clumps, rules: Rules) -> u64 {
    clumps.by_id.iter().map(|c| level(clumps.hierarchy.level[c.at()], rules)).max().unwrap_or(0)
}

/// RAMSES counts the rounds of the saddle pass from 0, so that main clumps and those merged in the first
/// round have the same level.
fn level(level: u32, rules: Rules) -> u64 {
    u64::from(if rules == Rules::Ramses { level.saturating_sub(1) } else { level })
}

fn centre(seed: &Seed) -> [f64; 3] {
    cell_centre(seed.level as u8, seed.ijk)
}

/// Patches looked at at once.
const RUN: usize = 1 << 14;

fn bounds(groups: &Groups) -> [f64; N_SUMS] {
    let larger = |a: [f64; N_SUMS], b: [f64; N_SUMS]| std::array::from_fn(|i| a[i].max(b[i]));
    let runs = chunks(groups.patches.len(), RUN).into_par_iter();
    runs.map(|run| groups.bounds(run)).reduce(|| [0.0; N_SUMS], larger)
}

/// The identifiers, less 1, whose rows are on `rank`.
fn ids_of(rank: usize, n_ranks: usize, n: usize) -> Range<usize> {
    let first = |rank: usize| (rank * n).div_ceil(n_ranks);
    first(rank)..first(rank + 1)
}

/// The rank of the row of an identifier, less 1.
fn home(id: usize, n_ranks: usize, n: usize) -> usize {
    id * n_ranks / n
}
