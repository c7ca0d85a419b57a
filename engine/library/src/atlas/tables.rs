//! The numbers of an atlas as tables.

use super::numbers::CutNumbers;
use super::plateaus::{CountedObjects, Plateau, slopes};
use super::{AtlasLine, AtlasPlane, ThresholdAtlas};
use crate::tables::column;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, RUN_ATTRIBUTES, Table, TableColumn, Values};

impl ThresholdAtlas {
    /// The numbers as tables: for each threshold its counts, its mass functions and its plateaus, such as
    /// `saddle`, `saddle_mass_function` and `saddle_plateaus`; for each pair its counts, such as
    /// `relevance_saddle`. Thresholds are in the units of `recut`, masses in code units.
    pub fn tables(&self) -> Catalogue {
        let is_of_run = |name: &str| RUN_ATTRIBUTES.contains(&name);
        let mut attributes = self.attributes.clone();
        attributes.retain(|(name, _)| !is_of_run(name));
        attributes.push(("kind".into(), Attribute::Text("atlas".into())));
        attributes.push(("mass_above_threshold".into(), Attribute::Real(self.mass_above)));
        let mut tables: Vec<Table> = self.lines.iter().map(|line| self.of_line(line)).collect();
        tables.extend(self.planes.iter().map(|plane| self.of_plane(plane)));
        tables.extend(self.lines.iter().map(|line| self.mass_functions(line)));
        tables.extend(self.lines.iter().filter(|line| !line.plateaus.is_empty()).map(of_plateaus));
        Catalogue { attributes, tables }
    }

    fn of_line(&self, line: &AtlasLine) -> Table {
        let mut columns = vec![value_column(line.varied.name(), line.values.clone())];
        columns.extend(self.number_columns(&line.cuts));
        for (name, of) in [("clumps", CountedObjects::Clumps), ("haloes", CountedObjects::Haloes)] {
            let counts: Vec<f64> = line.counts(of).into_iter().map(|n| n as f64).collect();
            let text = format!("d ln(number of {name}) / d ln(threshold); NaN where it is not known");
            columns.push(shown(&format!("slope_{name}"), &text, Values::F64(slopes(&line.values, &counts))));
        }
        Table { name: line.varied.name().into(), columns }
    }

    fn of_plane(&self, plane: &AtlasPlane) -> Table {
        let [first, second] = plane.varied.map(|varied| varied.name());
        let [across, up] = &plane.values;
        let of_first = across.iter().flat_map(|a| up.iter().map(move |_| *a)).collect();
        let of_second = across.iter().flat_map(|_| up.iter().copied()).collect();
        let mut columns = vec![value_column(first, of_first), value_column(second, of_second)];
        columns.extend(self.number_columns(&plane.cuts));
        Table { name: format!("{first}_{second}"), columns }
    }

    fn number_columns(&self, cuts: &[CutNumbers]) -> Vec<TableColumn> {
        let counts = |of: fn(&CutNumbers) -> u64| Values::U64(cuts.iter().map(of).collect());
        let reals = |of: &dyn Fn(&CutNumbers) -> f64| Values::F64(cuts.iter().map(of).collect());
        vec![
            shown("n_clumps", "listed clumps", counts(|cut| cut.n_clumps)),
            shown("n_haloes", "listed haloes", counts(|cut| cut.n_haloes)),
            shown("n_levels", "highest level at which a clump merges", counts(|cut| cut.n_levels)),
            column("mass", Dimension::MASS, "mass in listed haloes", reals(&|cut| cut.mass)),
            shown(
                "mass_fraction",
                "that mass over the mass above the density threshold",
                reals(&|cut| cut.mass / self.mass_above),
            ),
        ]
    }

    /// One row per value of the threshold and bin of mass.
    fn mass_functions(&self, line: &AtlasLine) -> Table {
        let lower = &self.bins.edges[..self.bins.len()];
        let upper = &self.bins.edges[self.bins.edges.len() - self.bins.len()..];
        let each = |of: &[f64]| Values::F64(line.cuts.iter().flat_map(|_| of.to_vec()).collect());
        let counts = |of: fn(&CutNumbers) -> &Vec<u64>| {
            Values::U64(line.cuts.iter().flat_map(|cut| of(cut).clone()).collect())
        };
        let values = line.values.iter().flat_map(|value| lower.iter().map(move |_| *value)).collect();
        let columns = vec![
            value_column(line.varied.name(), values),
            column("mass_low", Dimension::MASS, "lower edge of the bin of mass", each(lower)),
            column("mass_high", Dimension::MASS, "upper edge of the bin", each(upper)),
            shown("n_clumps", "listed clumps in the bin", counts(|cut| &cut.clumps_by_mass)),
            shown("n_haloes", "listed haloes in the bin", counts(|cut| &cut.haloes_by_mass)),
        ];
        Table { name: format!("{}_mass_function", line.varied.name()), columns }
    }
}

fn shown(name: &str, text: &str, values: Values) -> TableColumn {
    column(name, Dimension::NONE, text, values)
}

/// Values of a threshold.
fn value_column(name: &str, values: Vec<f64>) -> TableColumn {
    let text = format!("{name} threshold, in the unit in which `recut` takes it");
    shown(&format!("{name}_threshold"), &text, Values::F64(values))
}

fn of_plateaus(line: &AtlasLine) -> Table {
    let plateaus = &line.plateaus;
    let reals = |of: fn(&Plateau) -> f64| Values::F64(plateaus.iter().map(of).collect());
    let counts = |of: fn(&Plateau) -> u64| Values::U64(plateaus.iter().map(of).collect());
    let of_haloes = |of: &Plateau| u64::from(of.counted == CountedObjects::Haloes);
    let columns = vec![
        shown("of_haloes", "1 if haloes are counted, 0 for clumps", counts(of_haloes)),
        shown("number", "the longest in the logarithm is the first of its count", counts(|of| of.number)),
        shown("low", "first value of the threshold in it", reals(|of| of.range[0])),
        shown("high", "last value of the threshold in it", reals(|of| of.range[1])),
        shown(
            "recommended",
            "geometric middle; of an open one the catalogue's own value, NaN if that is elsewhere",
            reals(|of| of.recommended.unwrap_or(f64::NAN)),
        ),
        shown("count_low", "least number of objects in it", counts(|of| of.count[0])),
        shown("count_high", "greatest number of objects in it", counts(|of| of.count[1])),
        shown("slope", "d ln(number) / d ln(threshold) from end to end", reals(|of| of.slope)),
        shown(
            "is_open",
            "1 if it reaches an end of the values that were tried",
            counts(|of| of.is_open.into()),
        ),
    ];
    Table { name: format!("{}_plateaus", line.varied.name()), columns }
}
