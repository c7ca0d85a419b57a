//! A value with a name: what an input says of itself beside its header, and what a catalogue says of a run.

use serde::{Deserialize, Serialize};

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Attribute {
    /// A count or a switch.
    Int(i64),
    /// A real.
    Real(f64),
    /// Several reals.
    Reals(Vec<f64>),
    /// A text.
    Text(String),
}
