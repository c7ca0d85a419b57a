//! The sums of every patch: one pass over the test cells.

use super::Region;
use super::properties::{OfTask, Patches, TestFields};
use crate::crew::{Crew, Rooms};
use crate::ranks::peak_comm::KnownPeak;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::local;
use inselberg_kernels::props::Gathered;
use inselberg_kernels::props::sums::N_SUMS;
use inselberg_kernels::props::terms::{BrickCells, Terms};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// What is summed, over which patches. Lengths are in units of the level-0 cell.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The patches.
    pub patches: &'a Patches<'a>,
    /// Their peaks, by slot.
    pub peaks: &'a [KnownPeak],
    /// Further values of the test cells.
    pub fields: &'a TestFields,
    /// What the sums of any rank can be written in.
    pub quanta: &'a [Quantum; N_SUMS],
}

impl Pass<'_> {
    /// The sums over the own cells of every patch, by slot. About 16 ns a cell.
    pub fn run<T: Gathered<N>, const N: usize>(&self, crew: &Crew) -> Vec<T> {
        let Patches { mesh, tests, tasks, .. } = *self.patches;
        // Untouched zeros: whoever adds to them first makes them no sums.
        let mut sums: Vec<T> = bytemuck::zeroed_vec(self.peaks.len());
        let jobs: Vec<_> = tasks.iter().zip(self.patches.by_task(&mut sums)).collect();
        let n_cells = |job: &(&Region, OfTask<T>)| job.0.n_cells(mesh, tests);
        let rooms = Rooms::<Room<T, N>>::default();
        let foreign = crew
            .map("sums", jobs, n_cells, |(task, mut own)| rooms.with(|room| self.task(task, &mut own, room)));
        merge_foreign(&mut sums, &foreign);
        sums
    }

    /// Adds the cells of one task: to `own` for the patches whose peaks are in it; the parts of the other patches
    /// are handed back, by ascending patch.
    fn task<T: Gathered<N>, const N: usize>(
        &self,
        task: &Region,
        own: &mut OfTask<T>,
        Room { cells, terms, foreign }: &mut Room<T, N>,
    ) -> Vec<(PeakIdx, T)> {
        let mesh = self.patches.mesh;
        own.in_order().for_each(|sums| *sums = T::default());
        for s in task.supers() {
            cells.level = mesh.level_of_super(s);
            for brick in mesh.bricks_of(&mesh.supers()[s]) {
                self.load(brick, cells);
                terms.make::<T>(cells, mesh.domain(), self.quanta);
                let mut end = 0;
                for run in cells.patch[..cells.n].chunk_by(|a, b| a == b) {
                    let sums = match own.of(run[0]) {
                        Some(sums) => sums,
                        None => foreign.of(run[0]),
                    };
                    sums.add(cells, terms, end..end + run.len());
                    end += run.len();
                }
            }
        }
        foreign.take()
    }

    /// Takes the own test cells of a brick.
    #[inline(always)]
    fn load(&self, brick: usize, cells: &mut BrickCells) {
        let Patches { mesh, tests, labels, own, .. } = *self.patches;
        let own = own.get(brick).copied().unwrap_or(u64::MAX);
        let first = tests.first[brick] as usize;
        cells.clear();
        for (test, bit) in (first..).zip(local::bits(tests.mask[brick])) {
            if own >> bit & 1 == 1 {
                let n = cells.push(mesh.bricks()[brick].position, bit);
                cells.patch[n] = labels[test];
                cells.rho[n] = tests.rho[test];
                cells.density[n] = self.fields.mass_density.as_ref().map_or(cells.rho[n], |d| d[test]);
                if let Some(velocity) = &self.fields.velocity {
                    (0..3).for_each(|a| cells.velocity[a][n] = velocity[a][test]);
                }
            }
        }
        for n in 0..cells.n {
            let peak = &self.peaks[cells.patch[n].at()];
            cells.set_peak(n, peak.level, peak.ijk);
        }
    }
}

/// Scratch of a task.
struct Room<T, const N: usize> {
    cells: BrickCells,
    terms: Terms<N>,
    foreign: Foreign<T>,
}

impl<T, const N: usize> Default for Room<T, N> {
    fn default() -> Self {
        let foreign = Foreign { places: FxHashMap::default(), parts: Vec::new() };
        Self { cells: BrickCells::default(), terms: Terms::default(), foreign }
    }
}

/// Parts of patches whose peaks are in other tasks, to be used again.
struct Foreign<T> {
    places: FxHashMap<PeakIdx, u32>,
    parts: Vec<T>,
}

impl<T: Default + Copy> Foreign<T> {
    #[inline(always)]
    fn of(&mut self, patch: PeakIdx) -> &mut T {
        let place = *self.places.entry(patch).or_insert(self.parts.len() as u32) as usize;
        if place == self.parts.len() {
            self.parts.push(T::default());
        }
        &mut self.parts[place]
    }

    /// Hands all of them over, by ascending patch.
    fn take(&mut self) -> Vec<(PeakIdx, T)> {
        let mut order: Vec<(PeakIdx, u32)> = self.places.drain().collect();
        order.sort_unstable();
        let parts = order.into_iter().map(|(patch, place)| (patch, self.parts[place as usize])).collect();
        self.parts.clear();
        parts
    }
}

/// Adds the parts, each list by ascending patch, to the sums of their patches.
fn merge_foreign<T: Gathered<N>, const N: usize>(sums: &mut [T], foreign: &[Vec<(PeakIdx, T)>]) {
    let run = sums.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    sums.par_chunks_mut(run).enumerate().for_each(|(i, sums)| {
        let first = i * run;
        for parts in foreign {
            let start = parts.partition_point(|part| part.0.at() < first);
            for (patch, part) in &parts[start..] {
                let Some(sums) = sums.get_mut(patch.at() - first) else { break };
                sums.merge(part);
            }
        }
    });
}
