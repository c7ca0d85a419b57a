//! The sums of every patch: one pass over the test cells.

use crate::chunks::zeros;
use crate::executor::{Executor, ScratchPool};
use crate::phew::peak_comm::KnownPeak;
use crate::phew::properties::{OfTask, Patches, TestFields};
use crate::phew::region::Region;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::Brick;
use inselberg_kernels::mesh::local::pick;
use inselberg_kernels::phew::local_ids::LocalIds;
use inselberg_kernels::props::sums::N_SUMS;
use inselberg_kernels::props::terms::{BrickCells, Terms};
use inselberg_kernels::props::{Gathered, Momentum, PatchSums, PatchValues};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;

/// What is summed, over which patches. Lengths are in units of the level-0 cell.
#[derive(Clone, Copy)]
pub struct PatchSummation<'a> {
    /// The patches.
    pub patches: &'a Patches<'a>,
    /// Their peaks, by slot.
    pub peaks: &'a [KnownPeak],
    /// Further values of the test cells.
    pub fields: &'a TestFields,
    /// What the sums of any rank can be written in.
    pub quanta: &'a [Quantum; N_SUMS],
}

impl PatchSummation<'_> {
    /// The sums over the own cells of every patch, by slot. About 16 ns a cell.
    pub fn run<T: Gathered<N>, const N: usize>(&self, executor: &Executor) -> Vec<T> {
        let Patches { mesh, test_cells, tasks, .. } = *self.patches;
        let mut sums: Vec<T> = zeros(self.peaks.len());
        let jobs: Vec<_> = tasks.iter().zip(self.patches.by_task(&mut sums)).collect();
        let n_cells = |job: &(&Region, OfTask<T>)| job.0.n_cells(mesh, test_cells);
        let rooms = ScratchPool::<SumScratch<T, N>>::default();
        let foreign = executor
            .map("sums", jobs, n_cells, |(task, mut own)| rooms.with(|room| self.task(task, &mut own, room)));
        merge_foreign(&mut sums, &foreign);
        sums
    }

    /// Adds the cells of one task: gives `own` what the patches have whose peaks are in it; the parts of the other
    /// patches are handed back, by ascending patch.
    fn task<T: Gathered<N>, const N: usize>(
        &self,
        task: &Region,
        own: &mut OfTask<T>,
        SumScratch { cells, terms, ids, sums }: &mut SumScratch<T, N>,
    ) -> Vec<(PeakIdx, T)> {
        let mesh = self.patches.mesh;
        ids.expect(own.slots());
        sums.clear();
        sums.resize(ids.count(), T::default());
        for s in task.supers() {
            cells.level = mesh.level_of_super(s);
            for brick in mesh.bricks_of(&mesh.supers()[s]) {
                self.load(brick, cells);
                terms.make::<T>(cells, mesh.domain(), self.quanta);
                let places = ids.ids(&cells.patch, cells.n);
                sums.resize(ids.count(), T::default());
                for (n, place) in places[..cells.n].iter().enumerate() {
                    sums[*place as usize].add(cells, terms, n);
                }
            }
        }
        own.in_order().zip(sums.iter()).for_each(|(own, sums)| *own = *sums);
        ids.others().into_iter().map(|(patch, place)| (patch, sums[place as usize])).collect()
    }

    /// Takes the own test cells of a brick.
    #[inline(always)]
    fn load(&self, brick: usize, cells: &mut BrickCells) {
        let Patches { mesh, test_cells, labels, own, .. } = *self.patches;
        let mask = test_cells.mask[brick];
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
            let peak = &self.peaks[cells.patch[n].at()];
            cells.set_peak(n, peak.level, peak.ijk);
        }
    }
}

/// What the patches sum to, by slot.
#[derive(Debug)]
pub struct PatchTotals {
    quanta: [Quantum; N_SUMS],
    /// All but momenta.
    pub patches: Vec<PatchSums>,
    /// Momenta, where there are velocities.
    pub momenta: Option<Vec<Momentum>>,
}

impl PatchTotals {
    /// Collective: over the own cells of each rank.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        patches: &Patches,
        peaks: &[KnownPeak],
        fields: &TestFields,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, CommError> {
        let quanta = patches.quanta(fields, comm)?;
        let pass = PatchSummation { patches, peaks, fields, quanta: &quanta };
        let momenta = fields.velocity.as_ref().map(|_| pass.run::<Momentum, _>(executor));
        Ok(Self { quanta, patches: pass.run::<PatchSums, _>(executor), momenta })
    }

    /// Those of own peaks in code units, rounded.
    pub fn values(self, own: &[PeakIdx], side: f64) -> (Vec<PatchValues>, Option<Vec<[f64; 3]>>) {
        let Self { quanta, patches, momenta } = self;
        let momenta = momenta.map(|momenta| of_own(own, momenta, |momentum| momentum.value(&quanta, side)));
        (of_own(own, patches, |patch| PatchValues::new(patch, &quanta, side)), momenta)
    }
}

/// What becomes of the entries of own slots, from the last on: those that are done make room for their values.
fn of_own<T: Sync, V: Copy + Send + Sync>(
    own: &[PeakIdx],
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
    /// Numbers of the patches: of those whose peaks are in the task, and of others.
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
