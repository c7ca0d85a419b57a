//! Test cells: the leaves above the density threshold, numbered in the order of the cells.

use crate::ids::{CellIdx, TestIdx};
use crate::mesh::{Brick, Lookup, Mesh, SuperBrick, local};
use crate::simd::{eight, larger, wide};
use std::ops::Range;

/// The test cells of a field: a mask a brick. Their densities stay where those of all cells are.
#[derive(Debug, Clone, Default)]
pub struct TestCells<'a> {
    /// One bit a cell of each brick.
    pub mask: Vec<u64>,
    /// The first test cell of each brick, and their total at the end.
    pub first: Vec<u32>,
    /// Density of every cell of the mesh.
    pub rho: &'a [f64],
    /// Greatest density of a leaf of each level; 0 where there are none.
    pub greatest: Vec<f64>,
    /// Their bricks.
    bricks: Lookup,
    /// What brings densities into the range of single precision: a power of two.
    scale: f64,
    /// What lower densities are in single precision, which does not tell them apart.
    floor: f32,
}

/// Power of two to which the greatest density is brought.
const NARROW_TOP: u64 = 100;

/// Bits of 2^-960. Means of lower densities may be rounded to fewer digits than a double has.
const FULL_DIGITS: u64 = (1023 - 960) << 52;

/// By how much the sum of two densities must exceed the floor that what the floor adds to it is lost.
const ABOVE_FLOOR: f32 = (1 << 26) as f32;

/// The test cells of each brick, one bit a cell: leaves with `rho > threshold`. `rho` holds every cell of the mesh. The
/// greatest density of a leaf.
pub fn test_masks(bricks: &[Brick], rho: &[f64], threshold: f64, masks: &mut [u64]) -> f64 {
    wide(
        #[inline(always)]
        || {
            let mut greatest = [0.0; 8];
            for (brick, mask) in bricks.iter().zip(masks) {
                *mask = test_mask(brick, rho, threshold, &mut greatest);
            }
            greatest.into_iter().fold(0.0, larger)
        },
    )
}

#[inline(always)]
fn test_mask(brick: &Brick, rho: &[f64], threshold: f64, greatest: &mut [f64; 8]) -> u64 {
    let mut dense = [0; 64];
    let mut cells = &rho[brick.first as usize..];
    let masks = brick.exists.to_le_bytes().into_iter().zip(brick.leaf.to_le_bytes());
    for (dense, (exists, leaf)) in dense.as_chunks_mut::<8>().0.iter_mut().zip(masks) {
        match cells.split_first_chunk::<8>().filter(|_| exists == u8::MAX) {
            Some((oct, rest)) => {
                let of_leaf = |i: usize| if leaf >> i & 1 == 1 { oct[i] } else { 0.0 };
                *dense = oct.map(|density| u8::from(density > threshold));
                *greatest = std::array::from_fn(|i| larger(greatest[i], of_leaf(i)));
                cells = rest;
            }
            None => {
                let n = exists.count_ones() as usize;
                for (bit, density) in local::bits(exists.into()).zip(cells) {
                    dense[bit as usize] = u8::from(*density > threshold);
                    if leaf >> bit & 1 == 1 {
                        greatest[0] = larger(greatest[0], *density);
                    }
                }
                cells = &cells[n..];
            }
        }
    }
    local::bits_of(&dense) & brick.leaf
}

impl<'a> TestCells<'a> {
    /// From a mask a brick, the densities of all cells, and the greatest of a leaf of each level.
    pub fn new(mask: Vec<u64>, rho: &'a [f64], greatest: Vec<f64>) -> Self {
        let exponent = greatest.iter().copied().fold(f64::MIN_POSITIVE, larger).to_bits() >> 52;
        // 2^(NARROW_TOP - exponent of the greatest), within what a double holds.
        let scale = f64::from_bits((2046 + NARROW_TOP).saturating_sub(exponent).clamp(1, 2046) << 52);
        let mut first = Vec::with_capacity(mask.len() + 1);
        let mut n = 0;
        for mask in &mask {
            first.push(n);
            n += mask.count_ones();
        }
        first.push(n);
        let bricks = Lookup::new(first[1..].iter().copied());
        let floor = larger((f64::from_bits(FULL_DIGITS) * scale) as f32, f32::MIN_POSITIVE);
        Self { mask, first, rho, greatest, bricks, scale, floor }
    }

    /// The density of a cell in single precision: never 0, in the same order but for ties, and
    /// strictly greater than [`STRICTLY`](super::saddle::STRICTLY) times another only if the density is clearly greater.
    #[inline(always)]
    pub fn narrow(&self, cell: CellIdx) -> f32 {
        self.narrowed(self.rho[cell.at()])
    }

    /// The same of eight cells, anything beyond the last.
    #[inline(always)]
    pub fn narrow_oct(&self, first: CellIdx) -> [f32; 8] {
        let rho = eight(self.rho, first.0, 0.0);
        std::array::from_fn(|i| self.narrowed(rho[i]))
    }

    #[inline(always)]
    fn narrowed(&self, rho: f64) -> f32 {
        larger((rho * self.scale) as f32, self.floor)
    }

    /// The sum of two densities in single precision. Of two that differ by more than a factor of
    /// [`STRICTLY`](super::saddle::STRICTLY) the greater one is that of the greater densities; sums that the floor may
    /// have raised are all the same.
    #[inline(always)]
    pub fn narrow_sum(&self, densities: [f32; 2]) -> f32 {
        larger(densities[0] + densities[1], ABOVE_FLOOR * self.floor)
    }

    /// The densities of all test cells, in their order.
    pub fn densities(&self, mesh: &Mesh) -> impl Iterator<Item = f64> {
        mesh.bricks().iter().zip(&self.mask).flat_map(|(brick, mask)| {
            local::bits(*mask).filter_map(|bit| brick.cell(bit)).map(|cell| self.rho[cell.at()])
        })
    }

    /// Number of test cells.
    pub fn len(&self) -> usize {
        self.first.last().map_or(0, |n| *n as usize)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The brick of a test cell. Constant but for a walk over bricks without many of them.
    #[inline(always)]
    fn brick_of(&self, test: TestIdx) -> usize {
        self.bricks.find(test.0, |b| self.first[b + 1])
    }

    /// The density of a test cell, which is looked up.
    #[inline(always)]
    pub fn density(&self, mesh: &Mesh, test: TestIdx) -> f64 {
        let brick = self.brick_of(test);
        let (of_mesh, mask, n) = (&mesh.bricks()[brick], self.mask[brick], test.0 - self.first[brick]);
        let rank = match mask == of_mesh.exists {
            true => n,
            false => local::rank(of_mesh.exists, local::nth_set_bit(mask, n)),
        };
        self.rho[(of_mesh.first + rank) as usize]
    }

    /// The test cell at `bit` of `brick`, if it is one.
    #[inline(always)]
    pub fn at(&self, brick: usize, bit: u32) -> Option<TestIdx> {
        (self.mask[brick] >> bit & 1 == 1)
            .then(|| TestIdx(self.first[brick] + local::rank(self.mask[brick], bit)))
    }

    /// The test cells of a run of bricks.
    pub fn of_bricks(&self, bricks: Range<usize>) -> Range<usize> {
        self.first[bricks.start] as usize..self.first[bricks.end] as usize
    }

    /// Those bricks of a super-brick that have test cells.
    #[inline(always)]
    pub fn bricks_in(&self, super_brick: &SuperBrick) -> u64 {
        let masks = &self.mask[super_brick.first as usize..];
        let bits = local::bits(super_brick.bricks).zip(masks);
        bits.fold(0, |bricks, (bit, mask)| bricks | u64::from(*mask != 0) << bit)
    }

    /// The test cells of a run of super-bricks, at least one.
    pub fn of_supers(&self, mesh: &Mesh, supers: Range<usize>) -> Range<usize> {
        let first = mesh.supers()[supers.start].first as usize;
        self.of_bricks(first..mesh.bricks_of(&mesh.supers()[supers.end - 1]).end)
    }

    /// The first test cell of `level`.
    pub fn first_of_level(&self, mesh: &Mesh, level: u8) -> u32 {
        let first = if level < mesh.n_levels() { mesh.supers_of(level).start } else { mesh.supers().len() };
        mesh.supers().get(first).map_or(self.len() as u32, |s| self.first[s.first as usize])
    }

    /// The test cells of `level`.
    pub fn of_level(&self, mesh: &Mesh, level: u8) -> Range<usize> {
        self.first_of_level(mesh, level) as usize..self.first_of_level(mesh, level + 1) as usize
    }

    /// Level and position of a test cell. Logarithmic in the super-bricks.
    pub fn locate(&self, mesh: &Mesh, test: TestIdx) -> (u8, [u32; 3]) {
        let brick = self.brick_of(test);
        let bit = local::nth_set_bit(self.mask[brick], test.0 - self.first[brick]);
        let s = mesh.supers().partition_point(|s| s.first as usize <= brick) - 1;
        (mesh.level_of_super(s), local::position_of(mesh.bricks()[brick].position, bit))
    }
}
