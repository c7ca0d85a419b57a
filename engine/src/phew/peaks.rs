//! The peaks without the mesh: their merge tree and the sums over their patches.
//!
//! Any thresholds can be answered from it ([`crate::phew::hierarchy`]); a catalogue stores it as its
//! `tree` table.

use bytemuck::{Pod, Zeroable};
use inselberg_kernels::ids::{PeakIdx, PeakNumber};
use inselberg_kernels::phew::ties::Tie;
use inselberg_kernels::phew::tree::{Death, MergeTree};
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::combine::SizedBox;

/// The peaks of a field that this rank owns, in the order of their cells: (level, Morton key).
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// The number of each peak among those of all ranks; ascending.
    pub number: Vec<PeakNumber>,
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
    /// Under RAMSES's rules the edges that tie with those of the tree, in the order of edges; all on the first rank.
    /// They name patches of the tree of all ranks.
    pub ties: Vec<Tie>,
    /// Refined positions, in code units.
    pub refined: Vec<[f64; 3]>,
    /// Where each peak dies, in code units; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
    /// Sums over each patch.
    pub patches: Vec<PatchValues>,
    /// Momentum of each patch, in code units; `None` without velocities.
    pub momenta: Option<Vec<[f64; 3]>>,
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

    /// The index here of the peak with this number, if this rank owns it.
    ///
    /// One look-up on a rank alone, where each number is its own index; otherwise a binary search.
    #[inline]
    pub fn own(&self, number: PeakNumber) -> Option<PeakIdx> {
        if self.number.get(number.at()) == Some(&number) {
            return Some(PeakIdx::from_number(number));
        }
        self.number.binary_search(&number).ok().map(PeakIdx::new)
    }
}

/// The merge tree of the peaks of one rank. Its deaths name patches of any rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnTree {
    /// Density of each peak.
    pub rho: Vec<f64>,
    /// Death of each peak.
    pub death: Vec<OwnDeath>,
    /// The ranks that own the two patches at whose contact each peak dies, near side first.
    pub owners: Vec<[u32; 2]>,
}

/// Where a peak dies. As [`Death`], between patches of any rank.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct OwnDeath {
    /// Density of the saddle; 0 for a peak that never dies.
    pub saddle: f64,
    /// The patch on the side of the dying peak that the edge starts from.
    pub near: PeakNumber,
    /// The patch on the other side that it leads to.
    pub endpoint: PeakNumber,
}

impl OwnDeath {
    /// Of a peak that never dies.
    pub const NEVER: Self = Self { saddle: 0.0, near: PeakNumber::NONE, endpoint: PeakNumber::NONE };

    /// Whether the peak never dies.
    #[inline]
    pub fn is_never(&self) -> bool {
        self.endpoint.is_none()
    }
}

impl OwnTree {
    /// From the tree of the peaks of all ranks, in its memory. On a rank alone the index of a peak is its number.
    pub fn from_whole(tree: MergeTree) -> Self {
        let owners = vec![[0; 2]; tree.len()];
        Self { rho: tree.rho, death: bytemuck::cast_vec::<Death, OwnDeath>(tree.death), owners }
    }

    /// A copy as the tree of the peaks of all ranks, which this rank must own.
    pub fn to_whole(&self) -> MergeTree {
        MergeTree { rho: self.rho.clone(), death: bytemuck::cast_slice(&self.death).to_vec() }
    }
}

/// A key of a peak: keys ascend from the greatest peak to the lowest. Densities are above 0, so their bits ascend as they do;
/// of equal densities the smaller number is the greater peak. Below 2^96.
#[inline]
pub fn density_key(rho: f64, number: PeakNumber) -> u128 {
    u128::from(!rho.to_bits()) << 32 | u128::from(number.0)
}
