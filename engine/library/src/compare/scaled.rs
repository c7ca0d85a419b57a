//! The objects of a catalogue, in units that both catalogues share.

use super::params::CompareParams;
use crate::trees::TreeError;
use crate::trees::facts::OutputFacts;
use crate::trees::input::check_members;
use inselberg_io::Units;
use inselberg_io::catalogue::finders::FINDER;
use inselberg_io::catalogue::units::{KILOMETRE, MEGAPARSEC, SOLAR_MASS};
use inselberg_io::catalogue::{self, Attribute, CatalogueOutline, Dimension, Table, Values};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

/// The common units in cgs: of length, mass and velocity.
const PHYSICAL: [f64; 3] = [MEGAPARSEC, SOLAR_MASS, KILOMETRE];

/// The relative difference up to which sides of boxes are the same.
const SAME_SIDE: f64 = 1e-4;

/// Which objects a level lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// Clumps, subhaloes, voids: what members belong to.
    Objects,
    /// Haloes and groups, which may have several of them.
    Hosts,
}

/// Objects of a level of a catalogue. Lengths are comoving.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LevelObjects {
    /// Their name: `clumps`, `haloes`, `groups`, `voids`.
    pub word: &'static str,
    /// Identifiers in the catalogue.
    pub id: Vec<u64>,
    /// Numbers of particles or cells by which sizes are sorted: of a group, all friends.
    pub size: Vec<u64>,
    /// What sizes count: `particles` or `cells`.
    pub size_word: &'static str,
    /// Numbers of bound members.
    pub n_members: Vec<u64>,
    /// Masses.
    pub mass: Vec<f64>,
    /// Centres.
    pub position: Vec<[f64; 3]>,
    /// Maximum circular velocities.
    pub vmax: Option<Vec<f64>>,
    /// Radii of half the mass.
    pub radius: Option<Vec<f64>>,
    /// How far from its centre the same object can be: the half-mass radius, or else the radius of a sphere of
    /// its volume, or of a disc of its area.
    pub reach: Option<Vec<f64>>,
    /// Masses within 200 times the critical density.
    pub mass_200: Option<Vec<f64>>,
    /// Radii of that density.
    pub radius_200: Option<Vec<f64>>,
    /// Whether each one is a satellite, if the catalogue says so.
    pub is_satellite: Option<Vec<bool>>,
    /// The row of the central object of each host.
    pub central: Option<Vec<Option<u32>>>,
}

impl LevelObjects {
    /// The objects with at least this size.
    pub fn at_least(&self, size: u64) -> impl Iterator<Item = usize> + '_ {
        (0..self.id.len()).filter(move |row| self.size[*row] >= size)
    }

    /// The row of each identifier.
    pub(super) fn rows_by_id(&self) -> HashMap<u64, u32> {
        self.id.iter().copied().zip(0..).collect()
    }
}

/// What a comparison says of a catalogue.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ComparedCatalogue {
    /// Its path.
    pub name: String,
    /// The program that made it.
    pub finder: String,
    /// Numbers of objects by level, with the word for them.
    pub counts: Vec<(&'static str, u64)>,
}

/// A catalogue as it is compared.
pub struct ScaledCatalogue {
    pub about: ComparedCatalogue,
    /// Whether this program made it.
    pub is_own: bool,
    pub has_members: bool,
    /// Facts for readers of members.
    pub facts: Option<OutputFacts>,
    /// Clumps, subhaloes or voids.
    pub objects: Option<LevelObjects>,
    /// Haloes or groups, and the row of the host of each object if there are both.
    pub hosts: Option<LevelObjects>,
    pub host_of: Option<Vec<Option<u32>>>,
    /// The side of the box, if it is known, in the common unit.
    pub side: Option<f64>,
    pub is_periodic: bool,
    /// A code length in the common unit.
    pub code_length: f64,
}

/// Where a level is in a catalogue. Columns are in the order of preference.
struct LevelNames {
    table: &'static str,
    word: &'static str,
    id: &'static str,
    size: &'static [&'static str],
    /// Of hosts: the column of objects with the identifier of their host.
    of_object: &'static str,
}

/// The columns of sizes of tables of clumps and haloes.
const SIZES: &[&str] = &["n_bound", "n_particles", "n_cells"];

const OBJECTS: [LevelNames; 2] = [
    LevelNames { table: "clumps", word: "clumps", id: "id", size: SIZES, of_object: "" },
    LevelNames { table: "voids", word: "voids", id: "id", size: &["n_particles", "n_cells"], of_object: "" },
];
const HOSTS: [LevelNames; 2] = [
    LevelNames { table: "haloes", word: "haloes", id: "id", size: SIZES, of_object: "halo" },
    LevelNames {
        table: "Groups",
        word: "groups",
        id: "GroupIDs",
        size: &["Sizes", "n_bound"],
        of_object: "group",
    },
];
const MEMBERS: &[&str] = &["n_bound", "Sizes", "n_particles", "n_cells"];
const MASSES: &[&str] = &["bound_mass", "mass", "Masses"];
const POSITIONS: &[&str] = &["most_bound_position", "peak_position", "Centres", "centre"];
const VMAX: &[&str] = &["maximum_circular_velocity"];
const RADII: &[&str] = &["half_mass_radius", "radius"];
/// Volumes in three dimensions, and areas in two.
const SIZES_IN_SPACE: &[&str] = &["volume", "area"];
const MASSES_200: &[&str] = &["mass_200_crit"];
const RADII_200: &[&str] = &["radius_200_crit"];
const IS_CENTRAL: &str = "is_central";
const CENTRAL: &str = "central";

/// Code units in the common ones: length, mass and velocity.
type CommonScales = [f64; 3];

/// Both catalogues. Masses are in solar masses, lengths in comoving Mpc and velocities in km/s if both state
/// their units, else all in code units.
///
/// # Errors
/// One cannot be read, or lists no objects.
pub fn read_both(
    paths: [&Path; 2],
    params: &CompareParams,
    notes: &mut Vec<String>,
) -> Result<[ScaledCatalogue; 2], TreeError> {
    let [a, b] = paths.map(catalogue::outline);
    let outlines = [a?, b?];
    let scales = match outlines.each_ref().map(scales_of) {
        [Some(a), Some(b)] => [a, b],
        _ => {
            notes.push("a catalogue states no units; both are compared in code units".into());
            [[1.0; 3]; 2]
        }
    };
    let [a, b] = [0, 1].map(|i| ScaledCatalogue::read(paths[i], &outlines[i], scales[i]));
    let mut both = [a?, b?];
    check_same_output(&outlines, notes);
    place_in_box(&mut both, params, notes);
    Ok(both)
}

fn real(outline: &CatalogueOutline, name: &str) -> Option<f64> {
    match outline.attribute(name) {
        Some(Attribute::Real(value)) if value.is_finite() => Some(*value),
        _ => None,
    }
}

fn scales_of(outline: &CatalogueOutline) -> Option<CommonScales> {
    let [length, density, time] =
        ["unit_length", "unit_density", "unit_time"].map(|name| real(outline, name));
    let units = Units { length: length?, density: density?, time: time? };
    let [megaparsec, sun, kilometre] = PHYSICAL;
    let a = real(outline, "aexp").unwrap_or(1.0);
    Some([
        units.length / a / megaparsec,
        units.cgs(Dimension::MASS) / sun,
        units.cgs(Dimension::VELOCITY) / kilometre,
    ])
}

/// Notes if the catalogues are of different times.
fn check_same_output([a, b]: &[CatalogueOutline; 2], notes: &mut Vec<String>) {
    if let (Some(a), Some(b)) = (real(a, "aexp"), real(b, "aexp"))
        && (a - b).abs() > 1e-4 * a
    {
        notes.push(format!("the expansion factors differ: {a} and {b}; these are not the same output"));
    }
}

impl ScaledCatalogue {
    fn read(path: &Path, outline: &CatalogueOutline, scales: CommonScales) -> Result<Self, TreeError> {
        let name = path.display().to_string();
        let find = |names: &'static [LevelNames]| names.iter().find(|of| outline.table(of.table).is_some());
        let read = |names: &LevelNames| read_level(path, outline, names, scales);
        let host_names = find(&HOSTS);
        let mut objects = find(&OBJECTS).map(read).transpose()?;
        let mut hosts = host_names.map(read).transpose()?;
        if objects.is_none() && hosts.is_none() && outline.table("nodes").is_none() {
            let expected = "a catalogue with clumps, haloes, groups or voids";
            return Err(TreeError::of(&name, "no objects to compare", expected));
        }
        if let Some((objects, rows)) = &mut objects {
            let is_central = rows.integers(IS_CENTRAL);
            objects.is_satellite = is_central.map(|of| of.iter().map(|central| *central == 0).collect());
        }
        let mut host_of = None;
        if let (Some((objects, rows)), Some((hosts, of_hosts)), Some(names)) =
            (&objects, &mut hosts, host_names)
        {
            host_of = rows.places(names.of_object, &hosts.rows_by_id());
            hosts.central = of_hosts.places(CENTRAL, &objects.rows_by_id());
        }
        let facts = OutputFacts::new(&name, outline, None).ok();
        let has_members = facts.as_ref().is_some_and(|facts| check_members(facts, outline).is_ok());
        let finder = match outline.attribute(FINDER) {
            Some(Attribute::Text(finder)) => Some(finder.clone()),
            _ => None,
        };
        let [objects, hosts] = [objects, hosts].map(|level| level.map(|(level, _)| level));
        let levels = [&objects, &hosts].into_iter().flatten();
        let counts = levels.map(|level| (level.word, level.id.len() as u64)).collect();
        let is_own = finder.is_none();
        let finder = finder.unwrap_or_else(|| "inselberg".into());
        let (side, is_periodic) = box_of(outline, scales[0]);
        Ok(Self {
            about: ComparedCatalogue { name, finder, counts },
            is_own,
            has_members,
            facts,
            objects,
            hosts,
            host_of,
            side,
            is_periodic,
            code_length: scales[0],
        })
    }
}

/// The side of a cube with this code length, and whether it is periodic along all axes.
fn box_of(outline: &CatalogueOutline, code_length: f64) -> (Option<f64>, bool) {
    let side = match (outline.attribute("boxlen"), outline.attribute("coarse_cells")) {
        (Some(Attribute::Real(side)), Some(Attribute::Reals(coarse)))
            if coarse.iter().all(|n| *n == coarse[0]) =>
        {
            coarse.first().map(|n| side * n * code_length)
        }
        _ => None,
    };
    let is_periodic = match outline.attribute("periodic") {
        Some(Attribute::Reals(axes)) => axes.iter().all(|axis| *axis == 1.0),
        _ => false,
    };
    (side, is_periodic)
}

/// The rows of a table with particles, by ascending identifier.
struct LevelRows {
    table: Table,
    rows: Vec<usize>,
}

impl LevelRows {
    /// `None` if the columns of identifiers or sizes are no integers.
    fn new(table: Table, id: &str, size: &str) -> Option<Self> {
        let (ids, sizes) = (table.integers(id)?, table.integers(size)?);
        let mut rows: Vec<usize> = (0..ids.len()).filter(|row| sizes[*row] > 0).collect();
        rows.sort_unstable_by_key(|row| ids[*row].cast_unsigned());
        Some(Self { table, rows })
    }

    fn integers(&self, name: &str) -> Option<Vec<u64>> {
        let values = self.table.integers(name)?;
        Some(self.rows.iter().map(|row| values[*row].cast_unsigned()).collect())
    }

    /// The places of the identifiers in a column.
    fn places(&self, name: &str, place_of: &HashMap<u64, u32>) -> Option<Vec<Option<u32>>> {
        let ids = self.integers(name)?;
        Some(ids.iter().map(|id| place_of.get(id).copied()).collect())
    }

    /// A column of reals in either precision, in the common unit.
    fn reals(&self, name: &str, unit: f64) -> Option<Vec<f64>> {
        let rows = self.rows.iter();
        match &self.table.column(name)?.values {
            Values::F64(values) => Some(rows.map(|row| values[*row] * unit).collect()),
            Values::F32(values) => Some(rows.map(|row| f64::from(values[*row]) * unit).collect()),
            _ => None,
        }
    }

    /// Radii of spheres of these volumes, or of discs of these areas.
    fn radii_of(&self, name: &str, unit: f64) -> Option<Vec<f64>> {
        let radius = |size: f64| match name {
            "area" => (size / PI).sqrt(),
            _ => (size * 0.75 / PI).cbrt(),
        };
        Some(self.reals(name, 1.0)?.into_iter().map(|size| unit * radius(size)).collect())
    }

    fn positions(&self, name: &str, unit: f64) -> Option<Vec<[f64; 3]>> {
        let values = self.table.vectors(name)?;
        Some(self.rows.iter().map(|row| values[*row].map(|x| x * unit)).collect())
    }
}

/// Objects with particles, by ascending identifier, and the rows that they come from.
fn read_level(
    path: &Path,
    outline: &CatalogueOutline,
    names: &LevelNames,
    [length, mass, velocity]: CommonScales,
) -> Result<(LevelObjects, LevelRows), TreeError> {
    let from = outline.table(names.table).expect("it was found");
    let name = path.display().to_string();
    let first = |of: &[&'static str]| of.iter().copied().find(|name| from.has(name));
    let need = |what: &str, of: &[&'static str]| {
        let problem = || format!("no column of {what} in {}", names.table);
        let expected = || format!("one of {}", of.join(", "));
        first(of).ok_or_else(|| TreeError::of(&name, problem(), expected()))
    };
    let (size, n_members) = (need("sizes", names.size)?, need("sizes", MEMBERS)?);
    let (position, of_mass) = (need("positions", POSITIONS)?, need("masses", MASSES)?);
    let optional = [VMAX, RADII, SIZES_IN_SPACE, MASSES_200, RADII_200].map(first);
    let links = HOSTS.iter().map(|hosts| hosts.of_object).chain([IS_CENTRAL, CENTRAL]);
    let mut columns = vec![names.id, size, n_members, of_mass, position];
    columns.extend(optional.into_iter().flatten().chain(links.filter(|name| from.has(name))));
    columns.sort_unstable();
    columns.dedup();
    let table = catalogue::read_rows(path, names.table, &columns, 0..from.n_rows)?;
    let bad = |column: &str| TreeError::of(&name, format!("{}/{column}", names.table), "numbers of its kind");
    let rows = LevelRows::new(table, names.id, size).ok_or_else(|| bad(size))?;
    let whole = |column: &str| rows.integers(column).ok_or_else(|| bad(column));
    let [vmax, radius, volume, mass_200, radius_200] = optional;
    let radius = radius.and_then(|column| rows.reals(column, length));
    let reach = radius.clone().or_else(|| rows.radii_of(volume?, length));
    let level = LevelObjects {
        word: names.word,
        id: whole(names.id)?,
        size: whole(size)?,
        size_word: if size == "n_cells" { "cells" } else { "particles" },
        n_members: whole(n_members)?,
        mass: rows.reals(of_mass, mass).ok_or_else(|| bad(of_mass))?,
        position: rows.positions(position, length).ok_or_else(|| bad(position))?,
        vmax: vmax.and_then(|column| rows.reals(column, velocity)),
        radius,
        reach,
        mass_200: mass_200.and_then(|column| rows.reals(column, mass)),
        radius_200: radius_200.and_then(|column| rows.reals(column, length)),
        is_satellite: None,
        central: None,
    };
    Ok((level, rows))
}

/// Brings the positions of the second catalogue into the box of the first one.
fn place_in_box([a, b]: &mut [ScaledCatalogue; 2], params: &CompareParams, notes: &mut Vec<String>) {
    let shift = params.shift * b.code_length;
    for level in [&mut b.objects, &mut b.hosts].into_iter().flatten() {
        level.position.iter_mut().flatten().for_each(|x| *x += shift);
    }
    let differ = a.side.zip(b.side).filter(|(a, b)| (a - b).abs() > SAME_SIDE * a);
    let Some((side, other)) = differ else { return };
    notes.push(format!(
        "the sides of the boxes differ: {side:.4} and {other:.4}; that of the first one counts"
    ));
    if shift == 0.0 {
        return;
    }
    let is_in = |position: &[f64; 3]| position.iter().all(|x| (0.0..side).contains(x));
    let mut n_out = 0;
    for level in [&mut b.objects, &mut b.hosts].into_iter().flatten() {
        for (size, _) in level.size.iter_mut().zip(&level.position).filter(|(_, at)| !is_in(at)) {
            // No statistics have objects of this size.
            *size = 0;
            n_out += 1;
        }
    }
    notes.push(format!(
        "{n_out} objects of the second catalogue lie outside of the box: they can be partners, but are not counted"
    ));
}
