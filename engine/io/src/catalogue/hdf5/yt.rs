//! A halo catalogue of yt: one file `clumps.0.h5` or `groups.0.h5`, which `yt.load` opens.
//!
//! Each clump or group is a halo of yt, in the order of the catalogue. Values are proper and in cgs. Every
//! column is a field of its own name, and vectors are three. yt reads all numbers as doubles, so identities
//! above 2^53 lose bits there.

use super::make_file;
use super::swift::{SwiftAttributes, group, put};
use super::write::{put_values, scalar};
use crate::Cosmology;
use crate::catalogue::cgs::CgsColumn;
use crate::catalogue::objects::{MemberLists, Objects};
use crate::catalogue::units::cgs_factor;
use crate::catalogue::viewers::{check_yt, yt_name};
use crate::catalogue::{Catalogue, Dimension, Values, WriteError, WriteResult, check_shape};
use crate::staging::{Staged, hidden, stage_path};
use ::hdf5::types::VarLenUnicode;
use ::hdf5::{File, Group, Location, Result};
use std::path::Path;
use std::str::FromStr;

/// Stages the file of a catalogue in `folder`, which is created if absent.
///
/// # Errors
/// The catalogue has no clumps or groups or no units, the folder cannot be written, or yt would find another
/// part in it.
pub fn stage_yt(folder: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(folder, catalogue)?;
    let objects = Objects::new(folder, catalogue)?;
    let units = YtUnits::new(catalogue).ok_or_else(|| {
        let expected = "an input with units of length, mass and time, which yt needs";
        WriteError::content(folder, "yt", "the catalogue has no units", expected)
    })?;
    check_yt(folder, objects.name, &[])?;
    let members = objects.members(catalogue);
    let place = hidden::place(folder).map_err(WriteError::io(folder, "creating the folder"))?;
    let path = folder.join(yt_name(objects.name));
    let yt = YtFile { catalogue, objects: &objects, units, members };
    let staged =
        stage_path(&path, |hidden| make_file(&path, hidden, "yt's halo catalogue", |file| yt.fill(file)))?;
    Ok(Staged::from(staged).in_place(place))
}

/// Code units in cgs.
struct YtUnits {
    length: f64,
    mass: f64,
    time: f64,
}

impl YtUnits {
    fn new(catalogue: &Catalogue) -> Option<Self> {
        let unit = |dimension| cgs_factor(&catalogue.attributes, dimension);
        let time = unit(Dimension::new(0, 0, 1))?;
        Some(Self { length: unit(Dimension::LENGTH)?, mass: unit(Dimension::MASS)?, time })
    }
}

struct YtFile<'a> {
    catalogue: &'a Catalogue,
    objects: &'a Objects<'a>,
    units: YtUnits,
    members: Option<MemberLists>,
}

impl YtFile<'_> {
    fn fill(&self, file: &File) -> Result<()> {
        self.attributes(file)?;
        let root = file.group("/")?;
        self.own_fields(&root)?;
        for column in &self.objects.table.columns {
            let cgs = CgsColumn::new(&self.catalogue.attributes, column);
            field(&root, &column.name, &cgs.values(), &cgs.unit("*", "**"))?;
        }
        let Some(members) = &self.members else { return Ok(()) };
        // The rows of the members of each halo, in the group `particles`.
        field(&root, "particle_number", &Values::I64(members.number.clone()), "")?;
        field(&root, "particle_index_start", &Values::I64(members.first.clone()), "")?;
        let particles = group(file, "particles")?;
        field(&particles, "ids", &Values::U64(members.id.clone()), "")?;
        match &members.kind {
            Some(kinds) => field(&particles, "types", &Values::U8(kinds.clone()), ""),
            None => Ok(()),
        }
    }

    fn attributes(&self, file: &File) -> Result<()> {
        let values = SwiftAttributes(&self.catalogue.attributes);
        let real = |name: &str| values.real(name).unwrap_or(0.0);
        let cosmology = values.cosmology();
        let a = cosmology.as_ref().map(|cosmology| cosmology.aexp);
        let age = cosmology.as_ref().map(cosmic_time);
        let (low, high) = self.bounds(&values);
        let [low, high] = [low, high].map(|corner| corner.map(|x| x * self.units.length));
        text(file, "data_type", "halo_catalog")?;
        scalar(file, "num_halos", &(self.objects.id.len() as i64))?;
        scalar(file, "cosmological_simulation", &i64::from(a.is_some()))?;
        scalar(file, "current_redshift", &a.map_or(0.0, |a| 1.0 / a - 1.0))?;
        scalar(file, "current_time", &age.unwrap_or(real("time") * self.units.time))?;
        scalar(file, "hubble_constant", &(real("h0") / 100.0))?;
        scalar(file, "omega_matter", &real("omega_m"))?;
        scalar(file, "omega_lambda", &real("omega_l"))?;
        put(file, "domain_left_edge", &low)?;
        put(file, "domain_right_edge", &high)?;
        for (name, unit) in [("current_time", "s"), ("domain_left_edge", "cm"), ("domain_right_edge", "cm")] {
            text(file, &format!("{name}_units"), unit)?;
        }
        scalar(file, "dimensionality", &3_i64)?;
        put(file, "domain_dimensions", &[1_i64; 3])?;
        put(file, "periodicity", &[u8::from(values.is_periodic()); 3])?;
        text(file, "virial_radius_from", self.objects.radius().1)
    }

    /// The box in code units; if it is open, the box around the objects.
    fn bounds(&self, values: &SwiftAttributes) -> ([f64; 3], [f64; 3]) {
        let sides = values.sides().filter(|sides| sides.iter().all(|side| *side > 0.0));
        sides.map_or_else(|| around(self.objects.position), |sides| ([0.0; 3], sides))
    }

    /// The places of the objects in centimetres. One below an upper wall stays below it, though the product
    /// may round to the wall.
    fn places(&self) -> Vec<[f64; 3]> {
        let (length, sides) =
            (self.units.length, self.bounds(&SwiftAttributes(&self.catalogue.attributes)).1);
        let place = |x: f64, side: f64| match x * length {
            at_wall if x < side && at_wall >= side * length => (side * length).next_down(),
            inside => inside,
        };
        self.objects.position.iter().map(|x| std::array::from_fn(|a| place(x[a], sides[a]))).collect()
    }

    /// The fields that yt needs for a halo.
    fn own_fields(&self, root: &Group) -> Result<()> {
        let (objects, units) = (self.objects, &self.units);
        let times = |list: &[f64], unit: f64| Values::F64(list.iter().map(|x| x * unit).collect());
        field(root, "particle_identifier", &Values::I64(objects.id.clone()), "")?;
        field(root, "particle_mass", &times(objects.mass, units.mass), "g")?;
        field(root, "virial_radius", &times(&objects.radius().0, units.length), "cm")?;
        field(root, "particle_position", &Values::F64x3(self.places()), "cm")?;
        match objects.velocity {
            Some(list) => {
                let unit = units.length / units.time;
                let values = Values::F64x3(list.iter().map(|x| x.map(|x| x * unit)).collect());
                field(root, "particle_velocity", &values, "cm/s")
            }
            None => Ok(()),
        }
    }
}

/// A field; three of a vector.
pub fn field(group: &Group, name: &str, values: &Values, unit: &str) -> Result<()> {
    let parts = |list: Vec<[f64; 3]>| {
        [(0, "x"), (1, "y"), (2, "z")].into_iter().try_for_each(|(axis, letter)| {
            let part = Values::F64(list.iter().map(|x| x[axis]).collect());
            field(group, &format!("{name}_{letter}"), &part, unit)
        })
    };
    match values {
        Values::F64x3(list) => return parts(list.clone()),
        Values::U32x3(list) => return parts(list.iter().map(|x| x.map(f64::from)).collect()),
        _ => {}
    }
    let dataset = put_values(group, name, values)?;
    text(&dataset, "units", if unit.is_empty() { "dimensionless" } else { unit })
}

/// A new attribute: a text.
pub fn text(at: &Location, name: &str, text: &str) -> Result<()> {
    scalar(at, name, &VarLenUnicode::from_str(text).expect("a name without zero bytes"))
}

/// A box with room around all points: yt takes a point on the upper border for one on the lower.
fn around(points: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
    let of = |a: usize, each: fn(f64, f64) -> f64, none| points.iter().map(|x| x[a]).fold(none, each);
    let bound = |a: usize| {
        let (low, high) = (of(a, f64::min, f64::INFINITY), of(a, f64::max, f64::NEG_INFINITY));
        if points.is_empty() {
            return (0.0, 1.0);
        }
        let room = 0.01 * if high > low { high - low } else { high.abs().max(1.0) };
        (low - room, high + room)
    };
    let bounds = [0, 1, 2].map(bound);
    (bounds.map(|bound| bound.0), bounds.map(|bound| bound.1))
}

/// The age at the expansion factor in seconds by the density parameters: the integral of da / (a H), by
/// Simpson's rule in the root of a, where the integrand is smooth.
fn cosmic_time(cosmology: &Cosmology) -> f64 {
    const STEPS: u32 = 512;
    let value = |s: f64| if s > 0.0 { 2.0 / (s * cosmology.hubble_rate_at(s * s)) } else { 0.0 };
    let step = cosmology.aexp.sqrt() / f64::from(STEPS);
    let weight = |i: u32| match i {
        0 | STEPS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|i| weight(i) * value(f64::from(i) * step)).sum();
    sum * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ages with closed forms: of matter alone 2/3 a^(3/2) / H0; flat with a constant 2/3 asinh(sqrt(L/M)
    /// a^(3/2)) / (sqrt(L) H0).
    #[test]
    fn ages_are_those_of_closed_forms() {
        let hubble_time = 3.085_677_581e19 / 70.0;
        let of_matter = cosmic_time(&Cosmology { aexp: 0.25, h0: 70.0, ..Cosmology::default() });
        assert!((of_matter / (2.0 / 3.0 * 0.125 * hubble_time) - 1.0).abs() < 1e-8);
        let flat = cosmic_time(&Cosmology { h0: 70.0, omega_m: 0.3, omega_l: 0.7, ..Cosmology::default() });
        let exact = 2.0 / 3.0 * (0.7f64 / 0.3).sqrt().asinh() / 0.7f64.sqrt() * hubble_time;
        assert!((flat / exact - 1.0).abs() < 1e-8, "{flat} {exact}");
    }

    #[test]
    fn an_open_box_has_its_points_inside() {
        let (low, high) = around(&[[1.0, 5.0, -3.0], [2.0, 5.0, 0.0]]);
        assert!((0..3).all(|a| low[a] < [1.0, 5.0, -3.0][a] && high[a] > [2.0, 5.0, 0.0][a]));
    }
}
