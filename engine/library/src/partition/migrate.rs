//! Octs from the ranks that hold them to the owners of their cells, in rounds.

use super::held_cells::{Chunk, HeldCells};
use super::oct_record::OctRecord;
use super::rounds::rounds;
use super::splits::Splits;
use super::test_rule::TestRule;
use crate::chunks;
use crate::field::morton_order;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::mesh::local;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// A rank's own cells of one level.
#[derive(Debug, Default)]
pub(super) struct OwnLevel {
    /// No cell is in two octs, unless the input contains it twice.
    pub octs: Vec<OctRecord>,
    /// The values of further fields of the test cells, cell by cell.
    pub extra: Vec<f64>,
}

/// Collective: brings cells to their owners, with `n_extra` values of further fields per test cell. Returns
/// the own cells by level, sorted by Morton key. Frees `held` while it runs. One or two exchanges per round;
/// none on a single rank.
///
/// # Errors
/// When another rank fails.
pub(super) fn migrate(
    mut held: HeldCells,
    splits: &Splits,
    tests: TestRule,
    n_extra: usize,
    comm: &Comm,
) -> Result<Vec<OwnLevel>, CommError> {
    let extras = Extras { tests, per_test: n_extra };
    let mut levels = Vec::new();
    levels.resize_with(usize::from(splits.deepest()) + 1, OwnLevel::default);
    if comm.n_ranks() == 1 {
        while let Some(chunk) = held.chunks.pop() {
            append(&mut levels, &chunk, extras);
        }
    }
    for _ in 0..rounds(held.chunks.len(), comm)? {
        // A rank that has sent everything takes part with empty chunks.
        let chunk = held.chunks.pop().unwrap_or_default();
        let (octs, extra) = by_owner(&chunk, splits, extras);
        drop(chunk);
        let octs = comm.exchange(in_order(octs))?;
        let extra = if n_extra > 0 { comm.exchange(in_order(extra))? } else { Vec::new() };
        let mut extra: BTreeMap<Rank, Vec<f64>> = extra.into_iter().collect();
        for (from, octs) in octs {
            // No message where none of the octs has a test cell.
            append(&mut levels, &Chunk { octs, extra: extra.remove(&from).unwrap_or_default() }, extras);
        }
    }
    levels.iter_mut().for_each(|level| level.sort(extras));
    Ok(levels)
}

/// The cells that have values of further fields.
#[derive(Debug, Clone, Copy)]
struct Extras<'a> {
    /// Test cells.
    tests: TestRule<'a>,
    /// Values per such cell.
    per_test: usize,
}

impl Extras<'_> {
    /// Number of values of the cells of an oct.
    fn of_oct(self, oct: &OctRecord) -> usize {
        if self.per_test == 0 { 0 } else { oct.test_cells(&self.tests).count_ones() as usize * self.per_test }
    }

    /// The values of two parts of one oct, which share no cell, in the order of its cells.
    fn in_one_oct(self, parts: [(OctRecord, Vec<f64>); 2]) -> Vec<f64> {
        let cells = parts.each_ref().map(|(oct, _)| oct.test_cells(&self.tests));
        let mut values = parts.map(|(_, values)| values.into_iter());
        local::bits((cells[0] | cells[1]).into())
            .flat_map(|bit| {
                let part = usize::from(cells[1] >> bit & 1 == 1);
                values[part].by_ref().take(self.per_test).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Number of values of the cells of some octs.
    fn of_octs(self, octs: &[OctRecord]) -> usize {
        octs.iter().map(|oct| self.of_oct(oct)).sum()
    }
}

/// Records by destination.
pub(super) type OctMessages<T> = BTreeMap<Rank, Vec<T>>;

/// The records as [`Comm::exchange`] takes them.
fn in_order<T: Pod>(messages: OctMessages<T>) -> Vec<(Rank, Vec<T>)> {
    messages.into_iter().collect()
}

/// Octs and further values by owner. An oct that a split cuts goes to each of its owners, with the cells of
/// that owner.
fn by_owner(chunk: &Chunk, splits: &Splits, extras: Extras) -> (OctMessages<OctRecord>, OctMessages<f64>) {
    let (mut octs, mut extra) = (OctMessages::<OctRecord>::new(), OctMessages::<f64>::new());
    let mut values = chunk.extra.as_slice();
    let mut put = |owner: Rank, run: &[OctRecord]| {
        chunks::append(octs.entry(owner).or_default(), run);
        let n = extras.of_octs(run);
        if n > 0 {
            extra.entry(owner).or_default().extend_from_slice(&values[..n]);
            values = &values[n..];
        }
    };
    // Most octs have one owner, the same as the oct before.
    let owners: Vec<Option<Rank>> = chunk.octs.par_iter().map(|oct| splits.owner_of_oct(oct)).collect();
    let mut first = 0;
    for same in owners.chunk_by(|a, b| a == b) {
        let run = &chunk.octs[first..first + same.len()];
        first += same.len();
        match same[0] {
            Some(owner) => put(owner, run),
            None => run.iter().for_each(|oct| {
                splits.owners_of(oct).for_each(|(owner, cells)| put(owner, &[oct.only(cells)]));
            }),
        }
    }
    (octs, extra)
}

/// Adds the octs of a chunk to their levels. Most have the same level as the oct before.
fn append(levels: &mut [OwnLevel], chunk: &Chunk, extras: Extras) {
    let mut values = chunk.extra.as_slice();
    for run in chunk.octs.chunk_by(|a, b| a.level == b.level) {
        let level = &mut levels[usize::from(run[0].level)];
        chunks::append(&mut level.octs, run);
        let (of_run, others) = values.split_at(extras.of_octs(run));
        level.extra.extend_from_slice(of_run);
        values = others;
    }
}

impl OwnLevel {
    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.octs.iter().map(OctRecord::n_cells).sum()
    }

    fn sort(&mut self, extras: Extras) {
        let order = morton_order(&self.octs.par_iter().map(|oct| oct.position).collect::<Vec<_>>());
        if extras.per_test > 0 {
            self.extra = self.sorted_extra(&order, extras);
        }
        self.octs = order.par_iter().map(|i| self.octs[*i as usize]).collect();
        // Most inputs have each oct as a whole.
        if self.octs.par_windows(2).any(|pair| pair[0].position == pair[1].position) {
            self.join_parts(extras);
        }
    }

    fn sorted_extra(&self, order: &[u32], extras: Extras) -> Vec<f64> {
        let mut end = 0;
        let values: Vec<Range<usize>> = self
            .octs
            .iter()
            .map(|oct| {
                let start = end;
                end += extras.of_oct(oct);
                start..end
            })
            .collect();
        order.iter().flat_map(|i| &self.extra[values[*i as usize].clone()]).copied().collect()
    }

    /// Joins the parts of each oct, which lie side by side, and the values of their cells.
    fn join_parts(&mut self, extras: Extras) {
        let mut values = std::mem::take(&mut self.extra).into_iter();
        for part in std::mem::take(&mut self.octs) {
            let of_part = values.by_ref().take(extras.of_oct(&part)).collect();
            self.add_part(part, of_part, extras);
        }
    }

    /// Adds a part of the last oct, or else the next oct, with the values of its cells.
    fn add_part(&mut self, part: OctRecord, of_part: Vec<f64>, extras: Extras) {
        let before = self.octs.last().copied();
        match (before, self.octs.last_mut().is_some_and(|last| last.join(&part))) {
            (Some(before), true) => {
                let of_last = self.extra.split_off(self.extra.len() - extras.of_oct(&before));
                self.extra.extend(extras.in_one_oct([(before, of_last), (part, of_part)]));
            }
            _ => {
                self.octs.push(part);
                self.extra.extend(of_part);
            }
        }
    }
}

/// The values at the indices `order`, in that order.
pub(crate) fn picked<T: Copy>(order: &[u32], values: &[T]) -> Vec<T> {
    order.iter().map(|i| values[*i as usize]).collect()
}
