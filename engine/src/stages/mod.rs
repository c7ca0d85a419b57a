//! The stages of PHEW, where physics meets threads: each lays a kernel over tasks.
//!
//! A task is a run of super-bricks with about `TASK_CELLS` test cells. Results never depend on how
//! the tasks are cut: they are maxima in total orders, unique forests or order-free sums.

pub mod ascent;
pub mod density;
pub mod label;
pub mod load;
pub mod properties;
pub mod saddle;
pub mod tests;

use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::tests::TestCells;
use std::ops::Range;

/// Test cells of a task, about: its patches, labels and contacts fit a core's own cache.
const TASK_CELLS: u32 = 1 << 13;

/// Cuts the super-bricks that hold test cells into tasks.
pub fn cut_tasks(mesh: &Mesh, tests: &TestCells) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut start, mut before) = (0, 0);
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let upto = tests.first[mesh.bricks_of(super_brick).end];
        if upto - before >= TASK_CELLS || s + 1 == mesh.supers().len() {
            if upto > before {
                tasks.push(start..s + 1);
            }
            (start, before) = (s + 1, upto);
        }
    }
    tasks
}

/// The test cells of a task.
pub fn cells_of(mesh: &Mesh, tests: &TestCells, task: &Range<usize>) -> Range<usize> {
    let first = mesh.supers()[task.start].first as usize;
    tests.of_bricks(first..mesh.bricks_of(&mesh.supers()[task.end - 1]).end)
}
