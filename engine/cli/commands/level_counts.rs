//! The number of cells of a snapshot on each level, from the headers of its pieces.

use super::memory::{LEAF_BYTES, TEST_BYTES};
use inselberg_io::{ReadResult, Snapshot};
use rayon::prelude::*;

/// Octs by level of their cells, and leaves if a snapshot has only leaves.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LevelCounts {
    octs: Vec<u64>,
    leaves: Vec<u64>,
}

impl LevelCounts {
    /// Those of all pieces, read in parallel.
    pub fn from_snapshot(snapshot: &dyn Snapshot) -> ReadResult<Self> {
        (0..snapshot.header().n_pieces)
            .into_par_iter()
            .map(|piece| Self::of_piece(snapshot, piece))
            .try_reduce(Self::default, |a, b| Ok(a.joined(&b)))
    }

    /// Those of one piece.
    pub fn of_piece(snapshot: &dyn Snapshot, piece: usize) -> ReadResult<Self> {
        Ok(Self { octs: snapshot.count_octs(piece)?, leaves: snapshot.count_leaves(piece)? })
    }

    /// The sum of both.
    pub fn joined(self, other: &Self) -> Self {
        Self { octs: sums(self.octs, &other.octs), leaves: sums(self.leaves, &other.leaves) }
    }

    /// For each level with cells: the level, all its cells and its leaves.
    pub fn levels(&self) -> Vec<(usize, u64, u64)> {
        let octs = |level: usize| self.octs.get(level).copied().unwrap_or(0);
        if !self.leaves.is_empty() {
            return (0..).zip(&self.leaves).filter(|(_, n)| **n > 0).map(|(l, n)| (l, *n, *n)).collect();
        }
        let of_level = |l: usize| (l, 8 * octs(l), (8 * octs(l)).saturating_sub(octs(l + 1)));
        (0..self.octs.len()).filter(|&l| octs(l) > 0).map(of_level).collect()
    }

    /// All octs.
    pub fn octs(&self) -> u64 {
        self.octs.iter().sum()
    }

    /// All leaves.
    pub fn leaves(&self) -> u64 {
        self.levels().iter().map(|l| l.2).sum()
    }

    /// The least and the most bytes of a run in addition to the input, over all ranks.
    pub fn memory(&self) -> (u64, u64) {
        (LEAF_BYTES * self.leaves(), (LEAF_BYTES + TEST_BYTES) * self.leaves())
    }
}

/// The sums of two lists of which the shorter one ends with zeros.
fn sums(mut a: Vec<u64>, b: &[u64]) -> Vec<u64> {
    a.resize(a.len().max(b.len()), 0);
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}
