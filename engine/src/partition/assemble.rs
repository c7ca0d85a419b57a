//! From the own cells of a rank to its part: ghosts received, mesh built and checked.

use super::covered_levels::drop_covered;
use super::ghost_search::{Needed, needed_by};
use super::ghosts::{GhostLink, Ghosts};
use super::local_field::LocalField;
use super::migrate::{OctMessages, OwnLevel};
use super::oct_record::OctRecord;
use super::splits::Splits;
use crate::chunks::chunks;
use crate::error::RunError;
use crate::field::{AmrField, linked, morton_order};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::{Brick, Mesh, MeshError, SortedOcts, UnlinkedMesh, local};
use inselberg_kernels::sfc::morton;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the cells of all ranks form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CellSet {
    /// A whole octree, which is checked. Coarse levels that nobody needs are dropped.
    Octree,
    /// The same with all its levels, for callers that need split cells.
    WholeOctree,
    /// Leaves alone, with all that are denser than this. They are checked, and may differ by any number of levels.
    Leaves(f64),
    /// The same, of an octree that is known to be sound and graded. Nothing is checked.
    GradedLeaves(f64),
}

impl CellSet {
    fn is_octree(self) -> bool {
        matches!(self, Self::Octree | Self::WholeOctree)
    }
}

/// Collective: the part of a rank from its own cells, sorted by level and Morton key. Bit l of `levels` is set if any
/// rank has cells of level l. One exchange.
///
/// # Errors
/// When the cells are not an octree, or overlap, on the rank that finds it, or another rank fails.
pub(super) fn assemble(
    domain: Domain,
    mut own: Vec<OwnLevel>,
    splits: Splits,
    (mut levels, cells): (u32, CellSet),
    n_extra: usize,
    comm: &Comm,
) -> Result<LocalField, RunError> {
    if cells == CellSet::Octree && comm.n_ranks() > 1 {
        levels = drop_covered(&domain, &mut own, levels, comm)?;
    }
    let n_own: usize = own.iter().map(OwnLevel::n_cells).sum();
    check_count(n_own)?;
    // A rank alone need not look for the border of its region.
    let needed = match comm.n_ranks() {
        1 => OctMessages::new(),
        _ => needed_by(&own, &splits, &domain, comm.rank()),
    };
    let received = fetch(&own, &needed, comm)?;
    check_count(n_own + received.iter().flat_map(|(_, octs)| octs).map(OctRecord::n_cells).sum::<usize>())?;
    let extra = columns(&own, n_extra);
    let merged = merge(own, &received);
    let ghosts = links(needed, received, &merged);
    let mesh = UnlinkedMesh::from_sorted(domain, &merged.levels);
    let mesh = mesh.map_err(|problem| if cells.is_octree() { of_oct(problem) } else { problem })?;
    let mut mesh = linked(mesh);
    let own = masks(mesh.bricks(), &merged.octs);
    match cells {
        CellSet::Octree | CellSet::WholeOctree => mesh.set_graded(check_octree(&mesh, &own, levels, comm)?),
        CellSet::Leaves(threshold) => {
            mesh.set_graded(check_leaves(&mesh, &own, comm)?);
            mesh.set_leaves_above(threshold);
        }
        CellSet::GradedLeaves(threshold) => {
            mesh.set_graded(true);
            mesh.set_leaves_above(threshold);
        }
    }
    let part = LocalField { field: AmrField { mesh, rho: merged.rho }, own, ghosts, splits, extra };
    if cfg!(debug_assertions) {
        part.check(comm)?;
    }
    Ok(part)
}

/// Collective: checks that the own cells are part of an octree. Whether the whole octree is graded.
fn check_octree(mesh: &Mesh, own: &[u64], levels: u32, comm: &Comm) -> Result<bool, RunError> {
    let runs = chunks(mesh.supers().len(), 64);
    runs.par_iter().try_for_each(|supers| mesh.check_part(supers.clone(), own, levels))?;
    Ok(on_all(runs.into_par_iter().all(|supers| mesh.check_part_graded(supers, own)), comm)?)
}

/// Collective: checks that no own leaf is inside another. Whether all leaves are graded. A leaf that contains or touches an
/// own leaf is here, its own or a ghost.
fn check_leaves(mesh: &Mesh, own: &[u64], comm: &Comm) -> Result<bool, RunError> {
    let runs = chunks(mesh.supers().len(), 64);
    runs.par_iter().try_for_each(|supers| mesh.check_part_leaves(supers.clone(), own))?;
    Ok(on_all(runs.into_par_iter().all(|supers| mesh.check_part_leaves_graded(supers, own)), comm)?)
}

/// Collective: whether something holds on all ranks.
fn on_all(holds: bool, comm: &Comm) -> Result<bool, CommError> {
    Ok(comm.all_reduce_counts(&[holds.into()], Reduce::Min)?[0] == 1)
}

fn check_count(n_cells: usize) -> Result<(), MeshError> {
    match n_cells < u32::MAX as usize {
        true => Ok(()),
        false => Err(MeshError::TooManyCells(n_cells as u64)),
    }
}

/// Names the first cell of an oct that occurs twice. Inputs give whole octs, so all its cells occur twice, perhaps on
/// several ranks; the message is then the same on each.
fn of_oct(problem: MeshError) -> MeshError {
    match problem {
        MeshError::Twice(level, position) => MeshError::Twice(level, position.map(|x| x & !1)),
        problem => problem,
    }
}

/// Collective: sends the cells that other ranks need. Returns those received, by rank and then by (level, Morton key).
fn fetch(
    own: &[OwnLevel],
    needed: &OctMessages<Needed>,
    comm: &Comm,
) -> Result<Vec<(Rank, Vec<OctRecord>)>, CommError> {
    let mut first = Vec::with_capacity(own.len());
    let mut n = 0;
    for level in own {
        first.push(n);
        n += level.octs.len();
    }
    let record = |needed: &Needed| {
        let level = first.partition_point(|f| *f <= needed.oct as usize) - 1;
        own[level].octs[needed.oct as usize - first[level]].only(needed.cells)
    };
    let records = |needed: &Vec<Needed>| needed.iter().map(record).collect();
    comm.exchange(needed.iter().map(|(rank, needed)| (*rank, records(needed))).collect())
}

/// An oct of own cells and ghosts.
#[derive(Default)]
struct LocalOct {
    /// The index of its first cell.
    first: u32,
    /// The mask of its cells.
    exists: u8,
    /// The mask of its own cells.
    own: u8,
}

/// Own cells and ghosts, sorted together by (level, Morton key).
#[derive(Default)]
struct MergedCells {
    levels: Vec<SortedOcts>,
    rho: Vec<f64>,
    octs: Vec<LocalOct>,
    /// For each own oct, its index in `octs`.
    own: Vec<u32>,
    /// The same for each oct received, a list per sender.
    ghosts: Vec<Vec<u32>>,
}

fn merge(own: Vec<OwnLevel>, received: &[(Rank, Vec<OctRecord>)]) -> MergedCells {
    let deepest = received.iter().filter_map(|(_, octs)| octs.last()).map(|oct| oct.level).max();
    let n_levels = deepest.map_or(own.len(), |deepest| own.len().max(usize::from(deepest) + 1));
    let mut merged = MergedCells {
        ghosts: received.iter().map(|(_, octs)| Vec::with_capacity(octs.len())).collect(),
        ..MergedCells::default()
    };
    let mut own = own.into_iter();
    for level in 0..n_levels {
        // Ghosts may be finer than all own cells.
        merged.add_level(level as u8, own.next().unwrap_or_default().octs, received);
    }
    merged
}

impl MergedCells {
    fn add_level(&mut self, level: u8, mut parts: Vec<OctRecord>, received: &[(Rank, Vec<OctRecord>)]) {
        let n_own = parts.len();
        let mut n_new = Vec::with_capacity(received.len());
        for ((_, octs), done) in received.iter().zip(&self.ghosts) {
            let before = parts.len();
            parts.extend(octs[done.len()..].iter().take_while(|oct| oct.level == level));
            n_new.push(parts.len() - before);
        }
        let place = self.add_octs(&parts, n_own);
        let mut ghosts = &place[n_own..];
        self.own.extend_from_slice(&place[..n_own]);
        for (places, n) in self.ghosts.iter_mut().zip(n_new) {
            places.extend_from_slice(&ghosts[..n]);
            ghosts = &ghosts[n..];
        }
    }

    /// Adds the octs of a level, which may come in several parts. Returns, for each part, the index of its oct. The first
    /// `n_own` parts are own octs, sorted.
    fn add_octs(&mut self, parts: &[OctRecord], n_own: usize) -> Vec<u32> {
        let first = self.octs.len();
        let mut place = vec![0; parts.len()];
        let mut all: Vec<OctRecord> = Vec::with_capacity(parts.len());
        for i in merged_order(parts, n_own) {
            let part = &parts[i as usize];
            if !all.last_mut().is_some_and(|last| last.join(part)) {
                all.push(*part);
                self.octs.push(LocalOct::default());
            }
            let last = self.octs.len() - 1;
            place[i as usize] = last as u32;
            self.octs[last].own |= if (i as usize) < n_own { part.exists } else { 0 };
        }
        for (oct, local) in all.iter().zip(&mut self.octs[first..]) {
            (local.first, local.exists) = (self.rho.len() as u32, oct.exists);
            match oct.exists {
                0xff => self.rho.extend_from_slice(&oct.rho),
                some => self.rho.extend(local::bits(some.into()).map(|bit| oct.rho[bit as usize])),
            }
        }
        self.levels.push(SortedOcts {
            position: all.iter().map(|oct| oct.position).collect(),
            exists: all.iter().map(|oct| oct.exists).collect(),
            leaf: all.iter().map(|oct| oct.leaf).collect(),
        });
        place
    }

    /// The indices of some cells of an oct.
    fn cells(&self, oct: u32, cells: u8) -> impl Iterator<Item = u32> + use<> {
        let LocalOct { first, exists, .. } = self.octs[oct as usize];
        local::bits(cells.into()).map(move |bit| first + local::rank(exists.into(), bit))
    }
}

/// The order of octs by Morton key, where the first `n_sorted` are sorted already and the others are few.
fn merged_order(octs: &[OctRecord], n_sorted: usize) -> Vec<u32> {
    let (sorted, others) = octs.split_at(n_sorted);
    let mut order = Vec::with_capacity(octs.len());
    let mut done = 0;
    for other in morton_order(&others.iter().map(|oct| oct.position).collect::<Vec<_>>()) {
        let key = morton(others[other as usize].position);
        let upto = done + sorted[done..].partition_point(|oct| morton(oct.position) <= key);
        order.extend(done as u32..upto as u32);
        order.push(n_sorted as u32 + other);
        done = upto;
    }
    order.extend(done as u32..n_sorted as u32);
    order
}

/// The links to ranks that need own cells and to ranks whose cells were received.
fn links(needed: OctMessages<Needed>, received: Vec<(Rank, Vec<OctRecord>)>, merged: &MergedCells) -> Ghosts {
    let mut links = BTreeMap::<Rank, GhostLink>::new();
    let empty = |rank| GhostLink { rank, ghosts: Vec::new(), mirrors: Vec::new() };
    for ((rank, octs), places) in received.into_iter().zip(&merged.ghosts) {
        let link = links.entry(rank).or_insert_with(|| empty(rank));
        link.ghosts = octs.iter().zip(places).flat_map(|(oct, at)| merged.cells(*at, oct.exists)).collect();
    }
    for (rank, needed) in needed {
        let link = links.entry(rank).or_insert_with(|| empty(rank));
        let cells = |needed: &Needed| merged.cells(merged.own[needed.oct as usize], needed.cells);
        link.mirrors = needed.iter().flat_map(cells).collect();
    }
    Ghosts::new(links.into_values().collect())
}

/// The mask of own cells of every brick, from those of its octs.
fn masks(bricks: &[Brick], octs: &[LocalOct]) -> Vec<u64> {
    let mut own = octs.iter().map(|oct| u64::from(oct.own));
    let of_brick = |brick: &Brick| {
        let octs = (0..64).step_by(8).filter(|bit| brick.exists >> bit & 0xff != 0);
        octs.fold(0, |mask, bit| mask | own.next().expect("bricks have the merged octs in order") << bit)
    };
    bricks.iter().map(of_brick).collect()
}

/// The values of further fields of all own test cells, one vector per field.
fn columns(own: &[OwnLevel], n_extra: usize) -> Vec<Vec<f64>> {
    let column = |field| {
        own.iter().flat_map(|level| level.extra.iter().skip(field).step_by(n_extra)).copied().collect()
    };
    (0..n_extra).map(column).collect()
}
