//! The components of one rank that may be groups, and their cells.

use super::borders::Border;
use inselberg_kernels::fof::record::Record;
use inselberg_kernels::sync::{AtomicU32, Ordering::Relaxed};
use rayon::prelude::*;

/// No component.
pub const NONE: u32 = u32::MAX;

/// Sets of cells whose own particles may make a group.
#[derive(Debug, Default)]
pub struct Components {
    /// The lowest cell of each, ascending.
    pub roots: Vec<u32>,
    /// The component of each cell, or [`NONE`].
    pub of_cell: Vec<u32>,
    /// First of each in `cells`, and the end.
    first: Vec<u32>,
    cells: Vec<u32>,
}

/// For each root how many own particles are in its component.
pub fn count<R: Record>(border: &Border<R>, roots: &[u32]) -> Vec<u32> {
    let counts: Vec<AtomicU32> = roots.iter().map(|_| AtomicU32::new(0)).collect();
    roots.par_iter().enumerate().with_min_len(1 << 12).for_each(|(cell, root)| {
        counts[*root as usize].fetch_add(border.own(cell as u32).len() as u32, Relaxed);
    });
    counts.into_iter().map(AtomicU32::into_inner).collect()
}

impl Components {
    /// Those whose roots are in the ascending list `kept`.
    pub fn new(mut roots: Vec<u32>, mut scratch: Vec<u32>, kept: Vec<u32>) -> Self {
        scratch.fill(NONE);
        kept.iter().zip(0..).for_each(|(root, number)| scratch[*root as usize] = number);
        roots.par_iter_mut().with_min_len(1 << 12).for_each(|root| *root = scratch[*root as usize]);
        drop(scratch);
        let mut first = vec![0; kept.len() + 1];
        let kept_cells = || roots.iter().zip(0u32..).filter(|(number, _)| **number != NONE);
        kept_cells().for_each(|(number, _)| first[*number as usize + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let mut next = first.clone();
        let mut cells = vec![0; *first.last().unwrap_or(&0) as usize];
        for (number, cell) in kept_cells() {
            cells[next[*number as usize] as usize] = cell;
            next[*number as usize] += 1;
        }
        Self { roots: kept, of_cell: roots, first, cells }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// The cells of one, ascending.
    pub fn cells(&self, component: usize) -> &[u32] {
        &self.cells[self.first[component] as usize..self.first[component + 1] as usize]
    }

    /// A value for each component from its cells, a piece of them at a time and by all threads; `join` must
    /// not care for the order.
    pub fn gather<S: Send>(
        &self,
        of_cells: impl Fn(usize, &[u32]) -> S + Sync,
        join: impl Fn(&mut S, S),
    ) -> Vec<S> {
        let pieces: Vec<(usize, &[u32])> = (0..self.len())
            .flat_map(|component| self.cells(component).chunks(PIECE).map(move |cells| (component, cells)))
            .collect();
        let parts: Vec<(usize, S)> =
            pieces.into_par_iter().with_min_len(16).map(|(c, cells)| (c, of_cells(c, cells))).collect();
        let mut all: Vec<S> = Vec::with_capacity(self.len());
        for (component, part) in parts {
            match all.get_mut(component) {
                Some(sum) => join(sum, part),
                None => all.push(part),
            }
        }
        all
    }
}

/// Cells of a component that one thread takes at a time.
const PIECE: usize = 4096;
