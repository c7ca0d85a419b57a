//! The names under which codes write the numbers of a header and the columns of particles.
//!
//! All readers of HDF5 snapshots use these two tables: a further name is one word here.

use crate::hdf5_file::{DatasetRows, Hdf5File};
use crate::{ReadError, ReadResult};

/// A number that headers state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderNumber {
    /// The expansion factor.
    ExpansionFactor,
    /// The redshift.
    Redshift,
    /// Whether the run is comoving: 0 or 1.
    Comoving,
    /// The Hubble constant over 100 km/s/Mpc.
    LittleH,
    /// The density parameter of matter.
    OmegaM,
    /// That of dark energy.
    OmegaL,
    /// That of baryons.
    OmegaB,
    /// That of curvature.
    OmegaK,
    /// That of radiation.
    OmegaR,
    /// That of massive neutrinos.
    OmegaNu,
    /// That of cold dark matter.
    OmegaCdm,
    /// Pressure over density of dark energy today.
    W0,
    /// The part of that which changes.
    Wa,
    /// Centimetres in a length times h.
    UnitLength,
    /// Grams in a mass times h.
    UnitMass,
    /// cm/s in a velocity.
    UnitVelocity,
    /// Centimetres in a length, with 1/h in it.
    UnitLengthOverH,
    /// Grams in a mass, with 1/h in it.
    UnitMassOverH,
    /// The constant of gravity in code units.
    Newton,
    /// The Hubble constant in code units and units of h.
    HubbleInternal,
    /// Whether the box is periodic: 0 or 1.
    Periodic,
}

/// A quantity and the names of its attributes.
struct HeaderName {
    quantity: HeaderNumber,
    /// In Gadget-2, 3 and 4, AREPO, EAGLE, GIZMO and their descendants.
    gadget: &'static [&'static str],
    /// In SWIFT.
    swift: &'static [&'static str],
}

const fn row(
    quantity: HeaderNumber,
    gadget: &'static [&'static str],
    swift: &'static [&'static str],
) -> HeaderName {
    HeaderName { quantity, gadget, swift }
}

/// The names of all quantities. GIZMO has its own since 2020, with underscores; `ExpansionFactor` is EAGLE's.
const HEADER_NAMES: &[HeaderName] = &[
    row(HeaderNumber::ExpansionFactor, &["ExpansionFactor"], &["Scale-factor"]),
    row(HeaderNumber::Redshift, &["Redshift"], &["Redshift"]),
    row(HeaderNumber::Comoving, &["ComovingIntegrationOn"], &["Cosmological run"]),
    row(HeaderNumber::LittleH, &["HubbleParam"], &["h"]),
    row(HeaderNumber::OmegaM, &["Omega0", "Omega_Matter"], &["Omega_m"]),
    row(HeaderNumber::OmegaL, &["OmegaLambda", "Omega_Lambda"], &["Omega_lambda"]),
    row(HeaderNumber::OmegaB, &["OmegaBaryon", "Omega_Baryon"], &["Omega_b"]),
    row(HeaderNumber::OmegaK, &[], &["Omega_k"]),
    row(HeaderNumber::OmegaR, &["Omega_Radiation"], &["Omega_r"]),
    row(HeaderNumber::OmegaNu, &[], &["Omega_nu_0"]),
    row(HeaderNumber::OmegaCdm, &[], &["Omega_cdm"]),
    row(HeaderNumber::W0, &[], &["w_0"]),
    row(HeaderNumber::Wa, &[], &["w_a"]),
    row(HeaderNumber::UnitLength, &["UnitLength_in_cm"], &[]),
    row(HeaderNumber::UnitMass, &["UnitMass_in_g"], &[]),
    row(HeaderNumber::UnitVelocity, &["UnitVelocity_in_cm_per_s", "UnitVelocity_In_CGS"], &[]),
    row(HeaderNumber::UnitLengthOverH, &["UnitLength_In_CGS"], &[]),
    row(HeaderNumber::UnitMassOverH, &["UnitMass_In_CGS"], &[]),
    row(HeaderNumber::Newton, &["GravityConstantInternal", "Gravitational_Constant_In_Code_Inits"], &[]),
    row(HeaderNumber::HubbleInternal, &["Hubble"], &[]),
    row(HeaderNumber::Periodic, &["PeriodicBoundariesOn"], &[]),
];

impl HeaderNumber {
    fn names(self) -> &'static HeaderName {
        HEADER_NAMES.iter().find(|row| row.quantity == self).expect("the table has a row for each quantity")
    }

    /// Whether 0 and negative numbers stand for "not stated".
    fn is_positive(self) -> bool {
        !matches!(
            self,
            Self::Redshift
                | Self::Comoving
                | Self::Periodic
                | Self::OmegaL
                | Self::OmegaB
                | Self::OmegaK
                | Self::OmegaR
                | Self::OmegaNu
                | Self::OmegaCdm
                | Self::W0
                | Self::Wa
        )
    }
}

/// The families of codes, by their names of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotDialect {
    /// Gadget and its descendants, which have numbers in several groups.
    Gadget,
    /// SWIFT.
    Swift,
}

impl SnapshotDialect {
    /// The groups with numbers; `Units` and `RuntimePars` are EAGLE's.
    fn groups(self) -> &'static [&'static str] {
        match self {
            Self::Gadget => &["Header", "Parameters", "Units", "RuntimePars"],
            Self::Swift => &["Cosmology", "Header"],
        }
    }

    fn names(self, quantity: HeaderNumber) -> &'static [&'static str] {
        match self {
            Self::Gadget => quantity.names().gadget,
            Self::Swift => quantity.names().swift,
        }
    }
}

/// How much two statements of one number may differ: constants and single precision.
const ROUNDING: f64 = 1e-3;

/// Whether two statements of one number agree.
pub fn are_alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// The number that a file states for `quantity` under any of its names; `None` without one.
///
/// # Errors
/// Two statements contradict each other.
pub fn stated(
    source: &Hdf5File,
    dialect: SnapshotDialect,
    quantity: HeaderNumber,
) -> ReadResult<Option<f64>> {
    let mut found: Option<(f64, String)> = None;
    for group in dialect.groups() {
        for name in dialect.names(quantity) {
            let value = number_or_text(source, group, name)?;
            let Some(value) = value.filter(|x| x.is_finite() && (!quantity.is_positive() || *x > 0.0)) else {
                continue;
            };
            let place = format!("{group}/{name}");
            match &found {
                None => found = Some((value, place)),
                Some((first, _)) if are_alike(*first, value) => {}
                Some((first, there)) => return Err(contradiction(source, &place, value, *first, there)),
            }
        }
    }
    Ok(found.map(|(value, _)| value))
}

/// Two places of a file that state different numbers.
pub fn contradiction(source: &Hdf5File, place: &str, value: f64, other: f64, there: &str) -> ReadError {
    source.bad(place, value.to_string(), format!("{other} as in {there}"))
}

/// An attribute that is a number, or a text that is one: some codes write all parameters as texts.
pub fn number_or_text(source: &Hdf5File, group: &str, name: &str) -> ReadResult<Option<f64>> {
    match source.text(group, name) {
        Some(text) => Ok(text.parse().ok()),
        None => source.number(group, name),
    }
}

/// A column of particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnName {
    /// Positions.
    Positions,
    /// Velocities.
    Velocities,
    /// Masses; black holes of SWIFT have two, and this is the one that gravity uses.
    Masses,
    /// Identities.
    Identities,
    /// Densities of gas.
    Densities,
    /// Weights of the masses of neutrinos.
    Weights,
    /// When a star formed; wind cells among the stars of AREPO have 0 or less.
    FormationTimes,
}

/// Each column, its dataset in Gadget, AREPO, GIZMO and SWIFT, and its names in EAGLE and older codes.
const COLUMN_NAMES: &[(ColumnName, &[&str])] = &[
    (ColumnName::Positions, &["Coordinates"]),
    (ColumnName::Velocities, &["Velocities", "Velocity"]),
    (ColumnName::Masses, &["Masses", "Mass", "DynamicalMasses"]),
    (ColumnName::Identities, &["ParticleIDs"]),
    (ColumnName::Densities, &["Densities", "Density"]),
    (ColumnName::Weights, &["Weights"]),
    (ColumnName::FormationTimes, &["GFM_StellarFormationTime"]),
];

/// The attributes with the power of the expansion factor and that of h in a column, by code: Gadget-4 and
/// AREPO, EAGLE.
const POWERS: [[&str; 2]; 2] = [["a_scaling", "h_scaling"], ["aexp-scale-exponent", "h-scale-exponent"]];

impl ColumnName {
    /// The powers of the expansion factor and of h that Gadget's units have in a column.
    fn gadget_powers(self) -> Option<[f64; 2]> {
        match self {
            Self::Positions => Some([1.0, -1.0]),
            Self::Velocities => Some([0.5, 0.0]),
            Self::Masses => Some([0.0, -1.0]),
            Self::Densities | Self::Identities | Self::Weights | Self::FormationTimes => None,
        }
    }

    /// Checks that the powers of the expansion factor and of h which a column of Gadget or its descendants
    /// states are those with which it is read.
    ///
    /// # Errors
    /// It states others.
    pub fn check_powers(self, source: &Hdf5File, kind: usize, dialect: SnapshotDialect) -> ReadResult<()> {
        let powers = self.gadget_powers().filter(|_| dialect == SnapshotDialect::Gadget);
        let (Some(powers), Some(column)) = (powers, self.find(source, kind)?) else { return Ok(()) };
        for (name, expected) in POWERS.iter().flat_map(|names| names.iter().zip(powers)) {
            if let Some(found) = source.number_of(&column, name)?.filter(|found| *found != expected) {
                let expected = format!("{expected}, the power of Gadget's units");
                return Err(source.bad(&format!("{}/{name}", column.place), found.to_string(), expected));
            }
        }
        Ok(())
    }

    fn names(self) -> &'static [&'static str] {
        COLUMN_NAMES
            .iter()
            .find(|(column, _)| *column == self)
            .expect("the table has a row for each column")
            .1
    }

    /// The usual name, for messages.
    pub fn usual(self) -> &'static str {
        self.names()[0]
    }

    /// The dataset of this column of a kind, under the only one of its names that exists.
    ///
    /// # Errors
    /// Two exist.
    pub fn find(self, source: &Hdf5File, kind: usize) -> ReadResult<Option<DatasetRows>> {
        let place = |name: &str| format!("PartType{kind}/{name}");
        let mut found: Option<DatasetRows> = None;
        for name in self.names() {
            match (source.find(&place(name))?, &found) {
                (Some(second), Some(first)) => {
                    let problem = format!("also exists as {}", first.place);
                    return Err(source.bad(&second.place, problem, "one of them"));
                }
                (Some(first), None) => found = Some(first),
                (None, _) => {}
            }
        }
        Ok(found)
    }

    /// The dataset, which must exist with `n` rows of `width` numbers.
    ///
    /// # Errors
    /// It does not.
    pub fn need(self, source: &Hdf5File, kind: usize, n: u64, width: usize) -> ReadResult<DatasetRows> {
        match self.find(source, kind)? {
            Some(column) => source.fits(column, n, width),
            None => source.need(&format!("PartType{kind}/{}", self.usual()), n, width),
        }
    }
}
