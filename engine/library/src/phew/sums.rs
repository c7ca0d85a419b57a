//! The sums over every patch: one pass over the test cells.

use crate::chunks::zeros;
use crate::executor::{Executor, ScratchPool};
use crate::phew::known_peaks::PeakColumns;
use crate::phew::pass::{OfTask, PassContext};
use crate::phew::peak_comm::RootSlots;
use crate::phew::region::TaskRegion;
use crate::phew::test_fields::TestFields;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::cell_volume;
use inselberg_kernels::ids::{PeakIdx, PeakSlot};
use inselberg_kernels::mesh::Brick;
use inselberg_kernels::mesh::local::{bits, pick};
use inselberg_kernels::phew::local_ids::LocalIds;
use inselberg_kernels::props::SumScales;
use inselberg_kernels::props::sums::{N_OF_PIXELS, N_SUMS};
use inselberg_kernels::props::terms::{BrickCells, Terms};
use inselberg_kernels::props::{Gathered, Momentum, PatchSums, PatchValues, PixelSums, PixelValues};
use inselberg_kernels::simd::largest;
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;

/// The patches of the test cells.
#[derive(Clone, Copy)]
pub struct Patches<'a> {
    /// The mesh, its test cells and its tasks.
    pub pass: PassContext<'a>,
    /// The slots of the roots.
    pub slots: &'a RootSlots,
    /// The patch of each test cell, by the slot of its peak.
    pub labels: &'a [PeakSlot],
}

impl Patches<'_> {
    /// Collective: the quanta of the sums, the same on every rank.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn quanta(&self, fields: &TestFields, comm: &Comm) -> Result<[Quantum; N_SUMS], CommError> {
        let n_cells = comm.all_reduce_counts(&[self.n_own()], Reduce::Sum)?[0];
        Ok(self.scales(fields, comm)?.quanta(n_cells))
    }

    /// Number of test cells without ghosts: its sum over ranks does not depend on the number of ranks.
    fn n_own(&self) -> u64 {
        let PassContext { test_cells, own, .. } = self.pass;
        if own.is_empty() {
            return test_cells.len() as u64;
        }
        let masks = test_cells.mask.par_iter().zip(own);
        masks.map(|(test_cells, own)| u64::from((test_cells & own).count_ones())).sum()
    }

    /// Collective: bounds on the terms of the sums, the same on every rank.
    fn scales(&self, fields: &TestFields, comm: &Comm) -> Result<SumScales, CommError> {
        let PassContext { mesh, test_cells, .. } = self.pass;
        let mut volume = 0.0f64;
        let mut mass = 0.0f64;
        for level in 0..mesh.n_levels() {
            let cells = test_cells.of_level(mesh, level);
            if !cells.is_empty() {
                let densest = match &fields.mass_density {
                    Some(density) => largest_of(&density[cells]),
                    None => test_cells.greatest[usize::from(level)],
                };
                volume = volume.max(cell_volume(level));
                mass = mass.max(densest * cell_volume(level));
            }
        }
        // Without velocities the bound is 0 and momenta are not summed.
        let velocity = fields.velocity.iter().flatten().map(|v| largest_of(v)).fold(0.0, f64::max);
        let all = comm.all_max(&[volume, mass, velocity])?;
        let [x, y, z] = mesh.domain().coarse;
        let side = x.max(y).max(z);
        Ok(SumScales { volume: all[0], mass: all[1], velocity: all[2], length: f64::from(side) })
    }
}

/// The largest magnitude.
fn largest_of(values: &[f64]) -> f64 {
    values.par_chunks(1 << 14).map(largest).reduce(|| 0.0, f64::max)
}

/// The input of the sums over patches. Lengths are in units of the level-0 cell.
#[derive(Clone, Copy)]
pub struct PatchSummation<'a> {
    /// The patches.
    pub patches: Patches<'a>,
    /// Their peaks, by slot.
    pub peaks: &'a PeakColumns,
    /// Further values of the test cells.
    pub fields: &'a TestFields,
    /// The quanta of the sums, the same on every rank.
    pub quanta: &'a [Quantum; N_SUMS],
}

impl PatchSummation<'_> {
    /// The sums over the own cells of every patch, by slot.
    pub fn run<T: Gathered<N>, const N: usize>(&self, executor: &Executor) -> Vec<T> {
        let Patches { pass, slots, .. } = self.patches;
        let mut sums: Vec<T> = zeros(self.peaks.len());
        let by_task = pass.by_task(&mut sums, |n_roots| slots.slots_before(n_roots));
        let jobs: Vec<_> = pass.tasks.iter().zip(by_task).collect();
        let n_cells = |job: &(&TaskRegion, OfTask<T>)| job.0.n_cells(pass.mesh, pass.test_cells);
        let scratches = ScratchPool::<SumScratch<T, N>>::default();
        let foreign = executor.map("sums", jobs, n_cells, |(task, mut own)| {
            scratches.with(|scratch| self.task(task, &mut own, scratch))
        });
        merge_foreign(&mut sums, &foreign);
        sums
    }

    /// Sums over the cells of one task. Patches whose peaks are in the task go to `own`; the sums of other
    /// patches are returned by ascending slot.
    fn task<T: Gathered<N>, const N: usize>(
        &self,
        task: &TaskRegion,
        own: &mut OfTask<T>,
        SumScratch { cells, terms, ids, sums }: &mut SumScratch<T, N>,
    ) -> Vec<(PeakSlot, T)> {
        let PassContext { mesh, test_cells, .. } = self.patches.pass;
        ids.expect(own.peaks());
        sums.clear();
        sums.resize(ids.count(), T::default());
        for s in task.supers() {
            cells.level = mesh.level_of_super(s);
            for brick in test_cells.bricks_of(mesh, &mesh.supers()[s]) {
                self.load(brick, cells);
                if T::SEES_BLANKS {
                    self.load_blanks(brick, cells);
                }
                terms.compute::<T>(cells, mesh.domain(), self.quanta);
                let patch_ids = ids.ids(&cells.patch, cells.n);
                sums.resize(ids.count(), T::default());
                for (n, id) in patch_ids[..cells.n].iter().enumerate() {
                    sums[*id as usize].add(cells, terms, n);
                }
            }
        }
        own.in_order().zip(sums.iter()).for_each(|(own, sums)| *own = *sums);
        ids.others().into_iter().map(|(patch, id)| (patch.to_slot(), sums[id as usize])).collect()
    }

    /// Loads the own test cells of a brick. The kernel's patches are slots.
    #[inline(always)]
    fn load(&self, brick: usize, cells: &mut BrickCells) {
        let Patches { pass: PassContext { mesh, test_cells, own, .. }, labels, .. } = self.patches;
        let labels: &[PeakIdx] = bytemuck::cast_slice(labels);
        let mask = test_cells.mask[brick];
        // Without masks all cells are own.
        let own = own.get(brick).map_or(mask, |own| mask & own);
        let Brick { position, first, exists, .. } = mesh.bricks()[brick];
        let first_test = test_cells.first[brick] as usize;
        cells.begin(position, own);
        pick(&labels[first_test..], mask, own, &mut cells.patch);
        pick(&test_cells.rho[first as usize..], exists, own, &mut cells.rho);
        match &self.fields.mass_density {
            Some(density) => pick(&density[first_test..], mask, own, &mut cells.density),
            None => cells.density = cells.rho,
        }
        if let Some(velocity) = &self.fields.velocity {
            (0..3).for_each(|a| pick(&velocity[a][first_test..], mask, own, &mut cells.velocity[a]));
        }
        for n in 0..cells.n {
            let peak = cells.patch[n].to_slot().at();
            cells.set_peak(n, self.peaks.level[peak].into(), self.peaks.ijk[peak]);
        }
    }

    /// Loads which own test cells of a brick touch places without a cell.
    fn load_blanks(&self, brick: usize, cells: &mut BrickCells) {
        let PassContext { mesh, test_cells, own, .. } = self.patches.pass;
        let mask = test_cells.mask[brick] & own.get(brick).copied().unwrap_or(u64::MAX);
        let beside = mesh.beside_absent(cells.level, brick);
        let flag = |(n, bit): (usize, u32)| (beside >> bit & 1) << n;
        cells.beside_blank = bits(mask).enumerate().map(flag).fold(0, |all, one| all | one);
    }
}

/// The sums over the patches, by slot.
#[derive(Debug)]
pub struct PatchTotals {
    quanta: [Quantum; N_SUMS],
    /// All sums but momenta.
    pub patches: Vec<PatchSums>,
    /// Momenta, if there are velocities.
    pub momenta: Option<Vec<Momentum>>,
    /// Pixels, of images.
    pub pixels: Option<Vec<PixelSums>>,
}

impl PatchTotals {
    /// From sums by slot in these quanta, without momenta.
    pub fn of_patches(quanta: [Quantum; N_SUMS], patches: Vec<PatchSums>) -> Self {
        Self { quanta, patches, momenta: None, pixels: None }
    }

    /// Collective: over the own cells of each rank.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        patches: Patches,
        peaks: &PeakColumns,
        fields: &TestFields,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, CommError> {
        let quanta = patches.quanta(fields, comm)?;
        let pass = PatchSummation { patches, peaks, fields, quanta: &quanta };
        let momenta = fields.velocity.as_ref().map(|_| pass.run::<Momentum, _>(executor));
        let pixels = fields.are_pixels.then(|| pass.run::<PixelSums, N_OF_PIXELS>(executor));
        Ok(Self { quanta, patches: pass.run::<PatchSums, _>(executor), momenta, pixels })
    }

    /// The sums of own peaks in code units, rounded. Frees the sums as it goes.
    pub fn values(self, own: &[PeakSlot], side: f64) -> OwnValues {
        let Self { quanta, patches, momenta, pixels } = self;
        let momenta = momenta.map(|momenta| of_own(own, momenta, |momentum| momentum.value(&quanta, side)));
        let pixels =
            pixels.map(|pixels| of_own(own, pixels, |pixels| PixelValues::new(pixels, &quanta, side)));
        let patches = of_own(own, patches, |patch| PatchValues::new(patch, &quanta, side));
        OwnValues { patches, momenta, pixels }
    }
}

/// The rounded sums of own peaks in code units.
pub struct OwnValues {
    /// The sums that every run has.
    pub patches: Vec<PatchValues>,
    /// Momenta, if there are velocities.
    pub momenta: Option<Vec<[f64; 3]>>,
    /// Pixels, of images.
    pub pixels: Option<Vec<PixelValues>>,
}

/// The values of the entries of own slots. It goes from the last entry to the first and frees entries that
/// are done.
fn of_own<T: Sync, V: Copy + Send + Sync>(
    own: &[PeakSlot],
    mut of_slots: Vec<T>,
    value: impl Fn(&T) -> V + Sync,
) -> Vec<V> {
    let mut parts: Vec<Vec<V>> = Vec::new();
    for part in own.rchunks(OWN_AT_ONCE) {
        parts.push(part.par_iter().map(|slot| value(&of_slots[slot.at()])).collect());
        of_slots.truncate(part[0].at());
        of_slots.shrink_to_fit();
    }
    let mut values = Vec::new();
    while let Some(part) = parts.pop() {
        values.reserve_exact(part.len());
        values.par_extend(part);
    }
    values
}

/// Own peaks whose sums are rounded at once.
const OWN_AT_ONCE: usize = 1 << 19;

/// Scratch of a task.
struct SumScratch<T, const N: usize> {
    cells: BrickCells,
    terms: Terms<N>,
    /// Small numbers of the patches: first those whose peaks are in the task, then the others.
    ids: LocalIds,
    /// Their sums.
    sums: Vec<T>,
}

impl<T, const N: usize> Default for SumScratch<T, N> {
    fn default() -> Self {
        Self {
            cells: BrickCells::default(),
            terms: Terms::default(),
            ids: LocalIds::default(),
            sums: Vec::new(),
        }
    }
}

/// Adds the parts, each list by ascending slot, to the sums of their patches.
fn merge_foreign<T: Gathered<N>, const N: usize>(sums: &mut [T], foreign: &[Vec<(PeakSlot, T)>]) {
    let run = sums.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    sums.par_chunks_mut(run).enumerate().for_each(|(i, sums)| {
        let first = i * run;
        for parts in foreign {
            let start = parts.partition_point(|part| part.0.at() < first);
            for (patch, part) in &parts[start..] {
                // The next patches of the list belong to a later run.
                let Some(sums) = sums.get_mut(patch.at() - first) else { break };
                sums.merge(part);
            }
        }
    });
}
