//! `clumps` and `haloes`: a column for each of the kernels' properties.

use inselberg_io::catalogue::{Column, Dimension, Table, Values};
use inselberg_kernels::props::{PROPERTIES, Property, Structure, Value};

/// The clumps, one row each.
pub fn clumps_table(clumps: &[Structure], has_velocity: bool) -> Table {
    table("clumps", clumps, has_velocity)
}

/// The haloes, one row each.
pub fn haloes_table(haloes: &[Structure], has_velocity: bool) -> Table {
    table("haloes", haloes, has_velocity)
}

fn table(name: &str, rows: &[Structure], has_velocity: bool) -> Table {
    let properties = PROPERTIES.iter().flat_map(|family| family.iter());
    let known = properties.filter(|p| has_velocity || !p.needs_velocity);
    Table { name: name.into(), columns: known.map(|p| column(p, rows)).collect() }
}

fn column(property: &Property, rows: &[Structure]) -> Column {
    let [length, mass, time] = property.dimension;
    Column {
        name: property.name.into(),
        dimension: Dimension::new(length, mass, time),
        description: property.description.into(),
        values: values(property, rows),
    }
}

/// The kind of a property's values is the same for every structure, so any one tells it.
fn values(property: &Property, rows: &[Structure]) -> Values {
    let value = property.value;
    match value(&Structure::default()) {
        Value::U64(_) => {
            Values::U64(rows.iter().map(|s| if let Value::U64(v) = value(s) { v } else { 0 }).collect())
        }
        Value::F64(_) => Values::F64(
            rows.iter().map(|s| if let Value::F64(v) = value(s) { v } else { f64::NAN }).collect(),
        ),
        Value::F64x3(_) => {
            let vector = |s| if let Value::F64x3(v) = value(s) { v } else { [f64::NAN; 3] };
            Values::F64x3(rows.iter().map(vector).collect())
        }
    }
}
