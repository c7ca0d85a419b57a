//! A catalogue distributed over several ranks: each holds some rows of every table.
//!
//! [`write_part`] writes one file without holding the whole catalogue on any rank. [`CataloguePart::gather`]
//! collects it on rank 0, for work that needs all of it.

mod agree;
mod file;
mod lookup;
mod rows;
mod stream;

pub use file::{bytes_of_first, stage_part, write_part};

use super::{Attribute, Catalogue, Table, WriteError};
use agree::{agree_on, same_everywhere};
use inselberg_comm::agree::AgreeError;
use inselberg_comm::{Comm, CommError, Rank};
use rows::{check_runs, share};

/// Consecutive rows of a whole table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRun {
    /// The first row in the whole table.
    pub first: u64,
    /// How many.
    pub n: usize,
}

/// A table of which this rank holds some rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartTable {
    /// The rows of the runs, in order. All columns are present even without rows.
    pub table: Table,
    /// The positions of these rows in the whole table. Over all ranks each row occurs once.
    pub runs: Vec<RowRun>,
    /// Rows of the whole table; the same on all ranks.
    pub n_rows: u64,
}

/// The part of a catalogue on this rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CataloguePart {
    /// As [`Catalogue::attributes`]; the same on all ranks.
    pub attributes: Vec<(String, Attribute)>,
    /// The tables; names and columns are the same on all ranks.
    pub tables: Vec<PartTable>,
}

/// Why a catalogue could not be written by several ranks.
pub type PartError = AgreeError<WriteError>;

impl PartTable {
    /// A table of which this rank holds all rows.
    pub fn whole(table: Table) -> Self {
        let n = table.n_rows();
        Self { table, runs: vec![RowRun { first: 0, n }], n_rows: n as u64 }
    }

    /// Whether all rows are here, in their order.
    pub fn is_whole(&self) -> bool {
        rows::are_exactly(&self.runs, 0..self.n_rows) && self.table.n_rows() as u64 == self.n_rows
    }
}

impl CataloguePart {
    /// A catalogue of which this rank holds everything.
    pub fn whole(catalogue: Catalogue) -> Self {
        let tables = catalogue.tables.into_iter().map(PartTable::whole).collect();
        Self { attributes: catalogue.attributes, tables }
    }

    /// Adds texts to the attributes, the same on all ranks.
    pub fn add_texts(&mut self, texts: impl IntoIterator<Item = (&'static str, String)>) {
        let texts = texts.into_iter().map(|(name, text)| (name.into(), Attribute::Text(text)));
        self.attributes.extend(texts);
    }

    /// The part of the table called `name`.
    pub fn table(&self, name: &str) -> Option<&PartTable> {
        self.tables.iter().find(|t| t.table.name == name)
    }

    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, a)| a)
    }

    /// Collective: the whole catalogue on rank 0, `None` on the others. See [`Self::gather_on`].
    ///
    /// # Errors
    /// The parts do not form a whole, or a rank fails.
    pub fn gather(self, comm: &Comm) -> Result<Option<Catalogue>, CommError> {
        self.gather_on(Rank(0), comm)
    }

    /// Collective: the whole catalogue on one rank, `None` on the others.
    ///
    /// That rank needs memory for the catalogue and one more table. A single rank with whole tables moves
    /// them.
    ///
    /// # Errors
    /// The parts do not form a whole, or a rank fails.
    pub fn gather_on(self, rank: Rank, comm: &Comm) -> Result<Option<Catalogue>, CommError> {
        if comm.n_ranks() == 1 && self.tables.iter().all(PartTable::is_whole) {
            let tables = self.tables.into_iter().map(|t| t.table).collect();
            return Ok(Some(Catalogue { attributes: self.attributes, tables }));
        }
        same_everywhere(&self, comm)?;
        agree_on(comm, self.tables.iter().try_for_each(check_runs))?;
        let to_rank = |part: PartTable| {
            let rows_each = part.n_rows.max(1);
            share(&part, rows_each, rank, comm).map(|(_, table)| table.into_owned())
        };
        let tables = self.tables.into_iter().map(to_rank).collect::<Result<Vec<_>, _>>()?;
        let is_here = comm.rank() == rank;
        Ok(is_here.then_some(Catalogue { attributes: self.attributes, tables }))
    }
}
