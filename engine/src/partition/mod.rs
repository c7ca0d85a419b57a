//! What each rank works on: from a snapshot and ranks to own cells and the ghosts about them.
//!
//! Cells are read in shares, brought to the owners of their place on a space-filling curve, and those
//! near others' copied to these. The protocol is in `engine/src/domains/README.md`.
//!
//! Architecture invariants: what a rank gets depends on the snapshot and the number of ranks alone, not
//! on files, threads or who read what; all parts together are what one rank would have, bit for bit. No
//! rank ever holds more than what it reads, what it owns with the ghosts, and one round of messages.

mod assemble;
mod bounds;
mod deposit;
mod ghost_search;
mod ghosts;
mod held_cells;
mod key_part;
mod migrate;
mod oct_record;
mod particles;
pub mod ranking;
mod splits;
mod weights;

pub use bounds::{bounds, bounds_of_moving};
pub use ghosts::{GhostLink, Ghosts};
pub(crate) use migrate::{picked, rounds};
pub use particles::for_each_particle_block;
pub use splits::Splits;

use crate::density::Scheme;
use crate::density::read::{read_field, read_tests};
use crate::density::walls;
use crate::density::{DensitySource, domain};
use crate::error::RunError;
use crate::executor::{Executor, Weights};
use crate::field::AmrField;
use crate::field::test_cells;
use crate::progress::Observer;
use crate::stage::Stage;
use assemble::Cells;
use held_cells::{HeldCells, Request, read_cells, read_particles};
use inselberg_comm::{Comm, CommError};
use inselberg_io::Snapshot;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::CellIdx;
use inselberg_kernels::mesh::local;
use inselberg_kernels::phew::test_cells::TestCells;
use oct_record::OctRecord;

/// What one rank works on: its own cells and the ghosts about them.
///
/// Every cell is owned by one rank. A rank has, as ghosts, all cells of any level that touch or
/// contain one of its own leaves, and all that touch or contain an ancestor of one of its own cells
/// and are no finer than that. The octs of ghosts may be there in part.
#[derive(Debug, Clone)]
pub struct LocalField {
    /// Mesh and density of own cells and ghosts alike.
    pub field: AmrField,
    /// For every brick of the mesh, the mask of own cells: a subset of those that exist.
    pub own: Vec<u64>,
    /// Links to other ranks.
    pub ghosts: Ghosts,
    /// Who owns what.
    pub splits: Splits,
    /// Further fields, one vector a field: one value for each own test cell, in the order of the cells.
    pub extra: Vec<Vec<f64>>,
}

impl LocalField {
    /// All of a field, on one rank. Linear in the bricks.
    pub fn whole(field: AmrField) -> Self {
        let own = field.mesh.bricks().iter().map(|brick| brick.exists).collect();
        Self { field, own, ghosts: Ghosts::default(), splits: Splits::one(), extra: Vec::new() }
    }

    /// Number of own cells, split ones among them. Linear in the bricks.
    pub fn n_own(&self) -> usize {
        self.own.iter().map(|mask| mask.count_ones() as usize).sum()
    }

    /// Number of own leaf cells. Linear in the bricks.
    pub fn n_own_leaves(&self) -> usize {
        let own_leaves = self.field.mesh.bricks().iter().zip(&self.own).map(|(b, own)| b.leaf & own);
        own_leaves.map(|mask| mask.count_ones() as usize).sum()
    }

    /// Collective: cross-examines the other ranks: that both sides of every link have the same cells in
    /// the same order, and that every cell is owned by whom it should be. For tests and debug builds.
    ///
    /// # Errors
    /// When that is not so, or another rank fails.
    pub fn check(&self, comm: &Comm) -> Result<(), CommError> {
        self.ghosts.check(comm, &self.field.mesh, &self.splits)?;
        if self.n_own() + self.ghosts.len() != self.field.mesh.n_cells() {
            let what = format!("{} has cells that are neither its own nor ghosts", comm.rank());
            return Err(CommError::Mismatch { what });
        }
        let ghosts = self.ghosts.links().iter().flat_map(|link| &link.ghosts);
        match ghosts.copied().find(|ghost| self.is_own(CellIdx(*ghost))) {
            None => Ok(()),
            Some(cell) => Err(CommError::Mismatch { what: format!("cell {cell} is own and a ghost") }),
        }
    }

    /// Whether a cell is this rank's own. Logarithmic in the bricks.
    pub fn is_own(&self, cell: CellIdx) -> bool {
        let (brick, bit) = self.place(cell);
        self.own[brick] >> bit & 1 == 1
    }

    /// The links between test cells alone, by their indices in `test_cells`, which are those of this part's
    /// field with ghosts among them. Local; logarithmic in the bricks for each ghost and mirror.
    pub fn test_links(&self, test_cells: &TestCells) -> Ghosts {
        self.ghosts.restrict(|cell| {
            let (brick, bit) = self.place(cell);
            test_cells.at(brick, bit).map(|test| test.0)
        })
    }

    /// The brick of a cell and its bit there.
    fn place(&self, cell: CellIdx) -> (usize, u32) {
        let bricks = self.field.mesh.bricks();
        let b = bricks.partition_point(|brick| brick.first <= cell.0) - 1;
        (b, local::nth_set_bit(bricks[b].exists, cell.0 - bricks[b].first))
    }

    /// Own cells with their densities, to be shared out anew.
    fn into_share(self) -> HeldCells {
        let (mesh, mut share) = (&self.field.mesh, HeldCells::default());
        for s in 0..mesh.supers().len() {
            let level = mesh.level_of_super(s);
            for b in mesh.bricks_of(&mesh.supers()[s]) {
                let brick = &mesh.bricks()[b];
                for bit in local::bits(self.own[b]) {
                    let rho = brick.cell(bit).map_or(0.0, |cell| self.field.rho[cell.at()]);
                    let position = local::position_of(brick.position, bit);
                    share.add(OctRecord::of_cell(level, position, brick.leaf >> bit & 1 == 1, rho));
                }
            }
        }
        share
    }
}

/// Collective: reads a snapshot over all ranks, such that each owns as much as any other of what the crew weighs,
/// by default as many test cells (leaves denser than `threshold`) to one cell, and as many leaves where there are none. With the values
/// of `extra_fields` for own test cells; particles have none of these. Alone, the rank owns everything.
///
/// Each rank reads its share of the pieces; cells then cost 10 bytes each until they are with their
/// owners. With particles all this is done twice, first by leaves.
///
/// # Errors
/// When the input cannot be read, holds values that are no densities, or its cells are no octree: on
/// the rank that sees it, which should then abort. When another rank fails.
pub fn load(
    snapshot: &dyn Snapshot,
    source: DensitySource,
    threshold: f64,
    extra_fields: &[&str],
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let beyond = {
        let _reading = Stage::within("reading", comm);
        walls::beyond(snapshot, source, comm)?
    };
    let mut part = load_cells(snapshot, source, threshold, extra_fields, comm, executor)?;
    part.field.mesh.set_beyond(beyond);
    Ok(part)
}

fn load_cells(
    snapshot: &dyn Snapshot,
    source: DensitySource,
    threshold: f64,
    extra_fields: &[&str],
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    if comm.n_ranks() == 1 {
        return load_alone(snapshot, source, threshold, extra_fields, comm, executor);
    }
    let observer = executor.observer();
    let of_leaves = Request { field: None, threshold: f64::INFINITY, extra: &[] };
    match source {
        DensitySource::Cells(field) => {
            let request = Request { field: Some(field), threshold, extra: extra_fields };
            let share = read_share(snapshot, &request, comm, observer)?;
            let how = (Cells::Octree, executor.balance());
            decompose(domain(snapshot), share, &request, how, comm, observer)
        }
        DensitySource::Particles(_) | DensitySource::Matter(_) => {
            let (scheme, with_gas) = match source {
                DensitySource::Particles(scheme) => (scheme, false),
                _ => (Scheme::Ramses, true),
            };
            let of_leaves = Request { field: source.field(), ..of_leaves };
            let share = read_share(snapshot, &of_leaves, comm, observer)?;
            let by_leaves = (Cells::Octree, Weights::Leaves);
            let mut part = decompose(domain(snapshot), share, &of_leaves, by_leaves, comm, observer)?;
            let stage = Stage::begin("particles", snapshot.header().n_pieces as u64, comm, observer);
            let particles = read_particles(snapshot, comm, observer)?;
            let n = particles.iter().map(|p| p.mass.len() as u64).sum();
            stage.count(n);
            drop(stage);
            let side = snapshot.header().boxlen;
            Stage::run("density", n, comm, observer, || {
                deposit::deposit(&mut part, particles, (scheme, with_gas), side, comm, executor)
            })?;
            let by_tests = Request { threshold, ..of_leaves };
            let how = (Cells::Octree, executor.balance());
            decompose(domain(snapshot), part.into_share(), &by_tests, how, comm, observer)
        }
    }
}

fn load_alone(
    snapshot: &dyn Snapshot,
    source: DensitySource,
    threshold: f64,
    extra_fields: &[&str],
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let mut part = LocalField::whole(read_field(snapshot, source, comm, executor)?);
    if matches!(source, DensitySource::Cells(_)) && !extra_fields.is_empty() {
        let test_cells = test_cells::find(&part.field, threshold);
        part.extra = read_tests(snapshot, &part.field.mesh, &test_cells, extra_fields)?;
    }
    Ok(part)
}

fn read_share(
    snapshot: &dyn Snapshot,
    request: &Request,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<HeldCells, RunError> {
    let n_pieces = snapshot.header().n_pieces.div_ceil(comm.n_ranks()) as u64;
    let stage = Stage::begin("reading", n_pieces, comm, observer);
    let share = read_cells(snapshot, request, comm, observer)?;
    stage.count(share.n_cells());
    Ok(share)
}

/// Collective: shares out leaves alone, as level, position and density, that ranks happen to hold: all leaves denser than
/// `threshold` of an octree whose leaves that touch differ by one level at most. For several ranks.
///
/// # Errors
/// When a rank has more cells than indices, or another rank fails.
pub fn share_out(
    domain: Domain,
    leaves: impl Iterator<Item = (u8, [u32; 3], f64)>,
    threshold: f64,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let mut share = HeldCells::default();
    for (level, position, rho) in leaves {
        share.add(OctRecord::of_cell(level, position, true, rho));
    }
    let request = Request { field: None, threshold, extra: &[] };
    decompose(
        domain,
        share,
        &request,
        (Cells::LeavesAbove(threshold), executor.balance()),
        comm,
        executor.observer(),
    )
}

/// Collective: from cells that ranks happen to hold to their parts.
fn decompose(
    domain: Domain,
    share: HeldCells,
    request: &Request,
    (cells, weights): (Cells, Weights),
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<LocalField, RunError> {
    let (n, n_extra) = (share.n_cells(), request.extra.len());
    let own = Stage::run("domains", n, comm, observer, || {
        let levels = share.levels(comm)?;
        let splits = weights::balance(&share, levels, request.threshold, weights, comm)?;
        migrate::migrate(share, &splits, request.threshold, n_extra, comm).map(|own| (own, splits, levels))
    });
    let (own, splits, levels) = own?;
    Stage::run("ghosts", n, comm, observer, || {
        assemble::assemble(domain, own, splits, (levels, cells), n_extra, comm)
    })
}
