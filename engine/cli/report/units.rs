//! The units in which people see results.

use inselberg_io::Cosmology;
use inselberg_io::catalogue::units::{
    KILOMETRE, MEGAPARSEC, SKY_UNITS, SOLAR_MASS, cgs_factor, cgs_name, image_unit, unit_name, value_unit,
};
use inselberg_io::catalogue::{Attribute, Dimension, TableColumn};

/// The unit of lengths, and its name where boxes expand.
const LENGTH: &str = "Mpc";
const PROPER_LENGTH: &str = "pMpc";

/// The requested units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitChoice {
    /// Mpc, Msun, km/s and g/cm3.
    Physical,
    /// Those of the snapshot.
    Code,
}

/// The units of a text, a picture or a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisplayUnits {
    /// The attributes that hold the units of the snapshot; `None` for code units.
    physical: Option<Vec<(String, Attribute)>>,
    /// Whether the box expands, so that lengths are proper or comoving.
    expands: bool,
    /// Other names of code units, by dimension; empty for no unit.
    named: Vec<(Dimension, String)>,
    /// The attributes of an image, which name the units of columns.
    image: Vec<(String, Attribute)>,
}

/// A unit: its name, and the number of these units in one code unit.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayUnit {
    /// Its name, such as Mpc, or pMpc for a proper length in a box that expands; empty for a pure number.
    pub name: String,
    /// The number of these units in one code unit.
    pub factor: f64,
}

impl DisplayUnits {
    /// Code units.
    pub const CODE: Self = Self { physical: None, expands: false, named: Vec::new(), image: Vec::new() };

    /// As chosen, for a catalogue with these attributes. Without units of the snapshot, code units.
    pub fn new(choice: UnitChoice, attributes: &[(String, Attribute)]) -> Self {
        let is_physical = choice == UnitChoice::Physical && has_units(attributes);
        let real = |name: &str| attributes.iter().find_map(|(other, value)| real_of(other == name, value));
        Self {
            physical: is_physical.then(|| attributes.to_vec()),
            expands: Cosmology::from_attributes(real).is_some(),
            named: image_units(attributes),
            image: if attributes.iter().any(|(name, _)| name == SKY_UNITS) {
                attributes.to_vec()
            } else {
                Vec::new()
            },
        }
    }

    /// The same; the code unit of density has this name.
    pub fn with_code_density(mut self, name: &str) -> Self {
        self.named.push((Dimension::DENSITY, name.into()));
        self
    }

    /// Whether these are physical units.
    pub fn are_physical(&self) -> bool {
        self.physical.is_some()
    }

    /// The unit of a column. Columns of images may have one though they have no dimension.
    pub fn unit_of(&self, column: &TableColumn) -> DisplayUnit {
        let of_image = image_unit(&self.image, column).filter(|_| column.dimension == Dimension::NONE);
        of_image.map(DisplayUnit::named).unwrap_or_else(|| self.unit(column.dimension))
    }

    /// The unit of a dimension.
    pub fn unit(&self, dimension: Dimension) -> DisplayUnit {
        if dimension == Dimension::NONE {
            return DisplayUnit::named("");
        }
        let Some(attributes) = &self.physical else {
            let named = self.named.iter().find(|(of, _)| *of == dimension);
            return DisplayUnit::named(named.map_or_else(|| unit_name(dimension), |(_, name)| name.clone()));
        };
        let cgs = cgs_factor(attributes, dimension).expect("physical units have all three scales");
        let (name, in_cgs) = physical(dimension);
        let name = if self.expands { name.replace(LENGTH, PROPER_LENGTH) } else { name };
        DisplayUnit { name, factor: cgs / in_cgs }
    }

    /// Whether lengths are pixels, and values those of an image.
    pub fn are_of_image(&self) -> bool {
        self.named.iter().any(|(dimension, _)| *dimension == Dimension::LENGTH)
    }

    /// The name of mean densities along lines of sight.
    pub fn mean_density(&self) -> &'static str {
        if self.are_physical() && self.expands { "mean proper density" } else { "mean density" }
    }

    /// A sentence about them.
    pub fn sentence(&self, attributes: &[(String, Attribute)]) -> String {
        match (self.are_physical(), has_units(attributes)) {
            (true, _) if self.expands => {
                "Values are in physical units: M☉, km s⁻¹, g cm⁻³ and pMpc. Lengths (pMpc: proper Mpc), \
                 volumes and densities are proper, not comoving."
                    .into()
            }
            (true, _) => "Values are in physical units: Mpc, M☉, km s⁻¹ and g cm⁻³.".into(),
            (false, true) => "Values are in the code units of the input.".into(),
            (false, false) if !self.named.is_empty() => match value_unit(attributes) {
                Some(unit) => format!("Lengths are in pixels, and values in the unit of the image: {unit}."),
                None => "Lengths are in pixels. The image states no unit of its values.".into(),
            },
            (false, false) => "The input has no units, so values are in its code units.".into(),
        }
    }
}

impl DisplayUnit {
    /// The unit of values that are in it already.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), factor: 1.0 }
    }

    /// The name for machines: programs know no proper Mpc.
    pub fn plain_name(&self) -> String {
        self.name.replace(PROPER_LENGTH, LENGTH)
    }

    /// The name as pictures and pages write it: `M☉`, `g cm⁻³`, `km² s⁻²`. Names of images stay as they are,
    /// except for a velocity.
    pub fn shown(&self) -> String {
        let words = self.name.split(' ').map(|word| match word {
            "Jy/beam" | "/" => word.to_string(),
            _ => shown_word(word),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// A quantity with its unit: `x [pixels]`, or only the quantity.
    pub fn label(&self, quantity: &str) -> String {
        match self.shown().as_str() {
            "" => quantity.into(),
            name => format!("{quantity} [{name}]"),
        }
    }
}

/// A product of units with raised powers. Words that are none stay as they are.
fn shown_word(word: &str) -> String {
    let factors: Option<Vec<String>> = word
        .split('/')
        .enumerate()
        .map(|(i, factor)| {
            let digits = factor.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
            let power = &factor[digits.len()..];
            let power: i32 = if power.is_empty() { 1 } else { power.parse().ok()? };
            let name = match digits {
                "Msun" => "M☉",
                "Mpc" | "pMpc" | "km" | "g" | "cm" | "s" => digits,
                _ => return None,
            };
            let power = if i == 0 { power } else { -power };
            Some(if power == 1 { name.to_string() } else { format!("{name}{}", raised(power)) })
        })
        .collect();
    factors.map_or_else(|| word.to_string(), |factors| factors.join(" "))
}

/// A whole number in raised digits: `⁻²⁸`.
pub fn raised(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    number.to_string().chars().map(digit).collect()
}

/// The names of the code units of images: pixels, and the unit of their values. Empty for other inputs, and
/// for cubes whose pixels have other sides than 1.
fn image_units(attributes: &[(String, Attribute)]) -> Vec<(Dimension, String)> {
    let value = |name: &str| attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value);
    let is_flat = value("dimensions") == Some(&Attribute::Int(2));
    let side = || {
        let (Attribute::Reals(shape), Attribute::Reals(axes)) = (value("fits_shape")?, value("fits_axes")?)
        else {
            return None;
        };
        let (Attribute::Reals(coarse), Attribute::Real(boxlen)) = (value("coarse_cells")?, value("boxlen")?)
        else {
            return None;
        };
        let along_x = shape.get((*axes.first()? as usize).checked_sub(1)?)?;
        Some(boxlen * coarse.first()? / along_x)
    };
    if !is_flat && side() != Some(1.0) {
        return Vec::new();
    }
    let of_value = value_unit(attributes).unwrap_or_default();
    let summed = format!("{of_value} pixels").trim_start().to_string();
    let (area, per_area) = (Dimension::new(2, 0, 0), Dimension::new(-2, 1, 0));
    let pixels = [Dimension::LENGTH, area, Dimension::VOLUME].map(|dimension| (dimension, "pixels".into()));
    let values = [Dimension::DENSITY, per_area].map(|dimension| (dimension, of_value.into()));
    pixels.into_iter().chain(values).chain([(Dimension::MASS, summed)]).collect()
}

/// A number, if it is the wanted one.
fn real_of(is_wanted: bool, value: &Attribute) -> Option<f64> {
    match value {
        Attribute::Real(real) if is_wanted => Some(*real),
        _ => None,
    }
}

/// Whether a catalogue with these attributes has the units of its snapshot. A code writes units that are all
/// 1 if none were set.
pub fn has_units(attributes: &[(String, Attribute)]) -> bool {
    let scale = |dimension| cgs_factor(attributes, dimension).filter(|scale| scale.is_finite());
    match [Dimension::LENGTH, Dimension::MASS, Dimension::VELOCITY].map(scale) {
        [Some(length), Some(mass), Some(velocity)] => [length, mass, velocity] != [1.0; 3],
        _ => false,
    }
}

/// The name of the physical unit of a dimension, and its value in cgs: a product of Msun, Mpc and km/s, g/cm3
/// for densities, and cgs where people do not use these.
fn physical(dimension: Dimension) -> (String, f64) {
    let [length, mass, time] = [dimension.length, dimension.mass, dimension.time].map(i32::from);
    // Each 1/s belongs to a length of a velocity.
    let (velocities, lengths) = (-time, length + time);
    if dimension == Dimension::DENSITY {
        return ("g/cm3".into(), 1.0);
    }
    if velocities < 0 || lengths < 0 || mass < 0 {
        return (cgs_name(dimension, " ", ""), 1.0);
    }
    let power = |name: &str, power: i32| if power == 1 { name.into() } else { format!("{name}{power}") };
    let mut names = Vec::new();
    names.extend((mass > 0).then(|| power("Msun", mass)));
    names.extend((lengths > 0).then(|| power(LENGTH, lengths)));
    names.extend((velocities > 0).then(|| format!("{}/{}", power("km", velocities), power("s", velocities))));
    let factors = [(SOLAR_MASS, mass), (MEGAPARSEC, lengths), (KILOMETRE, velocities)];
    (names.join(" "), factors.iter().map(|(unit, power)| unit.powi(*power)).product())
}

/// A number in at most six digits, as people write it: `0.2`, `80`, `7.5×10⁻²⁸`.
pub fn short_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    let rounded = format!("{value:.5e}");
    let (digits, exponent) = rounded.split_once('e').expect("it has an exponent");
    let exponent: i32 = exponent.parse().expect("a whole number");
    match (-4..7).contains(&exponent) {
        true => format!("{}", rounded.parse::<f64>().expect("a number")),
        false => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}×10{}", raised(exponent))
        }
    }
}

/// What people see where there is no number.
pub const NONE: &str = "none";

/// A number with four significant digits, as people write it.
pub fn four_digits(value: f64) -> String {
    let size = value.abs();
    match value {
        0.0 => "0".into(),
        v if !v.is_finite() => NONE.into(),
        v if (1e-3..1e5).contains(&size) => {
            let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
            format!("{v:.decimals$}")
        }
        v => format!("{v:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes() -> Vec<(String, Attribute)> {
        let scales = [("unit_length", 3.085_677_581e24), ("unit_density", 1e-29), ("unit_time", 1e17)];
        scales.map(|(name, value)| (name.to_string(), Attribute::Real(value))).to_vec()
    }

    #[test]
    fn physical_units_are_those_of_the_field() {
        let units = DisplayUnits::new(UnitChoice::Physical, &attributes());
        let length = units.unit(Dimension::LENGTH);
        assert_eq!((length.name.as_str(), length.factor), ("Mpc", 1.0));
        let mass = units.unit(Dimension::MASS);
        assert_eq!(mass.name, "Msun");
        assert!((mass.factor / (1e-29 * MEGAPARSEC.powi(3) / SOLAR_MASS) - 1.0).abs() < 1e-12);
        let velocity = units.unit(Dimension::VELOCITY);
        assert!(velocity.name == "km/s" && (velocity.factor / (MEGAPARSEC / 1e17 / 1e5) - 1.0).abs() < 1e-12);
        assert_eq!(units.unit(Dimension::DENSITY), DisplayUnit { name: "g/cm3".into(), factor: 1e-29 });
        assert_eq!(units.unit(Dimension::new(0, 0, -1)).name, "s-1");
        let squared = units.unit(Dimension::new(2, 0, -2));
        assert!(squared.name == "km2/s2" && (squared.factor / velocity.factor.powi(2) - 1.0).abs() < 1e-12);
        let names = [(2, 0, 0), (2, 1, 0), (2, 1, -1), (2, 1, -2), (3, 0, 0), (0, 0, 1), (-1, 1, -2)];
        let names = names.map(|(length, mass, time)| units.unit(Dimension::new(length, mass, time)).name);
        let expected = ["Mpc2", "Msun Mpc2", "Msun Mpc km/s", "Msun km2/s2", "Mpc3", "s", "g cm-1 s-2"];
        assert_eq!(names, expected);
    }

    #[test]
    fn lengths_are_proper_where_the_box_expands() {
        let expansion = [("aexp", 0.5), ("h0", 70.0), ("omega_m", 0.3)];
        let expansion = expansion.map(|(name, value)| (name.to_string(), Attribute::Real(value)));
        let expanding = [attributes(), expansion.to_vec()].concat();
        for (of, length, density) in
            [(&attributes(), "x [Mpc]", "mean density"), (&expanding, "x [pMpc]", "mean proper density")]
        {
            let units = DisplayUnits::new(UnitChoice::Physical, of);
            assert_eq!(
                (units.unit(Dimension::LENGTH).label("x"), units.mean_density()),
                (length.into(), density)
            );
            assert_eq!(units.sentence(of).contains("proper"), density.contains("proper"));
            assert_eq!(units.unit(Dimension::LENGTH).plain_name(), "Mpc");
        }
        let volume = DisplayUnits::new(UnitChoice::Physical, &expanding).unit(Dimension::VOLUME);
        assert_eq!(volume.name, "pMpc3");
        assert_eq!(DisplayUnits::new(UnitChoice::Code, &expanding).mean_density(), "mean density");
    }

    #[test]
    fn without_units_there_are_only_code_units() {
        let ones: Vec<_> = attributes().into_iter().map(|(name, _)| (name, Attribute::Real(1.0))).collect();
        for (choice, known) in
            [(UnitChoice::Physical, vec![]), (UnitChoice::Physical, ones), (UnitChoice::Code, attributes())]
        {
            let units = DisplayUnits::new(choice, &known);
            assert!(!units.are_physical());
            let unit = units.unit(Dimension::LENGTH);
            assert_eq!((unit.name.as_str(), unit.factor), ("code_length", 1.0));
        }
        assert!(DisplayUnits::CODE.sentence(&[]).contains("no units"));
    }

    #[test]
    fn images_have_pixels_and_their_own_unit() {
        let reals = |all: &[f64]| Attribute::Reals(all.to_vec());
        let mut cube = vec![
            ("fits_shape".to_string(), reals(&[12.0, 1.0, 8.0, 4.0])),
            ("fits_axes".to_string(), reals(&[1.0, 3.0, 4.0])),
            ("coarse_cells".to_string(), reals(&[3.0, 2.0, 1.0])),
            ("boxlen".to_string(), Attribute::Real(4.0)),
            ("fits_BUNIT".to_string(), Attribute::Text("Jy/beam".into())),
        ];
        let label = |of: &[(String, Attribute)], dimension| {
            DisplayUnits::new(UnitChoice::Physical, of).unit(dimension).label("it")
        };
        assert_eq!(label(&cube, Dimension::LENGTH), "it [pixels]");
        assert_eq!(label(&cube, Dimension::DENSITY), "it [Jy/beam]");
        assert_eq!(label(&cube, Dimension::MASS), "it [Jy/beam pixels]");
        cube[3].1 = Attribute::Real(2.0);
        assert_eq!(label(&cube, Dimension::LENGTH), "it [code_length]");
        let flat = [("dimensions".to_string(), Attribute::Int(2))];
        assert_eq!(label(&flat, Dimension::new(-2, 1, 0)), "it");
        assert_eq!(label(&flat, Dimension::MASS), "it [pixels]");
    }

    #[test]
    fn short_numbers_have_few_digits() {
        let all = [80.0, 0.2, 49.999_999_9, 7.478_5e-28, 1.234_567_8e9, 0.0, -3.5].map(short_number);
        assert_eq!(all, ["80", "0.2", "50", "7.4785×10⁻²⁸", "1.23457×10⁹", "0", "-3.5"]);
    }

    #[test]
    fn pictures_write_powers_as_people_do() {
        let shown = |name: &str| DisplayUnit::named(name).shown();
        for (name, text) in [
            ("g/cm3", "g cm⁻³"),
            ("Msun", "M☉"),
            ("Msun pMpc km/s", "M☉ pMpc km s⁻¹"),
            ("km2/s2", "km² s⁻²"),
            ("g cm-1 s-2", "g cm⁻¹ s⁻²"),
            ("Jy/beam km/s", "Jy/beam km s⁻¹"),
            ("code_length / code_time", "code_length / code_time"),
            ("pixels", "pixels"),
            ("", ""),
        ] {
            assert_eq!(shown(name), text);
        }
    }

    #[test]
    fn people_see_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.000"),
            (-0.012_346, "-0.01235"),
            (12_345.6, "12346"),
            (1.234_56e12, "1.235e12"),
            (f64::NAN, "none"),
        ] {
            assert_eq!(four_digits(value), text);
        }
    }
}
