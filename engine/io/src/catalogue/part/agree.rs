//! Checks that the parts of all ranks form one catalogue.

use super::{CataloguePart, PartTable};
use inselberg_comm::agree::first_message;
use inselberg_comm::{Comm, CommError};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Collective: an error on all ranks if a check fails on any.
pub fn agree_on(comm: &Comm, local: Result<(), String>) -> Result<(), CommError> {
    match first_message(comm, local.err())? {
        Some((rank, what)) => Err(CommError::Mismatch { what: format!("{rank}: {what}") }),
        None => Ok(()),
    }
}

/// Collective: checks that all ranks hold parts of the same tables.
pub fn same_everywhere(part: &CataloguePart, comm: &Comm) -> Result<(), CommError> {
    let prints = comm.all_gather(&[fingerprint(part)])?;
    match prints.iter().position(|print| *print != prints[0]) {
        Some(rank) => {
            let what = format!(
                "tables, columns, numbers of rows or attributes of rank {rank} are not those of rank 0"
            );
            Err(CommError::Mismatch { what })
        }
        None => Ok(()),
    }
}

fn fingerprint(part: &CataloguePart) -> u64 {
    let mut hash = DefaultHasher::new();
    format!("{:?}", part.attributes).hash(&mut hash);
    for PartTable { table, n_rows, .. } in &part.tables {
        (&table.name, n_rows, table.columns.len()).hash(&mut hash);
        for column in &table.columns {
            (&column.name, column.values.type_name(), &column.description).hash(&mut hash);
            format!("{:?}", column.dimension).hash(&mut hash);
        }
    }
    hash.finish()
}
