//! Which particles of an input take part, and how.

use crate::fof::Role;
use crate::fof::load::LoadedParticles;
use crate::fof::{FofConfig, FofRunError};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::particles::{BLACK_HOLE, KIND_NAMES, N_KINDS, ParticleHeader, Species, mass_of_all};
use rayon::iter::ParallelIterator;

/// What is read, and what it is for.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// The species that take part, by their places in [`ParticleHeader::species`].
    pub species: Vec<usize>,
    /// Kinds that link.
    pub linking: [bool; N_KINDS],
    /// Kinds that are attached.
    pub attaching: [bool; N_KINDS],
    /// The periodic box; `None`: open.
    pub sides: Option<[f64; 3]>,
    /// Columns that are wanted.
    pub wants: Wants,
    /// The kind of all particles, if they are of one.
    pub only: Option<u8>,
    /// What comes before each species that takes part, in particles.
    pub firsts: Vec<u64>,
}

/// Columns beside positions.
#[derive(Debug, Clone, Copy)]
pub struct Wants {
    /// Positions in double precision.
    pub double: bool,
    /// Masses that differ; the mass of all otherwise.
    pub masses: Option<f64>,
    /// Identities.
    pub ids: bool,
    /// The kind of each particle.
    pub kinds: bool,
    /// Velocities.
    pub velocities: bool,
    /// Gas densities.
    pub densities: bool,
    /// Whether black holes take part.
    pub black_holes: bool,
    /// What each particle does: not all of them link.
    pub roles: bool,
}

/// How many particles there are on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParticleCounts {
    /// In the species that take part.
    pub all: u64,
    /// That link.
    pub linkable: u64,
    /// That are attached.
    pub attachable: u64,
    /// Of dark matter.
    pub dark: u64,
}

impl ReadPlan {
    /// Holds an input against what is asked for.
    pub fn new(about: &ParticleHeader, config: &FofConfig) -> Result<Self, FofRunError> {
        if about.species.iter().all(|s| s.n == 0) {
            return Err(FofRunError::Empty);
        }
        let takes_part = |kind: usize| config.linking[kind] || config.attaching[kind];
        let wanted = |s: &Species| s.kind.is_none_or(|kind| takes_part(usize::from(kind)));
        let species: Vec<usize> = (0..about.species.len()).filter(|s| wanted(&about.species[*s])).collect();
        if !species.iter().any(|s| about.species[*s].kind.is_none_or(|k| config.linking[usize::from(k)])) {
            return Err(FofRunError::NothingLinks { what: contents(about) });
        }
        let those: Vec<&Species> = species.iter().map(|s| &about.species[*s]).collect();
        let has_kind = |kind: u8| those.iter().any(|s| s.kind.is_none_or(|k| k == kind));
        let wants = Wants {
            double: those.iter().any(|s| s.is_double),
            masses: mass_of_all(&those, about.units.is_some())?,
            ids: all_have_ids(&those)?,
            kinds: those.len() > 1 || those.iter().any(|s| s.kind.is_none()),
            velocities: those.iter().all(|s| s.has_velocities),
            densities: those.iter().any(|s| s.has_densities),
            black_holes: has_kind(BLACK_HOLE) && takes_part(usize::from(BLACK_HOLE)),
            roles: those.iter().any(|s| s.kind.is_none_or(|kind| !config.linking[usize::from(kind)])),
        };
        let only = if let [one] = those[..] { one.kind } else { None };
        let mut before = 0;
        let firsts = those.iter().map(|s| (before, before += s.n).0).collect();
        let sides = sides(about, config)?;
        let (linking, attaching) = (config.linking, config.attaching);
        Ok(Self { species, linking, attaching, sides, wants, only, firsts })
    }

    /// What particles of a kind do.
    pub fn role_of(&self, kind: u8) -> Role {
        let has = |kinds: &[bool; N_KINDS]| kinds.get(usize::from(kind)).copied().unwrap_or(false);
        match (has(&self.linking), has(&self.attaching)) {
            (true, _) => Role::Linkable,
            (_, true) => Role::Attachable,
            _ => Role::Ignored,
        }
    }
}

impl LoadedParticles {
    /// Collective: how many there are of what.
    pub fn census(&self, plan: &ReadPlan, comm: &Comm) -> Result<ParticleCounts, CommError> {
        let n = self.n();
        let role = |role: Role| match &self.particles.role {
            Some(roles) => roles.iter().filter(|r| **r == role).count() as u64,
            None if role == Role::Linkable => n,
            None => 0,
        };
        let dark = self.dark(plan).count() as u64;
        let counts = [n, role(Role::Linkable), role(Role::Attachable), dark];
        let sums = comm.all_reduce_counts(&counts, Reduce::Sum)?;
        Ok(ParticleCounts { all: sums[0], linkable: sums[1], attachable: sums[2], dark: sums[3] })
    }
}

/// What an input holds, for messages.
pub fn contents(about: &ParticleHeader) -> String {
    let one = |s: &Species| match s.kind {
        Some(kind) if s.name.starts_with("PartType") => {
            format!("{} of {} ({})", s.n, s.name, KIND_NAMES.get(usize::from(kind)).unwrap_or(&"unknown"))
        }
        _ => format!("{} particles", s.n),
    };
    let all: Vec<_> = about.species.iter().map(one).collect();
    all.join(", ")
}

fn sides(about: &ParticleHeader, config: &FofConfig) -> Result<Option<[f64; 3]>, FofRunError> {
    match (config.open, about.sides, config.side) {
        (_, Some(sides), Some(given)) => Err(FofRunError::TwoBoxes { given, sides }),
        (true, _, _) => Ok(None),
        (false, Some(sides), None) => Ok(about.periodic.then_some(sides)),
        (false, None, Some(side)) => Ok(Some([side; 3])),
        // A snapshot without a box is of an open one.
        (false, None, None) if about.units.is_some() => Ok(None),
        (false, None, None) => Err(FofRunError::NoBox),
    }
}

fn all_have_ids(species: &[&Species]) -> Result<bool, FofRunError> {
    let with = species.iter().find(|s| s.has_ids);
    let without = species.iter().find(|s| !s.has_ids);
    match (with, without) {
        (Some(with), Some(without)) => {
            Err(FofRunError::SomeIds { with: with.name.clone(), without: without.name.clone() })
        }
        (with, _) => Ok(with.is_some()),
    }
}
