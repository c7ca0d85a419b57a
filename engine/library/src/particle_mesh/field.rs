//! From the test cells of roots to the part of each rank.

use super::density::MeshTestCells;
use super::plan::RootDeposits;
use crate::chunks::carve;
use crate::error::RunError;
use crate::executor::Executor;
use crate::field::{AmrField, linked};
use crate::partition::{LeafSet, LocalField, Weights, partition_leaf_set};
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_kernels::mesh::{LeafBricks, UnlinkedMesh, local};
use inselberg_kernels::particle_mesh::TestLevel;
use inselberg_kernels::sfc::position63;
use rayon::prelude::*;

/// Collective: the part of each rank. On one rank the test cells are copied in order; otherwise they are
/// partitioned.
///
/// # Errors
/// When there are more cells than indices, or another rank fails.
pub fn part(
    deposits: &RootDeposits,
    test_cells: MeshTestCells,
    weights: Weights,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let n = test_cells.roots.iter().flatten().map(|level| level.rho.len() as u64).sum();
    if comm.n_ranks() == 1 {
        return Stage::run("field", n, comm, executor.observer(), || {
            Ok(LocalField::whole(on_one_rank(deposits, test_cells.roots)?))
        });
    }
    let levels = test_cells.roots.into_iter().flat_map(|root| (deposits.shape.level_min..).zip(root));
    let cells =
        levels.flat_map(|(level, test_cells)| cells(test_cells).map(move |(at, rho)| (level, at, rho)));
    // A mesh of particles is graded by construction, so nothing needs to be checked.
    let set = LeafSet { threshold: deposits.threshold, is_graded: true };
    partition_leaf_set(deposits.shape.domain, cells, set, weights, comm, executor)
}

/// Position and density of every cell.
fn cells(test_cells: TestLevel) -> impl Iterator<Item = ([u32; 3], f64)> {
    let bricks = test_cells.key.into_iter().zip(test_cells.mask);
    let positions = bricks.flat_map(|(key, mask)| {
        let brick = position63(key);
        local::bits(mask).map(move |bit| local::position_of(brick, bit))
    });
    positions.zip(test_cells.rho)
}

/// The test cells of all roots as one field, on one rank.
fn on_one_rank(deposits: &RootDeposits, roots: Vec<Vec<TestLevel>>) -> Result<AmrField, RunError> {
    let n_levels = usize::from(deposits.shape.level_max - deposits.shape.level_min) + 1;
    fn bricks(cells: &TestLevel) -> LeafBricks<'_> {
        LeafBricks { key: &cells.key, mask: &cells.mask }
    }
    let of_level = |level| roots.iter().map(|root| bricks(&root[level])).collect();
    let coarser = (0..deposits.shape.level_min).map(|_| Vec::new());
    let levels: Vec<Vec<LeafBricks>> = coarser.chain((0..n_levels).map(of_level)).collect();
    let mut mesh = linked(UnlinkedMesh::from_leaf_bricks(deposits.shape.domain, &levels)?);
    // A mesh of particles is graded by construction.
    mesh.set_graded(true);
    mesh.set_leaves_above(deposits.threshold);
    let mut rho: Vec<f64> = bytemuck::zeroed_vec(mesh.n_cells());
    let parts: Vec<&[f64]> =
        (0..n_levels).flat_map(|level| roots.iter().map(move |root| root[level].rho.as_slice())).collect();
    let places = carve(&mut rho, parts.iter().map(|part| part.len()));
    places.into_par_iter().zip(parts).for_each(|(place, part)| place.copy_from_slice(part));
    Ok(AmrField { mesh, rho })
}
