//! Records from whoever holds them to their owners, in rounds.

use super::record::{Cell, Record};
use super::share::{Chunk, Share};
use super::splits::Splits;
use crate::amr::morton_order;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::mesh::LevelCells;
use std::collections::BTreeMap;

/// A rank's own cells of one level as columns.
#[derive(Debug, Default)]
pub(super) struct OwnLevel {
    pub cells: LevelCells,
    pub rho: Vec<f64>,
    /// Further values, cell by cell, of the test cells among them.
    pub extra: Vec<f64>,
}

/// Collective: how many rounds all ranks make: as many as the one with the most to send.
pub(crate) fn rounds(n_chunks: usize, comm: &Comm) -> Result<usize, CommError> {
    Ok(comm.all_reduce_counts(&[n_chunks as u64], Reduce::Max)?[0] as usize)
}

/// Collective: brings cells, with `n_extra` further values a test cell, to their owners; what each
/// owns, by level, sorted by Morton key. Frees the share as it goes.
///
/// # Errors
/// When another rank fails.
pub(super) fn migrate(
    mut share: Share,
    splits: &Splits,
    threshold: f64,
    n_extra: usize,
    comm: &Comm,
) -> Result<Vec<OwnLevel>, CommError> {
    let mut levels = Vec::new();
    levels.resize_with(usize::from(splits.deepest()) + 1, OwnLevel::default);
    for _ in 0..rounds(share.chunks.len(), comm)? {
        let chunk = share.chunks.pop().unwrap_or_default();
        let (cells, extra) = by_owner(&chunk, splits, threshold, n_extra);
        drop(chunk);
        let cells = comm.exchange(in_order(cells))?;
        let extra = if n_extra > 0 { comm.exchange(in_order(extra))? } else { Vec::new() };
        let mut extra: BTreeMap<Rank, Vec<f64>> = extra.into_iter().collect();
        for (from, cells) in cells {
            append(&mut levels, &cells, &extra.remove(&from).unwrap_or_default(), threshold, n_extra);
        }
    }
    levels.iter_mut().for_each(|level| level.sort(threshold, n_extra));
    Ok(levels)
}

/// What is for each rank.
pub(super) type Parcels<T> = BTreeMap<Rank, Vec<T>>;

/// As [`Comm::exchange`] takes them.
pub(super) fn in_order<T: Pod>(parcels: Parcels<T>) -> Vec<(Rank, Vec<T>)> {
    parcels.into_iter().collect()
}

/// Cells and further values by owner. Cells that follow each other mostly have the same one.
fn by_owner(
    chunk: &Chunk,
    splits: &Splits,
    threshold: f64,
    n_extra: usize,
) -> (Parcels<Record>, Parcels<f64>) {
    let (mut cells, mut extra) = (Parcels::<Record>::new(), Parcels::<f64>::new());
    let mut values = chunk.extra.chunks(n_extra.max(1));
    let unpacked = chunk.cells.iter().map(Cell::unpack);
    let owners: Vec<Rank> = unpacked.map(|cell| splits.owner(cell.level, cell.position)).collect();
    let mut left = chunk.cells.as_slice();
    for owners in owners.chunk_by(|a, b| a == b) {
        let (run, rest) = left.split_at(owners.len());
        left = rest;
        cells.entry(owners[0]).or_default().extend_from_slice(run);
        if n_extra > 0 {
            let n_tests = run.iter().filter(|record| Cell::unpack(record).is_test(threshold)).count();
            let extra = extra.entry(owners[0]).or_default();
            values.by_ref().take(n_tests).for_each(|values| extra.extend_from_slice(values));
        }
    }
    (cells, extra)
}

fn append(levels: &mut [OwnLevel], cells: &[Record], extra: &[f64], threshold: f64, n_extra: usize) {
    let mut values = extra.chunks(n_extra.max(1));
    for cell in cells.iter().map(Cell::unpack) {
        let level = &mut levels[usize::from(cell.level)];
        level.cells.position.push(cell.position);
        level.cells.leaf.push(cell.is_leaf.into());
        level.rho.push(cell.rho);
        if n_extra > 0 && cell.is_test(threshold) {
            level.extra.extend_from_slice(values.next().unwrap_or_default());
        }
    }
}

impl OwnLevel {
    /// The cell at place `i`.
    pub fn cell(&self, level: u8, i: usize) -> Cell {
        let is_leaf = self.cells.leaf[i] == 1;
        Cell { level, position: self.cells.position[i], is_leaf, rho: self.rho[i] }
    }

    fn sort(&mut self, threshold: f64, n_extra: usize) {
        let order = morton_order(&self.cells.position);
        if n_extra > 0 {
            self.extra = self.sorted_extra(&order, threshold, n_extra);
        }
        self.cells.position = picked(&order, &self.cells.position);
        self.cells.leaf = picked(&order, &self.cells.leaf);
        self.rho = picked(&order, &self.rho);
    }

    fn sorted_extra(&self, order: &[u32], threshold: f64, n_extra: usize) -> Vec<f64> {
        let is_test = |i: usize| self.cell(0, i).is_test(threshold);
        let mut n_before = 0;
        let place: Vec<usize> = (0..self.rho.len())
            .map(|i| {
                n_before += usize::from(is_test(i));
                n_before - usize::from(is_test(i))
            })
            .collect();
        let tests = order.iter().map(|i| *i as usize).filter(|i| is_test(*i));
        let values = tests.flat_map(|i| &self.extra[place[i] * n_extra..][..n_extra]);
        values.copied().collect()
    }
}

/// `values` in a given order.
pub(crate) fn picked<T: Copy>(order: &[u32], values: &[T]) -> Vec<T> {
    order.iter().map(|i| values[*i as usize]).collect()
}
