//! Are the rules and the particles valid?

use super::{FofError, LinkingRules, Particles, Role};
use crate::exchange::{dealt, rank_of_identity};
use crate::particles::{Bounds, Ids, Masses};
use crate::partition::rounds;
use bytemuck::zeroed_vec;
use inselberg_comm::{Comm, Reduce};
use inselberg_kernels::fof::grid::SHORTEST;
use rayon::prelude::*;

/// A coordinate may exceed a periodic side by this part of it: 32-bit reals round that far.
const BEYOND: f64 = 1.0 / (1 << 20) as f64;
/// The squares of greater numbers overflow, and those of lengths below its inverse underflow.
const GREATEST: f64 = 1e150;

/// Checks the rules.
///
/// # Errors
/// When they are not valid.
pub fn rules(rules: &LinkingRules) -> Result<(), FofError> {
    let length = rules.linking_length;
    if !(length.is_finite() && length > 1.0 / GREATEST) {
        return Err(FofError::LinkingLength(length));
    }
    if rules.min_size == 0 {
        return Err(FofError::MinSize);
    }
    let Some(sides) = rules.sides else { return Ok(()) };
    if !sides.iter().all(|side| *side > 0.0 && *side < GREATEST) {
        return Err(FofError::Sides(sides));
    }
    let most = sides.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
    if length <= most { Ok(()) } else { Err(FofError::TooLong { length, most }) }
}

/// Checks that the linking length exceeds rounding errors over the extent of the particles.
///
/// # Errors
/// When it does not.
pub fn length(rules: &LinkingRules, spread: &Bounds) -> Result<(), FofError> {
    let sides = rules.sides.map(|sides| sides.iter().copied().fold(0.0, f64::max));
    let spread = sides.unwrap_or(spread.widest());
    let (length, least) = (rules.linking_length, spread * SHORTEST);
    if length >= least { Ok(()) } else { Err(FofError::TooShort { length, least, spread }) }
}

/// Local: checks the particles of this rank.
///
/// # Errors
/// When a column has another length, or a value is not finite or outside the box.
pub fn particles(particles: &Particles, sides: Option<[f64; 3]>, spread: &Bounds) -> Result<(), FofError> {
    let expected = particles.len();
    if expected >= u32::MAX as usize {
        return Err(FofError::TooMany(expected));
    }
    for (column, length) in columns(particles) {
        if let Some(found) = length
            && found != expected
        {
            return Err(FofError::Column { column, found, expected });
        }
    }
    positions(particles, sides, spread)?;
    match &particles.mass {
        Masses::Same(mass) if expected > 0 => finite(particles, "mass", 1, |_| *mass)?,
        Masses::Each(list) => finite(particles, "mass", list.len(), |i| list[i])?,
        Masses::Same(_) => {}
    }
    if let Some(velocity) = &particles.velocity {
        (0..3).try_for_each(|a| finite(particles, "velocity", expected, |i| f64::from(velocity[i][a])))?;
    }
    Ok(())
}

fn columns(particles: &Particles) -> [(&'static str, Option<usize>); 6] {
    let mass = if let Masses::Each(list) = &particles.mass { Some(list.len()) } else { None };
    let id = if let Ids::Each(list) = &particles.id { Some(list.len()) } else { None };
    [
        ("the column of masses", mass),
        ("the column of IDs", id),
        ("the column of roles", particles.role.as_ref().map(Vec::len)),
        ("the column of velocities", particles.velocity.as_ref().map(Vec::len)),
        ("the column of gas densities", particles.gas_density.as_ref().map(Vec::len)),
        ("the column of black holes", particles.is_black_hole.as_ref().map(Vec::len)),
    ]
}

fn finite(
    particles: &Particles,
    column: &'static str,
    n: usize,
    value: impl Fn(usize) -> f64 + Sync,
) -> Result<(), FofError> {
    let bad = (0..n).into_par_iter().with_min_len(1 << 14).find_first(|i| !value(*i).is_finite());
    bad.map_or(Ok(()), |i| Err(FofError::Value { column, id: particles.id.get(i), value: value(i) }))
}

fn positions(particles: &Particles, sides: Option<[f64; 3]>, spread: &Bounds) -> Result<(), FofError> {
    let is_inside = |p: [f64; 3]| match sides {
        Some(sides) => (0..3).all(|a| p[a] >= -sides[a] * BEYOND && p[a] <= sides[a] * (1.0 + BEYOND)),
        None => p.iter().all(|x| x.abs() < GREATEST),
    };
    let n = particles.len();
    if n == 0 || spread.is_finite && is_inside(spread.low) && is_inside(spread.high) {
        return Ok(());
    }
    let is_finite = |p: [f64; 3]| p.iter().all(|x| x.abs() < GREATEST);
    let bad = (0..n).find(|i| {
        let p = particles.position.get(*i);
        !is_finite(p) || !is_inside(p)
    });
    bad.map_or(Ok(()), |i| {
        let (id, position) = (particles.id.get(i), particles.position.get(i));
        Err(match sides {
            Some(sides) if is_finite(position) => FofError::Outside { id, position, sides },
            _ => FofError::NotFinite { id, position },
        })
    })
}

/// IDs that a rank sends per exchange.
const CHUNK: usize = 1 << 22;

/// Collective: checks that no ID occurs twice among the particles that take part. Each rank receives the IDs
/// of some hashes. One exchange per 4 million particles of the fullest rank, none on one rank.
///
/// # Errors
/// When an ID occurs twice, and when another rank fails.
pub fn ids(particles: &Particles, comm: &Comm) -> Result<(), FofError> {
    let Ids::Each(all) = &particles.id else { return Ok(()) };
    let own: &[u64] = match &particles.role {
        Some(roles) if roles.contains(&Role::Ignored) => &participating(all, roles),
        _ => all,
    };
    let n_ranks = comm.n_ranks();
    if n_ranks == 1 {
        return duplicate(own).map_or(Ok(()), |id| Err(FofError::SameId(id)));
    }
    let mut mine = Vec::new();
    for round in 0..rounds(own.len().div_ceil(CHUNK), comm)? {
        let end = |round: usize| (round * CHUNK).min(own.len());
        let parts = dealt(&own[end(round)..end(round + 1)], |id| (rank_of_identity(*id, n_ranks), *id));
        comm.exchange(parts)?.into_iter().for_each(|(_, received)| mine.extend(received));
    }
    // The lowest of all ranks, so that the message is the same for any number of them.
    let found = duplicate(&mine).map_or([0, 0], |id| [1, !id]);
    match comm.all_reduce_counts(&found, Reduce::Max)?[..] {
        [1, inverse] => Err(FofError::SameId(!inverse)),
        _ => Ok(()),
    }
}

/// The IDs of the particles that are not ignored.
fn participating(ids: &[u64], roles: &[Role]) -> Vec<u64> {
    let each = ids.par_iter().zip(roles).with_min_len(1 << 14);
    each.filter(|(_, role)| **role != Role::Ignored).map(|(id, _)| *id).collect()
}

/// The lowest ID that occurs twice. Uses one bit per ID where they are dense, and sorts otherwise.
fn duplicate(ids: &[u64]) -> Option<u64> {
    let (least, most) = (*ids.iter().min()?, *ids.iter().max()?);
    if (most - least) / 64 < ids.len() as u64 {
        let mut seen: Vec<u64> = zeroed_vec(((most - least) / 64 + 1) as usize);
        let mut is_seen = |id: &u64| {
            let (word, bit) = (&mut seen[((id - least) / 64) as usize], 1 << ((id - least) % 64));
            std::mem::replace(word, *word | bit) & bit != 0
        };
        return ids.iter().copied().filter(|id| is_seen(id)).min();
    }
    let mut sorted = ids.to_vec();
    sorted.par_sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
