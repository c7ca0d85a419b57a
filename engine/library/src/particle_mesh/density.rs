//! The leaves above the threshold, root by root. All other leaves are dropped with their root.

use super::plan::RootDeposits;
use super::roots::{Roots, unit};
use super::split::{RootParticles, SplitMesh};
use crate::density::{COARSER, first_bound, quantum};
use crate::executor::{Executor, ScratchPool};
use crate::particles::Masses;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::particle_mesh::{LevelDeposit, RootMasses, TestLevel};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The test cells of the roots of a rank.
#[derive(Debug)]
pub struct MeshTestCells {
    /// By root, the leaves above the threshold, by level from `level_min` on.
    pub roots: Vec<Vec<TestLevel>>,
    /// Number of all leaves.
    pub n_leaves: u64,
    /// The greatest density of a leaf.
    pub densest: f64,
    /// As `roots`, but all leaves, where they are kept.
    pub all: Vec<Vec<TestLevel>>,
}

/// The leaves of one root.
#[derive(Default)]
struct LeavesOfRoot {
    test_cells: Vec<TestLevel>,
    all: Option<Vec<TestLevel>>,
    n_leaves: u64,
    densest: f64,
}

/// Collective: deposits all particles on the leaves, and repeats with a coarser quantum if the mass of a leaf
/// of any rank overflows.
///
/// # Errors
/// When another rank fails.
pub fn deposit<T: Real>(
    deposits: &RootDeposits,
    roots: &Roots<T>,
    mesh: &SplitMesh,
    comm: &Comm,
    executor: &Executor,
) -> Result<MeshTestCells, CommError> {
    let mut bound = first_bound(deposits.heaviest.max(f64::MIN_POSITIVE), deposits.n);
    loop {
        let found = deposit_once(deposits, roots, mesh, quantum(bound), executor);
        if comm.all_reduce_counts(&[found.is_some().into()], Reduce::Min)?[0] == 1
            && let Some(found) = found
        {
            return Ok(found);
        }
        bound += COARSER;
    }
}

/// The test cells of all roots; `None` if the mass of a leaf overflows.
fn deposit_once<T: Real>(
    deposits: &RootDeposits,
    roots: &Roots<T>,
    mesh: &SplitMesh,
    quantum: f64,
    executor: &Executor,
) -> Option<MeshTestCells> {
    let (scratch, is_full) =
        (ScratchPool::<(RootParticles, LevelDeposit)>::default(), AtomicBool::new(false));
    let work = |i: usize| {
        // The result with this quantum is dropped.
        if is_full.load(Relaxed) {
            return LeavesOfRoot::default();
        }
        scratch.with(|(particles, masses)| {
            deposit_root(deposits, roots, mesh, i, quantum, (particles, masses));
            if masses.is_full() {
                is_full.store(true, Relaxed);
            }
            test_cells(deposits, particles, masses)
        })
    };
    let items = (0..mesh.roots.len()).collect();
    let results = executor.map("density", items, |i| roots.particles(*i).len(), work);
    let roots = Vec::with_capacity(results.len());
    let mut all = MeshTestCells { roots, n_leaves: 0, densest: 0.0, all: Vec::new() };
    for of_root in results {
        all.roots.push(of_root.test_cells);
        all.all.extend(of_root.all);
        all.n_leaves += of_root.n_leaves;
        all.densest = f64::max(all.densest, of_root.densest);
    }
    (!is_full.into_inner()).then_some(all)
}

/// Deposits on the leaves of root `i`: its own particles, and particles of other roots whose clouds reach it.
fn deposit_root<T: Real>(
    deposits: &RootDeposits,
    roots: &Roots<T>,
    mesh: &SplitMesh,
    i: usize,
    quantum: f64,
    (particles, masses): (&mut RootParticles, &mut LevelDeposit),
) {
    let (shape, root, rows) = (&deposits.shape, roots.keys.start + i as u64, roots.particles(i));
    particles.fill(shape, roots.side, &roots.position[rows.clone()]);
    let RootParticles { key, position, tree } = particles;
    tree.grow(shape, root, |level| &mesh.roots[i][usize::from(level - shape.level_min)]);
    masses.clear(tree, quantum);
    let (mass, same) = match &roots.mass {
        Masses::Same(mass) => (&[][..], *mass),
        Masses::Each(list) => (&list[rows], 0.0),
    };
    masses.deposit(tree, shape, root, RootMasses { key, position, mass, same });
    let from = |root: u32| mesh.borders.partition_point(|border| border.root < root);
    for border in &mesh.borders[from(i as u32)..from(i as u32 + 1)] {
        let row = border.particle as usize;
        let x = unit(roots.side, roots.position[row]);
        masses.deposit_border(tree, shape, root, (border.level, x), roots.mass.get(row));
    }
    let from = |root: u64| mesh.foreign.partition_point(|foreign| foreign.root < root);
    for foreign in &mesh.foreign[from(root)..from(root + 1)] {
        masses.deposit_border(tree, shape, root, (foreign.level as u8, foreign.position), foreign.mass);
    }
}

/// The leaves of a root: those above the threshold by level, all of them where they are kept, their number,
/// and their greatest density.
fn test_cells(deposits: &RootDeposits, particles: &RootParticles, masses: &LevelDeposit) -> LeavesOfRoot {
    let mut found = LeavesOfRoot::default();
    let volume = deposits.side.powi(3);
    let levels = || deposits.shape.level_min..=deposits.shape.level_max;
    for level in levels() {
        let mut test_cells = TestLevel::default();
        let (n, most) =
            masses.test_cells(&particles.tree, level, volume, deposits.threshold, &mut test_cells);
        found.n_leaves += n;
        found.densest = f64::max(found.densest, most);
        found.test_cells.push(test_cells);
    }
    found.all = deposits.keep_leaves.then(|| {
        let of_level = |level| {
            let mut leaves = TestLevel::default();
            // No density is negative.
            masses.test_cells(&particles.tree, level, volume, -1.0, &mut leaves);
            leaves
        };
        levels().map(of_level).collect()
    });
    found
}
