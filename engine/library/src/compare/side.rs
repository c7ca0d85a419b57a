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
pub struct Level {
    /// Their name: `clumps`, `haloes`, `groups`, `voids`.
    pub word: &'static str,
    /// Identifiers in the catalogue.
    pub id: Vec<u64>,
    /// Numbers of particles by which sizes are sorted: of a group, all friends.
    pub size: Vec<u64>,
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
    /// Masses within 200 times the critical density.
    pub mass_200: Option<Vec<f64>>,
    /// Radii of that density.
    pub radius_200: Option<Vec<f64>>,
    /// Whether each one is a satellite, if the catalogue says so.
    pub is_satellite: Option<Vec<bool>>,
    /// The row of the central object of each host.
    pub central: Option<Vec<Option<u32>>>,
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
pub struct Side {
    pub catalogue: ComparedCatalogue,
    /// Whether this program made it.
    pub is_own: bool,
    pub has_members: bool,
    /// Facts for readers of members.
    pub facts: Option<OutputFacts>,
    /// Clumps, subhaloes or voids.
    pub objects: Option<Level>,
    /// Haloes or groups, and the row of the host of each object if there are both.
    pub hosts: Option<Level>,
    pub host_of: Option<Vec<Option<u32>>>,
    /// The side of the box, if it is known, in the common unit.
    pub side: Option<f64>,
    pub is_periodic: bool,
    /// A code length in the common unit.
    length: f64,
}

/// The columns of a table, in the order of preference.
struct Names {
    table: &'static str,
    word: &'static str,
    id: &'static str,
    size: &'static [&'static str],
}

const OBJECTS: [Names; 2] = [
    Names { table: "clumps", word: "clumps", id: "id", size: &["n_bound", "n_particles", "n_cells"] },
    Names { table: "voids", word: "voids", id: "id", size: &["n_particles", "n_cells"] },
];
const HOSTS: [Names; 2] = [
    Names { table: "haloes", word: "haloes", id: "id", size: &["n_bound", "n_particles", "n_cells"] },
    Names { table: "Groups", word: "groups", id: "GroupIDs", size: &["Sizes", "n_bound"] },
];
const MEMBERS: &[&str] = &["n_bound", "Sizes", "n_particles", "n_cells"];
const MASSES: &[&str] = &["bound_mass", "mass", "Masses"];
const POSITIONS: &[&str] = &["most_bound_position", "peak_position", "Centres", "centre"];
const VMAX: &[&str] = &["maximum_circular_velocity"];
const RADII: &[&str] = &["half_mass_radius", "radius"];
const MASSES_200: &[&str] = &["mass_200_crit"];
const RADII_200: &[&str] = &["radius_200_crit"];

/// Code units in the common ones: length, mass and velocity.
type Scales = [f64; 3];

/// Both catalogues. Masses are in solar masses, lengths in comoving Mpc and velocities in km/s if both state
/// their units, else all in code units.
///
/// # Errors
/// One cannot be read, or lists no objects.
pub fn read_sides(
    paths: [&Path; 2],
    params: &CompareParams,
    notes: &mut Vec<String>,
) -> Result<[Side; 2], TreeError> {
    let outlines = paths.map(catalogue::outline);
    let [a, b] = outlines;
    let outlines = [a?, b?];
    let scales = outlines.each_ref().map(scales_of);
    let scales = match scales {
        [Some(a), Some(b)] => [a, b],
        _ => {
            notes.push("a catalogue states no units; both are compared in code units".into());
            [[1.0; 3]; 2]
        }
    };
    let [a, b] = [0, 1].map(|i| read_side(paths[i], &outlines[i], scales[i]));
    let mut sides = [a?, b?];
    check_same_output(&outlines, notes);
    place_in_box(&mut sides, params, notes);
    for side in &mut sides {
        let lists = [&side.objects, &side.hosts].into_iter().flatten();
        side.catalogue.counts = lists.map(|level| (level.word, level.id.len() as u64)).collect();
    }
    Ok(sides)
}

fn real(outline: &CatalogueOutline, name: &str) -> Option<f64> {
    match outline.attribute(name) {
        Some(Attribute::Real(value)) if value.is_finite() => Some(*value),
        _ => None,
    }
}

fn scales_of(outline: &CatalogueOutline) -> Option<Scales> {
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

fn read_side(path: &Path, outline: &CatalogueOutline, scales: Scales) -> Result<Side, TreeError> {
    let name = path.display().to_string();
    let finder = match outline.attribute(FINDER) {
        Some(Attribute::Text(finder)) => Some(finder.clone()),
        _ => None,
    };
    let read = |names: &[Names]| -> Result<Option<(Level, Table)>, TreeError> {
        let found = names.iter().find(|names| outline.table(names.table).is_some());
        found.map(|names| read_level(path, outline, names, scales)).transpose()
    };
    let (objects, hosts) = (read(&OBJECTS)?, read(&HOSTS)?);
    if objects.is_none() && hosts.is_none() && outline.table("nodes").is_none() {
        let expected = "a catalogue with clumps, haloes, groups or voids";
        return Err(TreeError::of(&name, "no objects to compare", expected));
    }
    let facts = OutputFacts::new(&name, outline, None).ok();
    let has_members = facts.as_ref().is_some_and(|facts| check_members(facts, outline).is_ok());
    let host_of = objects.as_ref().zip(hosts.as_ref()).and_then(|((level, table), (hosts, _))| {
        let column = if hosts.word == "groups" { "group" } else { "halo" };
        let of = by_id(table, "id", column, &level.id)?;
        let rows = rows_of(&hosts.id);
        Some(of.iter().map(|host| rows.get(host).copied()).collect())
    });
    let (mut objects, mut hosts) = (objects, hosts);
    if let (Some((objects, table)), Some((hosts, of_hosts))) = (&mut objects, &mut hosts) {
        hosts.central = centrals(objects, of_hosts, &hosts.id, hosts.word);
        objects.is_satellite = by_id(table, "id", "is_central", &objects.id)
            .map(|central| central.iter().map(|central| *central == 0).collect());
    } else if let Some((objects, table)) = &mut objects {
        objects.is_satellite = by_id(table, "id", "is_central", &objects.id)
            .map(|central| central.iter().map(|central| *central == 0).collect());
    }
    let side = match (outline.attribute("boxlen"), outline.attribute("coarse_cells")) {
        (Some(Attribute::Real(side)), Some(Attribute::Reals(coarse)))
            if coarse.iter().all(|n| *n == coarse[0]) =>
        {
            Some(side * coarse[0] * scales[0])
        }
        _ => None,
    };
    let is_periodic = match outline.attribute("periodic") {
        Some(Attribute::Reals(axes)) => axes.iter().all(|axis| *axis == 1.0),
        _ => false,
    };
    Ok(Side {
        is_own: finder.is_none(),
        catalogue: ComparedCatalogue {
            name,
            finder: finder.unwrap_or_else(|| "inselberg".into()),
            counts: Vec::new(),
        },
        has_members,
        facts,
        objects: objects.map(|(level, _)| level),
        hosts: hosts.map(|(level, _)| level),
        host_of,
        side,
        is_periodic,
        length: scales[0],
    })
}

/// The values of a column of integers, in the order of these identifiers.
fn by_id(table: &Table, id: &str, column: &str, ids: &[u64]) -> Option<Vec<u64>> {
    let (keys, values) = (table.integers(id)?, table.integers(column)?);
    let of: HashMap<u64, u64> =
        keys.iter().map(|key| key.cast_unsigned()).zip(values.iter().map(|v| v.cast_unsigned())).collect();
    ids.iter().map(|id| of.get(id).copied()).collect()
}

fn rows_of(ids: &[u64]) -> HashMap<u64, u32> {
    ids.iter().copied().zip(0..).collect()
}

fn centrals(objects: &Level, of_hosts: &Table, hosts: &[u64], word: &str) -> Option<Vec<Option<u32>>> {
    let id = if word == "groups" { "GroupIDs" } else { "id" };
    let central = by_id(of_hosts, id, "central", hosts)?;
    let rows = rows_of(&objects.id);
    Some(central.iter().map(|id| rows.get(id).copied()).collect())
}

/// Objects with particles, by ascending identifier, and the table that they come from.
fn read_level(
    path: &Path,
    outline: &CatalogueOutline,
    names: &Names,
    [length, mass, velocity]: Scales,
) -> Result<(Level, Table), TreeError> {
    let from = outline.table(names.table).expect("it was found");
    let first = |of: &[&'static str]| of.iter().copied().find(|name| from.has(name));
    let name = path.display().to_string();
    let need = |what: &str, of: &[&'static str]| {
        first(of).ok_or_else(|| {
            TreeError::of(
                &name,
                format!("no column of {what} in {}", names.table),
                format!("one of {}", of.join(", ")),
            )
        })
    };
    let (size, n, position) =
        (need("sizes", names.size)?, need("sizes", MEMBERS)?, need("positions", POSITIONS)?);
    let of_mass = need("masses", MASSES)?;
    let optional = [VMAX, RADII, MASSES_200, RADII_200].map(first);
    let links = ["halo", "group", "is_central", "central"].into_iter().filter(|name| from.has(name));
    let mut columns = vec![names.id, size, n, of_mass, position];
    columns.extend(optional.into_iter().flatten().chain(links));
    columns.sort_unstable();
    columns.dedup();
    let table = catalogue::read_rows(path, names.table, &columns, 0..from.n_rows)?;
    let bad = |column: &str| TreeError::of(&name, format!("{}/{column}", names.table), "numbers of its kind");
    let ids = table.integers(names.id).ok_or_else(|| bad(names.id))?;
    let sizes = table.integers(size).ok_or_else(|| bad(size))?;
    let n_members = table.integers(n).ok_or_else(|| bad(n))?;
    let masses = numbers(&table, of_mass).ok_or_else(|| bad(of_mass))?;
    let positions = table.vectors(position).ok_or_else(|| bad(position))?;
    let mut rows: Vec<usize> = (0..ids.len()).filter(|row| sizes[*row] > 0).collect();
    rows.sort_unstable_by_key(|row| ids[*row].cast_unsigned());
    let [vmax, radius, mass_200, radius_200] = optional;
    let reals = |column: Option<&str>, unit: f64| {
        let values = numbers(&table, column?)?;
        Some(rows.iter().map(|row| values[*row] * unit).collect::<Vec<f64>>())
    };
    let level = Level {
        word: names.word,
        id: rows.iter().map(|row| ids[*row].cast_unsigned()).collect(),
        size: rows.iter().map(|row| sizes[*row].cast_unsigned()).collect(),
        n_members: rows.iter().map(|row| n_members[*row].cast_unsigned()).collect(),
        mass: rows.iter().map(|row| masses[*row] * mass).collect(),
        position: rows.iter().map(|row| positions[*row].map(|x| x * length)).collect(),
        vmax: reals(vmax, velocity),
        radius: reals(radius, length),
        mass_200: reals(mass_200, mass),
        radius_200: reals(radius_200, length),
        is_satellite: None,
        central: None,
    };
    Ok((level, table))
}

/// A column of reals in either precision.
fn numbers(table: &Table, name: &str) -> Option<Vec<f64>> {
    match &table.column(name)?.values {
        Values::F64(values) => Some(values.clone()),
        Values::F32(values) => Some(values.iter().map(|x| f64::from(*x)).collect()),
        _ => None,
    }
}

/// Brings the positions of the second catalogue into the box of the first one.
fn place_in_box([a, b]: &mut [Side; 2], params: &CompareParams, notes: &mut Vec<String>) {
    let shift = params.shift * b.length;
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
        for row in (0..level.id.len()).filter(|row| !is_in(&level.position[*row])).collect::<Vec<_>>() {
            // No statistics have objects of this size.
            level.size[row] = 0;
            n_out += 1;
        }
    }
    notes.push(format!(
        "{n_out} objects of the second catalogue lie outside of the box: they can be partners, but are not counted"
    ));
}

impl Side {
    /// A code length of this catalogue in the common unit.
    pub fn code_length(&self) -> f64 {
        self.length
    }
}

impl Level {
    /// The objects with at least this size.
    pub fn at_least(&self, size: u64) -> impl Iterator<Item = usize> + '_ {
        (0..self.id.len()).filter(move |row| self.size[*row] >= size)
    }
}
