//! Regions of the box, each with the cells of all levels in it: the tasks of the stages.

use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::sfc::morton;
use std::ops::Range;

/// About the most test cells of a task: its data fit the private cache of a core.
const TASK_CELLS: usize = 1 << 15;
/// About the fewest test cells of a task.
const FEW_CELLS: usize = 1 << 12;
/// Tasks per thread: many, so that all threads end at about the same time.
const TASKS_PER_THREAD: usize = 32;

/// A range of the space-filling curve: for each level the super-bricks that begin in it.
///
/// Most patches, and most contacts between two of them, lie on several levels; with all levels in one task
/// they lie in one task.
#[derive(Debug, Clone)]
pub struct TaskRegion {
    /// Super-bricks: one range per level, by ascending level.
    runs: Vec<Range<usize>>,
}

impl TaskRegion {
    /// Its super-bricks, in the order of the mesh.
    pub fn supers(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs.iter().cloned().flatten()
    }

    /// Its test cells: one range per level.
    pub fn cells<'a>(
        &'a self,
        mesh: &'a Mesh,
        test_cells: &'a TestCells<'_>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        self.runs.iter().map(|run| test_cells.of_supers(mesh, run.clone()))
    }

    /// Number of its test cells.
    pub fn n_cells(&self, mesh: &Mesh, test_cells: &TestCells) -> usize {
        self.cells(mesh, test_cells).map(|run| run.len()).sum()
    }
}

/// Cuts the super-bricks that hold test cells into tasks, enough to balance the threads of the current pool.
pub fn cut_tasks(mesh: &Mesh, test_cells: &TestCells) -> Vec<TaskRegion> {
    let share = test_cells.len() / (TASKS_PER_THREAD * rayon::current_num_threads());
    cut_by(mesh, test_cells, |_| share.clamp(FEW_CELLS, TASK_CELLS))
}

/// Cuts the super-bricks that hold test cells into tasks. `least(n)` is the least number of test cells of a
/// task that follows `n` test cells.
pub fn cut_by(mesh: &Mesh, test_cells: &TestCells, least: impl Fn(usize) -> usize) -> Vec<TaskRegion> {
    let mut along = along_curve(mesh, test_cells);
    let (mut tasks, mut upto) = (Vec::new(), 0usize);
    let mut left = along.as_mut_slice();
    while !left.is_empty() {
        let full = upto.saturating_add(least(upto).max(1));
        let is_full = |place: &SuperBrickOnCurve| {
            upto += test_cells.of_bricks(mesh.bricks_of(&mesh.supers()[place.super_idx])).len();
            upto >= full
        };
        let n = left.iter().position(is_full).map_or(left.len(), |last| last + 1);
        let (task, rest) = left.split_at_mut(n);
        tasks.push(region_of(task));
        left = rest;
    }
    tasks
}

/// A super-brick on the curve.
struct SuperBrickOnCurve {
    /// Morton key of its first cell on the grid of the deepest level.
    key: u128,
    level: u8,
    super_idx: usize,
}

/// The super-bricks that hold test cells, by their start on the curve, coarser ones first.
fn along_curve(mesh: &Mesh, test_cells: &TestCells) -> Vec<SuperBrickOnCurve> {
    let mut along = Vec::new();
    for level in 0..mesh.n_levels() {
        let up = 3 * u32::from(mesh.n_levels() - 1 - level);
        for super_idx in mesh.supers_of(level) {
            let super_brick = &mesh.supers()[super_idx];
            if !test_cells.of_bricks(mesh.bricks_of(super_brick)).is_empty() {
                along.push(SuperBrickOnCurve { key: morton(super_brick.position) << up, level, super_idx });
            }
        }
    }
    // The stable sort keeps coarser super-bricks first where starts are equal. It merges the sorted levels.
    along.sort_by_key(|place| place.key);
    along
}

fn region_of(task: &mut [SuperBrickOnCurve]) -> TaskRegion {
    task.sort_by_key(|place| place.super_idx);
    let levels = task.chunk_by(|a, b| a.level == b.level);
    TaskRegion { runs: levels.map(|run| run[0].super_idx..run[run.len() - 1].super_idx + 1).collect() }
}
