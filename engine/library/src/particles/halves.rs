//! Halves of the particles, by a hash of their identities.

use super::in_box::BoxPlan;
use super::rows::{n_rows, read_rows, rows_of_rank};
use crate::hash::mixed;
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_io::ReadResult;
use inselberg_io::particles::{
    Columns, HeldParticles, MassOf, ParticleHeader, ParticleInput, Positions, Species,
};

/// From which hashes halves are drawn.
pub const SEED: u64 = 1;

/// Which half of the particles takes part. Rounds 2 k and 2 k + 1 have halves that complement each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfChoice {
    key: u64,
    bit: u64,
}

impl HalfChoice {
    /// That of a round, from 0.
    pub fn of_round(round: u64) -> Self {
        Self { key: mixed(mixed(SEED) ^ (round / 2)), bit: 1 - round % 2 }
    }

    /// Whether the particle with this identity is in the half.
    pub fn has(self, id: u64) -> bool {
        mixed(id ^ self.key) & 1 == self.bit
    }
}

/// Collective: a half of the particles of an input, in memory. Masses are twice those of the input, so that
/// the half has about the same densities. Reads the input once, into up to 45 bytes per particle of this rank;
/// those of the half are kept.
///
/// # Errors
/// When the input cannot be read, or another rank fails.
pub fn half_of(
    input: &dyn ParticleInput,
    plan: &BoxPlan,
    choice: HalfChoice,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<ReadResult<HeldParticles>, CommError> {
    let columns = rows_of_half(input, plan, choice, comm, observer);
    let n = columns.as_ref().map_or(0, |columns| columns.position.len() as u64);
    let mut first_rows = vec![0];
    for n in comm.all_gather(&[n])? {
        first_rows.push(first_rows[first_rows.len() - 1] + n);
    }
    let about = header_of_half(input.about(), plan, first_rows[comm.n_ranks()]);
    Ok(columns.map(|columns| HeldParticles::new(about, first_rows, comm.rank().at(), columns)))
}

/// Local: the rows of this rank that are in the half.
fn rows_of_half(
    input: &dyn ParticleInput,
    plan: &BoxPlan,
    choice: HalfChoice,
    comm: &Comm,
    observer: &dyn Observer,
) -> ReadResult<Columns> {
    let ranges = rows_of_rank(input, &plan.taken.list, comm);
    let _stage = Stage::begin("reading", n_rows(&ranges), comm, observer);
    let mut columns = Columns {
        position: Positions::with_capacity(plan.taken.is_double, 0),
        mass: Some(Vec::new()),
        id: Some(Vec::new()),
        kind: are_kinds_read(plan).then(Vec::new),
        velocity: None,
        density: has_densities(&plan.taken.species(input.about())).then(Vec::new),
    };
    read_rows(input, &ranges, &mut columns, observer)?;
    let ids = columns.id.as_mut().expect("identities were requested");
    plan.taken.complete_ids(&ranges, ids);
    let is_taken = |i: usize| columns.kind.as_ref().is_none_or(|kinds| plan.takes(kinds[i]));
    let ids = columns.id.iter().flatten().enumerate();
    let is_in: Vec<bool> = ids.map(|(i, id)| choice.has(*id) && is_taken(i)).collect();
    keep(&mut columns, &is_in);
    columns.mass.iter_mut().flatten().for_each(|mass| *mass *= 2.0);
    Ok(columns)
}

/// Whether particles of the half have kinds of their own. A half is one species, whatever the input has.
fn are_kinds_read(plan: &BoxPlan) -> bool {
    plan.taken.is_mixed || plan.taken.list.len() > 1
}

fn has_densities(species: &[&Species]) -> bool {
    species.iter().any(|species| species.has_densities)
}

/// The header of a half with `n` particles.
fn header_of_half(about: &ParticleHeader, plan: &BoxPlan, n: u64) -> ParticleHeader {
    let taken = plan.taken.species(about);
    let first = taken.first().expect("a plan has species");
    let species = Species {
        kind: first.kind.filter(|_| !are_kinds_read(plan)),
        n,
        mass: MassOf::Each,
        is_double: plan.taken.is_double,
        has_ids: true,
        has_velocities: false,
        has_densities: has_densities(&taken),
        has_weights: taken.iter().any(|species| species.has_weights),
        has_wind: false,
        ..(*first).clone()
    };
    ParticleHeader { species: vec![species], ..about.clone() }
}

/// Keeps the rows that are in the half.
fn keep(columns: &mut Columns, is_in: &[bool]) {
    fn of<T>(list: &mut Vec<T>, is_in: &[bool]) {
        let mut is_in = is_in.iter();
        list.retain(|_| *is_in.next().expect("a choice per row"));
        list.shrink_to_fit();
    }
    match &mut columns.position {
        Positions::Single(list) => of(list, is_in),
        Positions::Double(list) => of(list, is_in),
    }
    columns.mass.iter_mut().for_each(|list| of(list, is_in));
    columns.id.iter_mut().for_each(|list| of(list, is_in));
    columns.kind.iter_mut().for_each(|list| of(list, is_in));
    columns.density.iter_mut().for_each(|list| of(list, is_in));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_pair_complement_each_other() {
        for pair in 0..8 {
            let [a, b] = [2 * pair, 2 * pair + 1].map(HalfChoice::of_round);
            assert!((0..10_000).all(|id| a.has(id) != b.has(id)));
            let n = (0..10_000).filter(|id| a.has(*id)).count();
            assert!((4800..5200).contains(&n), "{n} of 10000 in round {}", 2 * pair);
        }
    }

    /// About half of a half is in a half of another pair.
    #[test]
    fn pairs_are_independent() {
        let [a, b] = [0, 2].map(HalfChoice::of_round);
        let n = (0..10_000).filter(|id| a.has(*id) && b.has(*id)).count();
        assert!((2300..2700).contains(&n), "{n}");
    }
}
