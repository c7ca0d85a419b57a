//! Ascent: the densest neighbour of every test cell.

use crate::executor::{Executor, TaskResults, cell_stage};
use crate::phew::region::TaskRegion;
use crate::phew::test_links::TestLinks;
use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::raise::raise;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::phew::{Rules, ascent};
use inselberg_tasks::TaskFns;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Finds the densest neighbours: a pointer per test cell. Peaks point to themselves. So do ghosts, because
/// not all of their neighbours are on this rank.
pub fn run(
    mesh: &Mesh,
    test_cells: &TestCells,
    rules: Rules,
    links: &TestLinks,
    tasks: &[TaskRegion],
    executor: &Executor,
) -> Vec<AtomicU32> {
    // New memory is not touched here: the thread that first ascends from a cell places its page near itself.
    let up: Vec<AtomicU32> = bytemuck::zeroed_vec(test_cells.len());
    let n_cells: Vec<usize> = tasks.iter().map(|task| task.n_cells(mesh, test_cells)).collect();
    let (plan, [climb, settle, contrast]) = executor.plan("ascent", &n_cells, |planner| {
        let climb = cell_stage(planner, "ascent", &n_cells, 25);
        let settle = cell_stage(planner, "levels", &n_cells, 1);
        let contrast = cell_stage(planner, "contrast", &n_cells, 1);
        planner.first_touch(climb, n_cells.iter().map(|n| 4 * *n as u64));
        planner.after(settle, climb);
        planner.after(contrast, settle);
        [climb, settle, contrast]
    });
    let task = |i: u32| &tasks[i as usize];
    let later = TaskResults::new(tasks.len());
    let bodies = TaskFns::new(&plan)
        .on(climb, |i| later.put(i, ascent::ascend(mesh, test_cells, rules, task(i).supers(), &up)))
        .on(settle, |i| {
            let later = later.get(i).expect("all cells ascend before levels are settled");
            later.iter().for_each(|rise| raise(mesh, test_cells, rules, &up, *rise));
        })
        .on(contrast, |i| {
            task(i)
                .cells(mesh, test_cells)
                .for_each(|run| ascent::demand_contrast(mesh, test_cells, rules, run, &up));
        });
    executor.run("ascent", &plan, bodies);
    links.ghosts().for_each(|ghost| up[ghost.at()].store(ghost.0, Relaxed));
    up
}
