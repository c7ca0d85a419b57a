//! Random blocks for the property tests of the kernels that work on one block.

use super::block::{Block, PLANE, ROW, WHOLE};
use super::ghost_block::Index;
use proptest::prelude::*;

/// The place of the cell at these coordinates, 0 to 5 along each axis; the brick itself is at 1 to 4.
pub fn place_at([x, y, z]: [i64; 3]) -> usize {
    WHOLE.start + x as usize + ROW * y as usize + PLANE * z as usize
}

/// The places of all 6x6x6 cells.
pub fn places() -> std::ops::Range<usize> {
    WHOLE.start..WHOLE.start + 6 * PLANE
}

/// The coordinates of a place of a cell.
pub fn coordinates(place: usize) -> [i64; 3] {
    let i = (place - WHOLE.start) as i64;
    [i % 6, i / 6 % 6, i / 36]
}

/// A block with a coarser cell, finer cells or nothing in each of the 4x4x4 octs that reach into it.
/// Densities have few values, so that many of them are equal, or lie close together or far apart. Labels have
/// few values, close together or far apart.
pub fn block<I: Index + FromNumber + std::fmt::Debug>() -> impl Strategy<Value = Block<I>> {
    let densities = prop_oneof![
        Just(vec![1.0f32]),
        Just(vec![1.0, 1.0 + f32::EPSILON, 1.0 + 40.0 * f32::EPSILON, 2.0]),
        Just(vec![1.0, 1.5, 3.0, 1e3, 1e12]),
        prop::collection::vec(1.0..50.0f32, 1..200),
    ];
    let strides = prop_oneof![Just(1u32), Just(30_000), Just(1 << 16), Just(1 << 20)];
    let chances = (0..=4u32, 0..=4u32);
    let seeds = prop::collection::vec(any::<u32>(), 216 + 64);
    (densities, strides, chances, 1..6u32, seeds).prop_map(
        |(densities, stride, (coarse, cells), n_labels, seeds)| {
            let mut block = Block::<I> { level: 3, first_of_level: I::from_u32(1000), ..Block::default() };
            for i in 0..216 {
                let at = [i % 6, i / 6 % 6, i / 36];
                let [x, y, z] = at.map(|x| (x + 1) / 2);
                let oct = (x + 4 * y + 16 * z) as usize;
                let is_coarse = seeds[216 + oct] % 5 < coarse;
                let seed = if is_coarse { seeds[216 + oct] / 5 } else { seeds[i as usize] };
                let place = place_at(at);
                if seed % 5 < cells {
                    let seed = (seed / 5) as usize;
                    block.rho[place] = densities[seed % densities.len()];
                    block.index[place] = I::from_u32(if is_coarse { oct as u32 } else { 1000 + i as u32 });
                    block.label[place] = 7 + stride * ((seed / 256) as u32 % n_labels);
                }
            }
            block.has_coarser = block.any_coarser();
            block
        },
    )
}

/// An index with this number.
pub trait FromNumber {
    fn from_u32(number: u32) -> Self;
}

impl FromNumber for crate::ids::CellIdx {
    fn from_u32(number: u32) -> Self {
        Self(number)
    }
}

impl FromNumber for crate::ids::TestIdx {
    fn from_u32(number: u32) -> Self {
        Self(number)
    }
}
