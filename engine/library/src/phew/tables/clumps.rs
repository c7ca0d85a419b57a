//! `clumps` and `haloes`: a column for each of the kernels' properties.

use crate::bound::IS_CENTRAL;
use crate::phew::peaks::Peaks;
use inselberg_io::catalogue::{Dimension, Table, TableColumn, Values};
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::{KnownProperties, Property, Structure, Value, properties};
use rayon::prelude::*;

/// The facts that are known about the clumps of these peaks, for this kind of persistence.
pub fn known_properties(peaks: &Peaks, persistence: Persistence) -> KnownProperties {
    let (has_velocity, has_prominence) = (peaks.momenta.is_some(), peaks.prominence.is_some());
    KnownProperties { persistence, has_velocity, has_prominence }
}

/// The clumps, one row each.
pub fn clumps_table(clumps: &[Structure], known: KnownProperties) -> Table {
    let mut table = table("clumps", clumps, known);
    let is_central = clumps.iter().map(|clump| u8::from(clump.central == clump.id)).collect();
    let text = "1 for the central clump of its halo, 0 for satellites";
    let column = crate::tables::column(IS_CENTRAL, Dimension::NONE, text, Values::U8(is_central));
    table.columns.insert(AFTER_PARENT, column);
    table
}

/// The haloes, one row each. Values of members of the hierarchy are those of the main clump.
pub fn haloes_table(haloes: &[Structure], known: KnownProperties) -> Table {
    let mut table = table("haloes", haloes, known);
    let central = haloes.iter().map(|halo| halo.central).collect();
    let text = "identifier of its central clump";
    let column = crate::tables::column("central", Dimension::NONE, text, Values::U64(central));
    table.columns.insert(AFTER_PARENT, column);
    table
}

/// The columns of centrals come after identifier, halo and parent.
const AFTER_PARENT: usize = 3;

/// Those columns of clumps that have these names.
pub fn property_columns(rows: &[Structure], names: &[&str]) -> Vec<TableColumn> {
    let known = KnownProperties {
        persistence: Persistence::Difference(0.0),
        has_velocity: false,
        has_prominence: false,
    };
    properties(known).filter(|of| names.contains(&of.name)).map(|of| column(of, rows)).collect()
}

fn table(name: &str, rows: &[Structure], known: KnownProperties) -> Table {
    Table { name: name.into(), columns: properties(known).map(|p| column(p, rows)).collect() }
}

fn column(property: &Property, rows: &[Structure]) -> TableColumn {
    let [length, mass, time] = property.dimension;
    TableColumn {
        name: property.name.into(),
        dimension: Dimension::new(length, mass, time),
        description: property.description.into(),
        values: values(property, rows),
    }
}

/// The values of a property. Their kind is the same for every structure, so any structure has it.
fn values(property: &Property, rows: &[Structure]) -> Values {
    let value = property.value;
    macro_rules! collect {
        ($variant:ident) => {
            Values::$variant(
                rows.par_iter()
                    .map(|row| match value(row) {
                        Value::$variant(v) => v,
                        other => unreachable!("`{}` has values of two kinds: {other:?}", property.name),
                    })
                    .collect(),
            )
        };
    }
    match value(&Structure::default()) {
        Value::U64(_) => collect!(U64),
        Value::F64(_) => collect!(F64),
        Value::F64x3(_) => collect!(F64x3),
    }
}
