//! Sums of a program's values over the rows of a table, by the labels of its cells or particles.
//!
//! ```text
//!   each rank    label 17: 2.5 + 1.0        label 17: 4.0         fixed-point sums, exact in any order
//!                         └───────────┬──────────┘
//!   rank of 17            sum of 17: 7.5                          by the hash of the identifier
//!                                     │
//!   rank with the row     row of 17 ◀─┘
//! ```

use crate::api::call::Call;
use crate::api::found::FoundCatalogue;
use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::exchange::{dealt, rank_of_identity};
use crate::tables::{column, identifiers};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::{Dimension, PartTable, Table, Values};
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// The sum of a column over the items of a label.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LabelSum {
    sum: FixedSum,
    label: u64,
    column: u64,
}

/// Sums by label and column.
type SumsByLabel = FxHashMap<(u64, u64), LabelSum>;

/// The label of each item; 0 for none.
pub(crate) type LabelOfItem<'a> = dyn Fn(usize) -> u64 + Sync + 'a;

impl FoundCatalogue {
    /// Collective: for each column the sum of its values in each row of a table of this rank. Sums do not
    /// depend on the order of items.
    ///
    /// # Errors
    /// When a column has not one value per item, or a labelled item has no finite one; when a rank fails.
    pub(crate) fn sums(
        &self,
        table: &'static str,
        (n_items, label): (usize, &LabelOfItem),
        columns: &[(&str, Column)],
    ) -> Result<Vec<Vec<f64>>, Error> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let call = Call::new("sums").same("table", &table).same("list of columns", &names);
        self.shared().call(&call, |session| {
            check(columns, n_items, label)?;
            let items = LabelledItems { n_items, label, columns };
            let part = self.part().table(table).expect("its labels name its rows");
            let own = identifiers(&part.table).expect("its labels are its identifiers");
            Ok(items.sums(&own, session.comm)?)
        })
    }
}

/// Whether each column has a finite value for each labelled item.
fn check(columns: &[(&str, Column)], n_items: usize, label: &LabelOfItem) -> Result<(), Error> {
    for (name, column) in columns {
        if column.len() != n_items {
            let message = format!("column {name}: {} values; expected {n_items}", column.len());
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let is_bad = |item: &usize| label(*item) > 0 && !column.real(*item).is_finite();
        if let Some(item) = (0..n_items).into_par_iter().find_first(is_bad) {
            let (at, value) = (column.first_index() + item as i64, column.real(item));
            let message = format!("column {name}: value {at} is {value}; expected a finite value");
            return Err(Error::new(ErrorKind::InvalidValue, message));
        }
    }
    Ok(())
}

/// Cells or particles with labels and checked values.
struct LabelledItems<'a> {
    n_items: usize,
    label: &'a LabelOfItem<'a>,
    columns: &'a [(&'a str, Column<'a>)],
}

impl LabelledItems<'_> {
    /// Collective: the sums in the rows with these identifiers.
    fn sums(&self, own: &[u64], comm: &Comm) -> Result<Vec<Vec<f64>>, CommError> {
        let quanta = self.quanta(comm)?;
        let table = self.at_ranks_of_labels(&quanta, comm)?;
        let ids = identifiers(&table).expect("it has them");
        let found = PartTable::whole(table).rows_of(&ids, own, comm)?;
        let row_of =
            identifiers(&found).expect("it has them").into_iter().zip(0..).collect::<HashMap<_, _>>();
        // No item has the label of a row that was not found.
        let in_rows =
            |sums: &[f64]| own.iter().map(|id| row_of.get(id).map_or(0.0, |row| sums[*row])).collect();
        let of_column = |i: usize| in_rows(found.reals(&i.to_string()).expect("it has them"));
        Ok((0..self.columns.len()).map(of_column).collect())
    }

    /// Collective: quanta for the sums of all ranks.
    fn quanta(&self, comm: &Comm) -> Result<Vec<Quantum>, CommError> {
        let n = comm.all_reduce_counts(&[self.n_items as u64], Reduce::Sum)?[0];
        let largest = |(_, column): &(&str, Column)| {
            let items = (0..self.n_items).into_par_iter().filter(|item| (self.label)(*item) > 0);
            items.map(|item| column.real(item).abs()).reduce(|| 0.0, f64::max)
        };
        let largest: Vec<f64> = self.columns.iter().map(largest).collect();
        Ok(comm.all_max(&largest)?.into_iter().map(|bound| Quantum::for_terms(bound, n)).collect())
    }

    /// Collective: whole sums, each on the rank of its label: identifiers, and columns by their number.
    fn at_ranks_of_labels(&self, quanta: &[Quantum], comm: &Comm) -> Result<Table, CommError> {
        let here: Vec<LabelSum> = self.here(quanta).into_values().collect();
        let to = |of: &LabelSum| (rank_of_identity(of.label, comm.n_ranks()), *of);
        let mut whole = SumsByLabel::default();
        for (_, sums) in comm.exchange(dealt(&here, to))? {
            sums.into_iter().for_each(|sum| add(&mut whole, sum));
        }
        let ids: Vec<u64> = whole.keys().filter(|key| key.1 == 0).map(|key| key.0).collect();
        let values = |(i, quantum): (usize, &Quantum)| {
            let sums = ids.iter().map(|id| quantum.value(whole[&(*id, i as u64)].sum)).collect();
            column(&i.to_string(), Dimension::NONE, "", Values::F64(sums))
        };
        let mut columns: Vec<_> = quanta.iter().enumerate().map(values).collect();
        columns.push(column("id", Dimension::NONE, "", Values::U64(ids)));
        Ok(Table { name: "sums".into(), columns })
    }

    /// The sums of this rank.
    fn here(&self, quanta: &[Quantum]) -> SumsByLabel {
        let folded = (0..self.n_items).into_par_iter().fold(SumsByLabel::default, |mut found, item| {
            let label = (self.label)(item);
            for (((_, column), quantum), i) in
                self.columns.iter().zip(quanta).zip(0..).take_while(|_| label > 0)
            {
                add(&mut found, LabelSum { sum: quantum.quantize(column.real(item)), label, column: i });
            }
            found
        });
        folded.reduce(SumsByLabel::default, |mut a, b| {
            b.into_values().for_each(|sum| add(&mut a, sum));
            a
        })
    }
}

fn add(to: &mut SumsByLabel, of: LabelSum) {
    let none = LabelSum { sum: FixedSum::default(), ..of };
    to.entry((of.label, of.column)).or_insert(none).sum += of.sum;
}
