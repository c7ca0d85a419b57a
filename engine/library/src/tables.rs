//! Parts that the tables of all catalogues share.

use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::Snapshot;
pub(crate) use inselberg_io::catalogue::AttributeList;
use inselberg_io::catalogue::{Attribute, Dimension, PartTable, RowRun, Table, TableColumn, Values};

/// The attribute that lists units that the input does not state: those of its format are assumed.
pub const ASSUMED_UNITS: &str = "assumed_units";

/// The attribute with notes on the input that a user may not expect: assumptions, and parts that it omits.
pub const INPUT_NOTES: &str = "input_notes";

/// Notes on an input as the attribute of that name; `None` without any.
pub(crate) fn input_notes(notes: &[String]) -> Option<(String, Attribute)> {
    (!notes.is_empty()).then(|| (INPUT_NOTES.to_string(), Attribute::Text(notes.join("; "))))
}

/// The notes on the input among the attributes of a catalogue, in one line.
pub fn input_notes_of(attributes: &[(String, Attribute)]) -> Option<&str> {
    attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(text) if name == INPUT_NOTES => Some(text.as_str()),
        _ => None,
    })
}

/// Attributes of a catalogue from a snapshot, in addition to its header, and the notes on it.
pub(crate) fn input_attributes(snapshot: &dyn Snapshot) -> Vec<(String, Attribute)> {
    snapshot.attributes().into_iter().chain(input_notes(&snapshot.notes())).collect()
}

/// A column, in one line.
pub(crate) fn column(name: &str, dimension: Dimension, description: &str, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension, description: description.into(), values }
}

/// Collective: rows that stand in the order of the ranks.
///
/// # Errors
/// When another rank fails.
pub fn in_order(table: Table, comm: &Comm) -> Result<PartTable, CommError> {
    let n = table.n_rows();
    let run = RowRun { first: comm.sum_before(n as u64)?, n };
    let n_rows = comm.all_reduce_counts(&[n as u64], Reduce::Sum)?[0];
    Ok(PartTable { table, runs: vec![run], n_rows })
}

/// Collective: threads and ranks of a run, for the attributes. Ranks may have different numbers of threads;
/// the attributes are the same on all.
///
/// # Errors
/// When another rank fails.
pub(crate) fn run_attributes(comm: &Comm) -> Result<[(&'static str, u64); 2], CommError> {
    let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
    Ok([("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)])
}

/// The identifiers of the rows of a table, if it has some.
pub fn identifiers(table: &Table) -> Option<Vec<u64>> {
    let ids = table.integers("id").or_else(|| table.integers("GroupIDs"))?;
    Some(ids.into_iter().map(i64::cast_unsigned).collect())
}
