//! What is a given quantity in the unit of its parameter?
//!
//! ```text
//!     200crit   ──critical density of the input──▶  code units  ──own unit of the parameter──▶  645.2
//!     30kpc     ──code length in cm──────────────▶  code units  ──code units──────────────────▶  0.0012
//! ```

use super::quantity::PhysicalUnit;
use super::{ParamError, Parameter, Quantity, QuantityUnit};
use crate::dimension::Dimension;
use crate::{Cosmology, Header, Units};

/// What the numbers of a parameter measure, and their unit where none is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// Their dimension.
    pub dimension: Dimension,
    /// The cgs value of the unit; `None` for a unit that depends on the input.
    pub cgs: Option<f64>,
    /// What a value is, for messages.
    name: &'static str,
}

impl Measure {
    /// A density.
    pub const DENSITY: Self = Self { dimension: Dimension::DENSITY, cgs: None, name: "density" };
    /// A length in code units.
    pub const LENGTH: Self = Self { dimension: Dimension::LENGTH, cgs: None, name: "length" };
    /// A mass.
    pub const MASS: Self = Self { dimension: Dimension::MASS, cgs: None, name: "mass" };

    /// A velocity.
    pub const VELOCITY: Self = Self { dimension: Dimension::VELOCITY, cgs: None, name: "velocity" };

    /// The same with a unit of `cgs`.
    #[must_use]
    pub const fn in_cgs(self, cgs: f64) -> Self {
        Self { cgs: Some(cgs), ..self }
    }

    /// What a value must be, for messages.
    pub fn expected(&self) -> String {
        let units = match (self.dimension, self.cgs) {
            (Dimension::DENSITY, None) => "code, crit, mean, sigma (of images) or one such as g/cm3",
            (Dimension::LENGTH, None) => "code or one such as kpc, ckpc or Mpc/h",
            (Dimension::LENGTH, Some(_)) => "cm, kpc, Mpc or another length",
            (Dimension::MASS, None) => "code, Msun, Msun/h or g",
            (Dimension::MASS, Some(_)) => "Msun, g or kg",
            _ => "km/s or another velocity",
        };
        format!("a {} without unit, or with the unit {units}", self.name)
    }
}

impl QuantityUnit {
    /// Whether a value that measures this may have this unit.
    pub fn fits(self, measure: &Measure) -> bool {
        match self {
            Self::Own => true,
            Self::Code => measure.cgs.is_none(),
            Self::Critical | Self::Mean | Self::Sigma => measure.dimension == Dimension::DENSITY,
            Self::Physical(unit) => {
                let is_fixed = unit.expansion == 0 && unit.hubble == 0;
                unit.dimension == measure.dimension && (measure.cgs.is_none() || is_fixed)
            }
        }
    }
}

/// What code units, and the units of parameters, are in an input.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputScale {
    /// Its code units; `None` if they are not known.
    pub units: Option<Units>,
    /// Its cosmology.
    pub cosmology: Option<Cosmology>,
    /// The mean density of matter in code units, where the input states it.
    pub mean: Option<f64>,
    /// The unit of densities of parameters.
    pub density: DensityScale,
    /// The unit of masses of parameters in code units; `None` if it is not known.
    pub mass: Option<f64>,
    /// The standard deviation of the noise of an image, in code units.
    pub sigma: Option<f64>,
}

/// The unit of densities of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum DensityScale {
    /// The code unit.
    #[default]
    Code,
    /// The mean density of matter.
    MeanMatter,
    /// Another mean density, in code units.
    Mean(f64),
}

impl InputScale {
    /// Of an input with cells, whose parameters are in code units.
    pub fn of_cells(header: &Header, has_units: bool) -> Self {
        Self {
            units: has_units.then_some(header.units),
            cosmology: header.cosmology.clone(),
            mean: header.is_in_mean_densities().then_some(1.0),
            density: DensityScale::Code,
            mass: Some(1.0),
            sigma: None,
        }
    }

    /// Of a catalogue with these real attributes, for parameters in code units.
    pub fn from_attributes(real: impl Fn(&str) -> Option<f64>) -> Self {
        let units = || {
            let [length, density, time] = ["unit_length", "unit_density", "unit_time"].map(&real);
            Some(Units { length: length?, density: density?, time: time? })
        };
        Self {
            units: units(),
            cosmology: Cosmology::from_attributes(&real),
            mean: None,
            density: DensityScale::Code,
            mass: Some(1.0),
            sigma: real("noise"),
        }
    }

    /// A quantity in the unit of a parameter.
    ///
    /// # Errors
    /// What the input lacks for it.
    pub fn plain(&self, quantity: Quantity, measure: &Measure) -> Result<f64, &'static str> {
        let Quantity { value, unit } = quantity;
        let in_code = match unit {
            QuantityUnit::Own => return Ok(value),
            QuantityUnit::Code => value,
            QuantityUnit::Sigma => value * self.sigma.ok_or(NO_NOISE)?,
            QuantityUnit::Mean if self.density == DensityScale::MeanMatter => return Ok(value),
            QuantityUnit::Mean => match (self.mean_density(), self.density) {
                (Ok(mean), _) => value * mean,
                // The only mean that there is.
                (Err(_), DensityScale::Mean(_)) => return Ok(value),
                (Err(lack), _) => return Err(lack),
            },
            QuantityUnit::Critical => {
                let part = self.cosmology.as_ref().ok_or(NO_COSMOLOGY)?.matter_parameter();
                match self.density {
                    DensityScale::MeanMatter => return Ok(value / part),
                    _ => value * self.mean_density()? / part,
                }
            }
            QuantityUnit::Physical(unit) => value * self.code_value(unit)?,
        };
        Ok(in_code / self.own(measure)?)
    }

    /// A text with each quantity in the unit of a parameter.
    ///
    /// # Errors
    /// As [`Self::plain`].
    pub fn plain_text(&self, text: &str, measure: &Measure) -> Result<String, &'static str> {
        replaced(text, |quantity| self.plain(quantity, measure))
    }

    /// The mean density of matter in code units.
    fn mean_density(&self) -> Result<f64, &'static str> {
        let of_cosmology = || {
            let cosmology = self.cosmology.as_ref().ok_or(NO_COSMOLOGY)?;
            let units = self.units.ok_or(NO_UNITS)?;
            Ok(cosmology.critical_density() * cosmology.matter_parameter() / units.density)
        };
        self.mean.map_or_else(of_cosmology, Ok)
    }

    /// A physical unit in code units.
    fn code_value(&self, unit: PhysicalUnit) -> Result<f64, &'static str> {
        let code = self.units.ok_or(NO_UNITS)?;
        let PhysicalUnit { cgs, dimension, expansion, hubble } = unit;
        let factor = match (expansion, hubble) {
            (0, 0) => 1.0,
            _ => {
                let cosmology = self.cosmology.as_ref().ok_or(NO_COSMOLOGY)?;
                cosmology.aexp.powi(expansion.into()) * (cosmology.h0 / 100.0).powi(hubble.into())
            }
        };
        Ok(cgs * factor / code.cgs(dimension))
    }

    /// The unit of a parameter in code units.
    fn own(&self, measure: &Measure) -> Result<f64, &'static str> {
        match measure.dimension {
            Dimension::DENSITY => match self.density {
                DensityScale::Code => Ok(1.0),
                DensityScale::MeanMatter => self.mean_density(),
                DensityScale::Mean(mean) => Ok(mean),
            },
            Dimension::MASS => {
                self.mass.ok_or("by RAMSES's rules the unit is the mass of the lightest particle")
            }
            _ => Ok(1.0),
        }
    }
}

const NO_UNITS: &str = "the input states no units";
const NO_NOISE: &str = "the noise is known only of FITS images with values below 0, or if it is given";
const NO_COSMOLOGY: &str = "the input states no cosmology";

/// What separates the numbers of a text with several.
const BETWEEN: [char; 4] = [',', ';', ':', '='];

/// A text with each quantity replaced by what `plain` makes of it.
fn replaced<E>(text: &str, mut plain: impl FnMut(Quantity) -> Result<f64, E>) -> Result<String, E> {
    let mut done = String::new();
    for part in text.split_inclusive(BETWEEN) {
        let word = part.trim_end_matches(BETWEEN);
        match word.parse() {
            Ok(quantity @ Quantity { unit, .. }) if unit != QuantityUnit::Own => {
                done += &plain(quantity)?.to_string();
            }
            _ => done += word,
        }
        done += &part[word.len()..];
    }
    Ok(done)
}

/// Whether a text has a number with a unit.
pub fn has_units(text: &str) -> bool {
    replaced(text, |_| Err(())).is_err()
}

/// The text of a value with all numbers in the unit of its parameter, if that depends on no input.
///
/// # Errors
/// The text has a unit that the parameter does not take.
pub fn without_units(about: &Parameter, text: &str) -> Result<String, ParamError> {
    let Some(Measure { cgs: Some(own), .. }) = about.measure else { return Ok(text.into()) };
    check_units(about, text)?;
    let plain = |quantity: Quantity| match quantity.unit {
        QuantityUnit::Physical(unit) => Ok(quantity.value * unit.cgs / own),
        _ => Err(()),
    };
    Ok(replaced(text, plain).expect("only physical units are taken"))
}

/// Checks the units in the text of a value.
///
/// # Errors
/// The first unit that the parameter does not take.
fn check_units(about: &Parameter, text: &str) -> Result<(), ParamError> {
    let Some(measure) = about.measure else { return Ok(()) };
    let checked = replaced(text, |quantity| if quantity.unit.fits(&measure) { Ok(0.0) } else { Err(()) });
    checked.map(drop).map_err(|()| ParamError::value(about.key, text, measure.expected()))
}

/// Values with units that wait for those of the input: their keys and texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Quantities(Vec<(&'static str, String)>);

impl Quantities {
    /// Keeps the value of one of these parameters if it has a unit. Whether it has. The value before is
    /// forgotten.
    ///
    /// # Errors
    /// The value has a unit that the parameter does not take.
    pub fn keep(&mut self, all: &[Parameter], key: &str, text: &str) -> Result<bool, ParamError> {
        self.0.retain(|(known, _)| *known != key);
        let is_measured = |about: &&Parameter| about.measure.is_some_and(|measure| measure.cgs.is_none());
        let Some(about) = all.iter().filter(is_measured).find(|about| about.key == key) else {
            return Ok(false);
        };
        if !has_units(text) {
            return Ok(false);
        }
        check_units(about, text)?;
        self.0.push((about.key, text.into()));
        Ok(true)
    }

    /// The text of a value that waits.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, text)| text.clone())
    }

    /// Whether no value waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keys, and texts with all numbers in the units of the parameters.
    ///
    /// # Errors
    /// The first value that the input cannot convert.
    pub fn plain(
        self,
        all: &[Parameter],
        scale: &InputScale,
    ) -> Result<Vec<(&'static str, String)>, ParamError> {
        let plain = |(key, text): (&'static str, String)| {
            let about = all.iter().find(|about| about.key == key).expect("keys are those of parameters");
            let measure = about.measure.expect("only measured values wait");
            let expected = |lack| format!("a {} without unit: {lack}", measure.name);
            match scale.plain_text(&text, &measure) {
                Ok(plain) => Ok((key, plain)),
                Err(lack) => Err(ParamError::value(key, text, expected(lack))),
            }
        };
        self.0.into_iter().map(plain).collect()
    }
}
