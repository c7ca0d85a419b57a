//! The clumps of patches under RAMSES's rules if saddles are exactly equal: one rank executes the rounds for
//! all.

use crate::exchange::bundle::{Bundle, SendBuffers, all_records};
use crate::phew::hierarchy::chains::{ClumpAt, Followed};
use crate::phew::hierarchy::noise::Noise;
use crate::phew::peaks::Peaks;
use crate::phew::ties::{HOLDER, whole_tree};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::{ClumpSlot, PeakIdx, PeakName};
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::phew::ties::{Tie, cut_with_ties};
use inselberg_kernels::phew::tree::MergeTree;

/// The clumps of a peak and of the two patches at whose contact it dies.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct TiedClumps {
    own: PeakName,
    /// `NONE` if it never dies.
    ends: [PeakName; 2],
}

/// Collective: the result of [`chains::follow`](super::chains::follow) where saddles tie. The holder of the
/// ties cuts all haloes. It also gets the ties between clumps, which name clumps by their peaks in the tree
/// of all ranks.
///
/// # Errors
/// When another rank fails.
pub fn follow(peaks: &Peaks, cut: &Cut, comm: &Comm) -> Result<(Followed, Vec<Tie>), CommError> {
    let whole = whole_tree(comm, &peaks.name, &peaks.tree, peaks.n_global)?;
    let mut buffers = SendBuffers::<1>::default();
    buffers.put(HOLDER, 0, &peaks.name);
    let asked: Vec<Bundle<1>> = buffers.exchange(comm)?;
    let mut answers = SendBuffers::<1>::default();
    let mut ties = Vec::new();
    if let Some((tree, names)) = whole {
        let noise_alone = Cut { saddle: None, halo_relevance: None, ..*cut };
        let clump = cut_with_ties(&tree, &peaks.ties, &noise_alone).clump;
        for bundle in &asked {
            let asked: Vec<PeakName> = bundle.records(0);
            let name = |patch: PeakIdx| names[clump[patch.at()].at()];
            let clumps = asked.into_iter().map(|peak| clumps_of(&tree, name, PeakIdx::from_name(peak)));
            answers.put(bundle.from, 0, &clumps.collect::<Vec<_>>());
        }
        let between = |tie: &Tie| Tie { patches: tie.patches.map(|p| clump[p.at()]), ..*tie };
        ties.extend(peaks.ties.iter().map(between).filter(|tie| tie.patches[0] != tie.patches[1]));
    }
    let answers: Vec<TiedClumps> = all_records(&answers.exchange(comm)?, 0);
    Ok((followed(peaks, cut.persistence, &answers), ties))
}

/// The clumps of a peak. `name` returns that of a patch.
fn clumps_of(tree: &MergeTree, name: impl Fn(PeakIdx) -> PeakName, peak: PeakIdx) -> TiedClumps {
    let death = &tree.death[peak.at()];
    let of = |patch: PeakIdx| if patch.is_none() { PeakName::NONE } else { name(patch) };
    TiedClumps { own: of(peak), ends: [of(death.near), of(death.endpoint)] }
}

fn followed(peaks: &Peaks, persistence: Persistence, answers: &[TiedClumps]) -> Followed {
    let all = (0..peaks.len()).map(PeakIdx::new);
    let noise = Noise::by_persistence(peaks, persistence);
    let clump_peaks: Vec<PeakIdx> = all.filter(|peak| noise.is_clump_peak(*peak)).collect();
    let held = |clump: PeakName| match clump.is_none() {
        true => ClumpAt::NONE,
        false => ClumpAt { cutter: HOLDER.0, clump },
    };
    let ends = clump_peaks.iter().map(|peak| answers[peak.at()].ends.map(held)).collect();
    let mut clumps: Vec<ClumpAt> = answers.iter().map(|of| held(of.own)).collect();
    clumps.sort_unstable();
    clumps.dedup();
    let slot = |of: &TiedClumps| {
        ClumpSlot::new(clumps.binary_search(&held(of.own)).expect("the clumps of all patches are listed"))
    };
    let of_peak = answers.iter().map(slot).collect();
    Followed { cutters: vec![HOLDER.0; clump_peaks.len()], clump_peaks, ends, clumps, of_peak }
}
