//! The texts of the files: headings, attributes, quoted texts.

use crate::catalogue::{Attribute, Table, TableColumn, Values};

/// The heading above the values.
pub(super) fn heads(table: &Table) -> String {
    table.columns.iter().map(head).collect::<Vec<_>>().join(",")
}

fn head(column: &TableColumn) -> String {
    match column.values {
        Values::F64x3(_) | Values::U32x3(_) => {
            ["x", "y", "z"].map(|a| format!("{}_{a}", column.name)).join(",")
        }
        _ => column.name.clone(),
    }
}

/// An attribute in the main file.
pub(super) fn attribute_text(value: &Attribute) -> String {
    match value {
        Attribute::Int(v) => format!("int {v}"),
        Attribute::Real(v) => format!("real {v:?}"),
        Attribute::Reals(v) => {
            let words: Vec<_> = v.iter().map(|x| format!("{x:?}")).collect();
            format!("reals {}", words.join(" ")).trim_end().into()
        }
        Attribute::Text(v) => format!("text {}", json(v)),
    }
}

/// A JSON string.
pub(super) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
