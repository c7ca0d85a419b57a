//! Test cells: the leaves above the density threshold, numbered in the order of the cells.

use crate::ids::TestIdx;
use crate::mesh::{Brick, Mesh, SuperBrick, local};
use crate::wide::{eight, larger, wide};
use std::ops::Range;

/// The test cells of a mesh: a mask a brick and their densities without gaps.
#[derive(Debug, Clone, Default)]
pub struct TestCells {
    /// One bit a cell of each brick.
    pub mask: Vec<u64>,
    /// The first test cell of each brick, and their total at the end.
    pub first: Vec<u32>,
    /// Density of each test cell.
    pub rho: Vec<f64>,
    /// What brings densities into the range of single precision: a power of two.
    scale: f64,
}

/// Power of two to which the greatest density is brought.
const NARROW_TOP: u64 = 100;

/// The test cells of each brick, one bit a cell: leaves with `rho > threshold`. `rho` holds every cell of the mesh.
pub fn test_masks(bricks: &[Brick], rho: &[f64], threshold: f64, masks: &mut [u64]) {
    wide(
        #[inline(always)]
        || {
            for (brick, mask) in bricks.iter().zip(masks) {
                *mask = test_mask(brick, rho, threshold);
            }
        },
    );
}

#[inline(always)]
fn test_mask(brick: &Brick, rho: &[f64], threshold: f64) -> u64 {
    let mut dense = [0; 64];
    let mut cells = &rho[brick.first as usize..];
    for (dense, exists) in dense.as_chunks_mut::<8>().0.iter_mut().zip(brick.exists.to_le_bytes()) {
        match cells.split_first_chunk::<8>().filter(|_| exists == u8::MAX) {
            Some((oct, rest)) => {
                *dense = oct.map(|density| u8::from(density > threshold));
                cells = rest;
            }
            None => {
                let n = exists.count_ones() as usize;
                let places = local::bits(exists.into());
                places
                    .zip(cells)
                    .for_each(|(bit, density)| dense[bit as usize] = u8::from(*density > threshold));
                cells = &cells[n..];
            }
        }
    }
    local::bits_of(&dense) & brick.leaf
}

/// Writes the densities of the test cells of `bricks` to `out`, which has room for exactly them.
pub fn compact(mesh: &Mesh, mask: &[u64], bricks: Range<usize>, rho: &[f64], mut out: &mut [f64]) {
    for (brick, mask) in mesh.bricks()[bricks.clone()].iter().zip(&mask[bricks]) {
        let mut cells = &rho[brick.first as usize..];
        for (exists, tests) in brick.exists.to_le_bytes().into_iter().zip(mask.to_le_bytes()) {
            let (oct, rest) = cells.split_at(exists.count_ones() as usize);
            let into = out.split_off_mut(..tests.count_ones() as usize).unwrap_or_default();
            cells = rest;
            if tests == u8::MAX {
                into.copy_from_slice(oct);
            } else {
                let place = |bit| local::rank(exists.into(), bit) as usize;
                into.iter_mut()
                    .zip(local::bits(tests.into()))
                    .for_each(|(into, bit)| *into = oct[place(bit)]);
            }
        }
    }
}

impl TestCells {
    /// From a mask a brick, the first test cell of each brick with the total at the end, densities, and the greatest
    /// of these.
    pub fn new(mask: Vec<u64>, first: Vec<u32>, rho: Vec<f64>, greatest: f64) -> Self {
        let exponent = larger(greatest, f64::MIN_POSITIVE).to_bits() >> 52;
        // 2^(NARROW_TOP - exponent of the greatest), within what a double holds.
        let scale = f64::from_bits((2046 + NARROW_TOP).saturating_sub(exponent).clamp(1, 2046) << 52);
        Self { mask, first, rho, scale }
    }

    /// The density of a test cell in single precision: never 0, in the same order but for ties, and
    /// strictly greater than [`STRICTLY`](super::saddle::STRICTLY) times another only if the density is clearly greater.
    #[inline(always)]
    pub fn narrow(&self, test: u32) -> f32 {
        self.narrowed(self.rho[test as usize])
    }

    /// The same of eight test cells, anything beyond the last.
    #[inline(always)]
    pub fn narrow_oct(&self, first: u32) -> [f32; 8] {
        let rho = eight(&self.rho, first, 0.0);
        std::array::from_fn(|i| self.narrowed(rho[i]))
    }

    #[inline(always)]
    fn narrowed(&self, rho: f64) -> f32 {
        larger((rho * self.scale) as f32, f32::MIN_POSITIVE)
    }

    /// Number of test cells.
    pub fn len(&self) -> usize {
        self.rho.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rho.is_empty()
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

    /// Level and position of a test cell. Logarithmic in the bricks.
    pub fn locate(&self, mesh: &Mesh, test: TestIdx) -> (u8, [u32; 3]) {
        let brick = self.first.partition_point(|&f| f <= test.0) - 1;
        let bit = local::nth_set_bit(self.mask[brick], test.0 - self.first[brick]);
        let s = mesh.supers().partition_point(|s| s.first as usize <= brick) - 1;
        (mesh.level_of_super(s), local::position_of(mesh.bricks()[brick].position, bit))
    }

    /// Whether `a` is greater than `b` in the total order: denser, or as dense with a smaller key.
    #[inline(always)]
    pub fn exceeds(&self, a: TestIdx, b: TestIdx) -> bool {
        let (rho_a, rho_b) = (self.rho[a.at()], self.rho[b.at()]);
        rho_a > rho_b || rho_a == rho_b && a < b
    }
}

/// Finds the places of test cells quickly: one entry for every 64 of them.
#[derive(Debug, Clone)]
pub struct Locator<'a> {
    mesh: &'a Mesh,
    tests: &'a TestCells,
    /// The brick of every 64th test cell.
    brick: Vec<u32>,
    /// The first test cell of each level.
    level: Vec<u32>,
}

impl<'a> Locator<'a> {
    /// Linear in the bricks.
    pub fn new(mesh: &'a Mesh, tests: &'a TestCells) -> Self {
        let mut brick = Vec::with_capacity(tests.len() / 64 + 1);
        for (b, &end) in tests.first.iter().skip(1).enumerate() {
            while (brick.len() as u32) * 64 < end {
                brick.push(b as u32);
            }
        }
        let level = (0..mesh.n_levels()).map(|l| tests.first_of_level(mesh, l)).collect();
        Self { mesh, tests, brick, level }
    }

    /// Level and position of a test cell. Constant but for a walk over bricks without many cells.
    #[inline]
    pub fn locate(&self, test: TestIdx) -> (u8, [u32; 3]) {
        let mut brick = self.brick[test.at() >> 6] as usize;
        while self.tests.first[brick + 1] <= test.0 {
            brick += 1;
        }
        let bit = local::nth_set_bit(self.tests.mask[brick], test.0 - self.tests.first[brick]);
        let level = self.level.partition_point(|&first| first <= test.0) - 1;
        (level as u8, local::position_of(self.mesh.bricks()[brick].position, bit))
    }
}
