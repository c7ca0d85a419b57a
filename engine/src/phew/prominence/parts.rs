//! What each cell or particle adds to the part of a peak above its saddle.

use super::elders::ElderIdx;
use super::{PartQuanta, PatchElders};
use crate::error::RunError;
use crate::executor::Executor;
use crate::graph::LinkGraph;
use crate::partition::{LocalField, for_each_particle_block, to_leaf_owners};
use crate::phew::leaf_patch::leaf_patch;
use crate::phew::region::{TaskRegion, cut_tasks};
use crate::phew::segment::Segmentation;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::{Family, Snapshot};
use inselberg_kernels::geom::cell_volume;
use inselberg_kernels::ids::{PeakSlot, TestIdx};
use inselberg_kernels::mesh::local::pick;
use inselberg_kernels::phew::significance::PartAbove;
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Sums over cells of patches, in the [quanta](PartQuanta) of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PartSums {
    /// Mass of the cells above the saddle.
    mass: FixedSum,
    /// Volume of these.
    volume: FixedSum,
    /// Number of particles in them, where particles are counted.
    n_particles: FixedSum,
}

/// The mass of particles, in the units of the sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParticleMass {
    /// All particles have this mass.
    Same(f64),
    /// Particles are counted.
    Counted,
}

impl PartSums {
    /// Adds those of other cells.
    pub fn merge(&mut self, other: &Self) {
        self.mass += other.mass;
        self.volume += other.volume;
        self.n_particles += other.n_particles;
    }

    /// As reals. A mean over less than one particle, as at the edge of a particle's cloud, is a mean over one.
    pub fn part(&self, quanta: &PartQuanta, particles: ParticleMass) -> PartAbove {
        let mass = quanta.mass.value(self.mass);
        PartAbove {
            mass,
            volume: quanta.volume.value(self.volume),
            particle_mass: match particles {
                ParticleMass::Same(mass) => mass,
                ParticleMass::Counted => mass / self.n_particles.0.max(1) as f64,
            },
        }
    }
}

/// A cell or particle of a patch.
#[derive(Clone, Copy)]
struct PatchCell {
    patch: PeakSlot,
    rho: f64,
    mass: FixedSum,
    volume: FixedSum,
    n_particles: i128,
}

/// What the cells of a task add to single peaks.
type TaskParts = FxHashMap<ElderIdx, PartSums>;

impl PatchElders<'_> {
    /// Adds a cell to the first of the peak of its patch and the elders of that peak that dies below the cell.
    #[inline]
    fn add(&self, parts: &mut TaskParts, cell: &PatchCell) {
        let peak = self.of_slot[cell.patch.at()];
        let above = self.tree.first_below(peak, cell.rho);
        let PatchCell { mass, volume, n_particles, .. } = *cell;
        let n_particles = FixedSum(n_particles);
        parts.entry(above).or_default().merge(&PartSums { mass, volume, n_particles });
    }

    /// The sums of the tasks, one entry per peak of the tree.
    fn joined(&self, tasks: impl IntoIterator<Item = TaskParts>) -> Vec<PartSums> {
        let mut all = vec![PartSums::default(); self.tree.n_peaks()];
        for (peak, sums) in tasks.into_iter().flatten() {
            all[peak.at()].merge(&sums);
        }
        all
    }
}

/// The cells of a rank, whose densities are made of particles.
pub struct MeshParts<'a> {
    /// The cells.
    pub part: &'a LocalField,
    /// For each brick the mask of its own cells; empty where all cells are own.
    pub own: &'a [u64],
    /// The patches.
    pub segmentation: &'a Segmentation<'a>,
    /// The elders of their peaks.
    pub elders: &'a PatchElders<'a>,
}

impl MeshParts<'_> {
    /// Collective: the quanta of the sums.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn quanta(&self, comm: &Comm) -> Result<PartQuanta, CommError> {
        let (mesh, test_cells) = (&self.part.field.mesh, &self.segmentation.test_cells);
        let levels = (0..mesh.n_levels()).filter(|level| !test_cells.of_level(mesh, *level).is_empty());
        let bounds = levels.map(|level| {
            let volume = cell_volume(level);
            [volume * test_cells.greatest[usize::from(level)], volume]
        });
        let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        let most = comm.all_max(&bounds.fold([0.0; 2], larger))?;
        let n = comm.all_reduce_counts(&[self.n_own()], Reduce::Sum)?[0];
        Ok(PartQuanta { mass: Quantum::for_terms(most[0], n), volume: Quantum::for_terms(most[1], n) })
    }

    /// The own cells of a brick among its test cells. Without masks all cells are own.
    fn own_cells(&self, brick: usize) -> u64 {
        let mask = self.segmentation.test_cells.mask[brick];
        self.own.get(brick).map_or(mask, |own| mask & own)
    }

    /// Number of own test cells: its sum over ranks does not depend on the number of ranks.
    fn n_own(&self) -> u64 {
        let bricks = 0..self.segmentation.test_cells.mask.len();
        bricks.into_par_iter().map(|brick| u64::from(self.own_cells(brick).count_ones())).sum()
    }

    /// The sums over the own test cells, one entry per peak of the tree.
    pub fn of_cells(&self, quanta: &PartQuanta, executor: &Executor) -> Vec<PartSums> {
        let (mesh, test_cells) = (&self.part.field.mesh, &self.segmentation.test_cells);
        let tasks = cut_tasks(mesh, test_cells);
        let n_cells = |task: &TaskRegion| task.n_cells(mesh, test_cells);
        let of_task = |task: TaskRegion| {
            let mut parts = TaskParts::default();
            for super_brick in task.supers() {
                let volume = cell_volume(mesh.level_of_super(super_brick));
                for brick in test_cells.bricks_of(mesh, &mesh.supers()[super_brick]) {
                    self.of_brick(brick, volume, quanta, &mut parts);
                }
            }
            parts
        };
        self.elders.joined(executor.map("prominence", tasks, n_cells, of_task))
    }

    /// Adds the own test cells of a brick, of this volume each.
    fn of_brick(&self, brick: usize, volume: f64, quanta: &PartQuanta, parts: &mut TaskParts) {
        let Segmentation { test_cells, labels, .. } = self.segmentation;
        let mask = test_cells.mask[brick];
        let own = self.own_cells(brick);
        let of_brick = &self.part.field.mesh.bricks()[brick];
        let (mut rho, mut patch) = ([0.0; 64], [PeakSlot::NONE; 64]);
        pick(&test_cells.rho[of_brick.first as usize..], of_brick.exists, own, &mut rho);
        pick(&labels[test_cells.first[brick] as usize..], mask, own, &mut patch);
        let quantized = quanta.volume.quantize(volume);
        for (rho, patch) in rho.into_iter().zip(patch).take(own.count_ones() as usize) {
            let mass = quanta.mass.quantize(rho * volume);
            self.elders.add(parts, &PatchCell { patch, rho, mass, volume: quantized, n_particles: 0 });
        }
    }

    /// Collective: adds the numbers of particles of a snapshot to the sums. `is_deposited` tells the families of which the
    /// density is made. Reads all particles once; one exchange.
    ///
    /// # Errors
    /// When the particles cannot be read, or another rank fails.
    pub fn count_particles(
        &self,
        parts: &mut [PartSums],
        snapshot: &dyn Snapshot,
        is_deposited: impl Fn(Family) -> bool + Sync,
        comm: &Comm,
    ) -> Result<(), RunError> {
        let side = snapshot.header().boxlen;
        let blocks = for_each_particle_block(snapshot, comm, |_, block| {
            let rows = block.family.iter().zip(&block.position).zip(&block.mass);
            let counted = rows.filter(|((family, _), mass)| is_deposited(**family) && **mass > 0.0);
            Ok(counted.map(|((_, x), _)| x.map(|x| x / side)).collect::<Vec<[f64; 3]>>())
        })?;
        let placed = to_leaf_owners(blocks.concat(), |x| *x, self.part, comm)?;
        let of_run = |run: &[[f64; 3]]| {
            let mut counts = TaskParts::default();
            run.iter().for_each(|x| self.count(*x, &mut counts));
            counts
        };
        let counts: Vec<TaskParts> = placed.par_chunks(ITEMS_AT_ONCE).map(of_run).collect();
        let counts = self.elders.joined(counts);
        parts.iter_mut().zip(&counts).for_each(|(sums, count)| sums.merge(count));
        Ok(())
    }

    /// Counts a particle, at a position in units of the level-0 cell, if it is in a test cell.
    fn count(&self, position: [f64; 3], parts: &mut TaskParts) {
        let Some(leaf) = leaf_patch(&self.part.field.mesh, self.segmentation, position) else { return };
        let (mass, volume) = (FixedSum::default(), FixedSum::default());
        let cell = PatchCell { patch: leaf.patch, rho: leaf.rho, mass, volume, n_particles: 1 };
        self.elders.add(parts, &cell);
    }
}

/// The test particles of a graph.
pub struct GraphParts<'a> {
    /// The particles.
    pub tests: &'a LinkGraph,
    /// The patch of each.
    pub labels: &'a [PeakSlot],
    /// The elders of their peaks.
    pub elders: &'a PatchElders<'a>,
    /// Mass and volume of a particle, in units of the box.
    pub view: &'a (dyn Fn(TestIdx) -> [f64; 2] + Sync),
}

impl GraphParts<'_> {
    /// Collective: the quanta of the sums, and the sums over the own test particles, one entry per peak of the tree.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of_particles(&self, comm: &Comm) -> Result<(PartQuanta, Vec<PartSums>), CommError> {
        let own: Vec<TestIdx> = self.tests.runs.iter().flat_map(|run| run.of.iter().copied()).collect();
        let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        let most = own.par_iter().map(|particle| (self.view)(*particle)).reduce(|| [0.0; 2], larger);
        let most = comm.all_max(&most)?;
        let n = comm.all_reduce_counts(&[own.len() as u64], Reduce::Sum)?[0];
        let quanta =
            PartQuanta { mass: Quantum::for_terms(most[0], n), volume: Quantum::for_terms(most[1], n) };
        let of_run = |run: &[TestIdx]| {
            let mut parts = TaskParts::default();
            for particle in run {
                let [mass, volume] = (self.view)(*particle);
                let (mass, volume) = (quanta.mass.quantize(mass), quanta.volume.quantize(volume));
                let (patch, rho) = (self.labels[particle.at()], self.tests.rho[particle.at()]);
                self.elders.add(&mut parts, &PatchCell { patch, rho, mass, volume, n_particles: 1 });
            }
            parts
        };
        Ok((quanta, self.elders.joined(own.par_chunks(ITEMS_AT_ONCE).map(of_run).collect::<Vec<_>>())))
    }
}

/// Particles that one task sums.
const ITEMS_AT_ONCE: usize = 1 << 14;
