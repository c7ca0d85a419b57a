//! Which components of one rank may be groups, and what are the sums over their cells?
//!
//! Threads process ranges of consecutive cells. Most components have their lowest cell (the root) in the
//! range where they are summed; that range writes their values without sharing. The few that reach in from an
//! earlier range are collected per range and added afterwards. An example with three ranges and one own
//! particle per cell:
//!
//! ```text
//! cell                0  1  2  3  |  4  5  6  7  |  8  9
//! roots               0  1  0  1  |  1  5  5  1  |  8  5
//! in the range        2  2        |     2        |  1        counts at the roots 0 1, 5, 8
//! from before                     |  root 1: 2   |  root 5: 1
//! counts, added up    2  4        |     3        |  1
//! kept with 2 or more 0  1        |     2        |           numbers: per range, then the kept of the ranges before
//! of_cell             0  1  0  1  |  1  2  2  1  |  -  2
//! ```
//!
//! Invariants: a root is the lowest cell of its component, so it lies in the same or an earlier range;
//! `roots` ascend; the numbers of components whose roots are in range k are consecutive. The ranges never
//! change a result.

use super::borders::SortedWithGhosts;
use crate::chunks::carve;
use inselberg_kernels::fof::blocks::FofBlocks;
use inselberg_kernels::fof::record::Record;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// No component.
pub const NONE: u32 = u32::MAX;

/// Ranges of cells per thread.
const PARTS: usize = 8;
/// Least number of particles per range.
const LEAST: usize = 1 << 11;

/// Consecutive ranges of cells with about equal numbers of particles.
#[derive(Debug)]
pub struct CellRanges(Vec<Range<u32>>);

impl CellRanges {
    /// All cells, in some ranges per thread.
    pub fn new(blocks: &FofBlocks) -> Self {
        let n_particles = blocks.cells[blocks.n_cells()] as usize;
        let n_threads = rayon::current_num_threads();
        let wanted = if n_threads == 1 { 1 } else { PARTS * n_threads };
        let n = (n_particles / LEAST).clamp(1, wanted);
        let cut = |part: usize| match part * n_particles / n {
            first if part < n => blocks.cells[..blocks.n_cells()].partition_point(|f| (*f as usize) < first),
            _ => blocks.n_cells(),
        };
        Self((0..n).map(|part| cut(part) as u32..cut(part + 1) as u32).collect())
    }

    /// The number of the range that contains a cell.
    fn range_of(&self, cell: u32) -> usize {
        self.0.partition_point(|part| part.end <= cell)
    }

    /// A list with one entry per cell, cut into the ranges.
    fn cut<'a, T>(&self, list: &'a mut [T]) -> Vec<&'a mut [T]> {
        carve(list, self.0.iter().map(ExactSizeIterator::len))
    }
}

/// Values of components that reach into a range from an earlier one, by their numbers.
#[derive(Debug)]
struct BoundaryValues<S> {
    places: FxHashMap<u32, usize>,
    values: Vec<(u32, S)>,
}

impl<S> BoundaryValues<S> {
    fn none() -> Self {
        Self { places: FxHashMap::default(), values: Vec::new() }
    }

    fn entry(&mut self, number: u32, none: impl FnOnce() -> S) -> &mut S {
        // Consecutive cells are often of one component.
        let last = self.values.last().filter(|last| last.0 == number).map(|_| self.values.len() - 1);
        let place = last.unwrap_or_else(|| *self.places.entry(number).or_insert(self.values.len()));
        if place == self.values.len() {
            self.values.push((number, none()));
        }
        &mut self.values[place].1
    }
}

/// The number of own particles in the component of each root, and 0 for cells that are not roots. `roots` has
/// the root of each cell.
pub fn count<R: Record>(border: &SortedWithGhosts<R>, parts: &CellRanges, roots: &[u32]) -> Vec<u32> {
    let mut counts: Vec<u32> = bytemuck::zeroed_vec(roots.len());
    let of_part = |(cells, counts): (&Range<u32>, &mut [u32])| {
        let mut foreign = BoundaryValues::none();
        for cell in cells.clone() {
            let n = border.own(cell).len() as u32;
            let root = roots[cell as usize];
            match root.checked_sub(cells.start) {
                Some(place) => counts[place as usize] += n,
                None => *foreign.entry(root, || 0) += n,
            }
        }
        foreign.values
    };
    let foreign: Vec<Vec<(u32, u32)>> =
        parts.0.par_iter().zip(parts.cut(&mut counts)).with_max_len(1).map(of_part).collect();
    foreign.into_iter().flatten().for_each(|(root, n)| counts[root as usize] += n);
    counts
}

/// Sets of cells whose own particles may make a group.
#[derive(Debug)]
pub struct Components {
    /// The lowest cell of each component, ascending.
    pub roots: Vec<u32>,
    /// The number of the component of each cell, or [`NONE`].
    pub of_cell: Vec<u32>,
    parts: CellRanges,
    /// The number of components whose lowest cell is in each range.
    n_of_part: Vec<usize>,
}

impl Components {
    /// The components for which `is_kept(root, own particles)`; those without own particles are never kept.
    /// `roots` has the root of each cell, and `counts` is the result of [`count`].
    pub fn new(
        mut roots: Vec<u32>,
        mut counts: Vec<u32>,
        parts: CellRanges,
        is_kept: impl Fn(u32, u32) -> bool + Sync,
    ) -> Self {
        // From here on, `counts` has the number of each kept root within its range, and `NONE` for all other
        // cells.
        let number = |(cells, counts): (&Range<u32>, &mut [u32])| {
            let mut kept = Vec::new();
            for (cell, count) in cells.clone().zip(counts) {
                let is_kept = *count > 0 && is_kept(cell, *count);
                *count = if is_kept { kept.len() as u32 } else { NONE };
                if is_kept {
                    kept.push(cell);
                }
            }
            kept
        };
        let kept: Vec<Vec<u32>> =
            parts.0.par_iter().zip(parts.cut(&mut counts)).with_max_len(1).map(number).collect();
        let n_of_part: Vec<usize> = kept.iter().map(Vec::len).collect();
        let before = |n: &mut u32, kept: &usize| Some(std::mem::replace(n, *n + *kept as u32));
        let first: Vec<u32> = n_of_part.iter().scan(0, before).collect();
        let name = |(part, (cells, roots)): (usize, (&Range<u32>, &mut [u32]))| {
            for root in roots {
                let part = if *root >= cells.start { part } else { parts.range_of(*root) };
                *root = match counts[*root as usize] {
                    NONE => NONE,
                    number => first[part] + number,
                };
            }
        };
        parts.0.par_iter().zip(parts.cut(&mut roots)).enumerate().with_max_len(1).for_each(name);
        Self { roots: kept.concat(), of_cell: roots, parts, n_of_part }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// One value per component, computed by all threads. `add` adds consecutive cells of a component, and
    /// `join` adds the value of another range. Neither may depend on the order.
    pub fn gather<S: Send + Sync + Copy>(
        &self,
        none: S,
        add: impl Fn(&mut S, usize, Range<u32>) + Sync,
        join: impl Fn(&mut S, S),
    ) -> Vec<S> {
        let mut all: Vec<S> = (0..self.len()).into_par_iter().map(|_| none).collect();
        let values = carve(&mut all, self.n_of_part.iter().copied());
        let before = |n: &mut usize, own: &usize| Some(std::mem::replace(n, *n + *own));
        let first = self.n_of_part.iter().scan(0, before).collect::<Vec<usize>>();
        let of_part = |((cells, values), first): ((&Range<u32>, &mut [S]), usize)| {
            let mut foreign = BoundaryValues::none();
            self.rows(cells, |component, cells| match component.checked_sub(first) {
                Some(place) => add(&mut values[place], component, cells),
                None => add(foreign.entry(component as u32, || none), component, cells),
            });
            foreign.values
        };
        let parts = self.parts.0.par_iter().zip(values).zip(first);
        let foreign: Vec<Vec<(u32, S)>> = parts.with_max_len(1).map(of_part).collect();
        foreign.into_iter().flatten().for_each(|(component, part)| join(&mut all[component as usize], part));
        all
    }

    /// Calls `each` with every component and runs of its consecutive cells, until all cells are done. By all
    /// threads.
    pub fn each(&self, each: impl Fn(usize, Range<u32>) + Sync) {
        self.parts.0.par_iter().with_max_len(1).for_each(|cells| self.rows(cells, &each));
    }

    /// Calls `each` with runs of consecutive cells of one component within a range of cells.
    #[inline(always)]
    fn rows(&self, cells: &Range<u32>, mut each: impl FnMut(usize, Range<u32>)) {
        let mut at = cells.start;
        for row in self.of_cell[cells.start as usize..cells.end as usize].chunk_by(|a, b| a == b) {
            let cells = at..at + row.len() as u32;
            at = cells.end;
            if row[0] != NONE {
                each(row[0] as usize, cells);
            }
        }
    }
}
