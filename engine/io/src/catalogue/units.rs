//! Names of units in the files.

use super::{Attribute, Dimension, TableColumn};
use crate::Units;
pub use crate::dimension::{KILOMETRE, MEGAPARSEC, SOLAR_MASS};
use crate::params::InputScale;

/// The attribute with the units of sky coordinates and of columns of images: `ra [deg], flux [Jy]`.
pub const SKY_UNITS: &str = "sky_units";
/// The attribute with the median noise of an image whose pixels have their own noise. Densities of its
/// catalogue are in units of that noise.
pub const NOISE_MEDIAN: &str = "noise_median";
/// The attribute with the unit of the values of an image.
const VALUE_UNIT: &str = "fits_BUNIT";

const NAMES: [&str; 3] = ["code_length", "code_mass", "code_time"];

/// Name of the unit of `dimension`: `code_mass / code_length**3`, `code_length`, `dimensionless`.
///
/// Programs with symbolic units (yt, unyt) read these names.
pub fn unit_name(dimension: Dimension) -> String {
    let powers = [dimension.mass, dimension.length, dimension.time];
    let names = [NAMES[1], NAMES[0], NAMES[2]];
    let above: Vec<_> =
        names.iter().zip(powers).filter(|(_, p)| *p > 0).map(|(n, p)| power(n, p.unsigned_abs())).collect();
    let below: Vec<_> =
        names.iter().zip(powers).filter(|(_, p)| *p < 0).map(|(n, p)| power(n, p.unsigned_abs())).collect();
    match (above.is_empty(), below.is_empty()) {
        (true, true) => "dimensionless".into(),
        (true, false) => format!("1 / {}", below.join(" / ")),
        (false, true) => above.join(" * "),
        (false, false) => format!("{} / {}", above.join(" * "), below.join(" / ")),
    }
}

/// Name of the cgs unit of `dimension`, with `times` between units and `power` before powers: `g cm-3` with a
/// space and nothing, `g*cm**-3` with `*` and `**`. Empty for a pure number.
pub fn cgs_name(dimension: Dimension, times: &str, power: &str) -> String {
    let units = [("g", dimension.mass), ("cm", dimension.length), ("s", dimension.time)];
    let name = |(unit, exponent): (&str, i8)| match exponent {
        1 => unit.to_string(),
        other => format!("{unit}{power}{other}"),
    };
    units.into_iter().filter(|(_, exponent)| *exponent != 0).map(name).collect::<Vec<_>>().join(times)
}

/// The dimension with the name `name` of [`unit_name`]; `None` if there is none.
pub fn parse_unit(name: &str) -> Option<Dimension> {
    if name == "dimensionless" {
        return Some(Dimension::NONE);
    }
    let mut powers = [0i8; 3];
    let mut sign = 1i8;
    for token in name.split_whitespace() {
        match token {
            "*" | "1" => {}
            "/" => sign = -1,
            _ => add_power(&mut powers, token, sign)?,
        }
    }
    Some(Dimension::new(powers[0], powers[1], powers[2]))
}

/// The cgs value of one code unit of `dimension`, from the attributes `unit_length`, `unit_density` and
/// `unit_time` of a catalogue; `None` if a necessary one is absent.
pub fn cgs_factor(attributes: &[(String, Attribute)], dimension: Dimension) -> Option<f64> {
    let unit = |name, used: bool| if used { real(attributes, name) } else { Some(1.0) };
    let length = unit("unit_length", dimension.length != 0 || dimension.mass != 0)?;
    let density = unit("unit_density", dimension.mass != 0)?;
    let time = unit("unit_time", dimension.time != 0)?;
    Some(Units { length, density, time }.cgs(dimension))
}

/// The units of a catalogue with these attributes, for parameters in code units.
pub fn scale_of(attributes: &[(String, Attribute)]) -> InputScale {
    InputScale::from_attributes(|name| real(attributes, name))
}

/// The unit of the values of a FITS image that a catalogue is of, where its header states one.
pub fn value_unit(attributes: &[(String, Attribute)]) -> Option<&str> {
    text(attributes, VALUE_UNIT).map(str::trim).filter(|unit| !unit.is_empty())
}

/// The unit of a column of a catalogue of a FITS image, as FITS writes it, for sky coordinates and values of
/// pixels.
pub fn image_unit<'a>(attributes: &'a [(String, Attribute)], column: &TableColumn) -> Option<&'a str> {
    if [Dimension::DENSITY, Dimension::new(-2, 1, 0)].contains(&column.dimension) {
        // With noise of each pixel, densities are in standard deviations. Means are not.
        let is_over_noise = real(attributes, NOISE_MEDIAN).is_some() && column.name != "density_mean";
        return value_unit(attributes).filter(|_| !is_over_noise);
    }
    if column.dimension != Dimension::NONE {
        return None;
    }
    let place = ["peak_", "centre_"].iter().find_map(|beginning| column.name.strip_prefix(beginning));
    let axis = place.map(|place| place.strip_suffix("_sky").unwrap_or(place));
    let mut units = text(attributes, SKY_UNITS)?.split(", ").filter_map(|unit| unit.split_once(" ["));
    let (_, unit) = units.find(|(name, _)| *name == column.name || Some(*name) == axis)?;
    unit.strip_suffix(']')
}

fn text<'a>(attributes: &'a [(String, Attribute)], name: &str) -> Option<&'a str> {
    attributes.iter().find_map(|(other, value)| match value {
        Attribute::Text(text) if other == name => Some(text.as_str()),
        _ => None,
    })
}

fn real(attributes: &[(String, Attribute)], name: &str) -> Option<f64> {
    match attributes.iter().find(|(n, _)| n == name) {
        Some((_, Attribute::Real(value))) => Some(*value),
        _ => None,
    }
}

fn power(name: &str, power: u8) -> String {
    if power == 1 { name.to_string() } else { format!("{name}**{power}") }
}

fn add_power(powers: &mut [i8; 3], token: &str, sign: i8) -> Option<()> {
    let (name, exponent) = token.split_once("**").unwrap_or((token, "1"));
    let which = NAMES.iter().position(|n| *n == name)?;
    let value = i16::from(sign).checked_mul(exponent.parse().ok()?)?;
    powers[which] = i8::try_from(value.checked_add(powers[which].into())?).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_a_person_writes_them() {
        assert_eq!(unit_name(Dimension::NONE), "dimensionless");
        assert_eq!(unit_name(Dimension::VOLUME), "code_length**3");
        assert_eq!(unit_name(Dimension::DENSITY), "code_mass / code_length**3");
        assert_eq!(unit_name(Dimension::VELOCITY), "code_length / code_time");
        assert_eq!(unit_name(Dimension::new(0, 0, -1)), "1 / code_time");
    }

    #[test]
    fn cgs_names_follow_their_readers() {
        assert_eq!(cgs_name(Dimension::DENSITY, " ", ""), "g cm-3");
        assert_eq!(cgs_name(Dimension::new(2, 1, -2), "*", "**"), "g*cm**2*s**-2");
        assert_eq!(cgs_name(Dimension::LENGTH, " ", ""), "cm");
        assert_eq!(cgs_name(Dimension::NONE, " ", ""), "");
    }

    #[test]
    fn every_name_reads_back() {
        for length in [-128, -3, -1, 0, 1, 2, 127] {
            for mass in [-2, 0, 1, 127] {
                for time in [-128, -1, 0, 2] {
                    let dimension = Dimension::new(length, mass, time);
                    assert_eq!(parse_unit(&unit_name(dimension)), Some(dimension));
                }
            }
        }
        assert_eq!(parse_unit("parsec"), None);
    }

    #[test]
    fn cgs_factors_need_only_the_units_they_use() {
        let attributes = [("unit_length", 2.0), ("unit_density", 3.0)];
        let attributes = attributes.map(|(name, value)| (name.to_string(), Attribute::Real(value)));
        assert_eq!(cgs_factor(&attributes, Dimension::MASS), Some(24.0));
        assert_eq!(cgs_factor(&attributes, Dimension::DENSITY), Some(3.0));
        assert_eq!(cgs_factor(&attributes, Dimension::NONE), Some(1.0));
        assert_eq!(cgs_factor(&attributes, Dimension::VELOCITY), None);
    }
}
