//! The pairs of a comparison as tables.

use inselberg::compare::{Comparison, Level, LevelComparison};
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values};

/// One table per level: pairs, and objects of both catalogues that are in none. Rows by ascending
/// identifiers of the first catalogue, then those that are only in the second one.
pub fn matches(compared: &Comparison) -> Catalogue {
    let text = |name: &str, value: &str| (name.to_string(), Attribute::Text(value.into()));
    let attributes = vec![
        text("program", "inselberg"),
        text("kind", "comparison"),
        text("first", &compared.a.name),
        text("second", &compared.b.name),
    ];
    Catalogue { attributes, tables: compared.levels.iter().map(table_of).collect() }
}

fn table_of(level: &LevelComparison) -> Table {
    let mut rows: Vec<(Option<usize>, Option<usize>, f64, u64)> = Vec::new();
    let mutual: Vec<_> = level.pairs.iter().filter(|pair| level.is_mutual(pair)).collect();
    let mut in_b = vec![false; level.b.id.len()];
    let mut pair_of = vec![None; level.a.id.len()];
    for pair in mutual {
        pair_of[pair.a as usize] = Some(pair);
        in_b[pair.b as usize] = true;
    }
    for (row, pair) in pair_of.iter().enumerate() {
        rows.push(match pair {
            Some(pair) => (Some(row), Some(pair.b as usize), pair.score, pair.n_shared),
            None => (Some(row), None, 0.0, 0),
        });
    }
    rows.extend((0..in_b.len()).filter(|row| !in_b[*row]).map(|row| (None, Some(row), 0.0, 0)));
    let mut columns = Vec::new();
    columns.extend(side(&level.a, "first", rows.iter().map(|row| row.0)));
    columns.extend(side(&level.b, "second", rows.iter().map(|row| row.1)));
    let score = rows.iter().map(|row| row.2).collect();
    columns.push(column(
        "score",
        "n\u{b2} / (n_A n_B), or of masses; 0 without a partner",
        Values::F64(score),
    ));
    let n_shared = rows.iter().map(|row| row.3).collect();
    columns.push(column("n_shared", "members in common", Values::U64(n_shared)));
    let name = if level.a.word == level.b.word {
        level.a.word.to_string()
    } else {
        format!("{}_{}", level.a.word, level.b.word)
    };
    Table { name, columns }
}

fn side(level: &Level, of: &str, rows: impl Iterator<Item = Option<usize>> + Clone) -> Vec<TableColumn> {
    let whole = |list: &[u64], absent: i64| {
        Values::I64(rows.clone().map(|row| row.map_or(absent, |row| list[row].cast_signed())).collect())
    };
    let reals =
        |list: &[f64]| Values::F64(rows.clone().map(|row| row.map_or(f64::NAN, |row| list[row])).collect());
    let position = rows.clone().map(|row| row.map_or([f64::NAN; 3], |row| level.position[row])).collect();
    let mut columns = vec![
        column(&format!("{of}_id"), "identifier; -1 if there is none", whole(&level.id, -1)),
        column(&format!("{of}_size"), "particles", whole(&level.size, 0)),
        column(&format!("{of}_members"), "bound members", whole(&level.n_members, 0)),
        column(&format!("{of}_mass"), "mass", reals(&level.mass)),
        column(&format!("{of}_position"), "comoving centre", Values::F64x3(position)),
    ];
    let lists = [
        ("maximum_circular_velocity", &level.vmax),
        ("half_mass_radius", &level.radius),
        ("mass_200_crit", &level.mass_200),
        ("radius_200_crit", &level.radius_200),
    ];
    columns.extend(
        lists
            .into_iter()
            .filter_map(|(name, list)| Some(column(&format!("{of}_{name}"), "", reals(list.as_ref()?)))),
    );
    columns
}

/// Masses are in solar masses and lengths in comoving Mpc where both catalogues state their units, so no
/// column has a code unit.
fn column(name: &str, description: &str, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension: Dimension::NONE, description: description.into(), values }
}
