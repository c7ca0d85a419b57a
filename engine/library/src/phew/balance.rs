//! The distribution of the work over the ranks: the quantities of the paper's Table 2, and those of the test
//! cells.

use crate::phew::peak_comm::PeakComm;
use crate::phew::test_links::TestLinks;
use inselberg_comm::{Comm, CommError, Reduce};

/// Counts over all ranks. Active peaks are those that a rank owns, its ghost peaks those of other ranks that
/// it knows. (paper, table 2)
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Balance {
    /// Number of ranks.
    pub n_ranks: u64,
    /// Sums over all ranks.
    pub sum: Counts,
    /// The maximum over the ranks, for each count by itself.
    pub most: Counts,
    /// Active and ghost peaks of the rank that has the most.
    pub most_peaks: u64,
    /// The largest ratio of ghost peaks to active peaks on any rank.
    pub most_ghosts_over_active: f64,
}

/// The counts of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// Own test cells.
    pub test_cells: u64,
    /// Ghosts among the test cells.
    pub ghost_tests: u64,
    /// Ranks that share test cells with it.
    pub neighbours: u64,
    /// Active peaks.
    pub active: u64,
    /// Ghost peaks.
    pub ghosts: u64,
    /// Entries of the sparse matrix of saddles: two per contact that is kept.
    pub sparse: u64,
}

impl Counts {
    fn list(&self) -> [u64; 6] {
        [self.test_cells, self.ghost_tests, self.neighbours, self.active, self.ghosts, self.sparse]
    }

    fn from_list(list: &[u64]) -> Self {
        let [test_cells, ghost_tests, neighbours, active, ghosts, sparse] = std::array::from_fn(|i| list[i]);
        Self { test_cells, ghost_tests, neighbours, active, ghosts, sparse }
    }

    /// The counts of this rank. Its test cells include ghosts.
    fn of_rank(links: &TestLinks, n_test_cells: usize, peaks: &PeakComm, n_contacts: usize) -> Self {
        let n_ghost_tests = links.shared.len();
        let n_active = peaks.own.len();
        Self {
            test_cells: (n_test_cells - n_ghost_tests) as u64,
            ghost_tests: n_ghost_tests as u64,
            neighbours: links.shared.links().len() as u64,
            active: n_active as u64,
            ghosts: (peaks.n_slots() - n_active) as u64,
            sparse: 2 * n_contacts as u64,
        }
    }

    /// Active and ghost peaks.
    fn peaks(&self) -> u64 {
        self.active + self.ghosts
    }
}

impl Balance {
    /// Collective: sums and maxima of the counts over all ranks. This rank has `n_test_cells` test cells,
    /// including ghosts, and keeps `n_contacts` contacts.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        links: &TestLinks,
        n_test_cells: usize,
        peaks: &PeakComm,
        n_contacts: usize,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let own = Counts::of_rank(links, n_test_cells, peaks, n_contacts);
        // The rank with the most peaks need not have the most active ones, nor the most ghosts.
        let counts_and_peaks = [own.list().as_slice(), &[own.peaks()]].concat();
        let maxima = comm.all_reduce_counts(&counts_and_peaks, Reduce::Max)?;
        let (most_peaks, most) = maxima.split_last().expect("one maximum per value");
        let sums = comm.all_reduce_counts(&own.list(), Reduce::Sum)?;
        let most_ghosts_over_active = comm.all_max(&[ratio(own.ghosts, own.active)])?[0];
        Ok(Self {
            n_ranks: comm.n_ranks() as u64,
            sum: Counts::from_list(&sums),
            most: Counts::from_list(most),
            most_peaks: *most_peaks,
            most_ghosts_over_active,
        })
    }

    /// Maximum over mean of the peaks per rank.
    pub fn load_imbalance(&self) -> f64 {
        ratio(self.most_peaks * self.n_ranks, self.sum.peaks())
    }

    /// Maximum over mean of the test cells per rank.
    pub fn test_imbalance(&self) -> f64 {
        ratio(self.most.test_cells * self.n_ranks, self.sum.test_cells)
    }

    /// Ghost peaks over active ones.
    pub fn surface_effect(&self) -> f64 {
        ratio(self.sum.ghosts, self.sum.active)
    }

    /// Entries of the sparse matrix over peaks.
    pub fn connectivity(&self) -> f64 {
        ratio(self.sum.sparse, self.sum.peaks())
    }
}

/// 0 where `b` is 0: a rank or a run without peaks has no imbalance.
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
