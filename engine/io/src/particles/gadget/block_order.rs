//! The meaning of the blocks of type 1.
//!
//! They have no names, only an order. Gadget has positions, velocities, identities, masses, and then
//! quantities of gas. GIZMO writes two more blocks of integers before the masses: the numbers of children and
//! of generations. Both orders are compared with the lengths of the blocks. If both fit, the values decide:
//! masses and densities are normal reals above 0, and small integers are not.

use super::header::{BinaryHeader, ByteOrder};
use super::walk::{BinaryBlock, FileBlocks, Walk};
use crate::{ReadError, ReadResult};

/// An order of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOrder {
    /// Masses come after the identities.
    Gadget,
    /// Two blocks of integers come before the masses.
    Gizmo,
}

/// Number of values of a block that are examined.
const N_LOOKED_AT: u64 = 4096;

/// The blocks behind the identities in one order.
#[derive(Debug, Clone, Copy)]
struct Reading {
    blocks: FileBlocks,
    /// Blocks of integers that are not needed.
    integers: [Option<BinaryBlock>; 2],
}

/// The blocks of type 1. A file of positions alone is accepted.
///
/// # Errors
/// The lengths fit no order, or both, and neither the values nor the caller decide which.
pub fn in_order(walk: &mut Walk, header: &BinaryHeader, order: Option<BlockOrder>) -> ReadResult<FileBlocks> {
    let n = header.n();
    let mut blocks = FileBlocks { positions: Some(walk.values("positions", n, 3)?), ..FileBlocks::default() };
    if walk.has_more() {
        blocks.velocities = Some(walk.values("velocities", n, 3)?);
    }
    if walk.has_more() {
        blocks.ids = Some(walk.values("identities", n, 1)?);
    }
    let start = walk.at;
    let mut read = |order| {
        walk.at = start;
        rest(walk, header, blocks, order)
    };
    if let Some(order) = order {
        return Ok(read(order)?.blocks);
    }
    match (read(BlockOrder::Gadget), read(BlockOrder::Gizmo)) {
        (Ok(gadget), Err(_)) if !has_masses_of_integers(walk, header, &gadget)? => Ok(gadget.blocks),
        (Ok(_), Err(_)) => Err(ReadError::TwoOrders { path: walk.path.into(), offset: start }),
        (Err(error), Ok(gizmo)) if is_plausible(walk, header, &gizmo)? => {
            drop(error);
            Ok(gizmo.blocks)
        }
        (Err(error), _) => Err(error),
        (Ok(gadget), Ok(gizmo)) if gadget.blocks == gizmo.blocks => Ok(gadget.blocks),
        (Ok(gadget), Ok(gizmo)) => {
            match [is_plausible(walk, header, &gadget)?, is_plausible(walk, header, &gizmo)?] {
                [true, false] => Ok(gadget.blocks),
                [false, true] => Ok(gizmo.blocks),
                _ => Err(ReadError::TwoOrders { path: walk.path.into(), offset: start }),
            }
        }
    }
}

/// The blocks behind the identities, if their lengths are those of this order.
fn rest(
    walk: &mut Walk,
    header: &BinaryHeader,
    mut blocks: FileBlocks,
    order: BlockOrder,
) -> ReadResult<Reading> {
    let (n, own, gas) = (header.n(), header.n_own_masses(), header.here[0]);
    let mut integers = [None; 2];
    if order == BlockOrder::Gizmo && walk.has_more() {
        integers = [Some(walk.values("numbers of children", n, 1)?), None];
        integers[1] = Some(walk.values("numbers of generations", n, 1)?);
    }
    if walk.has_more() && own > 0 {
        blocks.masses = Some(walk.values("masses", own, 1)?);
    }
    // Initial conditions have internal energies and no densities.
    if walk.has_more() && gas > 0 {
        walk.values("internal energies", gas, 1)?;
        if walk.has_more() {
            blocks.densities = Some(walk.values("densities", gas, 1)?);
        }
    }
    Ok(Reading { blocks, integers })
}

/// Whether all examined values of possible masses are zeros or small integers.
fn has_masses_of_integers(walk: &mut Walk, header: &BinaryHeader, reading: &Reading) -> ReadResult<bool> {
    match reading.blocks.masses {
        Some(block) => Ok(!reals(walk, block, header.n_own_masses())?.iter().any(|x| x.is_normal())),
        None => Ok(false),
    }
}

/// Whether the values fit this order.
fn is_plausible(walk: &mut Walk, header: &BinaryHeader, reading: &Reading) -> ReadResult<bool> {
    let (n, own, gas) = (header.n(), header.n_own_masses(), header.here[0]);
    if own > 0 && reading.blocks.masses.is_none() {
        return Ok(false);
    }
    for (block, n) in [(reading.blocks.masses, own), (reading.blocks.densities, gas)] {
        if let Some(block) = block
            && !reals(walk, block, n)?.iter().all(|x| *x > 0.0 && x.is_normal())
        {
            return Ok(false);
        }
    }
    for block in reading.integers.into_iter().flatten() {
        // A small integer has the bits of a real that is next to 0.
        if reals(walk, block, n)?.iter().any(|x| x.is_normal()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The first values of a block as reals. Of single precision they are normal only if they are so there.
fn reals(walk: &mut Walk, block: BinaryBlock, n: u64) -> ReadResult<Vec<f64>> {
    let size = if block.is_wide { 8 } else { 4 };
    let mut bytes = vec![0; (n.min(N_LOOKED_AT) * size) as usize];
    walk.read_at(block.offset, &mut bytes)?;
    let is_big = walk.order == ByteOrder::Big;
    let single = |bytes: &[u8; 4]| {
        let x = if is_big { f32::from_be_bytes(*bytes) } else { f32::from_le_bytes(*bytes) };
        if x.is_normal() { f64::from(x) } else { 0.0 }
    };
    let double =
        |bytes: &[u8; 8]| if is_big { f64::from_be_bytes(*bytes) } else { f64::from_le_bytes(*bytes) };
    Ok(match block.is_wide {
        true => bytes.as_chunks().0.iter().map(double).collect(),
        false => bytes.as_chunks().0.iter().map(single).collect(),
    })
}
