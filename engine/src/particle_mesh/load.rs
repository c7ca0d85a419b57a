//! The particles that one rank reads, and the masses of all of them.

use super::plan::MeshPlan;
use crate::error::RunError;
use crate::exchange::total;
use crate::fof::Masses;
use crate::fof::{RowRange, particle_check, read, reserve};
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::agree::share_of_rank;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::ReadResult;
use inselberg_io::particles::{Columns, ParticleInput, Positions};
use rayon::prelude::*;

/// The particles of a rank. Positions are in the box or, if it is periodic, at most one side outside.
#[derive(Debug)]
pub struct BoxParticles {
    /// Positions as the input has them.
    pub position: Positions,
    /// Masses.
    pub mass: Masses,
    /// Identities, where they were asked for: those of the input, or the number of the row over all species.
    pub id: Option<Vec<u64>>,
    /// Densities of the input in code units, where they were asked for; NaN for particles without one.
    pub density: Option<Vec<f32>>,
}

/// What is read of particles beside positions and masses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FurtherColumns {
    /// Identities.
    pub ids: bool,
    /// Densities of gas.
    pub densities: bool,
}

/// Local: reads the rows of this rank, with the further columns that are wanted, and checks each.
///
/// # Errors
/// When a file contradicts its header, a value is not finite, a particle is outside the box or has no mass, or memory does not
/// suffice.
pub fn load(
    input: &dyn ParticleInput,
    plan: &MeshPlan,
    further: FurtherColumns,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<BoxParticles, RunError> {
    let all = &input.about().species;
    let rows_of =
        |s: &usize| RowRange { species: *s, rows: share_of_rank(all[*s].n, comm.rank(), comm.n_ranks()) };
    let ranges: Vec<RowRange> = plan.species.iter().map(rows_of).collect();
    let n = ranges.iter().map(|s| s.rows.end - s.rows.start).sum::<u64>();
    let stage = Stage::begin("reading", n, comm, observer);
    let mut columns = Columns {
        position: Positions::with_capacity(plan.double, 0),
        mass: plan.mass.is_none().then(Vec::new),
        id: further.ids.then(Vec::new),
        kind: plan.mixed.then(Vec::new),
        velocity: None,
        density: further.densities.then(Vec::new),
    };
    reserve(input, &ranges, &mut columns)?;
    let mut before = 0;
    for range in &ranges {
        let first = columns.position.len();
        read(input, range, &mut columns, observer)?;
        let species = &all[range.species];
        if let (Some(id), false) = (&mut columns.id, species.has_ids) {
            id[first..].iter_mut().for_each(|id| *id += before);
        }
        before += species.n;
    }
    check(input, &columns, &ranges, plan)?;
    particle_check::check_have_mass(input, &columns, &ranges, |kind| plan.takes(kind))?;
    choose(&mut columns, plan);
    stage.count(n);
    drop(stage);
    let mass = match columns.mass {
        Some(masses) => Masses::Each(masses),
        None => Masses::Same(plan.mass.expect("masses are read unless they are all equal")),
    };
    Ok(BoxParticles { position: columns.position, mass, id: columns.id, density: columns.density })
}

fn check(
    input: &dyn ParticleInput,
    columns: &Columns,
    ranges: &[RowRange],
    plan: &MeshPlan,
) -> ReadResult<()> {
    particle_check::check(input, columns, ranges, &particle_check::MASSES, Some([plan.side; 3]))?;
    let inside = 0.0..plan.side;
    if plan.periodic || particle_check::are_at(&columns.position, &std::array::from_fn(|_| inside.clone())) {
        return Ok(());
    }
    particle_check::check_each(input, ranges, |i| {
        let at = columns.position.get(i);
        let is_inside = at.iter().all(|x| inside.contains(x));
        let expected = || format!("0 to less than {} in a box that does not wrap around", plan.side);
        (!is_inside).then(|| (format!("position {at:?} is outside the box"), expected()))
    })
}

/// Keeps the particles of the wanted kinds.
fn choose(columns: &mut Columns, plan: &MeshPlan) {
    let Some(kinds) = &columns.kind else { return };
    let is_wanted = |kind: &u8| plan.takes(*kind);
    fn keep<T>(list: &mut Vec<T>, kinds: &[u8], is_wanted: impl Fn(&u8) -> bool) {
        let mut kinds = kinds.iter();
        list.retain(|_| is_wanted(kinds.next().expect("one kind per particle")));
    }
    match &mut columns.position {
        Positions::Single(list) => keep(list, kinds, is_wanted),
        Positions::Double(list) => keep(list, kinds, is_wanted),
    }
    if let Some(mass) = &mut columns.mass {
        keep(mass, kinds, is_wanted);
    }
    if let Some(id) = &mut columns.id {
        keep(id, kinds, is_wanted);
    }
    if let Some(density) = &mut columns.density {
        keep(density, kinds, is_wanted);
    }
}

/// The masses of all particles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassRange {
    /// Their sum.
    pub all: f64,
    /// The least mass.
    pub lightest: f64,
    /// The greatest mass.
    pub heaviest: f64,
}

/// Collective: sum, least and greatest of the masses of all ranks; `own` is the number of particles of this rank, and there
/// is at least one on some rank. The result does not depend on how particles are distributed over ranks.
///
/// # Errors
/// When another rank fails.
pub fn mass_range(mass: &Masses, own: usize, comm: &Comm) -> Result<MassRange, CommError> {
    let of_all = |each: fn(f64, f64) -> f64, none: f64| match mass {
        _ if own == 0 => none,
        Masses::Same(mass) => *mass,
        Masses::Each(masses) => masses.par_iter().copied().reduce(|| none, each),
    };
    let bounds = [of_all(f64::max, f64::NEG_INFINITY), -of_all(f64::min, f64::INFINITY)];
    let bounds = comm.all_max(&bounds)?;
    let (heaviest, lightest) = (bounds[0], -bounds[1]);
    let n = comm.all_reduce_counts(&[own as u64], Reduce::Sum)?[0];
    if heaviest == lightest {
        return Ok(MassRange { all: heaviest * n as f64, lightest, heaviest });
    }
    let all = match mass {
        Masses::Each(masses) => total(masses.par_iter().copied(), heaviest, comm)?,
        Masses::Same(mass) => total(rayon::iter::repeat_n(*mass, own), heaviest, comm)?,
    };
    Ok(MassRange { all, lightest, heaviest })
}
