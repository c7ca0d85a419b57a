//! The input of every pass over the test cells, and the division of its results into tasks.

use crate::chunks::carve;
use crate::phew::region::TaskRegion;
use crate::phew::region_trees::PeakRegions;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::label::RootSet;
use inselberg_kernels::phew::test_cells::TestCells;
use std::ops::Range;

/// The input of every pass over the test cells, once the ascents are done.
#[derive(Clone, Copy)]
pub struct PassContext<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its test cells.
    pub test_cells: &'a TestCells<'a>,
    /// The roots of the ascents: own peaks, and ghosts of other ranks.
    pub roots: &'a RootSet,
    /// The tasks of the test cells.
    pub tasks: &'a [TaskRegion],
    /// For each brick the mask of its own cells; empty where all cells are own.
    pub own: &'a [u64],
    /// Paper or RAMSES.
    pub rules: Rules,
}

impl PassContext<'_> {
    /// Number of test cells in each task.
    pub fn n_cells(&self) -> Vec<usize> {
        self.tasks.iter().map(|task| task.n_cells(self.mesh, self.test_cells)).collect()
    }

    /// The known peaks in regions of space, by slot. Each own peak is in the region of its task.
    ///
    /// `before` is the number of slots before the peak of the n-th root.
    pub fn peak_regions(&self, before: impl Fn(usize) -> usize) -> PeakRegions {
        let before = |n_roots: usize| PeakIdx::new(before(n_roots));
        let of_run =
            |run: Range<usize>| before(self.roots.before(run.start))..before(self.roots.before(run.end));
        let of_task = |task: &TaskRegion| task.cells(self.mesh, self.test_cells).map(of_run).collect();
        let first_ghosts = vec![PeakIdx::new(0)..before(0)];
        PeakRegions::of_parts(std::iter::once(first_ghosts).chain(self.tasks.iter().map(of_task)))
    }

    /// Cuts a list of peaks, which is in the order of the cells, into one part per task: the peaks in its
    /// cells.
    ///
    /// `before` is the number of list entries before the peak of the n-th root.
    pub fn by_task<'s, T>(&self, list: &'s mut [T], before: impl Fn(usize) -> usize) -> Vec<OfTask<'s, T>> {
        let mut runs: Vec<(Range<usize>, usize)> = Vec::new();
        for (i, task) in self.tasks.iter().enumerate() {
            runs.extend(task.cells(self.mesh, self.test_cells).map(|run| (run, i)));
        }
        runs.sort_unstable_by_key(|(run, _)| run.start);
        let mut own: Vec<OfTask<T>> = self.tasks.iter().map(|_| OfTask(Vec::new())).collect();
        // The first run also takes the ghost peaks before the first own peak.
        let ends = runs.iter().map(|(run, _)| before(self.roots.before(run.end)));
        let bounds: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let parts = carve(list, bounds.windows(2).map(|bounds| bounds[1] - bounds[0]));
        for (((_, task), start), part) in runs.into_iter().zip(bounds).zip(parts) {
            own[task].0.push((start, part));
        }
        own
    }
}

/// The entries of a list of peaks that lie in one task: for each level the first index and the entries.
pub struct OfTask<'a, T>(Vec<(usize, &'a mut [T])>);

impl<T> OfTask<'_, T> {
    /// All entries, in the order of the cells.
    pub fn in_order(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flat_map(|(_, run)| run.iter_mut())
    }

    /// Their indices in the whole list, one range per level.
    pub fn peaks(&self) -> impl Iterator<Item = Range<PeakIdx>> {
        self.0.iter().map(|(start, run)| PeakIdx::new(*start)..PeakIdx::new(start + run.len()))
    }
}
