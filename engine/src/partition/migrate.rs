//! Octs from the ranks that hold them to the owners of their cells, in rounds.

use super::held_cells::{Chunk, HeldCells};
use super::oct_record::OctRecord;
use super::rounds::rounds;
use super::splits::Splits;
use crate::field::morton_order;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// A rank's own cells of one level.
#[derive(Debug, Default)]
pub(super) struct OwnLevel {
    /// No cell is in two octs, unless the input has it twice.
    pub octs: Vec<OctRecord>,
    /// The values of further fields of the test cells, cell by cell.
    pub extra: Vec<f64>,
}

/// Collective: brings cells to their owners, with `n_extra` values of further fields per test cell. Returns the own cells
/// by level, sorted by Morton key. Frees `held` as it goes. One or two exchanges per round; none on a rank alone.
///
/// # Errors
/// When another rank fails.
pub(super) fn migrate(
    mut held: HeldCells,
    splits: &Splits,
    threshold: f64,
    n_extra: usize,
    comm: &Comm,
) -> Result<Vec<OwnLevel>, CommError> {
    let mut levels = Vec::new();
    levels.resize_with(usize::from(splits.deepest()) + 1, OwnLevel::default);
    if comm.n_ranks() == 1 {
        while let Some(Chunk { octs, extra }) = held.chunks.pop() {
            append(&mut levels, &octs, &extra, threshold, n_extra);
        }
    }
    for _ in 0..rounds(held.chunks.len(), comm)? {
        // A rank that has sent everything takes part with an empty chunk.
        let chunk = held.chunks.pop().unwrap_or_default();
        let (octs, extra) = by_owner(&chunk, splits, threshold, n_extra);
        drop(chunk);
        let octs = comm.exchange(in_order(octs))?;
        let extra = if n_extra > 0 { comm.exchange(in_order(extra))? } else { Vec::new() };
        let mut extra: BTreeMap<Rank, Vec<f64>> = extra.into_iter().collect();
        for (from, octs) in octs {
            // No message where none of the octs has a test cell.
            let extra = extra.remove(&from).unwrap_or_default();
            append(&mut levels, &octs, &extra, threshold, n_extra);
        }
    }
    levels.iter_mut().for_each(|level| level.sort(threshold, n_extra));
    Ok(levels)
}

/// Records by destination.
pub(super) type OctMessages<T> = BTreeMap<Rank, Vec<T>>;

/// The records as [`Comm::exchange`] takes them.
fn in_order<T: Pod>(messages: OctMessages<T>) -> Vec<(Rank, Vec<T>)> {
    messages.into_iter().collect()
}

/// Octs and further values by owner. An oct that a split cuts goes to each of its owners, with the cells of that owner.
fn by_owner(
    chunk: &Chunk,
    splits: &Splits,
    threshold: f64,
    n_extra: usize,
) -> (OctMessages<OctRecord>, OctMessages<f64>) {
    let (mut octs, mut extra) = (OctMessages::<OctRecord>::new(), OctMessages::<f64>::new());
    let mut values = chunk.extra.chunks(n_extra.max(1));
    for oct in &chunk.octs {
        for (owner, cells) in splits.owners_of(oct) {
            let oct = oct.only(cells);
            octs.entry(owner).or_default().push(oct);
            if n_extra > 0 {
                let n_tests = oct.test_cells(threshold).count_ones() as usize;
                extra.entry(owner).or_default().extend(values.by_ref().take(n_tests).flatten());
            }
        }
    }
    (octs, extra)
}

fn append(levels: &mut [OwnLevel], octs: &[OctRecord], extra: &[f64], threshold: f64, n_extra: usize) {
    let mut values = extra.chunks(n_extra.max(1));
    for oct in octs {
        let level = &mut levels[usize::from(oct.level)];
        level.octs.push(*oct);
        if n_extra > 0 {
            let n_tests = oct.test_cells(threshold).count_ones() as usize;
            level.extra.extend(values.by_ref().take(n_tests).flatten());
        }
    }
}

impl OwnLevel {
    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.octs.iter().map(OctRecord::n_cells).sum()
    }

    fn sort(&mut self, threshold: f64, n_extra: usize) {
        let order = morton_order(&self.octs.par_iter().map(|oct| oct.position).collect::<Vec<_>>());
        if n_extra > 0 {
            self.extra = self.sorted_extra(&order, threshold, n_extra);
        }
        self.octs = order.par_iter().map(|i| self.octs[*i as usize]).collect();
        self.octs.dedup_by(|oct, last| last.join(oct));
    }

    fn sorted_extra(&self, order: &[u32], threshold: f64, n_extra: usize) -> Vec<f64> {
        let n_values = |oct: &OctRecord| oct.test_cells(threshold).count_ones() as usize * n_extra;
        let mut end = 0;
        let values: Vec<Range<usize>> = self
            .octs
            .iter()
            .map(|oct| {
                end += n_values(oct);
                end - n_values(oct)..end
            })
            .collect();
        order.iter().flat_map(|i| &self.extra[values[*i as usize].clone()]).copied().collect()
    }
}

/// The values at the indices `order`, in that order.
pub(crate) fn picked<T: Copy>(order: &[u32], values: &[T]) -> Vec<T> {
    order.iter().map(|i| values[*i as usize]).collect()
}
