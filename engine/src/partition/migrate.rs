//! Octs from whoever holds them to the owners of their cells, in rounds.

use super::held_cells::{Chunk, HeldCells};
use super::oct_record::OctRecord;
use super::splits::Splits;
use crate::field::morton_order;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use std::collections::BTreeMap;
use std::ops::Range;

/// A rank's own cells of one level.
#[derive(Debug, Default)]
pub(super) struct OwnLevel {
    /// No cell is in two of them, unless the input has it twice.
    pub octs: Vec<OctRecord>,
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
    mut share: HeldCells,
    splits: &Splits,
    threshold: f64,
    n_extra: usize,
    comm: &Comm,
) -> Result<Vec<OwnLevel>, CommError> {
    let mut levels = Vec::new();
    levels.resize_with(usize::from(splits.deepest()) + 1, OwnLevel::default);
    for _ in 0..rounds(share.chunks.len(), comm)? {
        let chunk = share.chunks.pop().unwrap_or_default();
        let (octs, extra) = by_owner(&chunk, splits, threshold, n_extra);
        drop(chunk);
        let octs = comm.exchange(in_order(octs))?;
        let extra = if n_extra > 0 { comm.exchange(in_order(extra))? } else { Vec::new() };
        let mut extra: BTreeMap<Rank, Vec<f64>> = extra.into_iter().collect();
        for (from, octs) in octs {
            append(&mut levels, &octs, &extra.remove(&from).unwrap_or_default(), threshold, n_extra);
        }
    }
    levels.iter_mut().for_each(|level| level.sort(threshold, n_extra));
    Ok(levels)
}

/// What is for each rank.
pub(super) type OctMessages<T> = BTreeMap<Rank, Vec<T>>;

/// As [`Comm::exchange`] takes them.
pub(super) fn in_order<T: Pod>(bundles: OctMessages<T>) -> Vec<(Rank, Vec<T>)> {
    bundles.into_iter().collect()
}

/// Octs and further values by owner. An oct through which a split goes is sent to each of its owners in part.
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
        let order = morton_order(&self.octs.iter().map(|oct| oct.position).collect::<Vec<_>>());
        if n_extra > 0 {
            self.extra = self.sorted_extra(&order, threshold, n_extra);
        }
        let mut sorted: Vec<OctRecord> = Vec::with_capacity(order.len());
        for oct in order.iter().map(|i| self.octs[*i as usize]) {
            if !sorted.last_mut().is_some_and(|last| last.join(&oct)) {
                sorted.push(oct);
            }
        }
        self.octs = sorted;
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

/// `values` in a given order.
pub(crate) fn picked<T: Copy>(order: &[u32], values: &[T]) -> Vec<T> {
    order.iter().map(|i| values[*i as usize]).collect()
}
