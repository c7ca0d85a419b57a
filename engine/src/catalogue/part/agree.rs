//! What went wrong anywhere, told everywhere: nobody waits for a rank that has given up.

use super::{CataloguePart, PartError, PartTable};
use crate::catalogue::WriteResult;
use inselberg_comm::{Comm, CommError, Rank};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Collective: `local` if it is good on all ranks, else an error on all ranks.
pub fn agree<T>(comm: &Comm, local: WriteResult<T>) -> Result<T, PartError> {
    let said = local.as_ref().err().map(ToString::to_string);
    match (local, first_said(comm, said)?) {
        (Err(error), _) => Err(PartError::Write(error)),
        (Ok(_), Some((rank, message))) => Err(PartError::Elsewhere { rank, message }),
        (Ok(value), None) => Ok(value),
    }
}

/// Collective: the same for parts that make no whole.
pub fn agree_on(comm: &Comm, local: Result<(), String>) -> Result<(), CommError> {
    match first_said(comm, local.err())? {
        Some((rank, what)) => Err(CommError::Mismatch { what: format!("{rank}: {what}") }),
        None => Ok(()),
    }
}

/// Collective: that all ranks hold parts of the same tables.
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

fn first_said(comm: &Comm, said: Option<String>) -> Result<Option<(Rank, String)>, CommError> {
    let all = comm.all_gather(said.unwrap_or_default().as_bytes())?;
    let first = (0..).map(Rank).zip(all).find(|(_, said)| !said.is_empty());
    Ok(first.map(|(rank, said)| (rank, String::from_utf8_lossy(&said).into_owned())))
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
