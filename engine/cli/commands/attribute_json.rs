//! Attributes of catalogues as JSON.

use inselberg_io::catalogue::Attribute;
use serde_json::{Value, json};

/// Numbers as numbers. Those that are not finite are null, because JSON has no value for them.
pub fn attribute_json(value: &Attribute) -> Value {
    match value {
        Attribute::Int(n) => json!(n),
        Attribute::Real(x) => json!(x),
        Attribute::Reals(all) => json!(all),
        Attribute::Text(text) => json!(text),
    }
}
