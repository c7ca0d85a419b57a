//! Which peaks are bumps of shot noise though persistence does not tell? For densities that are made of particles.
//!
//! The clumps of persistence alone come first: the mass of each, with the noise that has merged into it, is that of its patches. It is
//! added up on the rank that owns its peak. A clump of low significance is a bump if little of that mass is above its saddle. All clumps are judged
//! at once, so the result depends on no order.

use crate::exchange::grouped;
use crate::phew::hierarchy::chains::{self, ClumpAt};
use crate::phew::hierarchy::noise::Noise;
use crate::phew::params::Thresholds;
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::PeakName;
use inselberg_kernels::props::sums::MASS;
use inselberg_kernels::sum::{FixedSum, Quantum};

/// Mass of patches of a clump, for the owner of its peak.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PersistentMass {
    mass: FixedSum,
    clump: PeakName,
    /// Always 0.
    unused: u64,
}

/// Collective: whether each own peak is a bump. `None` where the density is not made of particles, or the threshold of the
/// significance is 0. Follows chains and takes one more exchange.
///
/// # Errors
/// When another rank fails.
pub fn bumps(peaks: &Peaks, thresholds: &Thresholds, comm: &Comm) -> Result<Option<Vec<bool>>, CommError> {
    let least = thresholds.least_significance();
    let Some(prominence) = peaks.prominence.as_ref().filter(|_| least > 0.0) else { return Ok(None) };
    let noise = Noise::by_persistence(peaks, thresholds.persistence);
    let masses = masses_of_clumps(noise, comm)?;
    let of_peaks = prominence.iter().zip(masses);
    Ok(Some(of_peaks.map(|(of_peak, mass)| of_peak.prominence.is_noise(mass, least)).collect()))
}

/// Collective: for each own peak the mass of the patches of its clump; 0 for noise.
fn masses_of_clumps(noise: Noise, comm: &Comm) -> Result<Vec<f64>, CommError> {
    let peaks = noise.peaks();
    // Without a saddle threshold the rank that cuts the halo of a clump is the owner of its peak.
    let followed = chains::follow(noise, None, comm)?;
    let largest = peaks.patches.iter().map(|patch| patch.sums[MASS]).fold(0.0, f64::max);
    let quantum = Quantum::for_terms(comm.all_max(&[largest])?[0], peaks.n_global);
    let mut sums = vec![FixedSum::default(); followed.clumps.len()];
    for (clump, patch) in followed.of_peak.iter().zip(&peaks.patches) {
        sums[clump.at()] += quantum.quantize(patch.sums[MASS]);
    }
    let sent: Vec<(ClumpAt, FixedSum)> = followed.clumps.into_iter().zip(sums).collect();
    let record = |(at, mass): &(ClumpAt, FixedSum)| {
        (Rank(at.cutter), PersistentMass { mass: *mass, clump: at.clump, unused: 0 })
    };
    let mut all = vec![FixedSum::default(); peaks.len()];
    for of_clump in comm.exchange(grouped(&sent, record))?.into_iter().flat_map(|(_, list)| list) {
        let peak = peaks.own(of_clump.clump).expect("the mass of a clump goes to the owner of its peak");
        all[peak.at()] += of_clump.mass;
    }
    Ok(all.into_iter().map(|mass| quantum.value(mass)).collect())
}
