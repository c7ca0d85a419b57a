//! The test cells that ranks share: ghosts here, mirrors on their owner.

use super::pointers::Target;
use crate::domains::Part;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::TestIdx;
use inselberg_kernels::mesh::local;
use inselberg_kernels::phew::tests::TestCells;

/// Which test cells of this rank other ranks have as ghosts, and whose its own ghosts are. The lists of a
/// pair of ranks are in the same order on both sides.
#[derive(Debug, Clone, Default)]
pub struct TestLinks {
    /// Ranks with which there is a list on either side.
    pub neighbours: Vec<Rank>,
    /// Ghosts here, by owner.
    pub ghosts: Vec<(Rank, Vec<TestIdx>)>,
    /// Where each ghost, list by list, is on its owner.
    pub origins: Vec<Target>,
    /// Own test cells that are ghosts elsewhere, by that rank.
    pub mirrors: Vec<(Rank, Vec<TestIdx>)>,
    /// For each brick of the mesh the mask of its own cells; empty where all are.
    pub own: Vec<u64>,
}

/// The links of a rank alone.
pub static ALONE: TestLinks = TestLinks {
    neighbours: Vec::new(),
    ghosts: Vec::new(),
    origins: Vec::new(),
    mirrors: Vec::new(),
    own: Vec::new(),
};

impl TestLinks {
    /// Collective: those of the test cells of a part. One exchange, of where ghosts are on their owners.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn of(part: &Part, tests: &TestCells, comm: &Comm) -> Result<Self, CommError> {
        if comm.n_ranks() == 1 {
            return Ok(Self::default());
        }
        let shared = part.test_links(tests);
        let list = |cells: &[u32]| cells.iter().map(|&c| TestIdx(c)).collect::<Vec<_>>();
        let mut links = Self { own: part.own.clone(), ..Self::default() };
        for link in shared.links() {
            links.neighbours.push(link.rank);
            links.ghosts.push((link.rank, list(&link.ghosts)));
            links.mirrors.push((link.rank, list(&link.mirrors)));
        }
        links.ghosts.retain(|(_, cells)| !cells.is_empty());
        links.mirrors.retain(|(_, cells)| !cells.is_empty());
        let rank = comm.rank().0;
        links.origins = links.push(comm, |cell| Target { rank, index: cell.0 })?;
        Ok(links)
    }

    /// A column of own test cells as one of all test cells here; 0 for ghosts.
    pub fn spread(&self, part: &Part, tests: &TestCells, own: &[f64]) -> Vec<f64> {
        if self.own.is_empty() {
            return own.to_vec();
        }
        let mut all = vec![0.0; tests.len()];
        let mut values = own.iter();
        for (b, own) in part.own.iter().enumerate() {
            for (n, _) in local::bits(tests.mask[b]).enumerate().filter(|(_, bit)| own >> bit & 1 == 1) {
                all[tests.first[b] as usize + n] = values.next().copied().unwrap_or(0.0);
            }
        }
        all
    }

    /// Every ghost, list by list.
    pub fn all_ghosts(&self) -> impl Iterator<Item = TestIdx> + '_ {
        self.ghosts.iter().flat_map(|(_, cells)| cells.iter().copied())
    }

    /// Number of ghosts.
    pub fn n_ghosts(&self) -> usize {
        self.ghosts.iter().map(|(_, cells)| cells.len()).sum()
    }

    /// Collective: for every ghost, list by list, what its owner says of the cell. One exchange.
    ///
    /// # Errors
    /// When another rank fails, or its lists are not those here.
    pub fn push<T: Pod>(&self, comm: &Comm, of: impl Fn(TestIdx) -> T) -> Result<Vec<T>, CommError> {
        let parts = self.mirrors.iter().map(|(to, cells)| (*to, cells.iter().map(|&c| of(c)).collect()));
        let came: Vec<(Rank, Vec<T>)> = comm.exchange_with(&self.neighbours, parts.collect())?;
        let fits = came.len() == self.ghosts.len()
            && came.iter().zip(&self.ghosts).all(|(a, b)| a.0 == b.0 && a.1.len() == b.1.len());
        match fits {
            true => Ok(came.into_iter().flat_map(|(_, values)| values).collect()),
            false => Err(comm.abort("ghosts and mirrors do not correspond")),
        }
    }
}
