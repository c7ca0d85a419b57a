//! Pixels: what the patches of an image or cube are like beside their mass: shape, extent, and whether they
//! touch pixels without a value.
//!
//! Lengths are displacements from the peak cell of a patch, so that no digits are lost far from the corner of
//! an image. A group of patches sees its patches from its highest peak.

use super::combine::{PatchGroups, PatchValues};
use super::sums::{MASS, MOMENT, N_OF_PIXELS, N_SUMS, PIXELS};
use super::terms::{BrickCells, Gathered, MOST, Terms};
use crate::geom::cell_centre;
use crate::sum::{FixedSum, Quantum};
use bytemuck::{Pod, Zeroable};

/// First of the sums of mass times the squares of displacements (3).
const SQUARES: usize = 0;
/// First of the sums of mass times the products of displacements: yz, zx, xy.
const PRODUCTS: usize = 3;
/// First of the sums of displacements (3).
const OFFSETS: usize = 6;
/// First of the sums of the squares of displacements (3).
const OFFSET_SQUARES: usize = 9;

/// The sums over the pixels of a patch so far, in quanta, and their extent.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PixelSums {
    /// The sums.
    pub sums: [FixedSum; N_OF_PIXELS],
    /// The least position along each axis.
    pub low: [u32; 3],
    /// The greatest position along each axis.
    pub high: [u32; 3],
    /// 1 if a pixel shares a face with a place in the box without a value.
    pub touches_blank: u64,
}

impl Default for PixelSums {
    fn default() -> Self {
        Self { sums: Default::default(), low: [u32::MAX; 3], high: [0; 3], touches_blank: 0 }
    }
}

impl Gathered<N_OF_PIXELS> for PixelSums {
    const FIRST: usize = PIXELS;
    const SEES_BLANKS: bool = true;

    #[inline(always)]
    fn add(&mut self, cells: &BrickCells, terms: &Terms<N_OF_PIXELS>, n: usize) {
        let at = cells.position(n);
        let touches_blank = cells.beside_blank >> n & 1;
        self.merge(&Self { sums: terms.sums(n), low: at, high: at, touches_blank });
    }

    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += *other);
        for a in 0..3 {
            self.low[a] = self.low[a].min(other.low[a]);
            self.high[a] = self.high[a].max(other.high[a]);
        }
        self.touches_blank |= other.touches_blank;
    }
}

/// The pixels of a patch or a group after its sums are complete, in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PixelValues {
    /// Mass times squares (3) and products (3), displacements (3) and their squares (3).
    pub sums: [f64; N_OF_PIXELS],
    /// The least position along each axis.
    pub low: [u32; 3],
    /// The greatest position along each axis.
    pub high: [u32; 3],
    /// Whether a pixel shares a face with a place in the box without a value.
    pub touches_blank: bool,
}

impl PixelValues {
    /// Rounds complete sums, which are in units of the level-0 cell, to code units.
    pub fn new(of: &PixelSums, quanta: &[Quantum; N_SUMS], side: f64) -> Self {
        let volume = side.powi(3);
        let unit = |i: usize| match i {
            OFFSET_SQUARES.. => side * side,
            OFFSETS.. => side,
            _ => volume * side * side,
        };
        let sums = std::array::from_fn(|i| quanta[PIXELS + i].value(of.sums[i]) * unit(i));
        Self { sums, low: of.low, high: of.high, touches_blank: of.touches_blank != 0 }
    }

    /// The sums seen from a place that is `shift` before the patch's peak. `patch` has its other sums.
    fn seen_from(&self, shift: [f64; 3], patch: &PatchValues) -> [f64; N_OF_PIXELS] {
        let (mut sums, mass) = (self.sums, patch.sums[MASS]);
        let moment: [f64; 3] = std::array::from_fn(|a| patch.sums[MOMENT + a]);
        let n = patch.n_cells as f64;
        for a in 0..3 {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            sums[SQUARES + a] += shift[a] * (2.0 * moment[a] + mass * shift[a]);
            sums[PRODUCTS + a] += shift[b] * moment[c] + shift[c] * moment[b] + mass * shift[b] * shift[c];
            sums[OFFSET_SQUARES + a] += shift[a] * (2.0 * sums[OFFSETS + a] + n * shift[a]);
            sums[OFFSETS + a] += n * shift[a];
        }
        sums
    }
}

/// Patches of an image and the groups into which they are combined.
#[derive(Debug, Clone, Copy)]
pub struct PixelGroups<'a> {
    /// The patches.
    pub groups: PatchGroups<'a>,
    /// Their pixels.
    pub pixels: &'a [PixelValues],
}

impl PixelGroups<'_> {
    /// Bounds on the magnitudes of the terms of all patches, for the quanta of [`Self::add`].
    pub fn bounds(&self) -> [f64; N_OF_PIXELS] {
        let mut bounds = [0.0_f64; N_OF_PIXELS];
        for patch in 0..self.pixels.len() {
            let Some(sums) = self.sums(patch) else { continue };
            bounds.iter_mut().zip(&sums).for_each(|(bound, sum)| *bound = bound.max(sum.abs()));
        }
        bounds
    }

    /// Adds the patches to the `totals` of their groups. The result does not depend on the order or the
    /// number of ranks.
    pub fn add(&self, quanta: &[Quantum; N_SUMS], totals: &mut [PixelSums]) {
        let mut terms = Terms::<N_OF_PIXELS>::default();
        let kept: Vec<usize> = (0..self.pixels.len()).filter(|patch| self.sums(*patch).is_some()).collect();
        for run in kept.chunks(MOST) {
            terms.set(run.len(), &quanta[PIXELS..], |k| self.sums(run[k]).expect("it has a group"));
            for (k, patch) in run.iter().enumerate() {
                let PixelValues { low, high, touches_blank, .. } = self.pixels[*patch];
                let part = PixelSums { sums: terms.sums(k), low, high, touches_blank: touches_blank.into() };
                totals[self.groups.group[*patch] as usize].merge(&part);
            }
        }
    }

    /// The sums of a patch, seen from the highest peak of its group; `None` without a group.
    fn sums(&self, patch: usize) -> Option<[f64; N_OF_PIXELS]> {
        let PatchGroups { space, patches, level, ijk, group, head, .. } = self.groups;
        let centre = *head.get(group[patch] as usize)?;
        let shift = space.domain.displacement(centre, cell_centre(level[patch], ijk[patch]));
        Some(self.pixels[patch].seen_from(shift.map(|x| x * space.side), &patches[patch]))
    }
}

/// The shape of a group of pixels, in code units. NaN without mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PixelShape {
    /// The mean square of displacements from the centre of mass, weighted with mass: xx, yy, zz.
    pub squares: [f64; 3],
    /// The mean products of displacements: yz, zx, xy.
    pub products: [f64; 3],
    /// The sum over pixels of the square of the displacement from the centre of mass, along each axis.
    pub spread: [f64; 3],
    /// The least position along each axis.
    pub low: [u32; 3],
    /// The greatest position along each axis.
    pub high: [u32; 3],
    /// Whether a pixel shares a face with a place in the box without a value.
    pub touches_blank: bool,
}

impl PixelShape {
    /// Of the pixels of a group, with its other sums.
    pub fn new(pixels: &PixelValues, group: &PatchValues) -> Self {
        let (sums, n) = (&pixels.sums, group.n_cells as f64);
        let mass = if group.sums[MASS] > 0.0 { group.sums[MASS] } else { f64::NAN };
        let mean: [f64; 3] = std::array::from_fn(|a| group.sums[MOMENT + a] / mass);
        let (mut squares, mut products, mut spread) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        for a in 0..3 {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            squares[a] = sums[SQUARES + a] / mass - mean[a] * mean[a];
            products[a] = sums[PRODUCTS + a] / mass - mean[b] * mean[c];
            let offset = sums[OFFSETS + a];
            spread[a] = sums[OFFSET_SQUARES + a] - 2.0 * mean[a] * offset + n * mean[a] * mean[a];
        }
        let PixelValues { low, high, touches_blank, .. } = *pixels;
        Self { squares, products, spread, low, high, touches_blank }
    }

    /// The same in code units, of a shape in cells of this side.
    #[must_use]
    pub fn in_cells_of(self, side: f64) -> Self {
        self.in_pixels(1.0 / side)
    }

    /// The same in pixels of this side.
    #[must_use]
    pub fn in_pixels(self, side: f64) -> Self {
        let area = side * side;
        let of = |list: [f64; 3]| list.map(|x| x / area);
        Self { squares: of(self.squares), products: of(self.products), spread: of(self.spread), ..self }
    }
}
