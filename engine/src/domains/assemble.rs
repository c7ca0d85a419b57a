//! From a rank's own cells to its part: ghosts fetched, mesh built and found sound.

use super::Part;
use super::ghosts::{Ghosts, Link};
use super::migrate::{OwnLevel, Parcels, in_order, picked};
use super::reach::needed_by;
use super::record::{Cell, Record};
use super::splits::Splits;
use crate::amr::{AmrField, morton_order};
use crate::phew::RunError;
use crate::pieces::chunks;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::{Brick, LevelCells, Mesh, MeshError, local};
use inselberg_kernels::sfc::morton;
use rayon::prelude::*;

/// What cells are together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cells {
    /// A whole octree, if it is one.
    Octree,
    /// The leaves denser than this, of one that is known to be graded.
    LeavesAbove(f64),
}

/// Collective: the part of the rank that owns the given cells, sorted by level and Morton key; bit l
/// of `levels` is set where any rank has cells of level l. One exchange.
///
/// # Errors
/// When the cells make no octree, on the rank that sees it, or another rank fails.
pub(super) fn assemble(
    domain: Domain,
    own: Vec<OwnLevel>,
    splits: Splits,
    (levels, cells): (u32, Cells),
    n_extra: usize,
    comm: &Comm,
) -> Result<Part, RunError> {
    let n_own: usize = own.iter().map(|level| level.rho.len()).sum();
    check_count(n_own)?;
    let needed = needed_by(&own, &splits, &domain, comm.rank());
    let came = fetch(&own, &needed, comm)?;
    check_count(n_own + came.iter().map(|(_, cells)| cells.len()).sum::<usize>())?;
    let extra = columns(&own, n_extra);
    let merged = merge(own, &came);
    let ghosts = links(needed, came, &merged);
    let mut mesh = Mesh::from_sorted(domain, &merged.levels).map_err(of_oct)?;
    let own = masks(mesh.bricks(), &merged.is_own);
    match cells {
        Cells::Octree => {
            let is_graded = check(&mesh, &own, levels, comm)?;
            mesh.set_graded(is_graded);
        }
        Cells::LeavesAbove(threshold) => {
            mesh.set_graded(true);
            mesh.set_leaves_above(threshold);
        }
    }
    let part = Part { field: AmrField { mesh, rho: merged.rho }, own, ghosts, splits, extra };
    if cfg!(debug_assertions) {
        part.check(comm)?;
    }
    Ok(part)
}

/// Collective: that own cells are part of an octree; whether all of it is graded.
fn check(mesh: &Mesh, own: &[u64], levels: u32, comm: &Comm) -> Result<bool, RunError> {
    let runs = chunks(mesh.supers().len(), 64);
    runs.par_iter().try_for_each(|supers| mesh.check_part(supers.clone(), own, levels))?;
    let is_graded = runs.into_par_iter().all(|supers| mesh.check_part_graded(supers, own));
    Ok(comm.all_reduce_counts(&[is_graded.into()], Reduce::Min)?[0] == 1)
}

fn check_count(n_cells: usize) -> Result<(), MeshError> {
    match n_cells < u32::MAX as usize {
        true => Ok(()),
        false => Err(MeshError::TooManyCells(n_cells as u64)),
    }
}

/// Octs come whole, so all cells of one are given twice, if one is, perhaps on several ranks: names the first.
fn of_oct(problem: MeshError) -> MeshError {
    match problem {
        MeshError::Twice(level, position) => MeshError::Twice(level, position.map(|x| x & !1)),
        problem => problem,
    }
}

/// Sends the cells that others need; what others sent, each rank's by (level, Morton key).
fn fetch(
    own: &[OwnLevel],
    needed: &Parcels<u32>,
    comm: &Comm,
) -> Result<Vec<(Rank, Vec<Record>)>, CommError> {
    let mut first = Vec::with_capacity(own.len());
    let mut n = 0;
    for level in own {
        first.push(n);
        n += level.rho.len();
    }
    let record = |place: &u32| {
        let level = first.partition_point(|f| *f <= *place as usize) - 1;
        own[level].cell(level as u8, *place as usize - first[level]).pack()
    };
    let records = |places: &Vec<u32>| places.iter().map(record).collect();
    comm.exchange(in_order(needed.iter().map(|(rank, places)| (*rank, records(places))).collect()))
}

/// Own cells and ghosts in one order.
struct Merged {
    levels: Vec<LevelCells>,
    rho: Vec<f64>,
    is_own: Vec<bool>,
    /// Where each own cell is now.
    own: Vec<u32>,
    /// Where each cell of each other rank is now.
    ghosts: Vec<Vec<u32>>,
}

fn merge(own: Vec<OwnLevel>, came: &[(Rank, Vec<Record>)]) -> Merged {
    let deepest = came.iter().filter_map(|(_, cells)| cells.last()).map(|r| Cell::unpack(r).level).max();
    let n_levels = own.len().max(deepest.map_or(0, |l| usize::from(l) + 1));
    let mut merged = Merged {
        levels: Vec::with_capacity(n_levels),
        rho: Vec::new(),
        is_own: Vec::new(),
        own: Vec::new(),
        ghosts: came.iter().map(|(_, cells)| Vec::with_capacity(cells.len())).collect(),
    };
    let mut own = own.into_iter();
    for level in 0..n_levels {
        merged.add_level(level as u8, own.next().unwrap_or_default(), came);
    }
    merged
}

impl Merged {
    fn add_level(&mut self, level: u8, mut all: OwnLevel, came: &[(Rank, Vec<Record>)]) {
        let n_own = all.rho.len();
        let mut n_new = Vec::with_capacity(came.len());
        for ((_, cells), done) in came.iter().zip(&self.ghosts) {
            let before = all.rho.len();
            let left = cells[done.len()..].iter().map(Cell::unpack);
            for cell in left.take_while(|cell| cell.level == level) {
                all.cells.position.push(cell.position);
                all.cells.leaf.push(cell.is_leaf.into());
                all.rho.push(cell.rho);
            }
            n_new.push(all.rho.len() - before);
        }
        let order = merged_order(&all.cells.position, n_own);
        let first = self.rho.len() as u32;
        let mut place = vec![0; order.len()];
        order.iter().zip(first..).for_each(|(old, new)| place[*old as usize] = new);
        let mut ghosts = &place[n_own..];
        self.own.extend_from_slice(&place[..n_own]);
        for (places, n) in self.ghosts.iter_mut().zip(n_new) {
            places.extend_from_slice(&ghosts[..n]);
            ghosts = &ghosts[n..];
        }
        self.is_own.extend(order.iter().map(|old| (*old as usize) < n_own));
        self.rho.extend(picked(&order, &all.rho));
        let (position, leaf) = (picked(&order, &all.cells.position), picked(&order, &all.cells.leaf));
        self.levels.push(LevelCells { shift: 0, position, leaf });
    }
}

/// The order by Morton key of cells of which the first `n_sorted` are in order already and the others
/// are few.
fn merged_order(position: &[[u32; 3]], n_sorted: usize) -> Vec<u32> {
    let (sorted, others) = position.split_at(n_sorted);
    let mut order = Vec::with_capacity(position.len());
    let mut done = 0;
    for other in morton_order(others) {
        let key = morton(others[other as usize]);
        let upto = done + sorted[done..].partition_point(|p| morton(*p) <= key);
        order.extend(done as u32..upto as u32);
        order.push(n_sorted as u32 + other);
        done = upto;
    }
    order.extend(done as u32..n_sorted as u32);
    order
}

/// Links to those that need own cells and to those whose cells are needed here.
fn links(needed: Parcels<u32>, came: Vec<(Rank, Vec<Record>)>, merged: &Merged) -> Ghosts {
    let mut links = Parcels::<Link>::new();
    let mut link_to = |rank, ghosts: &[u32], mirrors: Vec<u32>| {
        let new = || vec![Link { rank, ghosts: Vec::new(), mirrors: Vec::new() }];
        for link in links.entry(rank).or_insert_with(new) {
            link.ghosts.extend_from_slice(ghosts);
            link.mirrors.extend_from_slice(&mirrors);
        }
    };
    for ((rank, _), ghosts) in came.iter().zip(&merged.ghosts) {
        link_to(*rank, ghosts, Vec::new());
    }
    for (rank, places) in needed {
        link_to(rank, &[], picked(&places, &merged.own));
    }
    Ghosts::new(links.into_values().flatten().collect())
}

fn masks(bricks: &[Brick], is_own: &[bool]) -> Vec<u64> {
    let mask = |brick: &Brick| {
        let own = &is_own[brick.first as usize..];
        local::bits(brick.exists).zip(own).fold(0, |mask, (bit, own)| mask | u64::from(*own) << bit)
    };
    bricks.par_iter().map(mask).collect()
}

/// The further values of all own test cells, one vector a field.
fn columns(own: &[OwnLevel], n_extra: usize) -> Vec<Vec<f64>> {
    let column = |field| {
        own.iter().flat_map(|level| level.extra.iter().skip(field).step_by(n_extra)).copied().collect()
    };
    (0..n_extra).map(column).collect()
}
