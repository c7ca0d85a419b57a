//! Chains of noise are followed by all threads at once: every patch gets the clump at the end of its chain.

use inselberg::phew::hierarchy::{Structures, structures};
use inselberg::phew::peaks::{OwnTree, Peaks};
use inselberg_comm::Comm;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::phew::tree::{Death, MergeTree};
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::combine::SizedBox;

const PEAKS: usize = 300_000;
/// Peaks of a chain: one that stays, and noise that ends at the peak before it or further up.
const CHAIN: usize = 10_000;

fn rho(i: usize) -> f64 {
    2.0 - i as f64 / PEAKS as f64
}

/// Peak `i` ends at `(i - jump)`, except the first of a chain, which is far above its saddle.
fn death(i: usize, jump: usize) -> Death {
    if i == 0 {
        return Death::NEVER;
    }
    let up = jump.min(i % CHAIN).max(1);
    let saddle = if i.is_multiple_of(CHAIN) { 0.1 * rho(i) } else { 0.9 * rho(i) };
    Death { saddle, near: PeakIdx::new(i), endpoint: PeakIdx::new(i - up) }
}

fn peaks(jump: usize) -> Peaks {
    let patch = PatchValues { n_cells: 1, rho_min: 1.0, sums: [1.0; 5] };
    Peaks {
        name: (0..PEAKS).map(|i| PeakName::new(i as u64, 0)).collect(),
        n_global: PEAKS as u64,
        space: SizedBox { domain: Domain::CUBE, side: 1.0, origin: [0.0; 3] },
        density_threshold: 0.5,
        level: vec![0; PEAKS],
        ijk: vec![[0; 3]; PEAKS],
        tree: OwnTree::from_whole(MergeTree {
            rho: (0..PEAKS).map(rho).collect(),
            death: (0..PEAKS).map(|i| death(i, jump)).collect(),
        }),
        ties: Vec::new(),
        refined: vec![[0.5; 3]; PEAKS],
        saddle_position: vec![[0.5; 3]; PEAKS],
        patches: vec![patch; PEAKS],
        momenta: None,
        pixels: None,
        prominence: None,
    }
}

fn cut(peaks: &Peaks) -> Structures {
    let at = Cut { density: 0.5, persistence: Persistence::Ratio(1.5), saddle: None, halo_relevance: None };
    structures(peaks, &at.into(), Rules::Paper, inselberg::CentralChoice::Heaviest, &Comm::solo())
        .expect("one rank")
}

#[test]
fn every_patch_comes_to_the_head_of_its_chain() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("a pool");
    let expected: Vec<u64> = (0..PEAKS).map(|i| (i / CHAIN) as u64 + 1).collect();
    for jump in [1, 3, 50] {
        let peaks = peaks(jump);
        for _ in 0..10 {
            let found = pool.install(|| cut(&peaks));
            assert_eq!(found.clumps.len(), PEAKS / CHAIN);
            assert!(found.clump_of_patch == expected, "a jump of {jump}");
        }
    }
}
