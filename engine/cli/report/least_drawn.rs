//! The least sizes of objects with a circle on a map.

use inselberg_io::catalogue::{Table, Values};

/// Smaller objects get no circle on maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeastDrawn {
    /// Leaf cells of clumps and haloes.
    pub cells: u64,
    /// Members of groups; bound particles of clumps and haloes.
    pub particles: u64,
}

impl LeastDrawn {
    /// Whether each row of a table of clumps, haloes or groups is large enough. A column that the table lacks
    /// excludes none.
    pub fn rows(&self, table: &Table) -> Vec<bool> {
        let mut large = vec![true; table.n_rows()];
        for (name, least) in [("n_cells", self.cells), ("n_bound", self.particles), ("Sizes", self.particles)]
        {
            let is_less = |row: usize| match table.column(name).map(|column| &column.values) {
                Some(Values::U64(n)) => n[row] < least,
                Some(Values::I64(n)) => n[row] < least.cast_signed(),
                _ => false,
            };
            large.iter_mut().enumerate().for_each(|(row, is_large)| *is_large &= !is_less(row));
        }
        large
    }

    /// The words for a legend: the least sizes that exclude objects; empty if none is excluded.
    pub fn words(&self) -> String {
        let words = [(self.cells, "cells"), (self.particles, "particles")];
        let words = words.iter().filter(|(n, _)| *n > 1).map(|(n, of)| format!("{n} {of} or more"));
        words.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_io::catalogue::{Dimension, TableColumn};

    fn table(columns: &[(&str, Values)]) -> Table {
        let column = |(name, values): &(&str, Values)| TableColumn {
            name: (*name).into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values: values.clone(),
        };
        Table { name: "clumps".into(), columns: columns.iter().map(column).collect() }
    }

    #[test]
    fn rows_with_too_few_cells_or_particles_are_small() {
        let clumps =
            table(&[("n_cells", Values::U64(vec![5, 20, 19])), ("n_bound", Values::U64(vec![9, 1, 9]))]);
        let rows = |cells, particles| LeastDrawn { cells, particles }.rows(&clumps);
        assert_eq!(rows(0, 0), [true; 3]);
        assert_eq!(rows(20, 0), [false, true, false]);
        assert_eq!(rows(6, 2), [false, false, true]);
        let groups = table(&[("Sizes", Values::I64(vec![30, 29]))]);
        assert_eq!(LeastDrawn { cells: 100, particles: 30 }.rows(&groups), [true, false]);
    }
}
