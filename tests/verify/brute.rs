//! PHEW by its definitions (Bleuler et al. 2015, sections 2.2 and 2.3), over all pairs of cells.
//!
//! - Two leaves are neighbours if their closed cubes share a point: a face, an edge or a corner,
//!   over the periodic images, whatever their levels. Decided in integers on the finer grid.
//! - Test cells are the leaves above the threshold. One is greater than another if it is denser, or
//!   as dense and first by (level, Morton key).
//! - Each test cell points to the greatest of its neighbours and itself; where that leads is its peak.
//! - The saddle of two patches is the greatest mean density of two neighbours, one in each. One saddle
//!   is greater than another if it is denser, or as dense and between earlier peaks.

use inselberg_kernels::geom::Domain;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaf {
    pub level: u8,
    pub ijk: [u32; 3],
    pub rho: f64,
}

/// The best contact between two patches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saddle {
    pub density: f64,
    /// Earlier peak first.
    pub peaks: [usize; 2],
    /// A test cell in the patch of each, in the same order; the first such pair among equals.
    pub cells: [usize; 2],
}

/// A segmented field.
#[derive(Debug)]
pub struct Brute {
    /// The test cells by (level, Morton key).
    pub cells: Vec<Leaf>,
    /// The neighbours of each among them.
    pub neighbours: Vec<Vec<usize>>,
    /// The test cell of each peak, rising.
    pub peaks: Vec<usize>,
    /// The peak of each test cell, as a place in `peaks`.
    pub patch: Vec<usize>,
    /// The saddle of every pair of patches that touch, greatest first.
    pub saddles: Vec<Saddle>,
}

impl Brute {
    pub fn new(domain: &Domain, leaves: &[Leaf], threshold: f64) -> Self {
        let mut cells: Vec<Leaf> = leaves.iter().filter(|l| l.rho > threshold).copied().collect();
        cells.sort_by_key(key);
        let neighbours = all_neighbours(domain, &cells);
        let up: Vec<usize> = (0..cells.len()).map(|c| densest(&cells, &neighbours, c)).collect();
        let peaks: Vec<usize> = (0..cells.len()).filter(|&c| up[c] == c).collect();
        let place = |peak: usize| peaks.iter().position(|&p| p == peak).expect("ascents end in peaks");
        let patch: Vec<usize> = (0..cells.len()).map(|c| place(climb(&up, c))).collect();
        let saddles = all_saddles(&cells, &neighbours, &patch);
        Self { cells, neighbours, peaks, patch, saddles }
    }

    /// Density of each peak.
    pub fn peak_densities(&self) -> Vec<f64> {
        self.peaks.iter().map(|&c| self.cells[c].rho).collect()
    }
}

/// (level, Morton key), bit by bit.
pub fn key(leaf: &Leaf) -> (u8, u128) {
    let bit = |b: u32| u128::from(leaf.ijk[b as usize % 3] >> (b / 3) & 1) << b;
    (leaf.level, (0..96).map(bit).sum())
}

/// Whether two leaves are neighbours.
pub fn touch(domain: &Domain, a: &Leaf, b: &Leaf) -> bool {
    (0..3).all(|axis| touch_along(domain, axis, a, b))
}

fn touch_along(domain: &Domain, axis: usize, a: &Leaf, b: &Leaf) -> bool {
    let finest = a.level.max(b.level);
    let span = |leaf: &Leaf| {
        let side = 1i64 << (finest - leaf.level);
        (i64::from(leaf.ijk[axis]) * side, (i64::from(leaf.ijk[axis]) + 1) * side)
    };
    let (a, b) = (span(a), span(b));
    let image = if domain.periodic[axis] { i64::from(domain.coarse[axis]) << finest } else { 0 };
    [-image, 0, image].iter().any(|shift| a.0 <= b.1 + shift && b.0 + shift <= a.1)
}

fn all_neighbours(domain: &Domain, cells: &[Leaf]) -> Vec<Vec<usize>> {
    let of = |i: usize| (0..cells.len()).filter(|&j| j != i && touch(domain, &cells[i], &cells[j])).collect();
    (0..cells.len()).map(of).collect()
}

/// `Greater` if place `a` of the list is greater in the total order than place `b`.
pub fn order(rho: impl Fn(usize) -> f64, a: usize, b: usize) -> Ordering {
    rho(a).total_cmp(&rho(b)).then(b.cmp(&a))
}

fn densest(cells: &[Leaf], neighbours: &[Vec<usize>], cell: usize) -> usize {
    let all = neighbours[cell].iter().copied().chain([cell]);
    all.max_by(|&a, &b| order(|c| cells[c].rho, a, b)).expect("at least itself")
}

fn climb(up: &[usize], mut cell: usize) -> usize {
    while up[cell] != cell {
        cell = up[cell];
    }
    cell
}

fn all_saddles(cells: &[Leaf], neighbours: &[Vec<usize>], patch: &[usize]) -> Vec<Saddle> {
    let mut best: BTreeMap<[usize; 2], Saddle> = BTreeMap::new();
    for a in 0..cells.len() {
        for &b in neighbours[a].iter().filter(|&&b| patch[a] < patch[b]) {
            let density = cells[a].rho.midpoint(cells[b].rho);
            let contact = Saddle { density, peaks: [patch[a], patch[b]], cells: [a, b] };
            let kept = best.entry(contact.peaks).or_insert(contact);
            if contact.order(kept).is_lt() {
                *kept = contact;
            }
        }
    }
    let mut saddles: Vec<Saddle> = best.into_values().collect();
    saddles.sort_by(Saddle::order);
    saddles
}

impl Saddle {
    /// `Less` stands first: the greater saddle.
    pub fn order(&self, other: &Self) -> Ordering {
        let place = |saddle: &Self| {
            let [a, b] = saddle.cells;
            (saddle.peaks, a.min(b), a.max(b))
        };
        let by_place = place(self).cmp(&place(other));
        other.density.total_cmp(&self.density).then(by_place)
    }
}
