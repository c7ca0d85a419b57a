//! A description of a catalogue as text.

use super::merger_tree::{MergerTreeTables, TrackOutline};
use super::units::{SOLAR_MASS, unit_name};
use super::{Attribute, Catalogue, Dimension, Table, Values};
use std::fmt::Write;

/// Number of listed haloes.
const N_LISTED: usize = 10;

/// The displayed unit of a dimension: its name, and the number of these units in one code unit.
pub type ShownUnit<'a> = dyn Fn(Dimension) -> (String, f64) + 'a;

/// Attributes, tables with their columns and units, and the most massive haloes, as plain text in code units.
pub fn describe(catalogue: &Catalogue) -> String {
    described(catalogue, None)
}

/// The same with the values of the most massive haloes or groups in these units. Columns have their own unit
/// and its value in these.
pub fn describe_in(catalogue: &Catalogue, unit: &ShownUnit<'_>) -> String {
    described(catalogue, Some(unit))
}

fn described(catalogue: &Catalogue, unit: Option<&ShownUnit<'_>>) -> String {
    let mut text = String::new();
    describe_attributes(&mut text, catalogue, unit.is_some());
    for (i, table) in catalogue.tables.iter().enumerate() {
        match catalogue.tables[..i].iter().find(|before| same_columns(before, table)) {
            Some(before) => {
                let _ = writeln!(
                    text,
                    "\n{}: {} rows\n  columns as in {}",
                    table.name,
                    table.n_rows(),
                    before.name
                );
            }
            None => describe_table(&mut text, table, unit),
        }
    }
    describe_haloes(&mut text, catalogue, unit);
    describe_groups(&mut text, catalogue, unit);
    describe_tracks(&mut text, catalogue, unit.is_some());
    text
}

/// An attribute as text.
pub fn attribute_text(value: &Attribute) -> String {
    match value {
        Attribute::Int(v) => v.to_string(),
        Attribute::Real(v) => format!("{v:?}"),
        Attribute::Reals(v) => v.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" "),
        Attribute::Text(v) => v.clone(),
    }
}

fn describe_attributes(text: &mut String, catalogue: &Catalogue, has_other_units: bool) {
    let width = catalogue.attributes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let _ = writeln!(text, "attributes{}", if has_other_units { " (code units)" } else { "" });
    for (name, value) in &catalogue.attributes {
        let indented = attribute_text(value).replace('\n', &format!("\n  {:width$}  ", ""));
        let _ = writeln!(text, "  {name:width$}  {indented}");
    }
}

fn describe_table(text: &mut String, table: &Table, unit: Option<&ShownUnit<'_>>) {
    let width = table.columns.iter().map(|c| c.name.len()).max().unwrap_or(0);
    let unit_of = |dimension: Dimension| match unit.filter(|_| dimension != Dimension::NONE) {
        None => unit_name(dimension),
        Some(unit) => {
            let (name, factor) = unit(dimension);
            format!("{} = {factor:.4e} {name}", unit_name(dimension))
        }
    };
    let units: Vec<_> = table.columns.iter().map(|c| unit_of(c.dimension)).collect();
    let unit_width = units.iter().map(String::len).max().unwrap_or(0);
    let _ = writeln!(text, "\n{}: {} rows", table.name, table.n_rows());
    for (column, unit) in table.columns.iter().zip(units) {
        let line = format!("  {:width$}  {unit:unit_width$}  {}", column.name, column.description);
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn same_columns(a: &Table, b: &Table) -> bool {
    let heads = |t: &Table| {
        t.columns.iter().map(|c| (c.name.clone(), c.dimension, c.description.clone())).collect::<Vec<_>>()
    };
    heads(a) == heads(b)
}

/// The units of the lists of objects.
struct ListUnits {
    heading: String,
    length: f64,
    mass: f64,
}

impl ListUnits {
    fn new(unit: Option<&ShownUnit<'_>>) -> Self {
        let Some(unit) = unit else { return Self { heading: "code units".into(), length: 1.0, mass: 1.0 } };
        let ((length_name, length), (mass_name, mass)) = (unit(Dimension::LENGTH), unit(Dimension::MASS));
        Self { heading: format!("masses in {mass_name}, positions in {length_name}"), length, mass }
    }
}

fn describe_haloes(text: &mut String, catalogue: &Catalogue, unit: Option<&ShownUnit<'_>>) {
    let Some(haloes) = catalogue.table("haloes") else { return };
    let Some(masses) = haloes.reals("mass") else { return };
    let mut rows: Vec<usize> = (0..masses.len()).collect();
    rows.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]));
    rows.truncate(N_LISTED);
    let units = ListUnits::new(unit);
    let _ = writeln!(text, "\nthe most massive haloes ({})", units.heading);
    let _ = writeln!(text, "  {:>10}  {:>12}  {:>10}  peak position", "id", "mass", "cells");
    for row in rows {
        let position = haloes
            .vectors("peak_position")
            .map(|v| v[row].map(|x| x * units.length))
            .map_or(String::new(), |p| format!("{:9.6} {:9.6} {:9.6}", p[0], p[1], p[2]));
        let (id, cells) = (count(haloes, "id", row), count(haloes, "n_cells", row));
        let line = format!("  {id:>10}  {:>12.5e}  {cells:>10}  {position}", masses[row] * units.mass);
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn describe_groups(text: &mut String, catalogue: &Catalogue, unit: Option<&ShownUnit<'_>>) {
    let Some(groups) = catalogue.table("Groups") else { return };
    let (Some(masses), Some(centres)) = (groups.reals("Masses"), groups.vectors("Centres")) else { return };
    let count = |name: &str, row: usize| match groups.column(name).map(|c| &c.values) {
        Some(Values::I64(values)) => values[row].to_string(),
        _ => "-".into(),
    };
    let units = ListUnits::new(unit);
    let _ = writeln!(text, "\nthe largest groups ({})", units.heading);
    let _ = writeln!(text, "  {:>10}  {:>12}  {:>10}  centre of mass", "id", "mass", "members");
    for row in 0..groups.n_rows().min(N_LISTED) {
        let (id, size) = (count("GroupIDs", row), count("Sizes", row));
        let ([x, y, z], mass) = (centres[row].map(|x| x * units.length), masses[row] * units.mass);
        let line = format!("  {id:>10}  {mass:>12.5e}  {size:>10}  {x:9.6} {y:9.6} {z:9.6}");
        let _ = writeln!(text, "{line}");
    }
}

fn describe_tracks(text: &mut String, catalogue: &Catalogue, is_physical: bool) {
    let Ok(tree) = MergerTreeTables::new(catalogue) else { return };
    let is_physical = is_physical && tree.snapshots.iter().all(|snapshot| snapshot.units.is_some());
    let tracks = tree.tracks();
    let unit = if is_physical { "masses in Msun" } else { "code units" };
    let _ = writeln!(text, "\nthe heaviest of {} tracks ({unit})", tracks.len());
    let _ = writeln!(text, "  {:>10}  {:>12}  {:>10}  it", "track", "largest mass", "outputs");
    for TrackOutline { track, first, last, largest } in tracks.into_iter().take(N_LISTED) {
        let in_cgs = tree.in_cgs(largest, [0, 1, 0]).filter(|_| is_physical);
        let mass = tree.nodes.mass[largest] * in_cgs.map_or(1.0, |cgs| cgs / SOLAR_MASS);
        let outputs = format!("{} to {}", tree.output(first).number, tree.output(last).number);
        let fate = tree.fate(last).name();
        let _ = writeln!(text, "  {:>10}  {mass:>12.5e}  {outputs:>10}  {fate}", track.to_string());
    }
}

fn count(table: &Table, name: &str, row: usize) -> String {
    table.counts(name).map_or("-".into(), |v| v[row].to_string())
}
