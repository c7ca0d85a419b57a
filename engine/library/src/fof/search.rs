//! The search on one rank: particles sorted into cells, and linked cells joined.

use super::{LinkingRules, Role};
use crate::chunks::carve;
use crate::executor::{Executor, ScratchPool};
use crate::particles::Bounds;
use bytemuck::Zeroable;
use inselberg_kernels::fof::Metric;
use inselberg_kernels::fof::block_reach::BlockReach;
use inselberg_kernels::fof::blocks::FofBlocks;
use inselberg_kernels::fof::grid::SearchGrid;
use inselberg_kernels::fof::link::Linker;
use inselberg_kernels::fof::record::{Real, Record};
use inselberg_kernels::fof::slabs::{self, Chosen, Slabs, count};
use inselberg_kernels::fof::sorted_slab::{SlabCounts, SlabLists, SlabScratch, sort_slab};
use inselberg_kernels::sync::AtomicU32;
use inselberg_kernels::union_find::root;
use rayon::prelude::*;
use std::ops::Range;

/// The cells and the distance of the search; the same on all ranks.
#[derive(Debug, Clone)]
pub struct SearchSpace {
    /// The cells.
    pub grid: SearchGrid,
    /// Cells within reach of each other.
    pub reach: BlockReach,
    /// The distance.
    pub metric: Metric,
}

impl SearchSpace {
    /// For particles in a box.
    pub fn new(rules: &LinkingRules, spread: &Bounds) -> Self {
        let grid = SearchGrid::new(rules.linking_length, rules.sides, spread.low, spread.high);
        let sides = rules.sides.unwrap_or([f64::INFINITY; 3]);
        Self { grid, reach: BlockReach::new(&grid), metric: Metric { sides, length: rules.linking_length } }
    }
}

/// Particles sorted by cell, and the union-find of the cells, in which linked cells of one block are joined.
#[derive(Debug)]
pub struct Sorted<R> {
    /// The particles.
    pub records: Vec<R>,
    /// Their cells.
    pub blocks: FofBlocks,
    /// The union-find.
    pub up: Vec<AtomicU32>,
}

/// Particles per slab, so that sorting a slab stays in a cache.
const SLAB: usize = 8192;
/// Least number of particles per task of the linking.
const RUN: usize = 4096;
/// The greatest number of slabs: scattering to more of them is slow.
const MOST_SLABS: usize = 1024;

/// Particles slab by slab.
#[derive(Debug)]
pub struct SlabRecords<R> {
    slabs: Slabs,
    records: Vec<R>,
    /// Number of particles of each slab.
    sizes: Vec<usize>,
}

/// The particles with the given role by slab; all particles if `roles` is `None`. Linear in the particles,
/// whose positions are not needed afterwards.
pub fn scatter<T: Real>(
    frame: &SearchSpace,
    position: &[[T; 3]],
    roles: Option<&[Role]>,
    role: Role,
) -> SlabRecords<T::Record> {
    let slabs = Slabs::new(&frame.grid, (position.len() / SLAB).clamp(1, MOST_SLABS) as u32);
    let (records, sizes) = distribute(&frame.grid, &slabs, position, roles.map(|roles| (roles, role)));
    SlabRecords { slabs, records, sizes }
}

impl<R: Record> SlabRecords<R> {
    /// Sorts each slab by cell. Linear in the particles.
    pub fn sort(mut self, frame: &SearchSpace, executor: &Executor) -> Sorted<R> {
        let rooms = ScratchPool::<SlabScratch<R>>::default();
        let pieces = carve(&mut self.records, self.sizes.iter().copied());
        let counts = executor.map(
            "sorting",
            pieces,
            |piece| piece.len(),
            |piece| rooms.with(|scratch| sort_slab(&frame.grid, &self.slabs, piece, scratch)),
        );
        self.list(frame, executor, &counts)
    }

    /// Lists rows, blocks and cells of all slabs, and joins the cells of each block. The slabs are sorted and
    /// have as many of these as `counts` says. Linear in the particles.
    fn list(self, frame: &SearchSpace, executor: &Executor, counts: &[SlabCounts]) -> Sorted<R> {
        let mut all = SlabCounts::default();
        counts.iter().for_each(|slab| all.add(*slab));
        let (rows, blocks, cells) = (room(all.n_rows), room(all.n_blocks), room(all.n_cells));
        let mut blocks = FofBlocks { rows, blocks, cells, layers: Vec::new() };
        let mut up = room(all.n_cells);
        let (mut lists, mut records) = (SlabLists::new(&mut blocks, &mut up), self.records.as_slice());
        let slab = |(counts, n): (&SlabCounts, &usize)| {
            let (own, rest) = records.split_at(*n);
            records = rest;
            (lists.take_slab(*counts, *n), own)
        };
        let slabs: Vec<(SlabLists, &[R])> = counts.iter().zip(&self.sizes).map(slab).collect();
        executor.map(
            "cells",
            slabs,
            |(_, records)| records.len(),
            |(mut lists, records)| lists.fill(&frame.grid, &frame.reach, &frame.metric, records),
        );
        blocks.seal(self.records.len());
        Sorted { records: self.records, blocks, up }
    }
}

/// The particles slab by slab, and the number of each slab.
fn distribute<T: Real>(
    grid: &SearchGrid,
    slabs: &Slabs,
    position: &[[T; 3]],
    chosen: Chosen<Role>,
) -> (Vec<T::Record>, Vec<usize>) {
    let n_threads = rayon::current_num_threads();
    let n_parts = if n_threads == 1 { 1 } else { 4 * n_threads };
    let n_each = position.len().div_ceil(n_parts).max(1);
    let parts = || position.par_chunks(n_each).enumerate();
    let of_part = |part: usize| chosen.map(|(roles, role)| (&roles[part * n_each..], role));
    let counts: Vec<Vec<u32>> = parts()
        .map(|(part, list)| {
            let mut counts = vec![0; slabs.len()];
            count((grid, slabs), list, of_part(part), &mut counts);
            counts
        })
        .collect();
    let sizes: Vec<usize> =
        (0..slabs.len()).map(|slab| counts.iter().map(|c| c[slab] as usize).sum()).collect();
    let mut records: Vec<T::Record> = bytemuck::zeroed_vec(sizes.iter().sum());
    let by_slab = (0..slabs.len()).flat_map(|slab| counts.iter().map(move |c| c[slab] as usize));
    let mut places: Vec<Vec<&mut [T::Record]>> =
        counts.iter().map(|_| Vec::with_capacity(slabs.len())).collect();
    let n_counted = counts.len().max(1);
    for (i, piece) in carve(&mut records, by_slab).into_iter().enumerate() {
        places[i % n_counted].push(piece);
    }
    parts().zip(places).for_each(|((part, list), mut places)| {
        slabs::scatter((grid, slabs), list, (part * n_each) as u32, of_part(part), &mut places);
    });
    (records, sizes)
}

/// A list of `n` zeros with capacity for one more. The thread that fills it in touches its memory first.
fn room<T: Zeroable>(n: usize) -> Vec<T> {
    let mut list = bytemuck::zeroed_vec(n + 1);
    list.pop();
    list
}

impl<R: Record> Sorted<R> {
    /// Joins all linked cells.
    pub fn link(&self, frame: &SearchSpace, executor: &Executor) {
        let linker = Linker {
            grid: &frame.grid,
            reach: &frame.reach,
            metric: &frame.metric,
            blocks: &self.blocks,
            records: &self.records,
            up: &self.up,
        };
        let runs = self.runs();
        let sizes: Vec<usize> = runs.iter().map(|(_, n_particles)| *n_particles).collect();
        executor.each("linking", &sizes, |run| linker.link(runs[run as usize].0.clone()));
    }

    /// Rows in runs of at least [`RUN`] particles, with the number of these.
    fn runs(&self) -> Vec<(Range<usize>, usize)> {
        let rows = (1..self.blocks.n_rows() + 1).into_par_iter().with_min_len(1 << 12);
        let ends: Vec<usize> = rows.map(|row| self.blocks.first_particle(row)).collect();
        let mut runs = Vec::new();
        let (mut first, mut before) = (0, 0);
        for (row, end) in ends.iter().enumerate() {
            if end - before >= RUN || row + 1 == ends.len() {
                runs.push((first..row + 1, end - before));
                (first, before) = (row + 1, *end);
            }
        }
        runs
    }

    /// For each cell, the lowest cell of its component; consumes the union-find.
    pub fn roots(&mut self) -> Vec<u32> {
        let up = std::mem::take(&mut self.up);
        (0..up.len() as u32).into_par_iter().with_min_len(1 << 12).map(|cell| root(&up, cell)).collect()
    }

    /// Drops the positions of the cells, but not their particles.
    pub fn drop_positions(&mut self) {
        (self.blocks.rows, self.blocks.blocks, self.blocks.layers) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// The particles of consecutive cells.
    #[inline]
    pub fn in_cells(&self, cells: Range<u32>) -> &[R] {
        &self.records
            [self.blocks.cells[cells.start as usize] as usize..self.blocks.cells[cells.end as usize] as usize]
    }

    /// The particles of a cell.
    #[inline]
    pub fn in_cell(&self, cell: u32) -> &[R] {
        &self.records[self.blocks.particles(cell)]
    }
}
