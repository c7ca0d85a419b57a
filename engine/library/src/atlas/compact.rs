//! The tree in a compact form, for a page that cuts it again.

use crate::phew::Rules;
use crate::phew::recut::StoredTree;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::props::sums::MASS;

/// The merge tree without places. Peaks are numbered by falling density, so the lesser of two numbers is the
/// greater peak. All densities are those that are searched: lifted by `lift` where the threshold is below 0.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompactTree {
    /// Density of each peak.
    pub density: Vec<f64>,
    /// Mass of each patch (code units).
    pub mass: Vec<f64>,
    /// Leaf cells of each patch.
    pub n_cells: Vec<u32>,
    /// Deaths, by falling saddle: the peak, the patch on its side of the saddle, and the one on the other.
    pub deaths: Vec<[u32; 3]>,
    /// The saddles of the deaths.
    pub saddle: Vec<f64>,
    /// Of each peak, where shot noise is known: significance and mass above its saddle, the same of its
    /// elder, and the elder's number. `u32::MAX` stands for no elder.
    pub prominence: Option<(Vec<[f64; 4]>, Vec<u32>)>,
    /// The density threshold.
    pub density_threshold: f64,
    /// What is added to densities of the input.
    pub lift: f64,
    /// The unit of densities of `recut`, in code units.
    pub density_unit: f64,
    /// Least number of leaf cells of a listed halo.
    pub min_cells: u64,
}

impl CompactTree {
    /// `None` under RAMSES's rules, where equal saddles have an order of their own. Costs a sort of the peaks.
    pub(super) fn new(tree: &StoredTree) -> Option<Self> {
        if tree.header.rules == Rules::Ramses {
            return None;
        }
        let (peaks, whole) = (&tree.peaks, tree.peaks.tree.to_whole());
        let order = whole.by_falling_density();
        let mut number = vec![0_u32; order.len()];
        (0..).zip(&order).for_each(|(i, peak)| number[peak.at()] = i);
        let by_death = whole.by_death();
        let of = |peak: PeakIdx| number[peak.at()];
        let death = |peak: &PeakIdx| {
            let death = &whole.death[peak.at()];
            [*peak, death.near, death.endpoint].map(of)
        };
        let prominence = peaks.prominence.as_ref().map(|all| {
            let of_peaks = order.iter().map(|peak| &all[peak.at()]);
            let parts = of_peaks.clone().map(|of| {
                let (own, elder) = (of.prominence, of.of_elder);
                [own.significance, own.mass, elder.significance, elder.mass]
            });
            let elders = of_peaks.map(|of| peaks.own(of.elder).map_or(u32::MAX, |elder| number[elder.at()]));
            (parts.collect(), elders.collect())
        });
        Some(Self {
            density: order.iter().map(|peak| whole.rho[peak.at()]).collect(),
            mass: order.iter().map(|peak| peaks.patches[peak.at()].sums[MASS]).collect(),
            // A sound tree has fewer than 2^32 cells per patch.
            n_cells: order.iter().map(|peak| peaks.patches[peak.at()].n_cells as u32).collect(),
            deaths: by_death.iter().map(death).collect(),
            saddle: by_death.iter().map(|peak| whole.death[peak.at()].saddle).collect(),
            prominence,
            density_threshold: peaks.density_threshold,
            lift: peaks.density_threshold - tree.thresholds.density,
            density_unit: tree.header.unit,
            min_cells: tree.thresholds.min_cells,
        })
    }
}
