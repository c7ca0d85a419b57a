//! Which peaks are noise, and where do they end?
//!
//! If a peak is noise by persistence, so are all peaks that have died into it, since their persistence is
//! lower. It ends in the patch at whose contact it dies. Significance is not monotonic: a true subhalo may
//! have died into a bump. Such a bump ends in its elder, or in the elder of that one if it is a bump as well.
//! Peaks that have died into the bump become neighbours of that clump:
//!
//! ```text
//!     peaks       host E > bump d > subhalo p          p dies into d at 7, d into E at 5
//!     noise: d    clumps E (with the patch of d) and p, which die into each other at 7
//! ```
//!
//! Elders are greater than the peaks that die into them. So every chain still ends at the greatest peak of
//! its clump, and every clump dies into a greater one.

use crate::phew::peaks::{PeakProminence, Peaks};
use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::phew::persistence::Persistence;

/// Identifies noise among the peaks of a rank.
#[derive(Clone, Copy)]
pub struct Noise<'a> {
    peaks: &'a Peaks,
    persistence: Persistence,
    /// For densities made from particles: the prominence of each peak, and whether it is a bump of shot
    /// noise.
    bumps: Option<(&'a [PeakProminence], &'a [bool])>,
}

/// The patch at which a noise peak ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseTarget {
    /// Of an own peak.
    Own(PeakIdx),
    /// Of a peak of another rank.
    Other(PeakName),
}

impl<'a> Noise<'a> {
    /// By persistence, and by significance if `bumps` marks the own peaks that are bumps.
    pub fn new(peaks: &'a Peaks, persistence: Persistence, bumps: Option<&'a [bool]>) -> Self {
        let bumps = peaks.prominence.as_deref().zip(bumps);
        Self { bumps, ..Self::by_persistence(peaks, persistence) }
    }

    /// Only by persistence.
    pub fn by_persistence(peaks: &'a Peaks, persistence: Persistence) -> Self {
        Self { peaks, persistence, bumps: None }
    }

    /// The peaks.
    pub fn peaks(&self) -> &'a Peaks {
        self.peaks
    }

    /// Whether an own peak is not noise.
    pub fn is_clump_peak(&self, peak: PeakIdx) -> bool {
        self.target(peak).is_none()
    }

    /// The patch at which an own peak ends; `None` if it is not noise.
    #[inline]
    pub fn target(&self, peak: PeakIdx) -> Option<NoiseTarget> {
        let tree = &self.peaks.tree;
        let death = &tree.death[peak.at()];
        if death.is_never() {
            return None;
        }
        if self.persistence.is_noise(tree.rho[peak.at()], death.saddle) {
            return Some(match tree.is_own(death.endpoint) {
                true => NoiseTarget::Own(death.endpoint),
                false => NoiseTarget::Other(self.peaks.name_of(death.endpoint)),
            });
        }
        let (prominence, is_bump) = self.bumps?;
        let elder = prominence[peak.at()].elder;
        let target = || self.peaks.own(elder).map_or(NoiseTarget::Other(elder), NoiseTarget::Own);
        is_bump[peak.at()].then(target)
    }
}
