//! Defaults for what an input of particles may leave open.

use super::{BlockOrder, Columns, MassOf, ParticleHeader, ParticleInput};
use crate::{ExtraCosmology, ReadError, ReadResult};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Values for what an input does not state. None of them replaces a stated value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InputDefaults {
    /// The mass per particle without one, in code units.
    pub particle_mass: Option<f64>,
    /// Centimetres in the unit of length of a Gadget snapshot, as its UnitLength_in_cm.
    pub unit_length: Option<f64>,
    /// Grams in the unit of mass, as its UnitMass_in_g.
    pub unit_mass: Option<f64>,
    /// cm/s in the unit of velocity, as its UnitVelocity_in_cm_per_s.
    pub unit_velocity: Option<f64>,
    /// The expansion factor of a Gadget snapshot whose statements do not agree on one.
    pub expansion_factor: Option<f64>,
    /// The order of the blocks of a Gadget snapshot without labels, where lengths and values do not decide.
    pub block_order: Option<BlockOrder>,
    /// Parameters of a cosmology that the input does not state.
    pub cosmology: ExtraCosmology,
}

/// What is wrong with an order of blocks of any other format.
const NO_ORDER: &str =
    "an order of blocks is given, which only Gadget's binary snapshots of type 1 leave open; expected none";

impl InputDefaults {
    /// Checks that neither units nor an expansion factor are given for the input at `path`, whose format fixes them.
    ///
    /// # Errors
    /// One is given.
    pub fn refuse_units(&self, path: &Path) -> ReadResult<()> {
        let given = [
            ("unit length", self.unit_length),
            ("unit mass", self.unit_mass),
            ("unit velocity", self.unit_velocity),
        ];
        match given.into_iter().find_map(|(name, value)| Some((name, value?))) {
            None => {
                self.refuse_expansion(path)?;
                self.refuse_block_order(path)
            }
            Some((name, value)) => {
                let problem = "only Gadget snapshots may leave their units open";
                Err(ReadError::unused_default(path, name, value, problem))
            }
        }
    }

    /// Checks that no order of blocks is given for the input at `path`, whose format needs none.
    ///
    /// # Errors
    /// One is given.
    pub(super) fn refuse_block_order(&self, path: &Path) -> ReadResult<()> {
        match self.block_order {
            None => Ok(()),
            Some(_) => Err(ReadError::absent(path, NO_ORDER)),
        }
    }

    /// Checks that no expansion factor is given for the input at `path`, whose format fixes it.
    ///
    /// # Errors
    /// One is given.
    fn refuse_expansion(&self, path: &Path) -> ReadResult<()> {
        match self.expansion_factor {
            None => Ok(()),
            Some(given) => {
                let problem = "only Gadget snapshots may leave it open";
                Err(ReadError::unused_default(path, "expansion factor", given, problem))
            }
        }
    }
}

/// Checks that some particles of the input at `path` have no mass, so that this one applies.
///
/// # Errors
/// Every particle has a mass.
pub fn check_mass(about: &ParticleHeader, path: &Path, mass: f64) -> ReadResult<()> {
    if about.species.iter().any(|s| s.mass == MassOf::Unknown) {
        return Ok(());
    }
    Err(ReadError::unused_default(path, "particle mass", mass, "the input states its own masses"))
}

/// `input` with this mass for all particles that have none.
pub fn with_masses(input: Box<dyn ParticleInput>, mass: f64) -> Box<dyn ParticleInput> {
    let mut about = input.about().clone();
    let is_filled = about.species.iter().map(|s| s.mass == MassOf::Unknown).collect();
    let without = about.species.iter_mut().filter(|s| s.mass == MassOf::Unknown);
    without.for_each(|species| species.mass = MassOf::Same(mass));
    Box::new(WithMasses { input, about, is_filled, mass })
}

struct WithMasses {
    input: Box<dyn ParticleInput>,
    about: ParticleHeader,
    /// Whether a species gets the mass.
    is_filled: Vec<bool>,
    mass: f64,
}

impl ParticleInput for WithMasses {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let before = into.mass.as_ref().map_or(0, Vec::len); // no column of masses: nothing to fill
        self.input.read(species, rows, into)?;
        if let (Some(mass), true) = (&mut into.mass, self.is_filled[species]) {
            mass[before..].fill(self.mass);
        }
        Ok(())
    }

    fn rows_at_a_time(&self) -> u64 {
        self.input.rows_at_a_time()
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        self.input.place_of(species, row)
    }
}
