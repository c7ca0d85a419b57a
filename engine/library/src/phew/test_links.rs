//! The test cells that ranks share: ghosts on this rank, mirrors on their owner.

use crate::partition::{Ghosts, LocalField};
use inselberg_kernels::ids::TestIdx;
use inselberg_kernels::mesh::local;
use inselberg_kernels::phew::test_cells::TestCells;

/// The ghosts among the test cells of this rank, and the own test cells that are ghosts on other ranks.
#[derive(Debug, Clone, Default)]
pub struct TestLinks {
    /// The links, by the indices of test cells.
    pub shared: Ghosts,
    /// For each brick of the mesh the mask of its own cells; empty where all cells are own.
    pub own: Vec<u64>,
}

/// The links of a rank alone.
pub static ALONE: TestLinks = TestLinks { shared: Ghosts::NONE, own: Vec::new() };

impl TestLinks {
    /// From the links of the cells of a part. Local.
    pub fn new(part: &LocalField, test_cells: &TestCells) -> Self {
        Self { shared: part.test_links(test_cells), own: part.own.clone() }
    }

    /// Spreads a column of own test cells over all test cells of this rank; 0 for ghosts.
    pub fn spread(&self, part: &LocalField, test_cells: &TestCells, own: &[f64]) -> Vec<f64> {
        if self.own.is_empty() {
            return own.to_vec();
        }
        let mut all = vec![0.0; test_cells.len()];
        let mut values = own.iter().copied();
        for (b, own) in part.own.iter().enumerate() {
            for (n, _) in local::bits(test_cells.mask[b]).enumerate().filter(|(_, bit)| own >> bit & 1 == 1) {
                all[test_cells.first[b] as usize + n] = values.next().expect("a value per own test cell");
            }
        }
        all
    }

    /// Every ghost, link after link.
    pub fn ghosts(&self) -> impl Iterator<Item = TestIdx> + '_ {
        self.shared.links().iter().flat_map(|link| link.ghosts.iter().map(|&cell| TestIdx(cell)))
    }
}
