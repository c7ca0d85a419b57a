//! Brings rows to the ranks that ask for them by identifier.
//!
//! Each identifier has a rank that knows where its row is, by the remainder of a division. So rows may lie on
//! any rank, in any order:
//!
//! ```text
//!   holder of row 17  ── "17 is here" ──▶  rank 17 mod n  ◀── "where is 17?" ──  asker
//!   holder of row 17  ◀── "17, for the asker" ──  rank 17 mod n
//!   holder of row 17  ── the row ──▶  asker
//! ```

use super::PartTable;
use super::rows::{bytes_of_mut, packed, row_width, width, zeros};
use crate::catalogue::{Table, TableColumn};
use inselberg_comm::{Comm, CommError, Rank};
use std::collections::{BTreeMap, HashMap};

/// Bytes of an identifier in a message.
const ID: usize = size_of::<u64>();

/// Rows that came from a rank: their identifiers, and their bytes, column by column.
struct ReceivedRows {
    ids: Vec<u64>,
    bytes: Vec<u8>,
}

impl PartTable {
    /// Collective: the rows with these identifiers, in this order. `own` are the identifiers of the rows of
    /// this rank. An identifier that no rank has is left out. Four exchanges; a rank alone sends nothing.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn rows_of(&self, own: &[u64], wanted: &[u64], comm: &Comm) -> Result<Table, CommError> {
        let place: HashMap<u64, usize> = own.iter().copied().zip(0..).collect();
        if comm.n_ranks() == 1 {
            let rows: Vec<usize> = wanted.iter().filter_map(|id| place.get(id).copied()).collect();
            return Ok(self.table.rows(&rows));
        }
        let asked = asked_of_holders(own, wanted, comm)?;
        let answer = |(asker, ids): (Rank, Vec<u64>)| {
            let mut message = bytemuck::cast_slice::<u64, u8>(&ids).to_vec();
            let rows: Vec<_> = ids.iter().map(|id| place[id]..place[id] + 1).collect();
            message.extend(packed(&self.table.columns, &rows));
            (asker, message)
        };
        let received = comm.exchange(asked.into_iter().map(answer).collect())?;
        let received = received.into_iter().map(|(from, message)| self.received(from, &message));
        Ok(self.joined(wanted, &received.collect::<Result<Vec<_>, _>>()?))
    }

    fn received(&self, from: Rank, message: &[u8]) -> Result<ReceivedRows, CommError> {
        let each = ID + row_width(&self.table.columns);
        if !message.len().is_multiple_of(each) {
            let what = format!("{} bytes came from {from} for rows of {each}", message.len());
            return Err(CommError::Mismatch { what });
        }
        let (ids, bytes) = message.split_at(message.len() / each * ID);
        Ok(ReceivedRows { ids: bytemuck::pod_collect_to_vec(ids), bytes: bytes.to_vec() })
    }

    /// The received rows in the order in which they are wanted.
    fn joined(&self, wanted: &[u64], received: &[ReceivedRows]) -> Table {
        let places = received.iter().zip(0..).flat_map(|(from, i)| {
            from.ids.iter().zip(0..).map(move |(id, row): (&u64, usize)| (*id, (i, row)))
        });
        let places: HashMap<u64, (usize, usize)> = places.collect();
        let rows: Vec<(usize, usize)> = wanted.iter().filter_map(|id| places.get(id).copied()).collect();
        let mut before = 0;
        let column = |column: &TableColumn| {
            let width = width(&column.values);
            let mut values = zeros(&column.values, rows.len());
            for (to, (from, row)) in bytes_of_mut(&mut values).chunks_exact_mut(width).zip(&rows) {
                let ReceivedRows { ids, bytes } = &received[*from];
                to.copy_from_slice(&bytes[before * ids.len() + row * width..][..width]);
            }
            before += width;
            TableColumn {
                name: column.name.clone(),
                dimension: column.dimension,
                description: column.description.clone(),
                values,
            }
        };
        Table { name: self.table.name.clone(), columns: self.table.columns.iter().map(column).collect() }
    }
}

/// Collective: the own identifiers that each rank wants.
fn asked_of_holders(own: &[u64], wanted: &[u64], comm: &Comm) -> Result<Vec<(Rank, Vec<u64>)>, CommError> {
    let known_by = |id: u64| Rank((id % comm.n_ranks() as u64) as u32);
    let by_rank = |ids: &[u64]| {
        let mut lists = BTreeMap::<Rank, Vec<u64>>::new();
        ids.iter().for_each(|id| lists.entry(known_by(*id)).or_default().push(*id));
        lists
    };
    let held = comm.exchange(by_rank(own).into_iter().collect())?;
    let holders: HashMap<u64, Rank> =
        held.into_iter().flat_map(|(rank, ids)| ids.into_iter().map(move |id| (id, rank))).collect();
    let mut questions = by_rank(wanted);
    for ids in questions.values_mut() {
        ids.sort_unstable();
        ids.dedup();
    }
    let mut passed_on = BTreeMap::<Rank, Vec<[u64; 2]>>::new();
    for (asker, ids) in comm.exchange(questions.into_iter().collect())? {
        for id in ids {
            if let Some(holder) = holders.get(&id) {
                passed_on.entry(*holder).or_default().push([u64::from(asker.0), id]);
            }
        }
    }
    let mut asked = BTreeMap::<Rank, Vec<u64>>::new();
    for (_, pairs) in comm.exchange(passed_on.into_iter().collect())? {
        pairs.into_iter().for_each(|[asker, id]| asked.entry(Rank(asker as u32)).or_default().push(id));
    }
    Ok(asked.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Dimension, Values};
    use inselberg_comm::run_threads;

    /// Rows of these identifiers; the values follow from them.
    fn table(ids: &[u64]) -> Table {
        let column = |name: &str, values| TableColumn {
            name: name.into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values,
        };
        let halves = ids.iter().map(|id| *id as f32 / 2.0).collect();
        let vectors = ids.iter().map(|id| [0, 1, 2].map(|axis| (id * 10 + axis) as f64)).collect();
        let levels = ids.iter().map(|id| (id % 7) as u8).collect();
        let columns = vec![
            column("id", Values::U64(ids.to_vec())),
            column("level", Values::U8(levels)),
            column("position", Values::F64x3(vectors)),
            column("mass", Values::F32(halves)),
        ];
        Table { name: "clumps".into(), columns }
    }

    #[test]
    fn each_rank_gets_the_rows_that_it_names() {
        // Rows lie anywhere, in any order. Rank 1 has none.
        let held: [&[u64]; 3] = [&[40, 3, 17], &[], &[8, 1_000_000_007, 5]];
        let wanted: [&[u64]; 3] = [&[], &[5, 40, 99, 40, 8], &[3, 1_000_000_007, 17, 2]];
        let expected: [&[u64]; 3] = [&[], &[5, 40, 40, 8], &[3, 1_000_000_007, 17]];
        let found = run_threads(3, |comm| {
            let rank = comm.rank().at();
            let part = PartTable { table: table(held[rank]), runs: Vec::new(), n_rows: 6 };
            part.rows_of(held[rank], wanted[rank], comm).expect("rows")
        });
        for (found, ids) in found.expect("all ranks end").iter().zip(expected) {
            assert_eq!(*found, table(ids));
        }
        let alone = run_threads(1, |comm| {
            let part = PartTable::whole(table(&[9, 2, 4]));
            part.rows_of(&[9, 2, 4], &[4, 7, 9, 4], comm).expect("rows")
        });
        assert_eq!(alone.expect("the rank ends"), [table(&[4, 9, 4])]);
    }
}
