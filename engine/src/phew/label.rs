//! The patch of every test cell.

use crate::chunks::chunks;
use crate::executor::{Executor, TaskResults, cell_stage};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::label::{PeakSet, compress, label, peak_word};
use inselberg_tasks::TaskFns;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Test cells handled at once: a multiple of the 64 of a word.
const RUN: usize = 1 << 14;

/// The peaks, and the peak of every test cell, in the memory of the pointers.
///
/// Chains are shortened while peaks are still being listed: that makes no peak and unmakes none
/// (`kernels/src/phew/README.md`).
pub fn run(pointers: Vec<AtomicU32>, executor: &Executor) -> (PeakSet, Vec<PeakIdx>) {
    let up = pointers.as_slice();
    let runs = chunks(up.len(), RUN);
    let sizes: Vec<usize> = runs.iter().map(ExactSizeIterator::len).collect();
    let (plan, [list, shorten, number, name]) = executor.plan("labels", &sizes, |planner| {
        let list = cell_stage(planner, "peaks", &sizes, 1);
        let shorten = cell_stage(planner, "labels", &sizes, 10);
        let number = planner.stage("numbers", [up.len() as u64 / 64]);
        let name = cell_stage(planner, "names", &sizes, 4);
        planner.after(number, list);
        planner.after(name, number);
        planner.after(name, shorten);
        [list, shorten, number, name]
    });
    let (words, peaks) = (TaskResults::new(runs.len()), OnceLock::new());
    let run = |i: u32| runs[i as usize].clone();
    let bodies = TaskFns::new(&plan)
        .on(list, |i| words.put(i, run(i).step_by(64).map(|first| peak_word(up, first)).collect::<Vec<_>>()))
        .on(shorten, |i| compress(up, run(i)))
        .on(number, |_| {
            let all = (0..runs.len() as u32).filter_map(|i| words.get(i)).flatten().copied();
            peaks.get_or_init(|| PeakSet::new(all.collect()));
        })
        .on(name, |i| {
            if let Some(peaks) = peaks.get() {
                label(up, peaks, run(i));
            }
        });
    executor.run("labels", &plan, bodies);
    let labels = pointers.into_iter().map(|label| PeakIdx(label.into_inner())).collect();
    (peaks.into_inner().unwrap_or_default(), labels)
}
