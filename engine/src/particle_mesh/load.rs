//! The particles that one rank reads.

use super::plan::MeshPlan;
use crate::error::RunError;
use crate::exchange::total;
use crate::fof::Masses;
use crate::fof::{RowRange, make_room, read, sound};
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::agree::share_of_rank;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::ReadResult;
use inselberg_io::particles::{Columns, ParticleInput, Positions};
use rayon::prelude::*;

/// What a rank holds of an input, in or about the box.
#[derive(Debug)]
pub struct BoxParticles {
    /// Positions as the input has them.
    pub position: Positions,
    /// Masses.
    pub mass: Masses,
}

/// Local: reads the rows of this rank and looks at each.
///
/// # Errors
/// A file is not what its header says, a number is none, a particle is outside the box, or they do not fit into memory.
pub fn load(
    input: &dyn ParticleInput,
    plan: &MeshPlan,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<BoxParticles, RunError> {
    let all = &input.about().species;
    let stretch =
        |s: &usize| RowRange { species: *s, rows: share_of_rank(all[*s].n, comm.rank(), comm.n_ranks()) };
    let stretches: Vec<RowRange> = plan.species.iter().map(stretch).collect();
    let n = stretches.iter().map(|s| s.rows.end - s.rows.start).sum::<u64>();
    let stage = Stage::begin("reading", n, comm, observer);
    let mut columns = Columns {
        position: Positions::with_capacity(plan.double, 0),
        mass: plan.mass.is_none().then(Vec::new),
        id: None,
        kind: plan.mixed.then(Vec::new),
        velocity: None,
        density: None,
    };
    make_room(input, &stretches, &mut columns)?;
    for stretch in &stretches {
        read(input, stretch, &mut columns, observer)?;
    }
    check(input, &columns, &stretches, plan)?;
    choose(&mut columns, plan);
    stage.count(n);
    drop(stage);
    let mass = columns.mass.map_or(Masses::Same(plan.mass.unwrap_or(1.0)), Masses::Each);
    Ok(BoxParticles { position: columns.position, mass })
}

fn check(
    input: &dyn ParticleInput,
    columns: &Columns,
    stretches: &[RowRange],
    plan: &MeshPlan,
) -> ReadResult<()> {
    sound::check(input, columns, stretches, Some([plan.side; 3]))?;
    if plan.periodic {
        return Ok(());
    }
    sound::check_each(input, stretches, |i| {
        let at = columns.position.get(i);
        let is_inside = at.iter().all(|x| (0.0..plan.side).contains(x));
        let expected = || format!("0 to less than {} in a box that does not wrap around", plan.side);
        (!is_inside).then(|| (format!("position {at:?} is outside the box"), expected()))
    })
}

/// Keeps those of the wanted kinds.
fn choose(columns: &mut Columns, plan: &MeshPlan) {
    let Some(kinds) = &columns.kind else { return };
    let is_wanted = |kind: &u8| plan.kinds.get(usize::from(*kind)).copied().unwrap_or(false);
    fn keep<T>(list: &mut Vec<T>, kinds: &[u8], is_wanted: impl Fn(&u8) -> bool) {
        let mut kinds = kinds.iter();
        list.retain(|_| kinds.next().is_some_and(&is_wanted));
    }
    match &mut columns.position {
        Positions::Single(list) => keep(list, kinds, is_wanted),
        Positions::Double(list) => keep(list, kinds, is_wanted),
    }
    if let Some(mass) = &mut columns.mass {
        keep(mass, kinds, is_wanted);
    }
}

/// What all particles weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// All of them together.
    pub all: f64,
    /// The least mass.
    pub lightest: f64,
    /// The greatest mass.
    pub heaviest: f64,
}

/// Collective: the masses of the particles of all ranks, of which there are some; does not depend on who holds which.
///
/// # Errors
/// When another rank fails.
pub fn weigh(mass: &Masses, own: usize, comm: &Comm) -> Result<Weight, CommError> {
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
        return Ok(Weight { all: heaviest * n as f64, lightest, heaviest });
    }
    let all = match mass {
        Masses::Each(masses) => total(masses.par_iter().copied(), heaviest, comm)?,
        Masses::Same(mass) => total(rayon::iter::repeat_n(*mass, own), heaviest, comm)?,
    };
    Ok(Weight { all, lightest, heaviest })
}
