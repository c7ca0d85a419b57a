//! The components of one rank that may be groups, and what is added up over them.
//!
//! Cells are looked at in their order, a stretch of them at a time and by all threads. Most components have their
//! lowest cell in the stretch, which has their values for itself; the few that reach in from a stretch before are
//! added afterwards.

use super::borders::SortedWithGhosts;
use crate::chunks::carve;
use inselberg_kernels::fof::blocks::FofBlocks;
use inselberg_kernels::fof::record::Record;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// No component.
pub const NONE: u32 = u32::MAX;

/// Stretches of cells a thread.
const PARTS: usize = 8;
/// Particles of a stretch, at least.
const LEAST: usize = 1 << 11;

/// Stretches of cells with about as many particles each; they change nothing in the result.
#[derive(Debug)]
pub struct CellRanges(Vec<Range<u32>>);

impl CellRanges {
    /// All cells in as many stretches as the current rayon pool wants.
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

    /// The number of the one that has a cell.
    fn with(&self, cell: u32) -> usize {
        self.0.partition_point(|part| part.end <= cell)
    }

    /// A list with an entry for each cell, cut into these.
    fn cut<'a, T>(&self, list: &'a mut [T]) -> Vec<&'a mut [T]> {
        carve(list, self.0.iter().map(ExactSizeIterator::len))
    }
}

/// Values of things that reach into a stretch from one before, by their numbers.
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
        // Cells of one component often come in a row.
        let last = self.values.last().filter(|last| last.0 == number).map(|_| self.values.len() - 1);
        let place = last.unwrap_or_else(|| *self.places.entry(number).or_insert(self.values.len()));
        if place == self.values.len() {
            self.values.push((number, none()));
        }
        &mut self.values[place].1
    }
}

/// For each root how many own particles are in its component; `roots` has that of each cell.
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
    /// The lowest cell of each, ascending.
    pub roots: Vec<u32>,
    /// The component of each cell, or [`NONE`].
    pub of_cell: Vec<u32>,
    parts: CellRanges,
    /// Number of components whose lowest cells are in each part.
    n_of_part: Vec<usize>,
}

impl Components {
    /// Those whose roots `is_kept`, told root and own particles; `roots` has that of each cell.
    pub fn new(
        mut roots: Vec<u32>,
        mut counts: Vec<u32>,
        parts: CellRanges,
        is_kept: impl Fn(u32, u32) -> bool + Sync,
    ) -> Self {
        // From here on `counts` has numbers within the part.
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
                let home = if *root >= cells.start { part } else { parts.with(*root) };
                *root = match counts[*root as usize] {
                    NONE => NONE,
                    number => first[home] + number,
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

    /// A value for each component: `add` takes in some of its cells, which are in a row, and `join` what another
    /// stretch has of it. Neither may care for the order. By all threads.
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

    /// Calls `each` with every component and some of its cells, which are in a row, until all have come. By all
    /// threads.
    pub fn each(&self, each: impl Fn(usize, Range<u32>) + Sync) {
        self.parts.0.par_iter().with_max_len(1).for_each(|cells| self.rows(cells, &each));
    }

    /// Calls `each` with the components of some cells, and those in a row that are of one.
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
