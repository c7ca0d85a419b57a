//! Which rank owns which roots, and the particles sorted by root.

use super::plan::RootDeposits;
use crate::chunks::carve;
use crate::error::ParticleMeshError;
use crate::error::RunError;
use crate::particles::Masses;
use crate::partition::deliver;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_io::reserve;
use inselberg_io::reserve::OutOfMemory;
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::geom::fold;
use inselberg_kernels::particle_mesh::Shape;
use inselberg_kernels::sfc::morton63;
use rayon::prelude::*;
use std::ops::Range;

/// The particles in the roots that a rank owns, sorted by root.
#[derive(Debug)]
pub struct Roots<T> {
    /// The keys of the roots.
    pub keys: Range<u64>,
    /// The index of the first particle of each root; at the end, the number of particles.
    pub first: Vec<usize>,
    /// Positions, in a box of the side below.
    pub position: Vec<[T; 3]>,
    /// Masses.
    pub mass: Masses,
    /// Side of the box in the units of the positions.
    pub side: f64,
    /// The owners of all roots.
    pub owners: Owners,
}

/// The owners of roots: each rank owns a run of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owners {
    /// The first root of each rank but the first, ascending.
    first: Vec<u64>,
    n_roots: u64,
}

impl Owners {
    /// Collective: splits roots into runs with about equal numbers of particles, from the counts of this rank
    /// by root. Ownership never changes a result.
    fn new(shape: &Shape, counts: &[u64], comm: &Comm) -> Result<Self, CommError> {
        let counts = comm.all_reduce_counts(counts, Reduce::Sum)?;
        let (all, n_ranks) = (counts.iter().sum::<u64>(), comm.n_ranks() as u64);
        let mut before = 0;
        let ends: Vec<u64> = counts.iter().map(|n| (before += n, before).1).collect();
        let wanted = |rank: u64| (u128::from(all) * u128::from(rank) / u128::from(n_ranks)) as u64;
        let first = (1..n_ranks).map(|rank| ends.partition_point(|end| *end <= wanted(rank)) as u64);
        Ok(Self { first: first.collect(), n_roots: shape.n_roots() as u64 })
    }

    /// The owner of a root.
    pub fn owner(&self, root: u64) -> Rank {
        Rank(self.first.partition_point(|first| *first <= root) as u32)
    }

    /// The roots of a rank.
    fn roots(&self, rank: Rank) -> Range<u64> {
        // The first rank starts at root 0, and the last one ends at the last root.
        let end = |rank: usize| self.first.get(rank).copied().unwrap_or(self.n_roots);
        let start = rank.at().checked_sub(1).map_or(0, end);
        start..end(rank.at())
    }
}

/// The root of a position in units of the box.
#[inline]
fn root_at(shape: &Shape, x: [f64; 3]) -> u64 {
    let roots_per_side = f64::from(1u32 << shape.root_level);
    morton63(x.map(|x| (x * roots_per_side) as u32))
}

/// The position of a particle in units of the box, brought into it.
#[inline]
pub fn unit<T: Real>(side: f64, position: [T; 3]) -> [f64; 3] {
    T::place(position).map(|x| fold(x, side) / side)
}

/// Collective: brings particles to the owners of their roots. Positions become units of the box. One
/// reduction, and an exchange per round.
///
/// # Errors
/// When another rank fails.
pub fn migrate<T: Real>(
    deposits: &RootDeposits,
    position: Vec<[T; 3]>,
    mass: Masses,
    comm: &Comm,
) -> Result<(Vec<[f64; 3]>, Masses, Owners), CommError> {
    let shape = &deposits.shape;
    let mut counts = vec![0; shape.n_roots()];
    position.iter().for_each(|x| counts[root_at(shape, unit(deposits.side, *x)) as usize] += 1);
    let owners = Owners::new(shape, &counts, comm)?;
    let record = |(i, x): (usize, &[T; 3])| {
        let [x, y, z] = unit(deposits.side, *x);
        [x, y, z, mass.get(i)]
    };
    let records: Vec<[f64; 4]> = position.par_iter().enumerate().map(record).collect();
    drop(position);
    let to_owner =
        |record: &[f64; 4]| (owners.owner(root_at(shape, [record[0], record[1], record[2]])), *record);
    let received = deliver(records, to_owner, comm)?;
    let mass = match mass {
        Masses::Same(mass) => Masses::Same(mass),
        Masses::Each(_) => Masses::Each(received.par_iter().map(|record| record[3]).collect()),
    };
    Ok((received.into_par_iter().map(|[x, y, z, _]| [x, y, z]).collect(), mass, owners))
}

/// Local: sorts the particles of this rank by root. `owners` is `None` on one rank, which owns all roots.
///
/// # Errors
/// When there are too many, or they do not fit into memory.
pub fn gather<T: Real>(
    deposits: &RootDeposits,
    position: Vec<[T; 3]>,
    mass: Masses,
    owners: Option<Owners>,
    rank: Rank,
) -> Result<Roots<T>, RunError> {
    let n_roots = deposits.shape.n_roots() as u64;
    let owners = owners.unwrap_or(Owners { first: Vec::new(), n_roots });
    if position.len() >= u32::MAX as usize {
        return Err(ParticleMeshError::TooMany { n: position.len() as u64 }.into());
    }
    let keys = owners.roots(rank);
    let (first, position, mass) = scatter(deposits, keys.clone(), &position, &mass)?;
    Ok(Roots { keys, first, position, mass, side: deposits.side, owners })
}

/// The first particle of each root, positions and masses.
type ScatteredParticles<T> = (Vec<usize>, Vec<[T; 3]>, Masses);

/// A counting sort by root, in parallel over parts of the input: count, prefix sums, scatter.
fn scatter<T: Real>(
    deposits: &RootDeposits,
    keys: Range<u64>,
    position: &[[T; 3]],
    mass: &Masses,
) -> Result<ScatteredParticles<T>, OutOfMemory> {
    let n_roots = (keys.end - keys.start) as usize;
    let root = |x: &[T; 3]| (root_at(&deposits.shape, unit(deposits.side, *x)) - keys.start) as usize;
    let n_parts = 4 * rayon::current_num_threads();
    let n_each = position.len().div_ceil(n_parts).max(1);
    let count = |list: &[[T; 3]]| {
        let mut counts = vec![0_u32; n_roots];
        list.iter().for_each(|x| counts[root(x)] += 1);
        counts
    };
    let counts: Vec<Vec<u32>> = position.par_chunks(n_each).map(count).collect();
    let sizes = (0..n_roots).map(|root| counts.iter().map(|c| c[root] as usize).sum::<usize>());
    let mut end = 0;
    let first = std::iter::once(0).chain(sizes.map(|n| (end += n, end).1)).collect();
    let mut sorted: Vec<[T; 3]> = reserve::zeros(position.len())?;
    put(&mut sorted, &counts, position, n_each, |i| root(&position[i]));
    let mass = match mass {
        Masses::Same(mass) => Masses::Same(*mass),
        Masses::Each(masses) => {
            let mut sorted: Vec<f64> = reserve::zeros(masses.len())?;
            put(&mut sorted, &counts, masses, n_each, |i| root(&position[i]));
            Masses::Each(sorted)
        }
    };
    Ok((first, sorted, mass))
}

/// Puts values into the ranges of their roots. `counts[part][root]` is the number of values of a part of
/// `n_each` values. Parts in parallel.
fn put<V: Pod + Send + Sync>(
    to: &mut [V],
    counts: &[Vec<u32>],
    values: &[V],
    n_each: usize,
    root: impl Fn(usize) -> usize + Sync,
) {
    let n_roots = counts.first().map_or(0, Vec::len);
    let lengths = (0..n_roots).flat_map(|root| counts.iter().map(move |c| c[root] as usize));
    let mut places: Vec<Vec<&mut [V]>> = counts.iter().map(|_| Vec::with_capacity(n_roots)).collect();
    let n_counted = counts.len().max(1);
    for (i, piece) in carve(to, lengths).into_iter().enumerate() {
        places[i % n_counted].push(piece);
    }
    values.par_chunks(n_each).zip(places).enumerate().for_each(|(part, (list, mut places))| {
        for (i, value) in list.iter().enumerate() {
            let places = &mut places[root(part * n_each + i)];
            let (place, rest) =
                std::mem::take(places).split_first_mut().expect("the values of each root were counted");
            *place = *value;
            *places = rest;
        }
    });
}
