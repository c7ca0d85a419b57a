//! The kinds of objects in pictures and pages, and what is drawn of each: one colour per kind everywhere.

use super::colours::{GREEN, SKY, TURQUOISE, WHITE, YELLOW};
use super::objects::{DrawnObjects, Objects, radii};
use crate::report::least_drawn::LeastDrawn;
use inselberg_io::catalogue::{Catalogue, Dimension, Table};
use plotters::prelude::RGBColor;
use std::collections::HashMap;

/// More circles than this would hide the map.
pub const MOST_CIRCLES: usize = 400;
/// Radius of the circle of the largest mass where sizes are not known, and the least of any circle.
const RADII: (f64, f64) = (30.0, 2.0);

/// A kind of objects.
#[derive(Debug)]
pub struct ObjectKind {
    /// Its table, and its name in keys.
    pub table: &'static str,
    pub name: &'static str,
    /// The columns of places, and of masses or radii, by which objects are counted.
    pub columns: [&'static str; 2],
    /// The column of radii; `None`: of the volume, area or extent.
    radius: Option<&'static str>,
    /// Its mark on maps.
    pub mark: CircleMark,
    /// The quantity by which objects are counted.
    pub counted: &'static CountedBy,
}

/// How a circle looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CircleMark {
    /// The colour, which is that of the kind.
    pub colour: RGBColor,
    /// Pixels of its line.
    pub line: u32,
    /// Pixels by which it is wider than its object.
    pub wider: f64,
    /// Whether it has a dot in its middle.
    pub has_dot: bool,
}

/// The quantity by which objects are counted: their masses or their radii.
#[derive(Debug)]
pub struct CountedBy {
    /// Its dimension.
    pub dimension: Dimension,
    /// Its name along the axis.
    pub across: &'static str,
    /// The name of the numbers.
    pub up: &'static str,
    /// The name of the whole.
    pub functions: &'static str,
    /// The word for objects with much of it.
    pub largest: &'static str,
}

const BY_MASS: CountedBy = CountedBy {
    dimension: Dimension::MASS,
    across: "mass m",
    up: "number with mass ≥ m",
    functions: "mass functions",
    largest: "most massive",
};
const BY_RADIUS: CountedBy = CountedBy {
    dimension: Dimension::LENGTH,
    across: "radius r",
    up: "number with radius ≥ r",
    functions: "size function",
    largest: "largest",
};

const fn mark(colour: RGBColor, line: u32, wider: f64) -> CircleMark {
    CircleMark { colour, line, wider, has_dot: false }
}

/// One object among others.
pub const MARKED: CircleMark = CircleMark { colour: YELLOW, line: 2, wider: 0.0, has_dot: true };

/// Clumps of haloes that have several.
pub const CLUMPS: ObjectKind = ObjectKind {
    table: "clumps",
    name: "clumps",
    columns: ["peak_position", "mass"],
    radius: None,
    mark: mark(WHITE, 1, 0.0),
    counted: &BY_MASS,
};
pub const HALOES: ObjectKind =
    ObjectKind { table: "haloes", name: "haloes", mark: mark(SKY, 2, 2.0), ..CLUMPS };
/// The bound part of clumps, after unbinding.
pub const BOUND: ObjectKind = ObjectKind {
    name: "bound",
    columns: ["most_bound_position", "bound_mass"],
    radius: Some("half_mass_radius"),
    mark: mark(GREEN, 2, 0.0),
    ..CLUMPS
};
pub const GROUPS: ObjectKind = ObjectKind {
    table: "Groups",
    name: "groups",
    columns: ["Centres", "Masses"],
    mark: mark(SKY, 2, 0.0),
    ..CLUMPS
};
/// The bound part of groups.
const BOUND_GROUPS: ObjectKind = ObjectKind { table: "Groups", ..BOUND };
pub const VOIDS: ObjectKind = ObjectKind {
    table: "voids",
    name: "voids",
    columns: ["centre", "radius"],
    radius: Some("radius"),
    mark: mark(TURQUOISE, 2, 0.0),
    counted: &BY_RADIUS,
};

/// All kinds, in the order of keys. Later ones are drawn below, but bound parts are drawn above.
const KINDS: [&ObjectKind; 6] = [&CLUMPS, &HALOES, &BOUND, &GROUPS, &BOUND_GROUPS, &VOIDS];

impl ObjectKind {
    /// The objects of this kind in a catalogue, the largest first.
    pub fn objects(&self, catalogue: &Catalogue) -> Objects {
        Objects::new(catalogue, self.table, self.columns, |table| self.radii(table))
    }

    /// The radius of each row, if the table states the sizes of its objects.
    pub fn radii(&self, table: &Table) -> Option<Vec<f64>> {
        match self.radius {
            Some(column) => table.reals(column).map(<[f64]>::to_vec),
            None => radii(table),
        }
    }
}

/// The objects of a kind in a catalogue.
#[derive(Debug)]
pub struct Shown {
    pub kind: &'static ObjectKind,
    pub objects: Objects,
    pub drawn: DrawnObjects,
    /// Whether each drawn object is a halo of one clump, or that clump.
    is_single: Vec<bool>,
    /// The largest mass of all kinds.
    largest: f64,
}

/// A circle on a map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapCircle {
    /// Its centre in the box.
    pub position: [f64; 3],
    /// Its radius.
    pub radius: CircleRadius,
    /// How it looks.
    pub mark: CircleMark,
    /// A text beside it; may be empty.
    pub label: String,
}

/// The radius of a circle on a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CircleRadius {
    /// In code lengths.
    Length(f64),
    /// In pixels, where sizes are not known.
    Pixels(f64),
}

impl CircleRadius {
    /// Pixels, at a number of them per code length.
    pub fn pixels(self, per_length: f64) -> f64 {
        match self {
            Self::Length(length) if length.is_finite() => (length * per_length).max(RADII.1),
            Self::Length(_) => RADII.1,
            Self::Pixels(pixels) => pixels.max(RADII.1),
        }
    }
}

/// The kinds in a catalogue, in the order of keys. Smaller objects than the least get no circle.
pub fn shown(catalogue: &Catalogue, least: LeastDrawn) -> Vec<Shown> {
    let singles = Singles::new(catalogue);
    let is_there = |kind: &&'static ObjectKind| {
        let table = catalogue.table(kind.table);
        table.is_some_and(|table| {
            kind.columns[1] != BOUND.columns[1] || table.column(kind.columns[1]).is_some()
        })
    };
    let of_kind = |kind: &'static ObjectKind| {
        let table = catalogue.table(kind.table).expect("it is there");
        let objects = kind.objects(catalogue);
        let drawn = objects.with_circles(Some(table), least, MOST_CIRCLES);
        let is_single = drawn.places.iter().map(|i| singles.has(kind, table, objects.rows[*i])).collect();
        Shown { kind, objects, drawn, is_single, largest: 0.0 }
    };
    let mut all: Vec<Shown> = KINDS.into_iter().filter(is_there).map(of_kind).collect();
    let largest = all.iter().map(|shown| shown.objects.largest()).fold(f64::MIN_POSITIVE, f64::max);
    all.iter_mut().for_each(|shown| shown.largest = largest);
    all
}

/// The circles of all kinds, the lowest first. A halo of one clump has one circle with a dot.
pub fn circles(all: &[Shown]) -> Vec<MapCircle> {
    let (above, below): (Vec<&Shown>, Vec<&Shown>) = all.iter().partition(|shown| shown.is_bound());
    below.into_iter().rev().chain(above).flat_map(Shown::circles).collect()
}

impl Shown {
    fn circles(&self) -> Vec<MapCircle> {
        let hides = self.kind.name == CLUMPS.name;
        let drawn = self.drawn.places.iter().zip(&self.is_single);
        let circle = |(i, is_single): (&usize, &bool)| {
            let mark = CircleMark { has_dot: *is_single, ..self.kind.mark };
            let position = self.objects.positions[*i];
            MapCircle { position, radius: self.radius(*i), mark, label: String::new() }
        };
        drawn.filter(|(_, is_single)| !(hides && **is_single)).map(circle).collect()
    }

    fn radius(&self, i: usize) -> CircleRadius {
        match &self.objects.radii {
            Some(radii) => CircleRadius::Length(radii[i]),
            None => CircleRadius::Pixels(RADII.0 * (self.objects.masses[i] / self.largest).max(0.0).sqrt()),
        }
    }

    /// Whether a drawn object is a halo of one clump.
    pub fn has_singles(&self) -> bool {
        self.kind.name == HALOES.name && self.is_single.contains(&true)
    }

    /// The number of objects: as tables and summaries count them, those with a bound part for that.
    pub fn n(&self) -> usize {
        if self.is_bound() { self.objects.masses.len() } else { self.objects.n_rows }
    }

    /// Whether these are bound parts of other objects.
    pub fn is_bound(&self) -> bool {
        self.kind.name == BOUND.name
    }
}

/// The haloes of one clump.
struct Singles {
    /// The number of clumps by halo; `None` where there are not both tables.
    n_of: Option<HashMap<u64, usize>>,
}

impl Singles {
    fn new(catalogue: &Catalogue) -> Self {
        let haloes = catalogue.table(CLUMPS.table).and_then(|clumps| clumps.counts("halo"));
        let n_of = haloes.filter(|_| catalogue.table(HALOES.table).is_some()).map(|haloes| {
            let mut n_of = HashMap::new();
            haloes.iter().for_each(|halo| *n_of.entry(*halo).or_default() += 1);
            n_of
        });
        Self { n_of }
    }

    /// Whether a row is such a halo, or its clump.
    fn has(&self, kind: &ObjectKind, table: &Table, row: usize) -> bool {
        let Some(n_of) = self.n_of.as_ref().filter(|_| [HALOES.name, CLUMPS.name].contains(&kind.name))
        else {
            return false;
        };
        let column = if kind.name == HALOES.name { "id" } else { "halo" };
        table.counts(column).is_some_and(|halo| n_of.get(&halo[row]) == Some(&1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_io::catalogue::{TableColumn, Values};

    fn column(name: &str, values: Values) -> TableColumn {
        TableColumn { name: name.into(), dimension: Dimension::NONE, description: String::new(), values }
    }

    /// Halo 1 has clumps 1 and 2; halo 3 is clump 3.
    fn catalogue() -> Catalogue {
        let table = |name: &str, ids: &[u64], haloes: &[u64]| Table {
            name: name.into(),
            columns: vec![
                column("id", Values::U64(ids.to_vec())),
                column("halo", Values::U64(haloes.to_vec())),
                column("mass", Values::F64(ids.iter().map(|id| 10.0 - *id as f64).collect())),
                column("volume", Values::F64(vec![1.0; ids.len()])),
                column("peak_position", Values::F64x3(ids.iter().map(|id| [*id as f64; 3]).collect())),
            ],
        };
        let tables = vec![table("clumps", &[1, 2, 3], &[1, 1, 3]), table("haloes", &[1, 3], &[1, 3])];
        Catalogue { attributes: Vec::new(), tables }
    }

    /// Images have a column of radii on the sky.
    #[test]
    fn a_radius_on_the_sky_is_no_size_in_the_box() {
        let mut clumps = catalogue().tables.remove(0);
        clumps.columns.push(column("radius", Values::F64(vec![50.0; 3])));
        let radii = CLUMPS.radii(&clumps).expect("clumps have volumes");
        assert!(radii.iter().all(|radius| *radius < 1.0), "{radii:?}");
    }

    #[test]
    fn a_halo_of_one_clump_has_one_circle_with_a_dot() {
        let all = shown(&catalogue(), LeastDrawn::default());
        let drawn = circles(&all);
        let of = |mark: CircleMark| {
            let own = drawn.iter().filter(|circle| circle.mark.colour == mark.colour);
            own.map(|circle| (circle.position[0], circle.mark.has_dot)).collect::<Vec<_>>()
        };
        assert_eq!(of(HALOES.mark), [(1.0, false), (3.0, true)]);
        assert_eq!(of(CLUMPS.mark), [(1.0, false), (2.0, false)]);
        assert_eq!(all.iter().map(Shown::n).collect::<Vec<_>>(), [3, 2]);
        assert!(all[1].has_singles() && !all[0].has_singles());
    }
}
