//! The patches of the test cells, bounds on what is summed over them, and the positions of peaks.

use crate::chunks::carve;
use crate::field::AmrField;
use crate::phew::peak_comm::PeakComm;
use crate::phew::region::Region;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::cell_volume;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::props::SumScales;
use inselberg_kernels::props::refine::Refiner;
use inselberg_kernels::props::sums::N_SUMS;
use inselberg_kernels::simd::largest;
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use std::ops::Range;

/// Further values of the test cells, where a run has them.
#[derive(Debug, Default)]
pub struct TestFields {
    /// Mass density, where the segmented field is something else.
    pub mass_density: Option<Vec<f64>>,
    /// Velocities, one vector of components an axis.
    pub velocity: Option<[Vec<f64>; 3]>,
}

/// What a pass over test cells needs to know.
pub struct Patches<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its test cells.
    pub test_cells: &'a TestCells<'a>,
    /// Where the ascents end: own peaks, and ghosts of other ranks.
    pub ends: &'a PeakSet,
    /// The slot of the first own peak at or after each end, and the number of slots; empty where every
    /// end is an own peak with its own place for a slot.
    pub slots: &'a [u32],
    /// The patch of each test cell, by slot.
    pub labels: &'a [PeakIdx],
    /// The test cells' tasks.
    pub tasks: &'a [Region],
    /// For each brick its own cells; empty where all are.
    pub own: &'a [u64],
    /// Paper or RAMSES.
    pub rules: Rules,
}

impl Patches<'_> {
    /// The number of slots of own peaks before a test cell's.
    pub fn slots_before(&self, cell: usize) -> usize {
        let ends = self.ends.before(cell);
        self.slots.get(ends).map_or(ends, |&slot| slot as usize)
    }

    /// Collective: what the sums of any rank can be written in.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn quanta(&self, fields: &TestFields, comm: &Comm) -> Result<[Quantum; N_SUMS], CommError> {
        let n_cells = comm.all_reduce_counts(&[self.n_own()], Reduce::Sum)?[0];
        Ok(self.scales(fields, comm)?.quanta(n_cells))
    }

    /// Number of test cells without ghosts: their sum over ranks does not depend on how many these are.
    fn n_own(&self) -> u64 {
        if self.own.is_empty() {
            return self.test_cells.len() as u64;
        }
        let masks = self.test_cells.mask.par_iter().zip(self.own);
        masks.map(|(test_cells, own)| u64::from((test_cells & own).count_ones())).sum()
    }

    /// Of a list with an entry a slot those whose peaks are in each task.
    pub fn by_task<'s, T>(&self, list: &'s mut [T]) -> Vec<OfTask<'s, T>> {
        let mut runs: Vec<(Range<usize>, usize)> = Vec::new();
        for (i, task) in self.tasks.iter().enumerate() {
            runs.extend(task.cells(self.mesh, self.test_cells).map(|run| (run, i)));
        }
        runs.sort_unstable_by_key(|(run, _)| run.start);
        let mut own: Vec<OfTask<T>> = self.tasks.iter().map(|_| OfTask(Vec::new())).collect();
        // Slots of ghosts before the first own peak are in the first run, where there is nothing for them.
        let bounds: Vec<usize> =
            std::iter::once(0).chain(runs.iter().map(|(run, _)| self.slots_before(run.end))).collect();
        let parts = carve(list, bounds.windows(2).map(|slots| slots[1] - slots[0]));
        for (((_, task), start), part) in runs.into_iter().zip(bounds).zip(parts) {
            own[task].0.push((start, part));
        }
        own
    }

    /// Collective: bounds on the terms of the sums, the same on every rank.
    fn scales(&self, fields: &TestFields, comm: &Comm) -> Result<SumScales, CommError> {
        let mut volume = 0.0f64;
        let mut mass = 0.0f64;
        for level in 0..self.mesh.n_levels() {
            let cells = self.test_cells.of_level(self.mesh, level);
            if !cells.is_empty() {
                let densest = match &fields.mass_density {
                    Some(density) => largest_of(&density[cells]),
                    None => self.test_cells.greatest[usize::from(level)],
                };
                volume = volume.max(cell_volume(level));
                mass = mass.max(densest * cell_volume(level));
            }
        }
        let velocity = fields.velocity.iter().flatten().map(|v| largest_of(v)).fold(0.0, f64::max);
        let all = comm.all_max(&[volume, mass, velocity])?;
        let side = self.mesh.domain().coarse.into_iter().max().unwrap_or(1);
        Ok(SumScales { volume: all[0], mass: all[1], velocity: all[2], length: f64::from(side) })
    }
}

/// Of a list with an entry a slot those whose peaks are in a task: from which slot on, a run a level.
pub struct OfTask<'a, T>(Vec<(usize, &'a mut [T])>);

impl<T> OfTask<'_, T> {
    /// All of them, in the order of the cells.
    pub fn in_order(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flat_map(|(_, run)| run.iter_mut())
    }

    /// Their slots, a range a level.
    pub fn slots(&self) -> impl Iterator<Item = Range<PeakIdx>> {
        self.0.iter().map(|(start, run)| PeakIdx::new(*start)..PeakIdx::new(start + run.len()))
    }
}

/// The largest magnitude.
fn largest_of(values: &[f64]) -> f64 {
    values.par_chunks(1 << 14).map(largest).reduce(|| 0.0, f64::max)
}

/// The refined positions of own peaks, folded into the box, in units of the level-0 cell: those given that are not NaN,
/// and what is still to do.
pub fn refine(field: &AmrField, rules: Rules, known: &PeakComm, mut refined: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    refined.par_chunks_mut(REFINED).zip(known.own.par_chunks(REFINED)).for_each(|(refined, own)| {
        let mut refiner = Refiner::new(&field.mesh, &field.rho, rules);
        for (place, slot) in refined.iter_mut().zip(own) {
            let peak = &known.known[slot.at()];
            if place[0].is_nan() {
                *place = refiner.refined(peak.level as u8, peak.ijk);
            }
            *place = field.mesh.domain().fold(*place);
        }
    });
    refined
}

/// Peaks refined at once.
const REFINED: usize = 1 << 10;
