//! The substructure of a halo, as nested lists.

use super::kinds::numbers;
use crate::report::html::escaped;
use crate::report::plot::objects::radii;
use crate::report::summary::grouped;
use crate::report::units::{DisplayUnits, four_digits};
use inselberg_io::catalogue::{Catalogue, Dimension, Table};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Clumps of a halo that are listed.
const N_LISTED: usize = 40;

/// All clumps, by halo.
pub struct ListedClumps {
    /// By falling mass within each halo.
    of_halo: HashMap<u64, Vec<ListedClump>>,
}

/// A clump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListedClump {
    /// Its identifier.
    pub id: u64,
    /// The clump that it merges into; itself for a main clump.
    pub parent: u64,
    /// Mass, in code masses.
    pub mass: f64,
    /// Number of leaves.
    pub n_cells: u64,
    /// Peak over saddle, or peak minus saddle.
    pub relevance: f64,
    /// Its peak.
    pub position: [f64; 3],
    /// Radius of the sphere of its volume or the circle of its area; NaN if it is not known.
    pub radius: f64,
    /// Its bound part, if it has one.
    pub bound: Option<BoundPart>,
}

/// The bound part of a clump.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundPart {
    /// Mass, in code masses.
    pub mass: f64,
    /// The most bound particle.
    pub position: [f64; 3],
    /// The radius of half its mass.
    pub half_mass_radius: f64,
    /// Whether it belongs to the central clump of its halo.
    pub is_central: bool,
}

/// The bound parts of the rows of a table; `None` where there is none.
fn bound_parts(table: &Table) -> Vec<Option<BoundPart>> {
    let columns = || {
        let reals = |name: &str| table.reals(name);
        let central = table.integers("is_central")?;
        Some((
            reals("bound_mass")?,
            table.vectors("most_bound_position")?,
            reals("half_mass_radius")?,
            central,
        ))
    };
    let Some((masses, positions, radii, central)) = columns() else { return vec![None; table.n_rows()] };
    let part = |row: usize| BoundPart {
        mass: masses[row],
        position: positions[row],
        half_mass_radius: radii[row],
        is_central: central[row] != 0,
    };
    (0..table.n_rows()).map(|row| (masses[row] > 0.0).then(|| part(row))).collect()
}

impl ListedClumps {
    /// Those of a catalogue; `None` without clumps.
    pub fn new(catalogue: &Catalogue) -> Option<Self> {
        let table = catalogue.table("clumps")?;
        let (ids, parents, haloes) = (table.counts("id")?, table.counts("parent")?, table.counts("halo")?);
        let (masses, positions) = (table.reals("mass")?, table.vectors("peak_position")?);
        let (cells, relevances) = (table.counts("n_cells")?, numbers(table, "relevance")?);
        let (radii, bound) = (radii(table), bound_parts(table));
        let mut of_halo: HashMap<u64, Vec<ListedClump>> = HashMap::new();
        for row in 0..ids.len() {
            of_halo.entry(haloes[row]).or_default().push(ListedClump {
                id: ids[row],
                parent: parents[row],
                mass: masses[row],
                n_cells: cells[row],
                relevance: relevances[row],
                position: positions[row],
                radius: radii.as_ref().map_or(f64::NAN, |radii| radii[row]),
                bound: bound[row],
            });
        }
        let order = |a: &ListedClump, b: &ListedClump| b.mass.total_cmp(&a.mass).then(a.id.cmp(&b.id));
        of_halo.values_mut().for_each(|clumps| clumps.sort_by(order));
        Some(Self { of_halo })
    }

    /// The number of clumps of a halo.
    pub fn n_of(&self, halo: u64) -> usize {
        self.of_halo.get(&halo).map_or(0, Vec::len)
    }

    /// Whether any clump has a bound part.
    pub fn are_bound(&self) -> bool {
        self.of_halo.values().flatten().any(|clump| clump.bound.is_some())
    }

    /// The number of bound clumps of a halo beside its central one.
    pub fn n_satellites(&self, halo: u64) -> usize {
        let is_satellite = |clump: &&ListedClump| clump.bound.is_some_and(|bound| !bound.is_central);
        self.largest_of(halo).filter(is_satellite).count()
    }

    /// The clumps of a halo, by falling mass.
    pub fn largest_of(&self, halo: u64) -> impl Iterator<Item = &ListedClump> {
        self.of_halo.get(&halo).into_iter().flatten()
    }
}

/// The substructure of a halo: its main clump, and its most massive other ones below the nearest listed clump
/// that they merge into.
pub fn tree(clumps: &ListedClumps, halo: u64, units: &DisplayUnits) -> String {
    let parents: HashMap<u64, u64> = clumps.largest_of(halo).map(|clump| (clump.id, clump.parent)).collect();
    let mut listed: Vec<&ListedClump> = clumps.largest_of(halo).take(N_LISTED).collect();
    if let Some(main) = clumps.largest_of(halo).find(|clump| clump.id == halo)
        && !listed.contains(&main)
    {
        listed.push(main);
    }
    let mut children: BTreeMap<u64, Vec<&ListedClump>> = BTreeMap::new();
    for clump in &listed {
        if clump.id != halo {
            let parent = listed_parent(clump, &listed, &parents, halo);
            children.entry(parent).or_default().push(clump);
        }
    }
    let (n, shown) = (clumps.n_of(halo), listed.len());
    let number = match (n, n == shown) {
        (1, _) => "one clump".to_string(),
        (_, true) => format!("{} clumps", grouped(n as i64)),
        (_, false) => format!("the {shown} most massive of {} clumps", grouped(n as i64)),
    };
    let mut text = format!("<div class=\"tree\">\n<p>Substructure: {number}</p>\n<ul>\n");
    if let Some(main) = listed.iter().find(|clump| clump.id == halo) {
        add(&mut text, main, &children, units);
    }
    text + "</ul>\n</div>\n"
}

/// The nearest listed clump that a clump merges into.
fn listed_parent(
    clump: &ListedClump,
    listed: &[&ListedClump],
    parents: &HashMap<u64, u64>,
    halo: u64,
) -> u64 {
    let mut at = clump.parent;
    while !listed.iter().any(|other| other.id == at) {
        match parents.get(&at) {
            Some(parent) if *parent != at => at = *parent,
            _ => return halo,
        }
    }
    at
}

fn add(
    text: &mut String,
    clump: &ListedClump,
    children: &BTreeMap<u64, Vec<&ListedClump>>,
    units: &DisplayUnits,
) {
    let unit = units.unit(Dimension::MASS);
    let in_unit = |mass: f64| format!("{} {}", four_digits(mass * unit.factor), unit.shown());
    let mut mass = in_unit(clump.mass);
    if let Some(bound) = clump.bound {
        mass += &format!(" (bound: {})", in_unit(bound.mass));
    }
    let relevance = match clump.relevance.is_finite() {
        true => format!(", relevance {}", four_digits(clump.relevance)),
        false => String::new(),
    };
    let _ = write!(
        text,
        "<li data-clump=\"{}\"><b>{}</b>: {}, {} cells{relevance}",
        clump.id,
        clump.id,
        escaped(&mass),
        grouped(clump.n_cells as i64)
    );
    if let Some(below) = children.get(&clump.id) {
        *text += "\n<ul>\n";
        below.iter().for_each(|child| add(text, child, children, units));
        *text += "</ul>\n";
    }
    *text += "</li>\n";
}
