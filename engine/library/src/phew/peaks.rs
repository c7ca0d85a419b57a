//! The peaks without the mesh: their merge tree and the sums over their patches.
//!
//! Any thresholds can be answered from it ([`crate::phew::hierarchy`]); a catalogue stores it as its
//! `tree` table.

use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::phew::significance::Prominence;
use inselberg_kernels::phew::ties::Tie;
use inselberg_kernels::phew::tree::{Death, MergeTree};
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::props::{PatchValues, PixelValues};

/// The peaks of a field that this rank owns, in the order of their cells: (level, Morton key).
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// The name of each peak; ascending.
    pub name: Vec<PeakName>,
    /// Number of peaks on all ranks.
    pub n_global: u64,
    /// The box.
    pub space: SizedBox,
    /// Threshold of the test cells.
    pub density_threshold: f64,
    /// Level of each peak's cell.
    pub level: Vec<u8>,
    /// Position of each peak's cell on the grid of its level.
    pub ijk: Vec<[u32; 3]>,
    /// Which peak dies where.
    pub tree: OwnTree,
    /// Under RAMSES's rules, the edges that tie with those of the tree and can decide anything, in the order of
    /// edges, all on rank 0; at least one if any saddles tie. They name patches of the tree of all ranks.
    pub ties: Vec<Tie>,
    /// Refined positions, in code units.
    pub refined: Vec<[f64; 3]>,
    /// The position at which each peak dies, in code units; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
    /// Sums over each patch.
    pub patches: Vec<PatchValues>,
    /// Momentum of each patch, in code units; `None` without velocities.
    pub momenta: Option<Vec<[f64; 3]>>,
    /// Pixels of each patch of an image, in code units; `None` for other fields, and in old catalogues.
    pub pixels: Option<Vec<PixelValues>>,
    /// How far each peak stands out from the shot noise of particles; `None` if the density is not made from
    /// particles, and in old catalogues.
    pub prominence: Option<Vec<PeakProminence>>,
}

/// The prominence of a peak, and the peak into which it dies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakProminence {
    /// Above the saddle at which it dies, or above the density threshold. In code units.
    pub prominence: Prominence,
    /// The prominence of the component into which it dies, above the same saddle. Unknown for peaks that
    /// never die or are not significant themselves.
    pub of_elder: Prominence,
    /// The greatest peak of the component into which it dies; `NONE` if it never does.
    pub elder: PeakName,
}

impl Peaks {
    /// Number of peaks on this rank.
    pub fn len(&self) -> usize {
        self.tree.rho.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tree.rho.is_empty()
    }

    /// The index here of the peak with this name, if this rank owns it.
    /// One look-up on a single rank, where each number is its own index; otherwise a binary search.
    #[inline]
    pub fn own(&self, name: PeakName) -> Option<PeakIdx> {
        if self.name.get(name.number() as usize) == Some(&name) {
            return Some(PeakIdx::from_name(name));
        }
        self.name.binary_search(&name).ok().map(PeakIdx::new)
    }

    /// The name of a patch of the tree; `NONE` for none.
    #[inline]
    pub fn name_of(&self, patch: PeakIdx) -> PeakName {
        self.tree.name_of(patch, &self.name)
    }
}

/// The merge tree of the peaks of one rank. Its deaths name patches of any rank: an index below the number of
/// own peaks is that of an own patch, and the ones after these are places in `foreign`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnTree {
    /// Density of each peak.
    pub rho: Vec<f64>,
    /// Death of each peak.
    pub death: Vec<Death>,
    /// Patches of other ranks at whose contact with an own component a peak dies. A patch may occur several
    /// times.
    pub foreign: Vec<PeakName>,
}

impl OwnTree {
    /// From the tree of the peaks of all ranks, in its memory. On a rank alone the index of a peak is its
    /// number.
    pub fn from_whole(tree: MergeTree) -> Self {
        Self { rho: tree.rho, death: tree.death, foreign: Vec::new() }
    }

    /// A copy as the tree of the peaks of all ranks, which this rank must own.
    pub fn to_whole(&self) -> MergeTree {
        debug_assert!(self.foreign.is_empty(), "a rank alone knows no foreign patches");
        MergeTree { rho: self.rho.clone(), death: self.death.clone() }
    }

    /// Whether a patch that a death names belongs to this rank. `NONE` does not.
    #[inline]
    pub fn is_own(&self, patch: PeakIdx) -> bool {
        patch.at() < self.rho.len()
    }

    /// The name of a patch that a death names, where the own peaks have the names `own`; `NONE` for none.
    #[inline]
    pub fn name_of(&self, patch: PeakIdx, own: &[PeakName]) -> PeakName {
        match patch {
            PeakIdx::NONE => PeakName::NONE,
            patch => own.get(patch.at()).copied().unwrap_or_else(|| self.foreign[patch.at() - own.len()]),
        }
    }
}

/// A key of a peak: keys ascend from the greatest peak to the lowest. Densities are above 0, so their bits
/// ascend as they do; of equal densities the smaller name is the greater peak. Below 2^127.
#[inline]
pub fn density_key(rho: f64, name: PeakName) -> u128 {
    u128::from(!rho.to_bits() & !(1 << 63)) << 64 | u128::from(name.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Densities of which many are equal, and numbers of any size.
    fn peak() -> impl Strategy<Value = (f64, u64)> {
        let rho = prop_oneof![Just(f64::MIN_POSITIVE), Just(1.0), Just(f64::MAX), 1e-300..1e300];
        (rho, prop_oneof![0..3u64, 0..PeakName::MOST_PEAKS, Just(PeakName::MOST_PEAKS - 1)])
    }

    proptest! {
        #[test]
        fn keys_ascend_from_the_greatest_peak(a in peak(), b in peak(), owner in 0..PeakName::MOST_RANKS) {
            let key = |(rho, number)| density_key(rho, PeakName::new(number, owner));
            let greater = |a: (f64, u64), b: (f64, u64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            prop_assert_eq!(key(a).cmp(&key(b)), greater(a, b));
            prop_assert!(key(a) < 1 << 127);
        }
    }
}
