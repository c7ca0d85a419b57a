//! The contributions of cells or particles to the part of a peak above its saddle.

use super::{PartQuanta, PartScale, PatchElders};
use crate::error::RunError;
use crate::executor::Executor;
use crate::graph::LinkGraph;
use crate::partition::{LocalField, to_leaf_owners};
use crate::phew::leaf_patch::leaf_patch;
use crate::phew::region::{TaskRegion, cut_tasks};
use crate::phew::segment::Segmentation;
use crate::pieces::for_each_particle_block;
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
    /// Number of particles in them, if particles are counted.
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
    /// Adds the sums of other cells.
    pub fn merge(&mut self, other: &Self) {
        self.mass += other.mass;
        self.volume += other.volume;
        self.n_particles += other.n_particles;
    }

    /// As reals. A mean over less than one particle, as at the edge of a particle's cloud, is a mean over
    /// one.
    pub fn part(&self, scale: &PartScale) -> PartAbove {
        let PartScale { quanta, particles } = scale;
        let mass = quanta.mass.value(self.mass);
        PartAbove {
            mass,
            volume: quanta.volume.value(self.volume),
            particle_mass: match particles {
                ParticleMass::Same(mass) => *mass,
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

/// The part to which each cell counts.
pub trait Parts: Sync {
    /// Number of parts.
    fn n_parts(&self) -> usize;

    /// The part of a cell of this density in a patch; `None` if it counts to none.
    fn part_of(&self, patch: PeakSlot, rho: f64) -> Option<u32>;
}

/// The cells of a rank, or its test particles.
pub trait PartCells {
    /// The sums over each part.
    fn sums<P: Parts>(&self, of: &P) -> Vec<PartSums>;
}

/// The sums of the cells of a task for single parts.
type TaskParts = FxHashMap<u32, PartSums>;

/// Adds a cell to its part.
#[inline]
fn add<P: Parts>(of: &P, sums: &mut TaskParts, cell: &PatchCell) {
    let Some(part) = of.part_of(cell.patch, cell.rho) else { return };
    let PatchCell { mass, volume, n_particles, .. } = *cell;
    let n_particles = FixedSum(n_particles);
    sums.entry(part).or_default().merge(&PartSums { mass, volume, n_particles });
}

/// The sums of the tasks, one entry per part.
fn joined<P: Parts>(of: &P, tasks: impl IntoIterator<Item = TaskParts>) -> Vec<PartSums> {
    let mut all = vec![PartSums::default(); of.n_parts()];
    for (part, sums) in tasks.into_iter().flatten() {
        all[part as usize].merge(&sums);
    }
    all
}

/// A cell counts to the first of the patch's peak and its elders that dies at a lower density.
impl Parts for PatchElders<'_> {
    fn n_parts(&self) -> usize {
        self.tree.n_peaks()
    }

    #[inline]
    fn part_of(&self, patch: PeakSlot, rho: f64) -> Option<u32> {
        Some(self.above(patch, rho).at() as u32)
    }
}

/// The cells of a rank, with densities made from particles.
pub struct MeshParts<'a> {
    /// The cells.
    pub part: &'a LocalField,
    /// For each brick the mask of its own cells; empty where all cells are own.
    pub own: &'a [u64],
    /// The patches.
    pub segmentation: &'a Segmentation<'a>,
    /// The quanta of the sums.
    pub quanta: PartQuanta,
    /// The threads.
    pub executor: &'a Executor<'a>,
}

impl<'a> MeshParts<'a> {
    /// Collective: cells with densities made from particles.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        part: &'a LocalField,
        own: &'a [u64],
        segmentation: &'a Segmentation<'a>,
        comm: &Comm,
        executor: &'a Executor<'a>,
    ) -> Result<Self, CommError> {
        let unit = PartQuanta { mass: Quantum::for_terms(1.0, 1), volume: Quantum::for_terms(1.0, 1) };
        let cells = Self { part, own, segmentation, quanta: unit, executor };
        Ok(Self { quanta: cells.quanta(comm)?, ..cells })
    }

    /// Collective: the quanta of the sums.
    fn quanta(&self, comm: &Comm) -> Result<PartQuanta, CommError> {
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

    /// Adds the own test cells of a brick, of this volume each.
    fn of_brick<P: Parts>(&self, brick: usize, volume: f64, of: &P, sums: &mut TaskParts) {
        let quanta = &self.quanta;
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
            add(of, sums, &PatchCell { patch, rho, mass, volume: quantized, n_particles: 0 });
        }
    }

    /// Collective: adds the numbers of particles of a snapshot to the sums. `is_deposited` is true for the
    /// families that make the density. Reads all particles once; one exchange.
    ///
    /// # Errors
    /// When the particles cannot be read, or another rank fails.
    pub fn count_particles<P: Parts>(
        &self,
        of: &P,
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
            run.iter().for_each(|x| self.count(*x, of, &mut counts));
            counts
        };
        let counts: Vec<TaskParts> = placed.par_chunks(ITEMS_AT_ONCE).map(of_run).collect();
        let counts = joined(of, counts);
        parts.iter_mut().zip(&counts).for_each(|(sums, count)| sums.merge(count));
        Ok(())
    }

    /// Counts a particle, at a position in units of the level-0 cell, if it is in a test cell.
    fn count<P: Parts>(&self, position: [f64; 3], of: &P, counts: &mut TaskParts) {
        let Some(leaf) = leaf_patch(&self.part.field.mesh, self.segmentation, position) else { return };
        let (mass, volume) = (FixedSum::default(), FixedSum::default());
        let cell = PatchCell { patch: leaf.patch, rho: leaf.rho, mass, volume, n_particles: 1 };
        add(of, counts, &cell);
    }
}

impl PartCells for MeshParts<'_> {
    /// The sums over the own test cells.
    fn sums<P: Parts>(&self, of: &P) -> Vec<PartSums> {
        let (mesh, test_cells) = (&self.part.field.mesh, &self.segmentation.test_cells);
        let tasks = cut_tasks(mesh, test_cells);
        let n_cells = |task: &TaskRegion| task.n_cells(mesh, test_cells);
        let of_task = |task: TaskRegion| {
            let mut sums = TaskParts::default();
            for super_brick in task.supers() {
                let volume = cell_volume(mesh.level_of_super(super_brick));
                for brick in test_cells.bricks_of(mesh, &mesh.supers()[super_brick]) {
                    self.of_brick(brick, volume, of, &mut sums);
                }
            }
            sums
        };
        joined(of, self.executor.map("prominence", tasks, n_cells, of_task))
    }
}

/// The test particles of a graph.
pub struct GraphParts<'a> {
    /// The particles.
    tests: &'a LinkGraph,
    /// The patch of each.
    labels: &'a [PeakSlot],
    /// Mass and volume of a particle, in units of the box.
    view: &'a (dyn Fn(TestIdx) -> [f64; 2] + Sync),
    /// The quanta of the sums.
    pub quanta: PartQuanta,
    /// The own test particles.
    own: Vec<TestIdx>,
}

impl<'a> GraphParts<'a> {
    /// Collective: test particles, the patch of each, and its mass and volume in units of the box.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        tests: &'a LinkGraph,
        labels: &'a [PeakSlot],
        view: &'a (dyn Fn(TestIdx) -> [f64; 2] + Sync),
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let own: Vec<TestIdx> = tests.runs.iter().flat_map(|run| run.of.iter().copied()).collect();
        let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        let most = own.par_iter().map(|particle| view(*particle)).reduce(|| [0.0; 2], larger);
        let most = comm.all_max(&most)?;
        let n = comm.all_reduce_counts(&[own.len() as u64], Reduce::Sum)?[0];
        let quanta =
            PartQuanta { mass: Quantum::for_terms(most[0], n), volume: Quantum::for_terms(most[1], n) };
        Ok(Self { tests, labels, view, quanta, own })
    }
}

impl PartCells for GraphParts<'_> {
    /// The sums over the own test particles.
    fn sums<P: Parts>(&self, of: &P) -> Vec<PartSums> {
        let quanta = &self.quanta;
        let of_run = |run: &[TestIdx]| {
            let mut sums = TaskParts::default();
            for particle in run {
                let [mass, volume] = (self.view)(*particle);
                let (mass, volume) = (quanta.mass.quantize(mass), quanta.volume.quantize(volume));
                let (patch, rho) = (self.labels[particle.at()], self.tests.rho[particle.at()]);
                add(of, &mut sums, &PatchCell { patch, rho, mass, volume, n_particles: 1 });
            }
            sums
        };
        joined(of, self.own.par_chunks(ITEMS_AT_ONCE).map(of_run).collect::<Vec<_>>())
    }
}

/// Particles that one task sums.
const ITEMS_AT_ONCE: usize = 1 << 14;
