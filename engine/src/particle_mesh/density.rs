//! The leaves above the threshold, root by root: all others are forgotten with their root.

use super::RootDeposits;
use super::roots::{Roots, unit};
use super::split::{RootParticles, SplitMesh};
use crate::density::{COARSER, first_bound, quantum};
use crate::executor::{Executor, ScratchPool};
use crate::fof::Masses;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::particle_mesh::{LevelDeposit, RootMasses, TestLevel};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What is found on a rank.
#[derive(Debug)]
pub struct MeshTestCells {
    /// By root, the leaves above the threshold by level from `level_min` on.
    pub roots: Vec<Vec<TestLevel>>,
    /// All leaves.
    pub n_leaves: u64,
    /// The greatest density.
    pub densest: f64,
}

/// Collective: lays all particles on the leaves. Again in a coarser quantum where the mass of a leaf of any rank
/// does not fit.
///
/// # Errors
/// When another rank fails.
pub fn lay<T: Real>(
    lay: &RootDeposits,
    roots: &Roots<T>,
    mesh: &SplitMesh,
    comm: &Comm,
    executor: &Executor,
) -> Result<MeshTestCells, CommError> {
    let mut bound = first_bound(lay.heaviest.max(f64::MIN_POSITIVE), lay.n);
    loop {
        let found = lay_once(lay, roots, mesh, quantum(bound), executor);
        if comm.all_reduce_counts(&[found.is_some().into()], Reduce::Min)?[0] == 1
            && let Some(found) = found
        {
            return Ok(found);
        }
        bound += COARSER;
    }
}

/// `None` where a leaf holds more than the quantum allows.
fn lay_once<T: Real>(
    lay: &RootDeposits,
    roots: &Roots<T>,
    mesh: &SplitMesh,
    quantum: f64,
    executor: &Executor,
) -> Option<MeshTestCells> {
    let (rooms, is_full) = (ScratchPool::<(RootParticles, LevelDeposit)>::default(), AtomicBool::new(false));
    let work = |i: usize| {
        if is_full.load(Relaxed) {
            return (Vec::new(), 0, 0.0);
        }
        rooms.with(|(desk, pile)| {
            lay_root(lay, roots, mesh, i, quantum, (desk, pile));
            if pile.is_full() {
                is_full.store(true, Relaxed);
            }
            test_cells(lay, desk, pile)
        })
    };
    let items = (0..mesh.roots.len()).collect();
    let made = executor.map("density", items, |i| roots.particles(*i).len(), work);
    let mut all = MeshTestCells { roots: Vec::with_capacity(made.len()), n_leaves: 0, densest: 0.0 };
    for (test_cells, n_leaves, densest) in made {
        all.roots.push(test_cells);
        all.n_leaves += n_leaves;
        all.densest = f64::max(all.densest, densest);
    }
    (!is_full.into_inner()).then_some(all)
}

fn lay_root<T: Real>(
    lay: &RootDeposits,
    roots: &Roots<T>,
    mesh: &SplitMesh,
    i: usize,
    quantum: f64,
    (desk, pile): (&mut RootParticles, &mut LevelDeposit),
) {
    let (shape, root, rows) = (&lay.shape, roots.keys.start + i as u64, roots.particles(i));
    desk.lay_out(shape, roots.side, &roots.position[rows.clone()]);
    let RootParticles { key, place, tree } = desk;
    tree.grow(shape, root, |level| &mesh.roots[i][usize::from(level - shape.level_min)]);
    pile.clear(tree, quantum);
    let (mass, same) = match &roots.mass {
        Masses::Same(mass) => (&[][..], *mass),
        Masses::Each(list) => (&list[rows], 0.0),
    };
    pile.lay(tree, shape, root, RootMasses { key, position: place, mass, same });
    let from = |root: u32| mesh.borders.partition_point(|border| border.root < root);
    for border in &mesh.borders[from(i as u32)..from(i as u32 + 1)] {
        let row = border.particle as usize;
        let x = unit(roots.side, roots.position[row]);
        pile.lay_border(tree, shape, root, (border.level, x), roots.mass.get(row));
    }
    let from = |root: u64| mesh.foreign.partition_point(|foreign| foreign.root < root);
    for foreign in &mesh.foreign[from(root)..from(root + 1)] {
        pile.lay_border(tree, shape, root, (foreign.level as u8, foreign.position), foreign.mass);
    }
}

fn test_cells(lay: &RootDeposits, desk: &RootParticles, pile: &LevelDeposit) -> (Vec<TestLevel>, u64, f64) {
    let (mut n_leaves, mut densest) = (0, 0.0);
    let of_level = |level| {
        let mut test_cells = TestLevel::default();
        let (n, most) = pile.test_cells(&desk.tree, level, lay.side.powi(3), lay.threshold, &mut test_cells);
        n_leaves += n;
        densest = f64::max(densest, most);
        test_cells
    };
    let levels = (lay.shape.level_min..=lay.shape.level_max).map(of_level).collect();
    (levels, n_leaves, densest)
}
