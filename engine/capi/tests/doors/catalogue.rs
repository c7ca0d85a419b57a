//! Are two catalogues the same, apart from how they came about?

use inselberg_io::catalogue::read;
use std::path::Path;

#[path = "../../../../tests/common/compare.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod compare;

/// Panics where two catalogues differ by a bit of a column, or by an attribute that is not of the run.
pub fn assert_same_catalogue(found: &Path, expected: &Path) {
    let [found_rows, expected_rows] = [found, expected].map(|path| read(path).expect("a catalogue"));
    assert!(found_rows.tables.iter().any(|table| table.n_rows() > 1), "{}: no rows", found.display());
    compare::assert_same(&found_rows, &expected_rows, &found.display().to_string());
}
