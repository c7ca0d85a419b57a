//! The species of an input that take part.

use super::columns::Ids;
use super::rows::RowRange;
use inselberg_io::particles::{KIND_NAMES, MissingMasses, ParticleHeader, Species, mass_of_all};

/// The species that take part, and what must be read of their particles.
#[derive(Debug, Clone)]
pub struct TakenSpecies {
    /// Indices into [`ParticleHeader::species`], ascending.
    pub list: Vec<usize>,
    /// What is added to the identities that the input gives, for each of these species. A species without any
    /// has the places of its rows as identities: 0 is the first row of the first species. For others it is 0.
    pub first_ids: Vec<u64>,
    /// Whether species mix kinds, so that the kind of each particle is read.
    pub is_mixed: bool,
    /// Whether positions are read in double precision.
    pub is_double: bool,
}

impl TakenSpecies {
    /// These species. `n_before` rows of others, which also have their places as identities, are before
    /// theirs.
    pub fn new(about: &ParticleHeader, list: Vec<usize>, mut n_before: u64) -> Self {
        let those = || list.iter().map(|species| &about.species[*species]);
        let first_id = |species: &Species| {
            let first_id = if species.has_ids { 0 } else { n_before };
            n_before += species.n;
            first_id
        };
        let first_ids = those().map(first_id).collect();
        let (is_mixed, is_double) = (those().any(Species::is_mixed), those().any(|s| s.is_double));
        Self { list, first_ids, is_mixed, is_double }
    }

    /// The species.
    pub fn species<'a>(&self, about: &'a ParticleHeader) -> Vec<&'a Species> {
        self.list.iter().map(|species| &about.species[*species]).collect()
    }

    /// Number of particles.
    pub fn n(&self, about: &ParticleHeader) -> u64 {
        self.list.iter().map(|species| about.species[*species].n).sum()
    }

    /// The mass of every particle, if they are all equal.
    ///
    /// # Errors
    /// When masses are missing.
    pub fn mass(&self, about: &ParticleHeader) -> Result<Option<f64>, MissingMasses> {
        mass_of_all(&self.species(about), about.units.is_some())
    }

    /// Makes the identities that the input gave for ranges, one per species, those of the particles.
    pub fn complete_ids(&self, ranges: &[RowRange], ids: &mut [u64]) {
        let mut rest = ids;
        for (range, first_id) in ranges.iter().zip(&self.first_ids) {
            let own;
            (own, rest) = rest.split_at_mut(range.n() as usize);
            if *first_id > 0 {
                own.iter_mut().for_each(|id| *id += first_id);
            }
        }
    }

    /// Identities of the rows of ranges, one per species, where no species has any.
    pub fn places(&self, ranges: &[RowRange]) -> Ids {
        match ranges {
            [one] => Ids::From(one.rows.start),
            several => {
                let places = several.iter().zip(&self.first_ids);
                Ids::Each(
                    places.flat_map(|(range, first)| range.rows.clone().map(move |r| first + r)).collect(),
                )
            }
        }
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
