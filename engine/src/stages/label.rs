//! The patch of every test cell.

use crate::amr::chunks;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::label::{PeakSet, compress, label, peak_word};
use rayon::prelude::*;
use std::sync::atomic::AtomicU32;

/// Test cells handled at once.
const RUN: usize = 1 << 14;

/// The peaks, and the peak of every test cell.
pub fn run(up: &[AtomicU32]) -> (PeakSet, Vec<PeakIdx>) {
    let n_words = up.len().div_ceil(64);
    let peaks = PeakSet::new((0..n_words).into_par_iter().map(|w| peak_word(up, w * 64)).collect());
    chunks(up.len(), RUN).into_par_iter().for_each(|run| compress(up, run));
    let mut labels = vec![PeakIdx::NONE; up.len()];
    labels.par_chunks_mut(RUN).enumerate().for_each(|(i, out)| {
        label(up, &peaks, i * RUN..i * RUN + out.len(), out);
    });
    (peaks, labels)
}
