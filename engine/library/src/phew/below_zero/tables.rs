//! Densities in the tables of a catalogue, lowered for its readers and lifted for a new cut.

use super::ValueLift;
use inselberg_io::catalogue::{Catalogue, Table, Values};

/// The columns with densities of cells.
const OF_CELLS: [(&str, &[&str]); 4] = [
    ("clumps", &["density_peak", "density_min"]),
    ("haloes", &["density_peak", "density_min"]),
    ("tree", &["density", "density_min"]),
    ("cells", &["density"]),
];
/// The columns with densities of saddles, and the words of their descriptions for missing saddles.
const OF_SADDLES: [(&str, &str, &str); 7] = [
    ("clumps", "death_density", "; 0 if never"),
    ("haloes", "death_density", "; 0 if never"),
    ("haloes", "saddle_same_low", "; 0 for any"),
    ("haloes", "saddle_same_high", "infinite without one"),
    ("clumps", "saddle_density", "; 0 without"),
    ("haloes", "saddle_density", "; 0 without"),
    ("tree", "death_saddle", "; 0 if never"),
];

/// The density of a saddle as in the input; NaN for a missing one, since 0 is a valid density.
pub(super) fn lowered_saddle(lift: ValueLift, saddle: f64) -> f64 {
    if saddle == 0.0 { f64::NAN } else { lift.down(saddle) }
}

impl ValueLift {
    /// Lowers the densities of a table.
    pub(super) fn lower_table(self, table: &mut Table) {
        change(table, |cell| self.down(cell), |saddle| lowered_saddle(self, saddle));
        for (of, name, none) in OF_SADDLES {
            let column = table.columns.iter_mut().find(|column| of == table.name && column.name == name);
            if let Some(column) = column {
                column.description = column.description.replace(none, &none.replace('0', "NaN"));
            }
        }
    }

    /// The tree of a stored catalogue with lifted densities, in a catalogue of its own. A catalogue without a
    /// tree gives none.
    pub(super) fn lifted_tree(self, stored: &Catalogue) -> Catalogue {
        let mut tables: Vec<Table> = stored.table("tree").cloned().into_iter().collect();
        let saddle = |saddle: f64| if saddle.is_nan() { 0.0 } else { self.up(saddle) };
        tables.iter_mut().for_each(|table| change(table, |cell| self.up(cell), saddle));
        Catalogue { attributes: stored.attributes.clone(), tables }
    }
}

fn change(table: &mut Table, cell: impl Fn(f64) -> f64, saddle: impl Fn(f64) -> f64) {
    let (cells, saddles) = (OF_CELLS.iter(), OF_SADDLES.iter());
    let name = table.name.clone();
    let of_cells: Vec<&str> =
        cells.filter(|(of, _)| *of == name).flat_map(|(_, all)| *all).copied().collect();
    let of_saddles: Vec<&str> =
        saddles.filter(|(of, ..)| *of == name).map(|(_, column, _)| *column).collect();
    for column in &mut table.columns {
        let Values::F64(values) = &mut column.values else { continue };
        if of_cells.contains(&column.name.as_str()) {
            values.iter_mut().for_each(|value| *value = cell(*value));
        } else if of_saddles.contains(&column.name.as_str()) {
            values.iter_mut().for_each(|value| *value = saddle(*value));
        }
    }
}
