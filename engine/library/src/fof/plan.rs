//! Which particles of an input take part, and which columns are read?

use crate::fof::request::FofRequest;
use crate::fof::run_error::FofRunError;
use crate::fof::types::Role;
use crate::particles::{TakenSpecies, contents};
use inselberg_io::particles::{BLACK_HOLE, N_KINDS, ParticleHeader, Species, check_readable};

/// What to read of an input, and the role of each kind.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// The species that take part.
    pub taken: TakenSpecies,
    /// Kinds that link.
    pub linking: [bool; N_KINDS],
    /// Kinds that are attached.
    pub attaching: [bool; N_KINDS],
    /// The sides of the periodic box; `None`: open boundaries.
    pub sides: Option<[f64; 3]>,
    /// The columns to read.
    pub wants: Wants,
    /// The kind of all particles, if there is only one.
    pub only: Option<u8>,
}

/// Columns to read beside positions.
#[derive(Debug, Clone, Copy)]
pub struct Wants {
    /// The mass of every particle; `None`: masses differ and are read.
    pub masses: Option<f64>,
    /// IDs.
    pub ids: bool,
    /// The kind of each particle.
    pub kinds: bool,
    /// Velocities.
    pub velocities: bool,
    /// Gas densities.
    pub densities: bool,
    /// Whether black holes take part.
    pub black_holes: bool,
    /// The role of each particle: not all of them link.
    pub roles: bool,
}

/// Numbers of particles on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParticleCounts {
    /// Particles of the species that take part.
    pub all: u64,
    /// Particles that link.
    pub linkable: u64,
    /// Particles that are attached.
    pub attachable: u64,
    /// Dark-matter particles.
    pub dark: u64,
}

impl ReadPlan {
    /// What `request` takes of an input. Local; reads no particle.
    ///
    /// # Errors
    /// When the input does not suit `request`.
    pub fn new(about: &ParticleHeader, request: &FofRequest) -> Result<Self, FofRunError> {
        if about.species.iter().all(|s| s.n == 0 && s.problem.is_none()) {
            return Err(FofRunError::Empty);
        }
        let takes_part = |kind: usize| request.linking[kind] || request.attaching[kind];
        let wanted = |s: &Species| s.may_be(|kind| takes_part(usize::from(kind)));
        let species: Vec<usize> = (0..about.species.len()).filter(|s| wanted(&about.species[*s])).collect();
        if !species.iter().any(|s| about.species[*s].kind.is_none_or(|k| request.linking[usize::from(k)])) {
            return Err(FofRunError::NothingLinks { what: contents(about) });
        }
        let taken = TakenSpecies::new(about, species, 0);
        let those = taken.species(about);
        check_readable(&those)?;
        let has_kind = |kind: u8| those.iter().any(|s| s.kind.is_none_or(|k| k == kind));
        let wants = Wants {
            masses: taken.mass(about)?,
            ids: all_have_ids(&those)?,
            kinds: those.len() > 1 || taken.is_mixed,
            velocities: those.iter().all(|s| s.has_velocities),
            densities: those.iter().any(|s| s.has_densities),
            black_holes: has_kind(BLACK_HOLE) && takes_part(usize::from(BLACK_HOLE)),
            roles: those.iter().any(|s| s.may_be(|kind| !request.linking[usize::from(kind)])),
        };
        let only = if let [one] = those[..] { one.kind.filter(|_| !one.is_mixed()) } else { None };
        let sides = sides(about, request)?;
        let (linking, attaching) = (request.linking, request.attaching);
        Ok(Self { taken, linking, attaching, sides, wants, only })
    }

    /// What a user may not expect of the input, one line each.
    pub fn notes(&self, about: &ParticleHeader, request: &FofRequest) -> Vec<String> {
        let boundary = about.boundary_note(false).filter(|_| !request.open && self.sides.is_none());
        about.notes.iter().cloned().chain(boundary).collect()
    }

    /// The role of particles of a kind; kinds that the request does not know are ignored.
    pub fn role_of(&self, kind: u8) -> Role {
        let has = |kinds: &[bool; N_KINDS]| kinds.get(usize::from(kind)).is_some_and(|takes| *takes);
        match (has(&self.linking), has(&self.attaching)) {
            (true, _) => Role::Linkable,
            (_, true) => Role::Attachable,
            _ => Role::Ignored,
        }
    }
}

fn sides(about: &ParticleHeader, request: &FofRequest) -> Result<Option<[f64; 3]>, FofRunError> {
    match (request.open, about.sides, request.side) {
        (false, Some(sides), Some(given)) if sides == [given; 3] => Ok(Some(sides)),
        (_, Some(sides), Some(given)) => Err(FofRunError::TwoBoxes { given, sides }),
        (true, _, _) => Ok(None),
        (false, Some(sides), None) => Ok(about.periodic.then_some(sides)),
        (false, None, Some(side)) => Ok(Some([side; 3])),
        // Snapshots without a box have open boundaries.
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
