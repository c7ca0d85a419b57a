//! What is a density field? A mesh and one value per cell, from octs or from leaves.
//!
//! In the flow: between the inputs (snapshots, particle meshes, cells of a simulation) and the segmentation
//! (`phew`). This folder knows neither ranks nor files.

pub mod test_cells;

use crate::argsort;
use crate::chunks::{chunks, zeros};
use inselberg_io::reserve;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::{Mesh, MeshError, SortedOcts, SuperLinks, UnlinkedMesh, local};
use inselberg_kernels::sfc::{morton, morton63};
use rayon::prelude::*;
use std::ops::Range;

/// A mesh and one value for each of its cells, in the order of the cells.
#[derive(Debug, Clone)]
pub struct AmrField {
    /// The cells.
    pub mesh: Mesh,
    /// Their densities; finite, and positive in test cells. Other leaves may be negative where persistence is
    /// a difference.
    pub rho: Vec<f64>,
}

/// Octs of one level in any order.
#[derive(Debug, Default, Clone)]
pub struct LevelOcts {
    /// Position of each oct on the grid of the level above.
    pub position: Vec<[u32; 3]>,
    /// One bit per cell, set where it is split.
    pub split: Vec<u8>,
    /// Eight values per oct.
    pub values: Vec<[f64; 8]>,
}

impl AmrField {
    /// A whole octree from its octs, `levels[l]` holding those whose cells are of level `l`.
    ///
    /// Consumes and sorts the octs of each level. Costs about 12 bytes per leaf in addition to the input.
    ///
    /// # Errors
    /// When the octs are not an octree: repeated, outside the box, or split without children. When memory
    /// does not suffice.
    pub fn from_octs(domain: Domain, levels: Vec<LevelOcts>) -> Result<Self, MeshError> {
        let (octs, values): (Vec<_>, Vec<_>) =
            levels.into_iter().map(|octs| ((octs.position, octs.split), octs.values)).unzip();
        let (mesh, orders) = octree(domain, octs)?;
        let n_octs = orders.iter().map(Vec::len).sum();
        let mut rho = reserve::list(n_octs).map_err(|_| MeshError::OutOfMemory(8 * n_octs as u64))?;
        for (values, order) in values.into_iter().zip(&orders) {
            rho.par_extend(order.par_iter().map(|&i| values[i as usize]));
        }
        Ok(Self { mesh, rho: rho.into_flattened() })
    }

    /// Leaves only, in any order: cell `i` has level `level[i]`, integer position `ijk[i]` on the grid of
    /// that level, and density `rho[i]`. Leaves that cannot be test cells may be omitted. Levels of leaves
    /// that touch may differ by any number.
    ///
    /// # Errors
    /// When leaves repeat, overlap or lie outside the box.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn from_leaves(
        domain: Domain,
        level: &[u8],
        ijk: &[[u32; 3]],
        rho: &[f64],
    ) -> Result<Self, MeshError> {
        assert!(level.len() == ijk.len() && ijk.len() == rho.len(), "one level, position and value per cell");
        let (mesh, order) = leaf_mesh(domain, level, ijk)?;
        Ok(Self { mesh, rho: order.into_par_iter().map(|i| rho[i as usize]).collect() })
    }
}

/// A whole octree from positions and splits of octs, `levels[l]` for cells of level `l`. Also returns, for
/// each level, the indices of its octs in the order of the mesh.
///
/// # Errors
/// When the octs are not an octree.
pub(crate) fn octree(
    domain: Domain,
    levels: Vec<(Vec<[u32; 3]>, Vec<u8>)>,
) -> Result<(Mesh, Vec<Vec<u32>>), MeshError> {
    let orders: Vec<_> = levels.par_iter().map(|(position, _)| morton_order(position)).collect();
    let octs: Vec<_> = levels
        .into_iter()
        .zip(&orders)
        .map(|((position, split), order)| sorted(position, split, order))
        .collect();
    let mut mesh = linked(UnlinkedMesh::from_sorted(domain, &octs)?);
    drop(octs);
    let runs = chunks(mesh.supers().len(), 64);
    runs.par_iter().try_for_each(|supers| mesh.check_octree(supers.clone()))?;
    mesh.set_graded(runs.into_par_iter().all(|supers| mesh.check_graded(supers)));
    Ok((mesh, orders))
}

/// A mesh of leaves, given by level and position in any order, and the index of each of its cells among them.
///
/// # Errors
/// When leaves repeat, overlap or lie outside the box.
pub(crate) fn leaf_mesh(
    domain: Domain,
    level: &[u8],
    ijk: &[[u32; 3]],
) -> Result<(Mesh, Vec<u32>), MeshError> {
    let orders = orders_by_level(level, ijk);
    let levels: Vec<_> = orders.par_iter().map(|order| octs_of_leaves(order, ijk)).collect();
    Ok((checked_leaves(linked(UnlinkedMesh::from_sorted(domain, &levels)?))?, orders.concat()))
}

/// Leaves of one task.
const RUN: usize = 1 << 16;

/// Sorted leaves of one level as octs. Leaves of an oct become one entry. A leaf that is given twice becomes
/// a second entry, which the mesh refuses.
fn octs_of_leaves(order: &[u32], ijk: &[[u32; 3]]) -> SortedOcts {
    let oct = |i: usize| ijk[order[i] as usize].map(|x| x >> 1);
    // A run begins with the first leaf of an oct.
    let begin =
        |i: usize| (i..order.len()).find(|i| *i == 0 || oct(*i) != oct(*i - 1)).unwrap_or(order.len());
    let runs = chunks(order.len(), RUN);
    let of_run = |run: Range<usize>| octs_of_run(&order[begin(run.start)..begin(run.end)], ijk);
    let parts: Vec<SortedOcts> = runs.into_par_iter().map(of_run).collect();
    let mut octs = SortedOcts::default();
    for part in &parts {
        octs.position.extend_from_slice(&part.position);
        octs.exists.extend_from_slice(&part.exists);
    }
    octs.leaf = octs.exists.clone();
    octs
}

fn octs_of_run(order: &[u32], ijk: &[[u32; 3]]) -> SortedOcts {
    let mut octs = SortedOcts::default();
    for cell in order.iter().map(|i| ijk[*i as usize]) {
        let (oct, cell): (_, u8) = (cell.map(|x| x >> 1), 1 << (local::bit_of(cell) & 7));
        match (octs.position.last(), octs.exists.last_mut()) {
            (Some(last), Some(exists)) if *last == oct && *exists & cell == 0 => *exists |= cell,
            _ => {
                octs.position.push(oct);
                octs.exists.push(cell);
            }
        }
    }
    octs
}

/// A mesh of octs of eight leaves each, given by level and position in any order, and the index of each of
/// its octs among them.
///
/// # Errors
/// When leaves repeat, overlap or lie outside the box.
pub(crate) fn mesh_of_leaf_octs(
    domain: Domain,
    level: &[u8],
    position: &[[u32; 3]],
) -> Result<(Mesh, Vec<u32>), MeshError> {
    let orders = orders_by_level(level, position);
    let of_level = |order: &Vec<u32>| {
        let all = vec![0xff; order.len()];
        let position = order.par_iter().map(|&i| position[i as usize]).collect();
        SortedOcts { position, exists: all.clone(), leaf: all }
    };
    let levels: Vec<_> = orders.par_iter().map(of_level).collect();
    Ok((checked_leaves(linked(UnlinkedMesh::from_sorted(domain, &levels)?))?, orders.concat()))
}

/// The indices of the items of each level, from level 0 on, by the Morton keys of their positions.
fn orders_by_level(level: &[u8], position: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let items = items_by_level(level);
    items.into_par_iter().map(|items| by_morton_key(items, position)).collect()
}

/// The indices of the items of each level, from level 0 on.
pub(crate) fn items_by_level(level: &[u8]) -> Vec<Vec<u32>> {
    let n_levels = level.iter().max().map_or(0, |&l| usize::from(l) + 1);
    let mut items = vec![Vec::new(); n_levels];
    for (i, l) in (0..).zip(level) {
        items[usize::from(*l)].push(i);
    }
    items
}

/// A mesh with the links of its super-bricks, found by all threads.
pub(crate) fn linked(mesh: UnlinkedMesh) -> Mesh {
    /// Super-bricks of one task: enough that most look-ups are near the last ones.
    const RUN: usize = 1024;
    let mut links: Vec<SuperLinks> = zeros(mesh.n_supers());
    let runs = links.par_chunks_mut(RUN).enumerate();
    runs.for_each(|(run, links)| mesh.link(run * RUN, links));
    mesh.with_links(links)
}

/// A mesh of leaves that do not overlap, and whether it is graded.
fn checked_leaves(mut mesh: Mesh) -> Result<Mesh, MeshError> {
    let runs = chunks(mesh.supers().len(), 64);
    runs.par_iter().try_for_each(|supers| mesh.check_leaves(supers.clone()))?;
    mesh.set_graded(runs.into_par_iter().all(|supers| mesh.check_leaves_graded(supers)));
    Ok(mesh)
}

/// Octs sorted by an order; the eight cells of each exist.
fn sorted(position: Vec<[u32; 3]>, split: Vec<u8>, order: &[u32]) -> SortedOcts {
    SortedOcts {
        position: order.par_iter().map(|&i| position[i as usize]).collect(),
        exists: vec![0xff; order.len()],
        leaf: order.par_iter().map(|&i| !split[i as usize]).collect(),
    }
}

/// The permutation that sorts positions by Morton key.
pub(crate) fn morton_order(positions: &[[u32; 3]]) -> Vec<u32> {
    by_morton_key((0..positions.len() as u32).collect(), positions)
}

/// Indices of positions, sorted by the Morton keys of these.
fn by_morton_key(items: Vec<u32>, position: &[[u32; 3]]) -> Vec<u32> {
    let at = |i: usize| position[items[i] as usize];
    let is_small = items.par_iter().all(|&i| position[i as usize].iter().all(|&x| x < 1 << 21));
    let places = match is_small {
        true => {
            let keys: Vec<u64> = (0..items.len()).into_par_iter().map(|i| morton63(at(i))).collect();
            argsort::sorted(items.len(), |i| keys[i].into(), |a, b| (keys[a], a).cmp(&(keys[b], b)))
        }
        false => argsort::sorted(
            items.len(),
            |i| morton(at(i)),
            |a, b| (morton(at(a)), a).cmp(&(morton(at(b)), b)),
        ),
    };
    places.into_par_iter().map(|place| items[place]).collect()
}
