//! A number and the unit in which it is given: `200crit`, `1e-25 g/cm3`, `30kpc`, `80`.
//!
//! ```
//! use inselberg_io::params::{Quantity, QuantityUnit};
//!
//! let threshold: Quantity = "200crit".parse().unwrap();
//! assert_eq!((threshold.value, threshold.unit), (200.0, QuantityUnit::Critical));
//! assert_eq!("80".parse::<Quantity>().unwrap().unit, QuantityUnit::Own);
//! assert!("30 parsecs".parse::<Quantity>().is_err());
//! ```

use crate::dimension::{Dimension, KILOMETRE, MEGAPARSEC, SOLAR_MASS};
use std::str::FromStr;

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: QuantityUnit,
}

/// The unit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QuantityUnit {
    /// None is given: that of the parameter.
    Own,
    /// The code unit of the input.
    Code,
    /// The critical density of the universe at the time of the input.
    Critical,
    /// The mean density of matter at the time of the input.
    Mean,
    /// The standard deviation of the noise of an image.
    Sigma,
    /// A product of physical units.
    Physical(PhysicalUnit),
}

/// A product of physical units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhysicalUnit {
    /// Its cgs value, with an expansion factor of 1 and h = 1.
    pub cgs: f64,
    /// Its dimension.
    pub dimension: Dimension,
    /// The power of the expansion factor in it: 1 for a comoving length such as `ckpc`.
    pub expansion: i8,
    /// The power of h = H0 / (100 km/s/Mpc) in it: -1 for `Mpc/h`.
    pub hubble: i8,
}

/// Words for units that depend on the input.
const WORDS: [(&str, QuantityUnit); 4] = [
    ("code", QuantityUnit::Code),
    ("crit", QuantityUnit::Critical),
    ("mean", QuantityUnit::Mean),
    ("sigma", QuantityUnit::Sigma),
];

const YEAR: f64 = 3.155_76e7;
/// Centimetres in an astronomical unit (IAU 2012).
const ASTRONOMICAL_UNIT: f64 = 1.495_978_707e13;
const TIME: Dimension = Dimension::new(0, 0, 1);

/// Physical units by name, in cgs. A length with `c` before its name is comoving, one with `p` is proper, as
/// without it.
const UNITS: [(&str, f64, Dimension); 18] = [
    ("cm", 1.0, Dimension::LENGTH),
    ("m", 1e2, Dimension::LENGTH),
    ("km", KILOMETRE, Dimension::LENGTH),
    ("au", ASTRONOMICAL_UNIT, Dimension::LENGTH),
    ("AU", ASTRONOMICAL_UNIT, Dimension::LENGTH),
    ("pc", MEGAPARSEC / 1e6, Dimension::LENGTH),
    ("kpc", MEGAPARSEC / 1e3, Dimension::LENGTH),
    ("Mpc", MEGAPARSEC, Dimension::LENGTH),
    ("Gpc", MEGAPARSEC * 1e3, Dimension::LENGTH),
    ("g", 1.0, Dimension::MASS),
    ("kg", 1e3, Dimension::MASS),
    ("Msun", SOLAR_MASS, Dimension::MASS),
    ("solMass", SOLAR_MASS, Dimension::MASS),
    ("s", 1.0, TIME),
    ("yr", YEAR, TIME),
    ("kyr", YEAR * 1e3, TIME),
    ("Myr", YEAR * 1e6, TIME),
    ("Gyr", YEAR * 1e9, TIME),
];

/// A text is no number with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoQuantity;

impl FromStr for Quantity {
    type Err = NoQuantity;

    /// A finite number, and perhaps a unit: a word, or a product such as `Msun/kpc3`, `g cm^-3`, `ckpc/h`.
    fn from_str(text: &str) -> Result<Self, NoQuantity> {
        let text = text.trim();
        let (number, unit) = text.split_at(number_len(text));
        let value = number.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(NoQuantity)?;
        let unit = match unit.trim() {
            "" => QuantityUnit::Own,
            word => match WORDS.iter().find(|(known, _)| *known == word) {
                Some((_, unit)) => *unit,
                None => QuantityUnit::Physical(word.parse()?),
            },
        };
        Ok(Self { value, unit })
    }
}

/// The length of the number at the beginning of a text. An `e` belongs to it only before an exponent.
fn number_len(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let is_any = |at: usize, of: &[u8]| text.as_bytes().get(at).is_some_and(|byte| of.contains(byte));
    let mut end = usize::from(is_any(0, b"+-"));
    end += digits(end);
    if is_any(end, b".") {
        end += 1 + digits(end + 1);
    }
    let exponent = end + 1 + usize::from(is_any(end + 1, b"+-"));
    match is_any(end, b"eE") {
        true if digits(exponent) > 0 => exponent + digits(exponent),
        _ => end,
    }
}

impl FromStr for PhysicalUnit {
    type Err = NoQuantity;

    /// Factors are separated by `*` or a space, or by `/`, which divides by the factor after it.
    fn from_str(text: &str) -> Result<Self, NoQuantity> {
        let mut product = Self { cgs: 1.0, dimension: Dimension::NONE, expansion: 0, hubble: 0 };
        let text = text.replace("**", "^").replace('/', " /");
        let mut is_below = false;
        for part in text.split([' ', '*']).filter(|part| !part.is_empty()) {
            let name = part.trim_start_matches('/');
            is_below |= name.len() < part.len();
            if name.is_empty() {
                continue;
            }
            let (name, power) = split_power(name).ok_or(NoQuantity)?;
            product.multiply(name, if is_below { -power } else { power }).ok_or(NoQuantity)?;
            is_below = false;
        }
        if is_below || product.dimension == Dimension::NONE { Err(NoQuantity) } else { Ok(product) }
    }
}

/// A name and the power behind it: `cm3`, `cm^3`, `cm-3`, `cm`.
fn split_power(factor: &str) -> Option<(&str, i8)> {
    let end = factor.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(factor.len());
    let (name, power) = factor.split_at(end);
    match power.trim_start_matches('^') {
        "" => Some((name, 1)),
        power => power.parse().ok().filter(|power: &i8| power.abs() <= 9).map(|power| (name, power)),
    }
}

impl PhysicalUnit {
    /// Multiplies by a power of a unit. `None` if there is no such unit.
    fn multiply(&mut self, name: &str, power: i8) -> Option<()> {
        if name == "h" {
            self.hubble += power;
            return Some(());
        }
        let known = |name: &str| UNITS.iter().find(|(known, ..)| *known == name);
        let of_length = |name| known(name).filter(|(_, _, dimension)| *dimension == Dimension::LENGTH);
        let with_prefix = |prefix: char, expansion: i8| {
            name.strip_prefix(prefix).and_then(of_length).map(|found| (found, expansion))
        };
        let plain = known(name).map(|found| (found, 0));
        let (found, expansion) = plain.or_else(|| with_prefix('c', power)).or_else(|| with_prefix('p', 0))?;
        let (_, cgs, of) = found;
        let add = |sum: i8, one: i8| sum.checked_add(one.checked_mul(power)?);
        self.cgs *= cgs.powi(power.into());
        self.expansion = self.expansion.checked_add(expansion)?;
        self.dimension = Dimension::new(
            add(self.dimension.length, of.length)?,
            add(self.dimension.mass, of.mass)?,
            add(self.dimension.time, of.time)?,
        );
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn physical(text: &str) -> (f64, PhysicalUnit) {
        match text.parse() {
            Ok(Quantity { value, unit: QuantityUnit::Physical(unit) }) => (value, unit),
            other => panic!("{text} is {other:?}"),
        }
    }

    #[test]
    fn a_number_ends_before_its_unit() {
        for (text, value) in [
            ("80", 80.0),
            ("-.5", -0.5),
            ("+1.e2", 100.0),
            ("1e-25", 1e-25),
            (" 7 code ", 7.0),
            ("2E3mean", 2e3),
        ] {
            assert_eq!(text.parse::<Quantity>().map(|of| of.value), Ok(value), "{text}");
        }
    }

    #[test]
    fn products_of_units_are_one_however_they_are_written() {
        for text in [
            "1e-25g/cm3",
            "1e-25 g cm-3",
            "1e-25 g*cm^-3",
            "1e-25 g cm**-3",
            "1e-25 g / cm3",
            "1e-25 g/cm/cm2",
        ] {
            let (value, unit) = physical(text);
            assert_eq!((value, unit.cgs, unit.dimension), (1e-25, 1.0, Dimension::DENSITY), "{text}");
        }
        let (value, unit) = physical("30 Msun/kpc3");
        assert_eq!((value, unit.dimension), (30.0, Dimension::DENSITY));
        assert!((unit.cgs / (1.988_41e33 / 3.085_677_581e21_f64.powi(3)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn comoving_units_and_h_are_powers() {
        let (_, unit) = physical("2 ckpc/h");
        assert_eq!((unit.dimension, unit.expansion, unit.hubble), (Dimension::LENGTH, 1, -1));
        let (_, unit) = physical("2 pMpc");
        assert_eq!((unit.dimension, unit.expansion, unit.hubble), (Dimension::LENGTH, 0, 0));
        let (_, unit) = physical("2 h2 Msun / cMpc3");
        assert_eq!((unit.dimension, unit.expansion, unit.hubble), (Dimension::DENSITY, -3, 2));
    }

    #[test]
    fn other_texts_are_no_quantities() {
        for text in
            ["", "kpc", "1 parsec", "1 /", "1h", "nan", "1e999", "5 5", "1 crit mean", "1 cg", "1 cm40"]
        {
            assert_eq!(text.parse::<Quantity>(), Err(NoQuantity), "{text}");
        }
    }
}
