//! Defaults for facts that an input of particles may not state.

use super::{BlockOrder, Columns, MassOf, ParticleHeader, ParticleInput};
use crate::params;
use crate::params::{ParamSpec, Topic, real};
use crate::{ExtraCosmology, ReadError, ReadResult};
use std::ops::Range;
use std::path::{Path, PathBuf};

params! {
    /// Values for facts that an input does not state. They never replace a stated value.
    #[derive(Copy)]
    pub struct InputDefaults of "particles" {
        /// Mass per particle (code units) where the snapshot has none.
        ///
        /// Required for such a snapshot. In a plain array, which has no units, the default is 1.
        pub particle_mass: Option<f64> = None, "particle_mass" = positive().example("0.01");
        /// Unit of length in cm, for a Gadget snapshot that does not state it.
        ///
        /// As its UnitLength_in_cm; factors of h and a from the snapshot apply as well. The default is
        /// Gadget's own, 3.085678e21. The summary and the catalogue attribute assumed_units name the assumed
        /// units.
        pub unit_length: Option<f64> = None, "unit_length" = positive().measured(Measure::LENGTH.in_cgs(1.0)).example("3.085678e24");
        /// Unit of mass in g, for a Gadget snapshot that does not state it.
        ///
        /// As its UnitMass_in_g. The default is Gadget's own, 1.989e43.
        pub unit_mass: Option<f64> = None, "unit_mass" = positive().measured(Measure::MASS.in_cgs(1.0)).example("1.989e43");
        /// Unit of velocity in cm/s, for a Gadget snapshot that does not state it.
        ///
        /// As its UnitVelocity_in_cm_per_s. The default is Gadget's own, 1e5.
        pub unit_velocity: Option<f64> = None, "unit_velocity" = positive().measured(Measure::VELOCITY.in_cgs(1.0)).example("1e5");
        /// Expansion factor of a Gadget snapshot whose time and redshift do not agree.
        ///
        /// Required for such a snapshot. It is refused if the snapshot states its factor.
        pub expansion_factor: Option<f64> = None, "expansion_factor" = positive().example("0.5");
        /// Order of blocks in a Gadget snapshot of type 1: gizmo has two more before masses.
        ///
        /// auto: lengths and values of the blocks decide, or the snapshot is refused.
        pub block_order: Option<BlockOrder> = None, "gadget_blocks" = of_whole(
            ParamKind::Choice(&["auto", "gadget", "gizmo"]),
            "auto",
            |order, text, _| assign(order, match text {
                "auto" => Some(None),
                "gadget" => Some(Some(BlockOrder::Gadget)),
                "gizmo" => Some(Some(BlockOrder::Gizmo)),
                _ => None,
            }),
            |order| order.map(|order| if order == BlockOrder::Gizmo { "gizmo" } else { "gadget" }.into()),
            "auto, gadget or gizmo",
        ).topic(Topic::Particles);
    }
    with {
        /// Parameters of a cosmology that the input does not state.
        cosmology: ExtraCosmology,
    }
}

const fn positive() -> ParamSpec<Option<f64>> {
    real("", |x: &Option<f64>| x.is_none_or(|x| x > 0.0), "a finite number above 0").topic(Topic::Particles)
}

/// The problem of an order of blocks for any other format.
const NO_ORDER: &str =
    "an order of blocks is given, which only Gadget's binary snapshots of type 1 leave open; expected none";

impl InputDefaults {
    /// Checks that neither units nor an expansion factor are given for the input at `path`, whose format
    /// fixes them.
    ///
    /// # Errors
    /// One is given.
    pub(crate) fn refuse_units(&self, path: &Path) -> ReadResult<()> {
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

    fn runs(&self, species: usize, rows: Range<u64>) -> Vec<Range<u64>> {
        self.input.runs(species, rows)
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        self.input.place_of(species, row)
    }
}
