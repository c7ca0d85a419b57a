//! Test cells: which cells take part?
//!
//! Place in the flow: the first step. Test cells are the leaves above the density threshold, numbered in the
//! order of the cells. This module uses the mesh and densities, but no peaks.

use crate::ids::{CellIdx, TestIdx};
use crate::mesh::{Brick, Lookup, Mesh, SuperBrick, local};
use crate::simd::{eight, larger, wide};
use std::ops::Range;

/// The test cells of a field, as one mask per brick. Densities are not copied.
#[derive(Debug, Clone, Default)]
pub struct TestCells<'a> {
    /// One bit per cell of each brick.
    pub mask: Vec<u64>,
    /// The first test cell of each brick, and the number of test cells at the end.
    pub first: Vec<u32>,
    /// The density of every cell of the mesh.
    pub rho: &'a [f64],
    /// The greatest density of a leaf of each level; 0 for levels without leaves.
    pub greatest: Vec<f64>,
    /// Finds the brick of a test cell.
    bricks: Lookup,
    /// A power of two that brings densities into the range of single precision.
    scale: f64,
    /// The least density in single precision; all lower ones become equal to it.
    floor: f32,
}

/// If a single-precision density exceeds another by more than this factor, the double-precision densities
/// differ in spite of rounding, and so do their means with any lower density.
pub const STRICTLY: f32 = 1.0 + 1.0 / (1 << 20) as f32;

/// The greatest density is scaled to this power of two.
const NARROW_TOP: u64 = 100;

/// The bits of 2^-960. Means of lower densities may have fewer digits than a double.
const FULL_DIGITS: u64 = (1023 - 960) << 52;

/// A sum of two densities that exceeds the floor by this factor is the same whether the lower term was raised
/// to the floor or not.
const ABOVE_FLOOR: f32 = (1 << 26) as f32;

/// Fills `masks`, one per brick, with the test cells: the leaves with `rho > threshold`. `rho` has one entry
/// per cell of the mesh. Returns the greatest density of a leaf in these bricks; 0 without one.
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

/// The mask of one brick, eight cells at a time; an oct that is not whole goes cell by cell. Raises
/// `greatest`.
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
    /// From one mask per brick, the densities of all cells, and the greatest density of a leaf of each level.
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

    /// The scaled density of a cell in single precision: never 0, and in the order of densities except for
    /// ties. If it is more than [`STRICTLY`] times another, the density itself is greater too.
    #[inline(always)]
    pub fn narrow(&self, cell: CellIdx) -> f32 {
        self.narrowed(self.rho[cell.at()])
    }

    /// The same for eight cells from `first` on; undefined past the last cell of the mesh.
    #[inline(always)]
    pub fn narrow_oct(&self, first: CellIdx) -> [f32; 8] {
        let rho = eight(self.rho, first.0, 0.0);
        std::array::from_fn(|i| self.narrowed(rho[i]))
    }

    #[inline(always)]
    fn narrowed(&self, rho: f64) -> f32 {
        larger((rho * self.scale) as f32, self.floor)
    }

    /// The sum of two scaled densities in single precision. If two sums differ by more than a factor of
    /// [`STRICTLY`], the sums of the densities themselves are in the same order. Sums that the floor may have
    /// raised are all equal.
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

    /// The brick of a test cell. Constant time, plus a walk over bricks with few test cells.
    #[inline(always)]
    fn brick_of(&self, test: TestIdx) -> usize {
        self.bricks.find(test.0, |b| self.first[b + 1])
    }

    /// The density of a test cell. A look-up of its brick.
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

    /// The test cell at `bit` of `brick`, if there is one.
    #[inline(always)]
    pub fn at(&self, brick: usize, bit: u32) -> Option<TestIdx> {
        (self.mask[brick] >> bit & 1 == 1)
            .then(|| TestIdx(self.first[brick] + local::rank(self.mask[brick], bit)))
    }

    /// The test cells of a range of bricks.
    pub fn of_bricks(&self, bricks: Range<usize>) -> Range<usize> {
        self.first[bricks.start] as usize..self.first[bricks.end] as usize
    }

    /// The bricks of a super-brick that have test cells, one bit each.
    #[inline(always)]
    pub fn bricks_in(&self, super_brick: &SuperBrick) -> u64 {
        let masks = &self.mask[super_brick.first as usize..];
        let bits = local::bits(super_brick.bricks).zip(masks);
        bits.fold(0, |bricks, (bit, mask)| bricks | u64::from(*mask != 0) << bit)
    }

    /// The bricks of a super-brick that have test cells. In a sparse field these are few of all.
    #[inline(always)]
    pub fn bricks_of(&self, mesh: &Mesh, super_brick: &SuperBrick) -> impl Iterator<Item = usize> {
        mesh.bricks_of(super_brick).filter(|brick| self.mask[*brick] != 0)
    }

    /// The test cells of a range of super-bricks, which must not be empty.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::random::random_mesh;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        /// Reference: cell by cell. Some leaves of the mesh are made split cells.
        #[test]
        fn masks_are_those_of_single_cells(of in random_mesh(), split in any::<u64>(), threshold in 0.9..2.1f64) {
            let mut bricks = of.mesh.bricks().to_vec();
            bricks.iter_mut().zip(0..).for_each(|(brick, i)| brick.leaf &= !split.rotate_left(i) | (i as u64 % 3));
            let mut masks = vec![0; bricks.len()];
            let greatest = test_masks(&bricks, &of.rho, threshold, &mut masks);
            let mut expected_greatest = 0.0;
            for (brick, mask) in bricks.iter().zip(&masks) {
                for bit in 0..64 {
                    let rho = brick.cell(bit).filter(|_| brick.leaf >> bit & 1 == 1).map(|cell| of.rho[cell.at()]);
                    prop_assert_eq!(mask >> bit & 1 == 1, rho.is_some_and(|rho| rho > threshold));
                    expected_greatest = rho.unwrap_or(0.0).max(expected_greatest);
                }
            }
            prop_assert_eq!(greatest, expected_greatest);
        }

        /// Single precision never inverts the order of two densities, nor of two sums that differ by
        /// [`STRICTLY`].
        #[test]
        fn narrow_densities_are_in_the_order_of_densities(
            rho in prop::collection::vec(prop_oneof![1.0..2.0f64, 1e-300..1e300f64, Just(5e-324), Just(1e308)], 4),
            nearly in any::<bool>(),
        ) {
            let rho: Vec<f64> =
                rho.iter().zip(0..).map(|(x, i)| if nearly { rho[0] * (1.0 + f64::from(i) * 1e-8) } else { *x }).collect();
            prop_assume!(rho.iter().all(|rho| rho.is_finite()));
            let test_cells = TestCells::new(Vec::new(), &rho, vec![rho.iter().copied().fold(0.0, f64::max)]);
            let narrow = [0, 1, 2, 3].map(|i| test_cells.narrow(CellIdx(i)));
            prop_assert_eq!(&test_cells.narrow_oct(CellIdx(0))[..4], &narrow[..]);
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                prop_assert!(narrow[a] > 0.0 && narrow[a].is_finite());
                prop_assert!(rho[a] > rho[b] || narrow[a] <= narrow[b]);
                prop_assert!(narrow[a] <= STRICTLY * narrow[b] || rho[a] > rho[b]);
            }
            let sums = [[0, 1], [2, 3]].map(|pair| test_cells.narrow_sum(pair.map(|i| narrow[i])));
            let means = [[0, 1], [2, 3]].map(|[a, b]: [usize; 2]| rho[a].midpoint(rho[b]));
            prop_assert!(sums[0] <= STRICTLY * sums[1] || means[0] > means[1]);
        }
    }
}
