//! The density of dark-matter particles over ranks, the same bits as on one.

use super::Part;
use super::ghosts::Ghosts;
use super::migrate::{Parcels, in_order, rounds};
use super::share::ROUND;
use super::splits::Splits;
use crate::phew::RunError;
use crate::stages::density::{
    COARSER, Particles, RUN, Scheme, divide_by_volumes, first_bound, heaviest, quantum,
};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::density::{
    Deposit, cloud_cells, deposit_conserving_part, deposit_ramses, fill_from_level, leaf_at,
};
use inselberg_kernels::geom::{Domain, cell_side};
use inselberg_kernels::mesh::Mesh;
use rayon::prelude::*;
use std::cell::Cell;

/// A particle as it travels: position in level-0 cells, mass.
type Record = [f64; 4];

/// Collective: lays particles, held by whoever read them, on the cells of `part`; `side` is the length
/// of a level-0 cell.
///
/// # Errors
/// When another rank fails.
pub(super) fn deposit(
    part: &mut Part,
    particles: Vec<Particles>,
    scheme: Scheme,
    side: f64,
    comm: &Comm,
) -> Result<(), RunError> {
    let greatest = particles.iter().map(heaviest).fold(f64::MIN_POSITIVE, f64::max);
    let n_here = particles.iter().map(|p| p.mass.len() as u64).sum();
    let greatest = comm.all_max(&[greatest])?[0];
    let n_particles = comm.all_reduce_counts(&[n_here], Reduce::Sum)?[0];
    let mut own = to_owners(particles, part, comm)?;
    if scheme == Scheme::Conserving {
        let border = to_others_touched(&own, part, comm)?;
        own.position.extend(border.position);
        own.mass.extend(border.mass);
    }
    let mut bound = first_bound(greatest, n_particles);
    let quanta = loop {
        match quanta_of(part, &own, scheme, quantum(bound), comm)? {
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

/// Masses of own cells in quanta; `None` on all ranks where a cell of any rank holds too many. Each
/// particle is on all ranks whose leaves it touches; as RAMSES does it, it is with the owner of its place
/// alone, and what it gives to others' cells is added to theirs.
fn quanta_of(
    part: &Part,
    particles: &Particles,
    scheme: Scheme,
    quantum: f64,
    comm: &Comm,
) -> Result<Option<Vec<u64>>, CommError> {
    let mesh = &part.field.mesh;
    let out = Deposit::new(mesh.n_cells(), quantum);
    let deposit = if scheme == Scheme::Ramses { deposit_ramses } else { deposit_conserving_part };
    particles.position.par_chunks(RUN).zip(particles.mass.par_chunks(RUN)).for_each(|(x, m)| {
        deposit(mesh, x, m, &out);
    });
    let quanta = agreed(out.quanta(), comm)?;
    match (quanta, scheme) {
        (Some(mut quanta), Scheme::Ramses) => {
            let fits = add_to_owners(&part.ghosts, &mut quanta, comm)?;
            agreed(fits.then_some(quanta), comm)
        }
        (quanta, _) => Ok(quanta),
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

/// Gives every own split cell the mean of its children, which may be others', deepest level first.
fn fill_split_cells(part: &mut Part, comm: &Comm) -> Result<(), CommError> {
    let (mesh, rho) = (&part.field.mesh, &mut part.field.rho);
    for level in (1..=part.splits.deepest()).rev() {
        let cells = mesh.cells_of_supers(mesh.supers_of(level));
        let of_level = part.ghosts.restrict(|cell| cells.contains(&cell.at()).then_some(cell.0));
        of_level.push(comm, rho)?;
        fill_from_level(mesh, level, rho);
    }
    Ok(())
}

/// Collective: particles to the owners of their places; those outside the box are dropped.
fn to_owners(particles: Vec<Particles>, part: &Part, comm: &Comm) -> Result<Particles, CommError> {
    let domain = part.field.mesh.domain();
    let mut chunks: Vec<Vec<Record>> = Vec::new();
    for piece in particles {
        let records = piece.position.chunks(ROUND).zip(piece.mass.chunks(ROUND));
        chunks.extend(records.map(|(x, m)| x.iter().zip(m).map(|(x, m)| [x[0], x[1], x[2], *m]).collect()));
    }
    let mut own = Particles::default();
    for _ in 0..rounds(chunks.len(), comm)? {
        let mut parcels = Parcels::new();
        for record in chunks.pop().unwrap_or_default() {
            if let Some(owner) = owner_of_place(&part.splits, domain, [record[0], record[1], record[2]]) {
                parcels.entry(owner).or_insert_with(Vec::new).push(record);
            }
        }
        take(&mut own, comm.exchange(in_order(parcels))?);
    }
    Ok(own)
}

/// Collective: copies of particles whose cloud touches what others own, to these.
fn to_others_touched(own: &Particles, part: &Part, comm: &Comm) -> Result<Particles, CommError> {
    let (rank, mut border) = (comm.rank(), Particles::default());
    let mut left = own.position.chunks(ROUND).zip(own.mass.chunks(ROUND));
    for _ in 0..rounds(own.mass.len().div_ceil(ROUND), comm)? {
        let (position, mass) = left.next().unwrap_or_default();
        let touched: Vec<_> = position.par_iter().map(|x| others_touched(part, *x, rank)).collect();
        let mut parcels = Parcels::new();
        for ((x, m), ranks) in position.iter().zip(mass).zip(touched) {
            for rank in ranks {
                parcels.entry(rank).or_insert_with(Vec::new).push([x[0], x[1], x[2], *m]);
            }
        }
        take(&mut border, comm.exchange(in_order(parcels))?);
    }
    Ok(border)
}

/// The other ranks that own anything in the cells that a particle's cloud touches.
fn others_touched(part: &Part, x: [f64; 3], rank: Rank) -> Vec<Rank> {
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

fn owner_of_place(splits: &Splits, domain: &Domain, x: [f64; 3]) -> Option<Rank> {
    let deepest = splits.deepest();
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    domain.wrap(deepest, at).map(|position| splits.owner(deepest, position))
}

fn take(particles: &mut Particles, came: Vec<(Rank, Vec<Record>)>) {
    for [x, y, z, mass] in came.into_iter().flat_map(|part| part.1) {
        particles.position.push([x, y, z]);
        particles.mass.push(mass);
    }
}
