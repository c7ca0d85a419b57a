//! The density of dark-matter particles, or of these and of gas, over ranks, the same bits as on one.

use super::LocalField;
use super::ghosts::Ghosts;
use super::held_cells::ROUND;
use super::migrate::{OctMessages, in_order, rounds};
use super::splits::Splits;
use crate::density::{
    COARSER, PointMasses, RUN, Scheme, divide_by_volumes, first_bound, heaviest, lay_bodies, quantum,
};
use crate::error::RunError;
use crate::executor::{Executor, TaskResults, cell_stage};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::density::{
    Body, Deposit, cloud_cells, deposit_conserving_part, deposit_ramses, fill_from_level, gather_bodies,
    leaf_at, leaf_bodies,
};
use inselberg_kernels::geom::{Domain, cell_side};
use inselberg_kernels::mesh::Mesh;
use inselberg_tasks::TaskFns;
use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::OnceLock;

/// A particle as it travels: position in level-0 cells, mass.
type SentParticle = [f64; 4];

/// Collective: lays particles, held by whoever read them, on the cells of `part`, and with them the gas whose density
/// these have, if `with_gas`; `side` is the length of a level-0 cell.
///
/// # Errors
/// When another rank fails.
pub(super) fn deposit(
    part: &mut LocalField,
    particles: Vec<PointMasses>,
    (scheme, with_gas): (Scheme, bool),
    side: f64,
    comm: &Comm,
    executor: &Executor,
) -> Result<(), RunError> {
    let greatest = particles.iter().map(heaviest).fold(f64::MIN_POSITIVE, f64::max);
    let n_here = particles.iter().map(|p| p.mass.len() as u64).sum();
    let greatest = comm.all_max(&[greatest])?[0];
    let n_particles = comm.all_reduce_counts(&[n_here], Reduce::Sum)?[0];
    let gas = if with_gas { bodies(part, side.powi(3), comm)? } else { Vec::new() };
    let laid = RankParticles { own: to_owners(particles, part, comm)?, border: OnceLock::new(), gas };
    let mut bound = first_bound(greatest, n_particles);
    let quanta = loop {
        match laid.quanta(part, scheme, quantum(bound), comm, executor)? {
            Some(quanta) => break quanta,
            None => bound += COARSER,
        }
    };
    part.field.rho = quanta.into_iter().map(|n| n as f64 * quantum(bound)).collect();
    divide_by_volumes(&mut part.field, side.powi(3));
    if scheme == Scheme::Conserving {
        fill_split_cells(part, comm)?;
    }
    Ok(part.ghosts.push(comm, &mut part.field.rho)?)
}

/// The particles that a rank lays on its cells.
struct RankParticles {
    /// Those whose place it owns.
    own: PointMasses,
    /// Those of others that touch its leaves, once they have come.
    border: OnceLock<PointMasses>,
    /// The gas of every cell, if it is laid as well.
    gas: Vec<Body>,
}

/// In so many tasks the particles of others are laid, whose number is not known before they come.
const BORDER_TASKS: usize = 64;

impl RankParticles {
    /// Collective: masses of own cells in quanta; `None` on all ranks where a cell of any rank holds too many.
    /// Each particle is on all ranks whose leaves it touches; as RAMSES does it, it is with the owner of its
    /// place alone, and what it gives to others' cells is added to theirs.
    fn quanta(
        &self,
        part: &LocalField,
        scheme: Scheme,
        quantum: f64,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Option<Vec<u64>>, CommError> {
        let mesh = &part.field.mesh;
        let out = Deposit::new(mesh.n_cells(), quantum);
        let ramses = |i| {
            let (position, mass) = self.own.run(i);
            deposit_ramses(mesh, position, mass, &out);
        };
        match scheme {
            Scheme::Ramses => {
                executor.each("density", &self.own.runs(), ramses);
                lay_bodies(mesh, |brick| part.own[brick], &self.gas, &out);
            }
            Scheme::Conserving => self.lay_conserving(part, &out, comm, executor)?,
        }
        let quanta = agreed(out.quanta(), comm)?;
        match (quanta, scheme) {
            (Some(mut quanta), Scheme::Ramses) => {
                let fits = add_to_owners(&part.ghosts, &mut quanta, comm)?;
                agreed(fits.then_some(quanta), comm)
            }
            (quanta, _) => Ok(quanta),
        }
    }

    /// Collective: lays own particles while those that others own as well are on their way.
    fn lay_conserving(
        &self,
        part: &LocalField,
        out: &Deposit,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), CommError> {
        let (rank, sizes) = (comm.rank(), self.own.runs());
        let (plan, [find, lay, send, lay_border]) = executor.plan("density over ranks", &sizes, |planner| {
            let find = cell_stage(planner, "border particles", &sizes, 1);
            let lay = cell_stage(planner, "density", &sizes, 2);
            let send = executor.call(planner, "particles of others", lay);
            let lay_border = planner.stage("density of the border", [RUN as u64; BORDER_TASKS]);
            planner.after(send, find);
            planner.after(lay_border, send);
            [find, lay, send, lay_border]
        });
        let lay_run = |particles: &PointMasses, i| {
            let (position, mass) = particles.run(i);
            deposit_conserving_part(&part.field.mesh, position, mass, out);
        };
        let (found, mut sent) = (TaskResults::new(sizes.len()), Ok(()));
        let bodies = TaskFns::new(&plan)
            .on(find, |i| {
                if self.border.get().is_none() {
                    found.put(i, Mutex::new(touching_others(part, self.own.run(i), rank)));
                }
            })
            .on(lay, |i| lay_run(&self.own, i))
            .on_caller(send, |_| {
                if self.border.get().is_none() {
                    let found = (0..sizes.len() as u32).filter_map(|i| found.get(i));
                    let records = found.flat_map(|records| std::mem::take(&mut *records.lock()));
                    sent = exchange(records.collect(), comm).map(|border| {
                        self.border.get_or_init(|| border);
                    });
                }
            })
            .on(lay_border, |i| {
                let Some(border) = self.border.get() else { return };
                let n_runs = border.mass.len().div_ceil(RUN) as u32;
                (i..n_runs).step_by(BORDER_TASKS).for_each(|i| lay_run(border, i));
            });
        executor.run("density", &plan, bodies);
        sent
    }
}

/// What a rank has, if all have something.
fn agreed<T>(own: Option<T>, comm: &Comm) -> Result<Option<T>, CommError> {
    let all = comm.all_reduce_counts(&[own.is_some().into()], Reduce::Min)?[0] == 1;
    Ok(own.filter(|_| all))
}

/// Adds the quanta of ghosts to their owners'; whether they fit.
fn add_to_owners(ghosts: &Ghosts, quanta: &mut [u64], comm: &Comm) -> Result<bool, CommError> {
    let fits = Cell::new(true);
    ghosts.reduce(comm, quanta, |own, more| {
        fits.set(fits.get() && own.checked_add(more).is_some());
        *own = own.wrapping_add(more);
    })?;
    Ok(fits.get())
}

/// Collective: the gas of own cells and of ghosts, whose leaves have its density; deepest level first.
fn bodies(part: &LocalField, unit: f64, comm: &Comm) -> Result<Vec<Body>, CommError> {
    let mesh = &part.field.mesh;
    let mut bodies = leaf_bodies(mesh, &part.field.rho, unit);
    for level in (1..=part.splits.deepest()).rev() {
        ghosts_of_level(part, level).push(comm, &mut bodies)?;
        gather_bodies(mesh, level, &mut bodies);
    }
    Ok(bodies)
}

fn ghosts_of_level(part: &LocalField, level: u8) -> Ghosts {
    let mesh = &part.field.mesh;
    let cells = mesh.cells_of_supers(mesh.supers_of(level));
    part.ghosts.restrict(|cell| cells.contains(&cell.at()).then_some(cell.0))
}

/// Gives every own split cell the mean of its children, which may be others', deepest level first.
fn fill_split_cells(part: &mut LocalField, comm: &Comm) -> Result<(), CommError> {
    for level in (1..=part.splits.deepest()).rev() {
        ghosts_of_level(part, level).push(comm, &mut part.field.rho)?;
        fill_from_level(&part.field.mesh, level, &mut part.field.rho);
    }
    Ok(())
}

/// Collective: particles to the owners of their places; those outside the box are dropped.
fn to_owners(particles: Vec<PointMasses>, part: &LocalField, comm: &Comm) -> Result<PointMasses, CommError> {
    let domain = part.field.mesh.domain();
    let mut chunks: Vec<Vec<SentParticle>> = Vec::new();
    for piece in particles {
        let records = piece.position.chunks(ROUND).zip(piece.mass.chunks(ROUND));
        chunks.extend(records.map(|(x, m)| x.iter().zip(m).map(|(x, m)| [x[0], x[1], x[2], *m]).collect()));
    }
    let mut own = PointMasses::default();
    for _ in 0..rounds(chunks.len(), comm)? {
        let mut bundles = OctMessages::new();
        for record in chunks.pop().unwrap_or_default() {
            if let Some(owner) = owner_of_place(&part.splits, domain, [record[0], record[1], record[2]]) {
                bundles.entry(owner).or_insert_with(Vec::new).push(record);
            }
        }
        take(&mut own, comm.exchange(in_order(bundles))?);
    }
    Ok(own)
}

/// Copies of particles whose cloud touches what others own, for these.
fn touching_others(
    part: &LocalField,
    (position, mass): (&[[f64; 3]], &[f64]),
    rank: Rank,
) -> Vec<(Rank, SentParticle)> {
    let copies = position.iter().zip(mass).flat_map(|(x, m)| {
        let others = others_touched(part, *x, rank).into_iter();
        others.map(move |other| (other, [x[0], x[1], x[2], *m]))
    });
    copies.collect()
}

/// Collective: records to the ranks beside them; what comes from others.
fn exchange(records: Vec<(Rank, SentParticle)>, comm: &Comm) -> Result<PointMasses, CommError> {
    let mut received = PointMasses::default();
    let mut left = records.chunks(ROUND);
    for _ in 0..rounds(records.len().div_ceil(ROUND), comm)? {
        let mut bundles = OctMessages::new();
        for (rank, record) in left.next().unwrap_or_default() {
            bundles.entry(*rank).or_insert_with(Vec::new).push(*record);
        }
        take(&mut received, comm.exchange(in_order(bundles))?);
    }
    Ok(received)
}

/// The other ranks that own anything in the cells that a particle's cloud touches.
fn others_touched(part: &LocalField, x: [f64; 3], rank: Rank) -> Vec<Rank> {
    let (mesh, splits): (&Mesh, &Splits) = (&part.field.mesh, &part.splits);
    let Some((level, _)) = leaf_at(mesh, x) else { return Vec::new() };
    let mut ranks = Vec::new();
    for cell in cloud_cells(level, x).into_iter().filter_map(|at| mesh.domain().wrap(level, at)) {
        if !splits.owns_all(rank, level, cell) {
            ranks.extend(splits.owners_within(level, cell).filter(|r| *r != rank));
        }
    }
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

pub(super) fn owner_of_place(splits: &Splits, domain: &Domain, x: [f64; 3]) -> Option<Rank> {
    let deepest = splits.deepest();
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    domain.wrap(deepest, at).map(|position| splits.owner(deepest, position))
}

fn take(particles: &mut PointMasses, received: Vec<(Rank, Vec<SentParticle>)>) {
    for [x, y, z, mass] in received.into_iter().flat_map(|part| part.1) {
        particles.position.push([x, y, z]);
        particles.mass.push(mass);
    }
}
