//! Which cells does each rank own, and which copies of other cells does it need?
//!
//! In the flow: snapshot or particle mesh → **partition** → segmentation (`phew`). Each rank reads some
//! pieces; the cells go to the owners of their keys on a space-filling curve; cells near other ranks are
//! copied to these. The protocol is in `engine/library/src/partition/README.md`.
//!
//! This folder does not use peaks, patches or clumps. It uses test cells only for balancing. Its cuts of the
//! curve and its rankings also serve `fof`, which does not use cells of a mesh.
//!
//! Invariants: the part of a rank depends only on the snapshot and the number of ranks, not on files, threads
//! or readers. All parts together equal what one rank would have, bit for bit. No rank holds more than what
//! it reads, what it owns with its ghosts, and one round of messages.

mod assemble;
mod balance;
mod bounds;
mod cell_routes;
mod covered_levels;
mod deposit;
mod ghost_search;
mod ghosts;
mod given_cells;
mod held_cells;
mod key_part;
mod key_sample;
mod leaf_owners;
mod local_field;
mod lowered;
mod migrate;
mod oct_record;
pub mod ranking;
mod rounds;
mod splits;
mod test_rule;
mod weights;

pub use bounds::{bounds, bounds_of_moving};
pub(crate) use cell_routes::{CellRoutes, Division, PlacedCells, place};
pub use ghosts::{GhostLink, Ghosts};
pub(crate) use given_cells::GivenCells;
pub use leaf_owners::to_leaf_owners;
pub use local_field::LocalField;
pub(crate) use migrate::picked;
pub(crate) use rounds::{deliver, rounds};
pub use splits::Splits;
pub use test_rule::{TakesPart, TestRule};
pub use weights::Weights;

use crate::density::Scheme;
use crate::density::read::{read_field, read_tests};
use crate::density::walls;
use crate::density::{DensitySource, LeafValues, domain, read_point_masses};
use crate::error::RunError;
use crate::executor::Executor;
use crate::field::test_cells;
use crate::progress::Observer;
use crate::stage::Stage;
use assemble::CellSet;
use held_cells::{HeldCells, Request, check_place, read_cells};
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_kernels::geom::Domain;
use oct_record::OctRecord;

/// The fields to load of a snapshot, and how to divide them.
#[derive(Debug, Clone, Copy)]
pub struct LoadRequest<'a> {
    /// The density.
    pub source: DensitySource<'a>,
    /// The values that leaves may have, if the density is a field of cells.
    pub values: LeafValues,
    /// Which leaves are test cells.
    pub tests: TestRule<'a>,
    /// Further fields of the test cells.
    pub extra_fields: &'a [&'a str],
    /// The quantity that is divided evenly among ranks.
    pub weights: Weights,
}

/// Collective: reads a snapshot over all ranks and partitions its cells by the weights of the executor.
/// `extra_fields` are read for own test cells; there are none with particles. One rank owns everything.
/// Leaves that do not take part are lowered ([`LocalField::lower_others`]).
///
/// Each rank reads some of the pieces. Cells cost 10 bytes each while they move to their owners. A density
/// from particles takes two partitions: by leaves for the deposit, then by the chosen weights.
///
/// # Errors
/// When the input cannot be read, has invalid densities, or its cells are not an octree: on the rank that
/// finds it, which should then abort. When another rank fails.
pub fn load(
    snapshot: &dyn Snapshot,
    request: &LoadRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let beyond = {
        let _reading = Stage::within("reading", comm);
        walls::beyond(snapshot, request.source, request.values, comm)?
    };
    let mut part = match comm.n_ranks() {
        // Leaves without an octree go to their owners even on a single rank: their levels need not be graded.
        1 if snapshot.is_octree() => load_alone(snapshot, request, comm, executor)?,
        _ => {
            let mut part = load_shared(snapshot, request, comm, executor)?;
            part.lower_others(&request.tests);
            part
        }
    };
    part.field.mesh.set_beyond(beyond);
    Ok(part)
}

fn load_shared(
    snapshot: &dyn Snapshot,
    &LoadRequest { source, values, tests, extra_fields, weights }: &LoadRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let observer = executor.observer();
    let values = source.leaf_values(values);
    let of_leaves = Request { field: None, values, tests: TestRule::above(f64::INFINITY), extra: &[] };
    match source {
        DensitySource::Cells(field) => {
            let request = Request { field: Some(field), values, tests, extra: extra_fields };
            let held = read_held(snapshot, &request, comm, observer)?;
            let cells = if snapshot.is_octree() { CellSet::Octree } else { CellSet::Leaves(tests.threshold) };
            decompose(domain(snapshot), held, &request, (cells, weights), comm, observer)
        }
        DensitySource::Particles(_) | DensitySource::Matter(..) => {
            let (scheme, with_gas) = match source {
                DensitySource::Particles(scheme) => (scheme, false),
                _ => (Scheme::Ramses, true),
            };
            let of_leaves = Request { field: source.field(), ..of_leaves };
            let held = read_held(snapshot, &of_leaves, comm, observer)?;
            let by_leaves = (CellSet::WholeOctree, Weights::Leaves);
            let mut part = decompose(domain(snapshot), held, &of_leaves, by_leaves, comm, observer)?;
            let stage = Stage::begin("reading", snapshot.header().n_pieces as u64, comm, observer);
            let particles = read_point_masses(snapshot, source.deposited(), comm, observer)?;
            let n = particles.iter().map(|p| p.mass.len() as u64).sum();
            stage.count(n);
            drop(stage);
            let side = snapshot.header().boxlen;
            Stage::run("density", n, comm, observer, || {
                deposit::deposit(&mut part, particles, (scheme, with_gas), side, comm, executor)
            })?;
            let by_tests = Request { tests, ..of_leaves };
            let how = (CellSet::Octree, weights);
            decompose(domain(snapshot), part.into_held(), &by_tests, how, comm, observer)
        }
    }
}

fn load_alone(
    snapshot: &dyn Snapshot,
    &LoadRequest { source, values, tests, extra_fields, .. }: &LoadRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let mut part = LocalField::whole(read_field(snapshot, source, values, comm, executor)?);
    part.lower_others(&tests);
    if matches!(source, DensitySource::Cells(_)) && !extra_fields.is_empty() {
        let test_cells = test_cells::find(&part.field, tests.threshold);
        part.extra = read_tests(snapshot, &part.field.mesh, &test_cells, extra_fields)?;
    }
    Ok(part)
}

fn read_held(
    snapshot: &dyn Snapshot,
    request: &Request,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<HeldCells, RunError> {
    let n_pieces = snapshot.header().n_pieces.div_ceil(comm.n_ranks()) as u64;
    let stage = Stage::begin("reading", n_pieces, comm, observer);
    let held = read_cells(snapshot, request, comm, observer)?;
    stage.count(held.n_cells());
    Ok(held)
}

/// Collective: partitions leaves in any distribution over the ranks, given as level, position and density.
/// Leaves that are not denser than `threshold` may be missing. Levels of leaves that touch may differ by any
/// number.
///
/// # Errors
/// When a leaf is outside the box, is given twice or is inside another, on the rank that finds it, which
/// should then abort. When a rank has more cells than indices, or another rank fails.
pub fn partition_leaves(
    domain: Domain,
    leaves: impl Iterator<Item = (u8, [u32; 3], f64)>,
    threshold: f64,
    weights: Weights,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    partition_leaf_set(domain, leaves, LeafSet { threshold, is_graded: false }, weights, comm, executor)
}

/// The known facts about leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafSet {
    /// Leaves that are not denser may be missing.
    pub threshold: f64,
    /// Whether they are known to be part of a valid and graded octree, which is then not checked.
    pub is_graded: bool,
}

/// [`partition_leaves`] with known facts about the leaves.
pub(crate) fn partition_leaf_set(
    domain: Domain,
    leaves: impl Iterator<Item = (u8, [u32; 3], f64)>,
    set: LeafSet,
    weights: Weights,
    comm: &Comm,
    executor: &Executor,
) -> Result<LocalField, RunError> {
    let mut held = HeldCells::default();
    for (level, position, rho) in leaves {
        check_place(&domain, level, position)?;
        held.add(OctRecord::of_cell(level, position, true, rho));
    }
    let threshold = set.threshold;
    let tests = TestRule::above(threshold);
    let request = Request { field: None, values: LeafValues::Any, tests, extra: &[] };
    let cells = if set.is_graded { CellSet::GradedLeaves(threshold) } else { CellSet::Leaves(threshold) };
    decompose(domain, held, &request, (cells, weights), comm, executor.observer())
}

/// Collective: the part of each rank, from cells in any distribution over the ranks.
fn decompose(
    domain: Domain,
    held: HeldCells,
    request: &Request,
    (cells, weights): (CellSet, Weights),
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<LocalField, RunError> {
    let (n, n_extra) = (held.n_cells(), request.extra.len());
    let own = Stage::run("domains", n, comm, observer, || {
        let levels = held.levels(comm)?;
        let splits = balance::balance(&held, levels, &request.tests, weights, comm)?;
        migrate::migrate(held, &splits, request.tests, n_extra, comm).map(|own| (own, splits, levels))
    });
    let (own, splits, levels) = own?;
    Stage::run("ghosts", n, comm, observer, || {
        assemble::assemble(domain, own, splits, (levels, cells), n_extra, comm)
    })
}
