//! The density of particles, or of particles and gas, over ranks: the same bits as on one rank.

use super::ghosts::Ghosts;
use super::local_field::LocalField;
use super::rounds::deliver;
use super::splits::{Splits, owner_of_place};
use crate::density::{
    COARSER, PointMasses, RUN, Scheme, deposit_gas, divide_by_volumes, first_bound, heaviest, quantum,
};
use crate::error::RunError;
use crate::executor::{Executor, TaskResults, cell_stage};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::density::{
    Body, Deposit, cloud_cells, deposit_conserving_part, deposit_ramses, fill_from_level, gather_bodies,
    leaf_at, leaf_bodies,
};
use inselberg_kernels::mesh::Mesh;
use inselberg_tasks::TaskFns;
use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::OnceLock;

/// A particle as it is sent: position in level-0 cells, and mass.
type SentParticle = [f64; 4];

/// Collective: deposits the particles that ranks have read on the cells of `part`, in place of the density
/// that it has. `with_gas`: deposits the gas of that density as well. `side` is the length of a level-0 cell.
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
    let n_local = particles.iter().map(|p| p.mass.len() as u64).sum();
    let greatest = comm.all_max(&[greatest])?[0];
    let n_particles = comm.all_reduce_counts(&[n_local], Reduce::Sum)?[0];
    let gas = if with_gas { bodies(part, side.powi(3), comm)? } else { Vec::new() };
    let particles = RankParticles { own: to_owners(particles, part, comm)?, border: OnceLock::new(), gas };
    let mut bound = first_bound(greatest, n_particles);
    let quanta = loop {
        match particles.quanta(part, scheme, quantum(bound), comm, executor)? {
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

/// The particles that a rank deposits on its cells.
struct RankParticles {
    /// Particles whose positions it owns.
    own: PointMasses,
    /// Particles of other ranks that touch its leaves, once received.
    border: OnceLock<PointMasses>,
    /// The gas of every cell, if it is deposited.
    gas: Vec<Body>,
}

/// Tasks that deposit the particles of other ranks, whose number is unknown when the graph is made.
const BORDER_TASKS: usize = 64;

impl RankParticles {
    /// Collective: the masses of own cells in quanta; `None` on all ranks if a cell of any rank overflows.
    ///
    /// [`Scheme::Conserving`]: each particle is deposited by every rank whose leaves it touches. [`Scheme::Ramses`]: only by
    /// the owner of its position; the quanta of ghosts are then added to their owners.
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
                deposit_gas(mesh, |brick| part.own[brick], &self.gas, &out);
            }
            Scheme::Conserving => self.deposit_conserving(part, &out, comm, executor)?,
        }
        let quanta = if_all(out.quanta(), comm)?;
        match (quanta, scheme) {
            (Some(mut quanta), Scheme::Ramses) => {
                let fits = add_to_owners(&part.ghosts, &mut quanta, comm)?;
                if_all(fits.then_some(quanta), comm)
            }
            (quanta, _) => Ok(quanta),
        }
    }

    /// Collective: deposits own particles while copies of those at borders are exchanged. The exchange
    /// happens at the first call only.
    fn deposit_conserving(
        &self,
        part: &LocalField,
        out: &Deposit,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), CommError> {
        let (rank, sizes) = (comm.rank(), self.own.runs());
        let (plan, [find, own, send, border]) = executor.plan("density over ranks", &sizes, |planner| {
            let find = cell_stage(planner, "border particles", &sizes, 1);
            let own = cell_stage(planner, "density", &sizes, 2);
            let send = executor.call(planner, "particles of others", own);
            let border = planner.stage("density of the border", [RUN as u64; BORDER_TASKS]);
            planner.after(send, find);
            planner.after(border, send);
            [find, own, send, border]
        });
        let deposit_run = |particles: &PointMasses, i| {
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
            .on(own, |i| deposit_run(&self.own, i))
            .on_caller(send, |_| {
                if self.border.get().is_none() {
                    let found = |i| found.get(i).expect("the tasks that find them are done").lock();
                    let copies = (0..sizes.len() as u32).flat_map(|i| std::mem::take(&mut *found(i)));
                    sent = deliver(copies.collect(), |copy| *copy, comm).map(|received| {
                        self.border.get_or_init(|| point_masses(received));
                    });
                }
            })
            .on(border, |i| {
                // Without them, the exchange has failed, which the caller reports.
                let Some(particles) = self.border.get() else { return };
                let n_runs = particles.mass.len().div_ceil(RUN) as u32;
                (i..n_runs).step_by(BORDER_TASKS).for_each(|i| deposit_run(particles, i));
            });
        executor.run("density", &plan, bodies);
        sent
    }
}

/// Collective: the value of this rank, if all ranks have one.
fn if_all<T>(own: Option<T>, comm: &Comm) -> Result<Option<T>, CommError> {
    let all = comm.all_reduce_counts(&[own.is_some().into()], Reduce::Min)?[0] == 1;
    Ok(own.filter(|_| all))
}

/// Collective, between neighbours: adds the quanta of ghosts to those of their owners. Whether all sums fit
/// on this rank.
fn add_to_owners(ghosts: &Ghosts, quanta: &mut [u64], comm: &Comm) -> Result<bool, CommError> {
    let fits = Cell::new(true);
    ghosts.reduce(comm, quanta, |own, more| {
        fits.set(fits.get() && own.checked_add(more).is_some());
        *own = own.wrapping_add(more);
    })?;
    Ok(fits.get())
}

/// Collective: the gas of own cells and of ghosts, from its density in the leaves; deepest level first.
/// `unit` is the volume of a level-0 cell.
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

/// Collective: gives every own split cell the mean of its children, own cells or ghosts; deepest level first.
fn fill_split_cells(part: &mut LocalField, comm: &Comm) -> Result<(), CommError> {
    for level in (1..=part.splits.deepest()).rev() {
        ghosts_of_level(part, level).push(comm, &mut part.field.rho)?;
        fill_from_level(&part.field.mesh, level, &mut part.field.rho);
    }
    Ok(())
}

/// Collective: brings particles to the owners of their positions. Particles outside the box are dropped, as
/// on one rank.
fn to_owners(particles: Vec<PointMasses>, part: &LocalField, comm: &Comm) -> Result<PointMasses, CommError> {
    let domain = part.field.mesh.domain();
    let owner = |x: &[f64; 3]| owner_of_place(&part.splits, domain, *x);
    let mut inside: Vec<SentParticle> = Vec::new();
    for PointMasses { position, mass } in particles {
        let all = position.iter().zip(mass).filter(|(x, _)| owner(x).is_some());
        inside.extend(all.map(|([x, y, z], mass)| [*x, *y, *z, mass]));
    }
    let to_owner = |record: &SentParticle| {
        let [x, y, z, _] = *record;
        (owner(&[x, y, z]).expect("particles outside the box are dropped"), *record)
    };
    Ok(point_masses(deliver(inside, to_owner, comm)?))
}

/// Copies of particles for the other ranks whose cells their clouds touch.
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

/// The other ranks that own anything in the cells that the cloud of a particle touches.
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

fn point_masses(particles: Vec<SentParticle>) -> PointMasses {
    let position = particles.iter().map(|[x, y, z, _]| [*x, *y, *z]).collect();
    PointMasses { position, mass: particles.into_iter().map(|[.., mass]| mass).collect() }
}
