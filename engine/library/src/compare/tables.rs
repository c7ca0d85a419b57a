//! The pairs of a comparison as tables.

use super::partners::LevelComparison;
use super::scaled::LevelObjects;
use super::{CatalogueComparison, Difference};
use crate::tables::{AttributeList, column};
use inselberg_io::catalogue::{Catalogue, Dimension, Table, TableColumn, Values};

impl CatalogueComparison {
    /// One table per level: pairs of best partners, and objects of both catalogues that are in none. Rows by
    /// ascending identifiers of the first catalogue, then those that are only in the second one.
    pub fn matches(&self) -> Catalogue {
        let mut attributes = AttributeList::new();
        attributes.text("program", "inselberg");
        attributes.text("kind", "comparison");
        attributes.text("first", &self.a.name);
        attributes.text("second", &self.b.name);
        if let Some(difference) = self.difference.as_ref().map(Difference::to_string) {
            attributes.text("first_difference", &difference);
        }
        let tables = self.levels.iter().map(table_of).collect();
        Catalogue { attributes: attributes.into_attributes(), tables }
    }
}

fn table_of(level: &LevelComparison) -> Table {
    let partner = |row: usize| level.partner_of_a(row).filter(|pair| level.is_mutual(pair));
    let is_alone = |row: &usize| level.partner_of_b(*row).is_none_or(|pair| !level.is_mutual(pair));
    let n = level.a.id.len();
    let pairs: Vec<_> = (0..n).map(partner).collect();
    let alone: Vec<usize> = (0..level.b.id.len()).filter(is_alone).collect();
    let no_row = || alone.iter().map(|_| None);
    let of_a = (0..n).map(Some).chain(no_row());
    let of_b =
        pairs.iter().map(|pair| pair.map(|pair| pair.b as usize)).chain(alone.iter().copied().map(Some));
    let mut columns = columns_of(&level.a, "first", of_a);
    columns.extend(columns_of(&level.b, "second", of_b));
    let shown = |name: &str, text: &str, values: Values| column(name, Dimension::NONE, text, values);
    let pairs = || pairs.iter().copied().chain(alone.iter().map(|_| None));
    let score = Values::F64(pairs().map(|pair| pair.map_or(0.0, |pair| pair.score)).collect());
    columns.push(shown("score", "n² / (n_A n_B), or of masses; 0 without a partner", score));
    let n_shared = Values::U64(pairs().map(|pair| pair.map_or(0, |pair| pair.n_shared)).collect());
    columns.push(shown("n_shared", "members in common", n_shared));
    Table { name: level.title().replace(" and ", "_"), columns }
}

/// The columns of one catalogue. Masses are in solar masses and lengths in comoving Mpc where both catalogues
/// state their units, so no column has a code unit.
fn columns_of(
    level: &LevelObjects,
    of: &str,
    rows: impl Iterator<Item = Option<usize>> + Clone,
) -> Vec<TableColumn> {
    let shown = |name: &str, text: &str, values: Values| {
        column(&format!("{of}_{name}"), Dimension::NONE, text, values)
    };
    let whole = |list: &[u64], absent: i64| {
        Values::I64(rows.clone().map(|row| row.map_or(absent, |row| list[row].cast_signed())).collect())
    };
    let reals =
        |list: &[f64]| Values::F64(rows.clone().map(|row| row.map_or(f64::NAN, |row| list[row])).collect());
    let position = rows.clone().map(|row| row.map_or([f64::NAN; 3], |row| level.position[row])).collect();
    let mut columns = vec![
        shown("id", "identifier; -1 if there is none", whole(&level.id, -1)),
        shown("size", level.size_word, whole(&level.size, 0)),
        shown("members", "bound members, or all where binding is not known", whole(&level.n_members, 0)),
        shown("mass", "mass", reals(&level.mass)),
        shown("position", "comoving centre", Values::F64x3(position)),
    ];
    for (name, text, list) in [
        ("maximum_circular_velocity", "maximum circular velocity", &level.vmax),
        ("half_mass_radius", "radius of half the mass", &level.radius),
        ("mass_200_crit", "mass within 200 times the critical density", &level.mass_200),
        ("radius_200_crit", "radius of 200 times the critical density", &level.radius_200),
    ] {
        columns.extend(list.as_ref().map(|list| shown(name, text, reals(list))));
    }
    columns
}
