//! The sums of every patch, and the places of peaks and saddles.

use super::cells_of;
use crate::amr::AmrField;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::{Domain, cell_centre, cell_side, cell_volume};
use inselberg_kernels::ids::{PeakIdx, TestIdx};
use inselberg_kernels::mesh::{Mesh, local};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::phew::tests::{Locator, TestCells};
use inselberg_kernels::props::refine::refined_peak;
use inselberg_kernels::props::sums::{MOMENTUM, N_SUMS};
use inselberg_kernels::props::{CellView, PatchSums, PatchValues, Scales};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Further values of the test cells, where a run has them.
#[derive(Debug, Default)]
pub struct TestFields {
    /// Mass density, where the segmented field is something else.
    pub mass_density: Option<Vec<f64>>,
    /// Velocities, one vector of components an axis.
    pub velocity: Option<[Vec<f64>; 3]>,
}

/// Where each peak stands: level and position of its cell.
pub type Places = Vec<(u8, [u32; 3])>;

/// What a pass over test cells needs to know.
pub struct Patches<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its test cells.
    pub tests: &'a TestCells,
    /// The peaks among them.
    pub peaks: &'a PeakSet,
    /// The patch of each.
    pub labels: &'a [PeakIdx],
    /// Their tasks.
    pub tasks: &'a [Range<usize>],
}

impl Patches<'_> {
    /// Level and position of every peak, in order.
    pub fn places(&self, locator: &Locator) -> Places {
        self.of_peaks(|cell| locator.locate(cell))
    }

    /// Density of every peak, in order.
    pub fn peak_densities(&self) -> Vec<f64> {
        self.of_peaks(|cell| self.tests.rho[cell.at()])
    }

    /// Something of every peak's cell, in order.
    fn of_peaks<T: Send + Sync + Clone>(&self, what: impl Fn(TestIdx) -> T + Sync) -> Vec<T> {
        let of_task = |task: &Range<usize>| {
            let cells = self.peaks.cells(cells_of(self.mesh, self.tests, task));
            cells.map(&what).collect::<Vec<_>>()
        };
        self.tasks.par_iter().map(of_task).collect::<Vec<_>>().concat()
    }

    /// Collective: the sums of every patch in code units; `side` is the length of a level-0 cell.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn values(
        &self,
        places: &Places,
        fields: &TestFields,
        side: f64,
        comm: &Comm,
    ) -> Result<Vec<PatchValues>, CommError> {
        let n_cells = comm.all_reduce_counts(&[self.tests.len() as u64], Reduce::Sum)?[0];
        let quanta = self.scales(fields, comm)?.quanta(n_cells);
        let sums = self.sums(places, fields, &quanta);
        let value = |(sums, &(level, ijk)): (&PatchSums, &(u8, [u32; 3]))| {
            PatchValues::new(sums, &quanta, side, cell_centre(level, ijk))
        };
        Ok(sums.par_iter().zip(places).map(value).collect())
    }

    /// The sums of every patch, in quanta.
    fn sums(&self, places: &Places, fields: &TestFields, quanta: &[Quantum; N_SUMS]) -> Vec<PatchSums> {
        let mut sums = vec![PatchSums::default(); self.peaks.len()];
        let mut left = sums.as_mut_slice();
        let mut jobs = Vec::with_capacity(self.tasks.len());
        let mut start = 0;
        for task in self.tasks {
            let end = self.peaks.before(cells_of(self.mesh, self.tests, task).end);
            let (own, rest) = left.split_at_mut(end - start);
            jobs.push((task, start, own));
            (left, start) = (rest, end);
        }
        let foreign: Vec<_> = jobs
            .into_par_iter()
            .map(|(task, start, own)| match fields.velocity {
                Some(_) => self.sum_task::<N_SUMS>(task.clone(), start, own, places, fields, quanta),
                None => self.sum_task::<MOMENTUM>(task.clone(), start, own, places, fields, quanta),
            })
            .collect();
        for (patch, part) in foreign.into_iter().flatten() {
            sums[patch.at()].merge(&part);
        }
        sums
    }

    /// Adds the cells of one task: to `own` for the patches whose peaks are in it, from `start`; the
    /// parts of the other patches are handed back.
    fn sum_task<const N: usize>(
        &self,
        task: Range<usize>,
        start: usize,
        own: &mut [PatchSums],
        places: &Places,
        fields: &TestFields,
        quanta: &[Quantum; N_SUMS],
    ) -> FxHashMap<PeakIdx, PatchSums> {
        let mut foreign = FxHashMap::default();
        self.for_each_test(task, |test, level, position| {
            let patch = self.labels[test.at()];
            let from = cell_centre(places[patch.at()].0, places[patch.at()].1);
            let view = self.view(test, level, position, from, fields);
            let sums = match own.get_mut(patch.at().wrapping_sub(start)) {
                Some(sums) => sums,
                None => foreign.entry(patch).or_insert_with(PatchSums::default),
            };
            sums.add::<N>(quanta, self.tests.rho[test.at()], &view);
        });
        foreign
    }

    #[inline(always)]
    fn view(
        &self,
        test: TestIdx,
        level: u8,
        position: [u32; 3],
        from: [f64; 3],
        fields: &TestFields,
    ) -> CellView {
        let volume = cell_volume(level);
        let density = fields.mass_density.as_ref().map_or(self.tests.rho[test.at()], |d| d[test.at()]);
        CellView {
            volume,
            mass: density * volume,
            from_peak: self.mesh.domain().displacement(from, cell_centre(level, position)),
            velocity: fields.velocity.as_ref().map_or([0.0; 3], |v| [0, 1, 2].map(|a| v[a][test.at()])),
        }
    }

    /// Collective: bounds on the terms of the sums, the same on every rank.
    fn scales(&self, fields: &TestFields, comm: &Comm) -> Result<Scales, CommError> {
        let density = fields.mass_density.as_ref().unwrap_or(&self.tests.rho);
        let mut volume = 0.0f64;
        let mut mass = 0.0f64;
        for level in 0..self.mesh.n_levels() {
            let cells = self.tests.of_level(self.mesh, level);
            if !cells.is_empty() {
                volume = volume.max(cell_volume(level));
                mass = mass.max(largest(&density[cells]) * cell_volume(level));
            }
        }
        let velocity = fields.velocity.iter().flatten().map(|v| largest(v)).fold(0.0, f64::max);
        let all = comm.all_max(&[volume, mass, velocity])?;
        let side = self.mesh.domain().coarse.into_iter().max().unwrap_or(1);
        Ok(Scales { volume: all[0], mass: all[1], velocity: all[2], length: f64::from(side) })
    }

    /// Calls `visit(test cell, level, position)` for every test cell of a task, in order.
    #[inline(always)]
    pub fn for_each_test(&self, task: Range<usize>, mut visit: impl FnMut(TestIdx, u8, [u32; 3])) {
        for s in task {
            let level = self.mesh.level_of_super(s);
            for b in self.mesh.bricks_of(&self.mesh.supers()[s]) {
                let position = self.mesh.bricks()[b].position;
                for (n, bit) in local::bits(self.tests.mask[b]).enumerate() {
                    visit(TestIdx(self.tests.first[b] + n as u32), level, local::position_of(position, bit));
                }
            }
        }
    }
}

/// The largest magnitude.
fn largest(values: &[f64]) -> f64 {
    values.par_iter().map(|v| v.abs()).reduce(|| 0.0, f64::max)
}

/// Refined positions of all peaks, folded into the box, in units of the level-0 cell.
pub fn refine(field: &AmrField, rules: Rules, places: &Places) -> Vec<[f64; 3]> {
    let refined = |&(level, position): &(u8, [u32; 3])| {
        field.mesh.domain().fold(refined_peak(&field.mesh, &field.rho, rules, level, position))
    };
    places.par_iter().map(refined).collect()
}

/// Where the two cells of each saddle touch: the middle of what their surfaces share, folded into
/// the box, in units of the level-0 cell; NaN for peaks that never end.
pub fn saddle_positions(mesh: &Mesh, locator: &Locator, cells: &[[TestIdx; 2]]) -> Vec<[f64; 3]> {
    let place = |pair: &[TestIdx; 2]| {
        if pair[0].is_none() {
            return [f64::NAN; 3];
        }
        let [a, b] = pair.map(|t| locator.locate(t));
        mesh.domain().fold(touching_point(mesh.domain(), a, b))
    };
    cells.par_iter().map(place).collect()
}

fn touching_point(domain: &Domain, a: (u8, [u32; 3]), b: (u8, [u32; 3])) -> [f64; 3] {
    let from = cell_centre(a.0, a.1);
    let apart = domain.displacement(from, cell_centre(b.0, b.1));
    let (half_a, half_b) = (0.5 * cell_side(a.0), 0.5 * cell_side(b.0));
    std::array::from_fn(|i| {
        let low = (-half_a).max(apart[i] - half_b);
        let high = half_a.min(apart[i] + half_b);
        from[i] + 0.5 * (low + high)
    })
}
