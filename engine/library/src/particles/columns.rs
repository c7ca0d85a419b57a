//! Masses and identities of particles.

use crate::exchange::total;
use inselberg_comm::{Comm, CommError, Reduce};
use rayon::prelude::*;

/// Masses in units of the input.
#[derive(Debug, Clone, PartialEq)]
pub enum Masses {
    /// That of every particle.
    Same(f64),
    /// One for each particle.
    Each(Vec<f64>),
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

impl Masses {
    /// Mass of particle `i`.
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::Same(mass) => *mass,
            Self::Each(list) => list[i],
        }
    }

    /// Collective: the same masses, as one mass if all particles of all ranks have it.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn unified(self, comm: &Comm) -> Result<Self, CommError> {
        let Self::Each(masses) = &self else { return Ok(self) };
        let [lightest, heaviest] = self.ends(masses.len(), comm)?;
        Ok(if lightest == heaviest { Self::Same(heaviest) } else { self })
    }

    /// Collective: sum, least and greatest of the masses of all ranks; `own` is the number of particles of
    /// this rank, and there is at least one on some rank. The result does not depend on how particles are
    /// distributed over ranks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn range(&self, own: usize, comm: &Comm) -> Result<MassRange, CommError> {
        let [lightest, heaviest] = self.ends(own, comm)?;
        let n = comm.all_reduce_counts(&[own as u64], Reduce::Sum)?[0];
        if heaviest == lightest {
            return Ok(MassRange { all: heaviest * n as f64, lightest, heaviest });
        }
        let all = match self {
            Self::Each(masses) => total(masses.par_iter().copied(), heaviest, comm)?,
            Self::Same(mass) => total(rayon::iter::repeat_n(*mass, own), heaviest, comm)?,
        };
        Ok(MassRange { all, lightest, heaviest })
    }

    /// Collective: the least and the greatest mass of all ranks.
    fn ends(&self, own: usize, comm: &Comm) -> Result<[f64; 2], CommError> {
        let of_own = |each: fn(f64, f64) -> f64, none: f64| match self {
            _ if own == 0 => none,
            Self::Same(mass) => *mass,
            Self::Each(masses) => masses.par_iter().copied().reduce(|| none, each),
        };
        let ends = [of_own(f64::max, f64::NEG_INFINITY), -of_own(f64::min, f64::INFINITY)];
        let ends = comm.all_max(&ends)?;
        Ok([-ends[1], ends[0]])
    }
}

/// Particle IDs. No ID occurs twice among the particles of all ranks that take part, unless the rules allow
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ids {
    /// Places in the input: particle i has this number + i. Ranks have disjoint ranges.
    From(u64),
    /// One for each particle.
    Each(Vec<u64>),
}

impl Ids {
    /// ID of particle `i`.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        match self {
            Self::From(first) => first + i as u64,
            Self::Each(list) => list[i],
        }
    }
}
