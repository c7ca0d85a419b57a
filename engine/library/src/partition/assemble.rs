//! From the own cells of a rank to its part: ghosts received, mesh built and checked.

use super::covered_levels::drop_covered;
use super::ghost_search::{Needed, needed_by};
use super::ghosts::{GhostLink, Ghosts};
use super::local_field::LocalField;
use super::lowered::LoweredLeaves;
use super::migrate::{OctMessages, OwnLevel};
use super::oct_record::OctRecord;
use super::splits::Splits;
use crate::chunks::{carve, chunks, zeros};
use crate::error::RunError;
use crate::field::{AmrField, linked, morton_order};
use bytemuck::Zeroable;
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
    /// Leaves alone, with all that are denser than this. They are checked, and may differ by any number of
    /// levels.
    Leaves(f64),
    /// The same, of an octree that is known to be sound and graded. Nothing is checked.
    GradedLeaves(f64),
}

impl CellSet {
    fn is_octree(self) -> bool {
        matches!(self, Self::Octree | Self::WholeOctree)
    }
}

/// Collective: the part of a rank from its own cells, sorted by level and Morton key. Bit l of `levels` is
/// set if any rank has cells of level l. One exchange.
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
    let n_cells = n_own + received.iter().flat_map(|(_, octs)| octs).map(OctRecord::n_cells).sum::<usize>();
    check_count(n_cells)?;
    let extra = columns(&own, n_extra);
    let merged = merge(own, &received, n_cells);
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
    let field = AmrField { mesh, rho: merged.rho };
    let part = LocalField { field, own, ghosts, splits, extra, lowered: LoweredLeaves::default() };
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

/// Collective: checks that no own leaf is inside another. Whether all leaves are graded. A leaf that contains
/// or touches an own leaf is here, its own or a ghost.
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

/// Names the first cell of an oct that occurs twice. Inputs give whole octs, so all its cells occur twice,
/// perhaps on several ranks; the message is then the same on each.
fn of_oct(problem: MeshError) -> MeshError {
    match problem {
        MeshError::Twice(level, position) => MeshError::Twice(level, position.map(|x| x & !1)),
        problem => problem,
    }
}

/// Collective: sends the cells that other ranks need. Returns those received, by rank and then by (level,
/// Morton key).
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
#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
struct LocalOct {
    /// Its position on the grid of the level above its cells.
    position: [u32; 3],
    /// The index of its first cell.
    first: u32,
    /// The mask of its cells.
    exists: u8,
    /// The mask of its leaves.
    leaf: u8,
    /// The mask of its own cells.
    own: u8,
    /// The number of parts that form it.
    n_parts: u8,
}

/// Own cells and ghosts, sorted together by (level, Morton key).
struct MergedCells {
    levels: Vec<SortedOcts>,
    rho: Vec<f64>,
    octs: Vec<LocalOct>,
    /// For each own oct, its index in `octs`.
    own: Vec<u32>,
    /// The same for each oct received, a list per sender.
    ghosts: Vec<Vec<u32>>,
}

/// Merges own cells and received ones, of which there are `n_cells` together.
fn merge(own: Vec<OwnLevel>, received: &[(Rank, Vec<OctRecord>)], n_cells: usize) -> MergedCells {
    let deepest = received.iter().filter_map(|(_, octs)| octs.last()).map(|oct| oct.level).max();
    let n_levels = deepest.map_or(own.len(), |deepest| own.len().max(usize::from(deepest) + 1));
    let mut rho = zeros(n_cells);
    let mut merged = MergedCells {
        levels: Vec::with_capacity(n_levels),
        rho: Vec::new(),
        octs: Vec::new(),
        own: Vec::new(),
        ghosts: received.iter().map(|(_, octs)| Vec::with_capacity(octs.len())).collect(),
    };
    let (mut own, mut n_before) = (own.into_iter(), 0);
    for level in 0..n_levels {
        // Ghosts may be finer than all own cells.
        let own = own.next().unwrap_or_default().octs;
        n_before += merged.add_level(level as u8, &own, received, n_before as u32, &mut rho[n_before..]);
    }
    debug_assert_eq!(n_before, n_cells, "own cells and ghosts are different cells");
    MergedCells { rho, ..merged }
}

impl MergedCells {
    /// Adds the cells of a level, which come after `n_before` others, and writes their densities to the
    /// beginning of `rho`. Returns their number.
    fn add_level(
        &mut self,
        level: u8,
        own: &[OctRecord],
        received: &[(Rank, Vec<OctRecord>)],
        n_before: u32,
        rho: &mut [f64],
    ) -> usize {
        let (mut parts, mut n_new) =
            (OctParts { own, received: Vec::new() }, Vec::with_capacity(received.len()));
        for ((_, octs), done) in received.iter().zip(&self.ghosts) {
            let before = parts.received.len();
            parts.received.extend(octs[done.len()..].iter().take_while(|oct| oct.level == level));
            n_new.push(parts.received.len() - before);
        }
        let level = MergedLevel::new(&parts, n_before, rho);
        self.levels.push(level.sorted());
        let MergedLevel { octs, place, n_cells } = level;
        let first = self.octs.len() as u32;
        self.octs.extend(octs);
        let mut place = place.into_iter().map(|oct| first + oct);
        self.own.extend(place.by_ref().take(own.len()));
        for (places, n) in self.ghosts.iter_mut().zip(n_new) {
            places.extend(place.by_ref().take(n));
        }
        n_cells
    }

    /// The indices of some cells of an oct.
    fn cells(&self, oct: u32, cells: u8) -> impl Iterator<Item = u32> + use<> {
        let LocalOct { first, exists, .. } = self.octs[oct as usize];
        local::bits(cells.into()).map(move |bit| first + local::rank(exists.into(), bit))
    }
}

/// The octs of a level as they come: the own ones, sorted, then those received. Several may be parts of one
/// oct.
struct OctParts<'a> {
    own: &'a [OctRecord],
    received: Vec<&'a OctRecord>,
}

impl OctParts<'_> {
    fn get(&self, part: u32) -> &OctRecord {
        self.own.get(part as usize).unwrap_or_else(|| self.received[part as usize - self.own.len()])
    }

    /// Their order by Morton key. Most are own ones.
    fn order(&self) -> Vec<u32> {
        let Self { own, received } = self;
        let mut order = Vec::with_capacity(own.len() + received.len());
        let mut done = 0;
        for other in morton_order(&received.iter().map(|oct| oct.position).collect::<Vec<_>>()) {
            let key = morton(received[other as usize].position);
            let upto = done + own[done..].partition_point(|oct| morton(oct.position) <= key);
            order.extend(done as u32..upto as u32);
            order.push(own.len() as u32 + other);
            done = upto;
        }
        order.extend(done as u32..own.len() as u32);
        order
    }

    /// The order cut into runs, with no oct in two of them.
    fn runs<'o>(&self, order: &'o [u32]) -> Vec<&'o [u32]> {
        let position = |at: usize| self.get(order[at]).position;
        let (mut runs, mut start) = (Vec::new(), 0);
        while start < order.len() {
            let end = (start + PARTS_AT_ONCE..order.len()).find(|at| position(*at) != position(at - 1));
            let end = end.unwrap_or(order.len());
            runs.push(&order[start..end]);
            start = end;
        }
        runs
    }

    /// Calls `each` with every oct of a run, and with the parts that form it. Each of these has a cell, and
    /// they share none. So they are at most eight.
    fn for_each_oct(&self, run: &[u32], mut each: impl FnMut(&OctRecord, &[u32])) {
        let mut left = run;
        while let Some((first, others)) = left.split_first() {
            let mut oct = *self.get(*first);
            let n = 1 + others.iter().take_while(|part| oct.join(self.get(**part))).count();
            each(&oct, &left[..n]);
            left = &left[n..];
        }
    }
}

/// Parts of octs that one task merges.
const PARTS_AT_ONCE: usize = 1 << 12;

/// The octs of a level.
struct MergedLevel {
    octs: Vec<LocalOct>,
    /// The index of the oct of each part.
    place: Vec<u32>,
    n_cells: usize,
}

impl MergedLevel {
    /// From parts of octs, whose cells begin at the cell `first`. Writes the densities to the beginning of
    /// `rho`.
    fn new(parts: &OctParts, first: u32, rho: &mut [f64]) -> Self {
        let order = parts.order();
        let runs = parts.runs(&order);
        let count = |run: &&[u32]| {
            let mut counts = (0, 0);
            parts.for_each_oct(run, |oct, _| counts = (counts.0 + 1, counts.1 + oct.n_cells()));
            counts
        };
        let (n_octs, n_cells): (Vec<usize>, Vec<usize>) = runs.par_iter().map(count).unzip();

        let mut octs: Vec<LocalOct> = zeros(n_octs.iter().sum());
        let octs_of = carve(&mut octs, n_octs.iter().copied());
        let rho_of = carve(rho, n_cells.iter().copied());
        let firsts: Vec<u32> = n_cells
            .iter()
            .scan(first, |next, n| {
                *next += *n as u32;
                Some(*next - *n as u32)
            })
            .collect();
        runs.par_iter().zip(firsts).zip(octs_of).zip(rho_of).for_each(|(((run, first), octs), rho)| {
            let (mut octs, mut n_before) = (octs.iter_mut(), 0);
            parts.for_each_oct(run, |oct, of_oct| {
                let OctRecord { position, exists, leaf, .. } = *oct;
                let own = of_oct.iter().filter_map(|part| parts.own.get(*part as usize));
                *octs.next().expect("octs are counted before") = LocalOct {
                    position,
                    first: first + n_before as u32,
                    exists,
                    leaf,
                    own: own.fold(0, |own, part| own | part.exists),
                    n_parts: of_oct.len() as u8,
                };
                let cells = local::bits(exists.into());
                rho[n_before..].iter_mut().zip(cells).for_each(|(rho, bit)| *rho = oct.rho[bit as usize]);
                n_before += oct.n_cells();
            });
        });

        let mut place = vec![0; order.len()];
        let of_part = octs.iter().zip(0..).flat_map(|(oct, i)| std::iter::repeat_n(i, oct.n_parts.into()));
        order.iter().zip(of_part).for_each(|(part, oct)| place[*part as usize] = oct);
        Self { octs, place, n_cells: n_cells.iter().sum() }
    }

    fn sorted(&self) -> SortedOcts {
        SortedOcts {
            position: self.octs.par_iter().map(|oct| oct.position).collect(),
            exists: self.octs.par_iter().map(|oct| oct.exists).collect(),
            leaf: self.octs.par_iter().map(|oct| oct.leaf).collect(),
        }
    }
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
