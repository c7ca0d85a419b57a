//! Labels: the root at which the ascent of every test cell ends.

use crate::chunks::chunks;
use crate::executor::{Executor, TaskResults, cell_stage};
use inselberg_kernels::ids::RootIdx;
use inselberg_kernels::phew::label::{RootSet, compress, label, root_word};
use inselberg_tasks::TaskFns;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Test cells of one task: a multiple of the 64 of a word.
const CELLS_AT_ONCE: usize = 1 << 14;

/// The roots, and the root of every test cell in the memory of the pointers.
///
/// Chains are shortened while roots are still being listed. That neither adds nor removes a root
/// (`kernels/src/phew/README.md`).
pub fn run(pointers: Vec<AtomicU32>, executor: &Executor) -> (RootSet, Vec<RootIdx>) {
    let up = pointers.as_slice();
    let runs = chunks(up.len(), CELLS_AT_ONCE);
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
    let (words, roots) = (TaskResults::new(runs.len()), OnceLock::new());
    let run = |i: u32| runs[i as usize].clone();
    let bodies = TaskFns::new(&plan)
        .on(list, |i| words.put(i, run(i).step_by(64).map(|first| root_word(up, first)).collect::<Vec<_>>()))
        .on(shorten, |i| compress(up, run(i)))
        .on(number, |_| {
            let words_of = |i| words.get(i).expect("every run is listed before the roots are numbered");
            let all = (0..runs.len() as u32).flat_map(words_of).copied();
            roots.get_or_init(|| RootSet::new(all.collect()));
        })
        .on(name, |i| {
            let roots = roots.get().expect("the roots are numbered before cells are labelled");
            label(up, roots, run(i));
        });
    executor.run("labels", &plan, bodies);
    let labels = pointers.into_iter().map(|label| RootIdx(label.into_inner())).collect();
    (roots.into_inner().expect("the task that numbers the roots has run"), labels)
}
