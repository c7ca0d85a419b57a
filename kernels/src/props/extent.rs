//! Properties of size.

use super::{Property, Value, number, with_dimension};

pub(super) const PROPERTIES: &[Property] = &[
    number("n_cells", "number of leaf cells", |s| Value::U64(s.n_cells)),
    with_dimension("volume", [3, 0, 0], "volume of its cells", |s| Value::F64(s.volume)),
];
