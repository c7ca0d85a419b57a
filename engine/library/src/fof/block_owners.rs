//! Which rank owns which blocks of cells? Runs of bricks of blocks along the Morton curve.

use crate::particles::Positions;
use crate::partition::bounds;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::fof::grid::{SearchGrid, Spot};
use inselberg_kernels::sfc::morton;

/// The owner of each block.
#[derive(Debug, Clone)]
pub struct BlockOwners {
    /// log2 of the side, in blocks, of the bricks that have one owner.
    shift: u32,
    /// First key of each rank but the first.
    first: Vec<u128>,
}

/// The greatest number of particles that a rank samples, about.
const SAMPLE: usize = 1 << 16;

impl BlockOwners {
    /// Collective: ranks with about equal numbers of particles, by a sample. Ownership never changes a
    /// result.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(grid: &SearchGrid, positions: &Positions, comm: &Comm) -> Result<Self, CommError> {
        if comm.n_ranks() == 1 {
            return Ok(Self { shift: 0, first: Vec::new() });
        }
        let is_fine = grid.axes.iter().all(|axis| axis.n_blocks() >= 64);
        let mut domain = Self { shift: if is_fine { 2 } else { 0 }, first: Vec::new() };
        let step = (positions.len() / SAMPLE).max(1);
        let sample = (0..positions.len()).step_by(step);
        let mut keys: Vec<u128> = sample.map(|i| domain.key(grid.spot(positions.get(i)).block)).collect();
        keys.sort_unstable();
        domain.first = bounds(comm, &keys)?;
        Ok(domain)
    }

    fn key(&self, block: [u32; 3]) -> u128 {
        morton(block.map(|b| b >> self.shift))
    }

    /// The rank that owns a block.
    pub fn owner(&self, block: [u32; 3]) -> Rank {
        let key = self.key(block);
        Rank(self.first.partition_point(|first| *first <= key) as u32)
    }

    /// Replaces `ranks` by the ranks that own cells within the linking length of a cell, ascending, without
    /// `own`.
    pub fn near(&self, grid: &SearchGrid, spot: Spot, own: Rank, ranks: &mut Vec<Rank>) {
        ranks.clear();
        let mut blocks = [[0; 3]; 3];
        let mut n = [0; 3];
        for a in 0..3 {
            let cell = u64::from(spot.block[a]) * 4 + u64::from(spot.cell >> (2 * a) & 3);
            let [low, high] = grid.axes[a].blocks_within_reach(cell);
            let mut brick = u32::MAX;
            for block in [low, spot.block[a], high] {
                if block >> self.shift != brick {
                    brick = block >> self.shift;
                    blocks[a][n[a]] = block;
                    n[a] += 1;
                }
            }
        }
        if n == [1; 3] {
            return;
        }
        for &z in &blocks[2][..n[2]] {
            for &y in &blocks[1][..n[1]] {
                for &x in &blocks[0][..n[0]] {
                    let owner = self.owner([x, y, z]);
                    if owner != own && !ranks.contains(&owner) {
                        ranks.push(owner);
                    }
                }
            }
        }
        ranks.sort_unstable();
    }
}
