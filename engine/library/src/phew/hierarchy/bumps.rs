//! Which peaks are bumps of shot noise that persistence does not find? For densities made from particles.
//!
//! The clumps of persistence alone come first: the mass of each, with the noise that has merged into it, is
//! that of its patches. It is added up on the rank that owns its peak. A clump of low significance is a bump
//! if little of that mass is above its saddle. Its elder may be the bump instead, and is tested in the same
//! way, above the same saddle. All clumps are tested before any is removed, so the result does not depend on
//! an order. Clumps that bumps have joined are heavier. They are tested again, until no more bumps are found.

use crate::exchange::grouped;
use crate::phew::hierarchy::chains::{self, ClumpAt};
use crate::phew::hierarchy::noise::Noise;
use crate::phew::params::Thresholds;
use crate::phew::peaks::{PeakProminence, Peaks};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::{PeakIdx, PeakName};
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

/// The mass of the clump of an elder, for the owner of a peak that dies into it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ElderMass {
    elder: PeakName,
    dying: PeakName,
    mass: f64,
}

/// Collective: whether each own peak is a bump. `None` if the density is not made from particles, or if the
/// threshold of the significance is 0. Each of its rounds, two or three in practice, follows chains and takes
/// three more exchanges.
///
/// # Errors
/// When another rank fails.
pub fn bumps(peaks: &Peaks, thresholds: &Thresholds, comm: &Comm) -> Result<Option<Vec<bool>>, CommError> {
    let least = thresholds.least_significance();
    let Some(prominence) = peaks.prominence.as_ref().filter(|_| least > 0.0) else { return Ok(None) };
    let mut bumps = vec![false; peaks.len()];
    loop {
        let noise = Noise::new(peaks, thresholds.persistence, Some(&bumps));
        let found = bumps_among(noise, prominence, least, comm)?;
        if comm.all_max(&[found.len() as f64])?[0] == 0.0 {
            return Ok(Some(bumps));
        }
        found.into_iter().for_each(|peak| bumps[peak.at()] = true);
    }
}

/// Collective: the own peaks of clumps, as `noise` leaves them, that are bumps.
fn bumps_among(
    noise: Noise,
    prominence: &[PeakProminence],
    least: f64,
    comm: &Comm,
) -> Result<Vec<PeakIdx>, CommError> {
    let (peaks, masses) = (noise.peaks(), masses_of_clumps(noise, comm)?);
    let clumps = (0..peaks.len()).map(PeakIdx::new).filter(|peak| noise.is_clump_peak(*peak));
    let is_bump = |peak: &PeakIdx| prominence[peak.at()].prominence.is_noise(masses[peak.at()], least);
    let dies = |peak: &PeakIdx| !peaks.tree.death[peak.at()].is_never();
    let (mut bumps, others): (Vec<PeakIdx>, Vec<PeakIdx>) = clumps.filter(dies).partition(is_bump);
    let may_be = |peak: &PeakIdx| prominence[peak.at()].of_elder.may_be_noise(least);
    let asked = others.into_iter().filter(may_be).collect();
    let of_elders = masses_of_elders(peaks, prominence, asked, &masses, comm)?.into_iter();
    let is_of_bump = |(peak, mass): &(PeakIdx, f64)| prominence[peak.at()].of_elder.is_noise(*mass, least);
    bumps.extend(of_elders.filter(is_of_bump).map(|(peak, _)| peak));
    Ok(bumps)
}

/// Collective: the masses of the clumps of the elders of these own peaks, from `masses` of those of own
/// peaks. Elders of peaks that are not noise by persistence are not noise either. An elder that is a bump has
/// no clump, and mass 0. Two exchanges.
fn masses_of_elders(
    peaks: &Peaks,
    prominence: &[PeakProminence],
    mut asked: Vec<PeakIdx>,
    masses: &[f64],
    comm: &Comm,
) -> Result<Vec<(PeakIdx, f64)>, CommError> {
    let elder = |peak: &PeakIdx| prominence[peak.at()].elder;
    asked.sort_unstable_by_key(|peak| (elder(peak).owner(), *peak));
    let question = |peak: &PeakIdx| {
        let of = ElderMass { elder: elder(peak), dying: peaks.name[peak.at()], mass: 0.0 };
        (Rank(of.elder.owner()), of)
    };
    let answer = |of: ElderMass| {
        let elder = peaks.own(of.elder).expect("the owner of the elder is asked");
        ElderMass { mass: masses[elder.at()], ..of }
    };
    let questions = comm.exchange(grouped(&asked, question))?.into_iter();
    let answers = questions.map(|(from, list)| (from, list.into_iter().map(answer).collect())).collect();
    let received = comm.exchange::<ElderMass>(answers)?.into_iter().flat_map(|(_, list)| list);
    Ok(received.map(|of| (peaks.own(of.dying).expect("an answer to an own peak"), of.mass)).collect())
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
