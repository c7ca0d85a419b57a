//! Lognormal turbulence: the logarithm of the density is noise with a power-law spectrum.
//!
//! The noise is a sum over octaves. Octave o has random numbers on a periodic lattice of 2^o points per side,
//! smooth between them, times 2^(-o / 3): so its power per wave number falls with the power -11/3
//! (Kolmogorov).

use super::{BenchCells, BenchField};
use inselberg::field::LevelOcts;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;
use rayon::prelude::*;
use std::collections::HashSet;

/// The width of the distribution of the logarithm.
const WIDTH: f64 = 1.5;
/// A fifth of the volume is denser than this.
const DENSITY: f64 = 3.53;
const CUT: Cut =
    Cut { density: DENSITY, persistence: Persistence::Ratio(1.1), saddle: Some(20.0), halo_relevance: None };
/// The first octave.
const FIRST: u32 = 2;
/// Levels of the refined field in addition to its coarsest.
const DEEPER: u8 = 4;
/// A leaf of the coarsest level above this density is refined, one of the next above eight times that, and so
/// on.
const REFINED: f64 = 8.0;

type Cell = [u32; 3];

/// A uniform grid.
pub fn cube(test_cells: f64) -> BenchField {
    let level = ((test_cells / 0.2).log2() / 3.0).round() as u8;
    field(level, &[])
}

/// Refined where cells have much mass, with at most one level between neighbours.
pub fn refined(test_cells: f64) -> BenchField {
    // Three in four test cells are deeper than the coarsest level.
    let coarsest = ((test_cells / 0.8).log2() / 3.0).round() as u8;
    let mut split: Vec<HashSet<Cell>> = Vec::new();
    let mut cells: Vec<Cell> = all_cells(coarsest);
    for deeper in 0..DEEPER {
        let level = coarsest + deeper;
        let least = REFINED * 8_f64.powi(i32::from(deeper));
        let is_split = |cell: &Cell| density(level, *cell) > least;
        let wanted: Vec<Cell> = cells.into_par_iter().filter(is_split).collect();
        cells = wanted.iter().flat_map(|cell| children(*cell)).collect();
        split.push(wanted.into_iter().collect());
    }
    grade(coarsest, &mut split);
    field(coarsest, &split)
}

/// Splits the parents of all neighbours of a split cell, from the deepest level up.
fn grade(coarsest: u8, split: &mut [HashSet<Cell>]) {
    for deeper in (1..split.len()).rev() {
        let n = 1_u32 << (coarsest + deeper as u8);
        let (above, here) = split.split_at_mut(deeper);
        for cell in &here[0] {
            for place in 0..27_u32 {
                let step = [place % 3, place / 3 % 3, place / 9];
                let near = [0, 1, 2].map(|a| (cell[a] + n + step[a] - 1) % n);
                above[deeper - 1].insert(near.map(|x| x / 2));
            }
        }
    }
}

fn field(coarsest: u8, split: &[HashSet<Cell>]) -> BenchField {
    let mut levels = vec![LevelOcts::default()];
    for level in 1..=coarsest + split.len() as u8 {
        let mut parents: Vec<Cell> = match level.checked_sub(coarsest + 1) {
            None => all_cells(level - 1),
            Some(deeper) => split[usize::from(deeper)].iter().copied().collect(),
        };
        parents.sort_unstable();
        let is_split = |cell: Cell| match level.checked_sub(coarsest) {
            None => true,
            Some(deeper) => split.get(usize::from(deeper)).is_some_and(|split| split.contains(&cell)),
        };
        let of_oct = |parent: &Cell| {
            let cells = children(*parent);
            let mask = (0..8).map(|i| u8::from(is_split(cells[i])) << i).sum::<u8>();
            (mask, cells.map(|cell| density(level, cell)))
        };
        let (split, values) = parents.par_iter().map(of_oct).unzip();
        levels.push(LevelOcts { position: parents, split, values });
    }
    let domain = Domain { coarse: [1; 3], periodic: [true; 3] };
    BenchField { cells: BenchCells::Octs(domain, levels), cut: CUT }
}

fn all_cells(level: u8) -> Vec<Cell> {
    let n = 1_u32 << level;
    (0..n.pow(3)).map(|i| [i % n, i / n % n, i / (n * n)]).collect()
}

fn children(cell: Cell) -> [Cell; 8] {
    std::array::from_fn(|i| [0, 1, 2].map(|a| 2 * cell[a] + (i as u32 >> a & 1)))
}

/// The density at the centre of a cell.
fn density(level: u8, cell: Cell) -> f64 {
    let side = 0.5_f64.powi(i32::from(level));
    let centre = cell.map(|x| (f64::from(x) + 0.5) * side);
    let octaves = FIRST..=u32::from(level);
    let factor = |octave: u32| (-f64::from(octave) / 3.0).exp2();
    let noise: f64 = octaves.clone().map(|octave| factor(octave) * smooth(octave, centre)).sum();
    // The variance of uniform numbers is 1/3, and interpolation leaves 0.35 of it.
    let variance: f64 = (FIRST..=20).map(|octave| factor(octave).powi(2) * 0.35 / 3.0).sum();
    (WIDTH * noise / variance.sqrt()).exp()
}

/// Random numbers on a lattice of 2^octave points per side, interpolated with smooth derivatives.
fn smooth(octave: u32, centre: [f64; 3]) -> f64 {
    let n = 1_u32 << octave;
    let scaled = centre.map(|x| x * f64::from(n));
    let low = scaled.map(|x| x as u32);
    let weight = [0, 1, 2].map(|a| {
        let t = scaled[a] - f64::from(low[a]);
        t * t * (3.0 - 2.0 * t)
    });
    let corner = |i: u32| {
        let at = [0, 1, 2].map(|a| (low[a] + (i >> a & 1)) % n);
        let share = (0..3).map(|a| if i >> a & 1 == 1 { weight[a] } else { 1.0 - weight[a] });
        share.product::<f64>() * random(octave, at)
    };
    (0..8).map(corner).sum()
}

/// A number in -1 to 1 that belongs to a point of a lattice.
fn random(octave: u32, [x, y, z]: Cell) -> f64 {
    let place = u64::from(x) | u64::from(y) << 20 | u64::from(z) << 40;
    let mixed = (place ^ u64::from(octave) << 60).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
