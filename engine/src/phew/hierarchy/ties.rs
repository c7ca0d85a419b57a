//! The clumps of patches under RAMSES's rules where saddles are exactly equal: one rank goes through the rounds for all.

use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::phew::hierarchy::chains::{Followed, is_seed};
use crate::phew::peaks::Peaks;
use crate::phew::ties::{HOLDER, whole_tree};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::ties::{Tie, cut_with_ties};
use inselberg_kernels::phew::tree::MergeTree;

/// The clumps, by global index, of a peak and of the patches at which it ends.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct TiedClumps {
    own: PeakIdx,
    ends: [PeakIdx; 2],
}

/// Collective: what [`chains::follow`](super::chains::follow) gives where there are no ties. On the holder of the ties also
/// those between clumps.
///
/// # Errors
/// When another rank fails.
pub fn follow(peaks: &Peaks, cut: &Cut, comm: &Comm) -> Result<(Followed, Vec<Tie>), CommError> {
    let whole = whole_tree(comm, &peaks.global, &peaks.tree)?;
    let mut buffers = SendBuffers::<1>::default();
    buffers.put(HOLDER, 0, &peaks.global);
    let asked: Vec<Bundle<1>> = buffers.exchange(comm)?;
    let mut answers = SendBuffers::<1>::default();
    let mut ties = Vec::new();
    if let Some(tree) = whole {
        let noise_alone = Cut { saddle: None, ..*cut };
        let clump = cut_with_ties(&tree, &peaks.ties, &noise_alone).clump;
        for bundle in &asked {
            let clumps = bundle.records(0).into_iter().map(|peak| clumps_of(&tree, &clump, peak));
            answers.put(bundle.from, 0, &clumps.collect::<Vec<_>>());
        }
        let between = |tie: &Tie| Tie { patches: tie.patches.map(|p| clump[p.at()]), ..*tie };
        ties.extend(peaks.ties.iter().map(between).filter(|tie| tie.patches[0] != tie.patches[1]));
    }
    let answers: Vec<TiedClumps> =
        answers.exchange(comm)?.iter().flat_map(|bundle| bundle.records(0)).collect();
    Ok((followed(peaks, cut.relevance, &answers), ties))
}

fn clumps_of(tree: &MergeTree, clump: &[PeakIdx], peak: PeakIdx) -> TiedClumps {
    let death = &tree.death[peak.at()];
    let of = |p: PeakIdx| if p.is_none() { p } else { clump[p.at()] };
    TiedClumps { own: of(peak), ends: [of(death.near), of(death.endpoint)] }
}

fn followed(peaks: &Peaks, relevance: f64, answers: &[TiedClumps]) -> Followed {
    let seeds: Vec<usize> = (0..peaks.len()).filter(|i| is_seed(peaks, *i, relevance)).collect();
    let end_clumps: Vec<[PeakIdx; 2]> = seeds.iter().map(|i| answers[*i].ends).collect();
    let named = answers.iter().map(|of| of.own).chain(end_clumps.iter().flatten().copied());
    let mut clumps: Vec<PeakIdx> = named.filter(|clump| !clump.is_none()).collect();
    clumps.sort_unstable();
    clumps.dedup();
    let place = |of: &TiedClumps| clumps.binary_search(&of.own).map_or(PeakIdx::NONE, PeakIdx::new);
    let of_peak = answers.iter().map(place).collect();
    Followed { seeds, end_clumps, clumps, of_peak }
}
