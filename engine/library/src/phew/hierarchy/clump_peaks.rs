//! Which own peak is the peak of a clump?

use super::Structures;
use inselberg_comm::{Comm, CommError, Rank};
use std::collections::{BTreeMap, HashMap, HashSet};

impl Structures {
    /// Collective: for each own peak the identifier of the clump whose peak it is; 0 for peaks that others of
    /// their clump exceed. The peak of a clump is the first of its peaks by falling density. Two exchanges; a
    /// rank alone sends nothing.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn clump_of_its_peak(&self, comm: &Comm) -> Result<Vec<u64>, CommError> {
        let mut first = HashMap::<u64, usize>::new();
        let own = self.clump_of_patch.iter().copied().zip(0..);
        for (clump, peak) in own.filter(|(clump, _)| *clump != 0) {
            let at = first.entry(clump).or_insert(peak);
            if self.peak_rank[peak] < self.peak_rank[*at] {
                *at = peak;
            }
        }
        if comm.n_ranks() > 1 {
            let won = self.first_of_all_ranks(&first, comm)?;
            first.retain(|clump, _| won.contains(clump));
        }
        let mut clump_of = vec![0; self.clump_of_patch.len()];
        first.into_iter().for_each(|(clump, peak)| clump_of[peak] = clump);
        Ok(clump_of)
    }

    /// Collective: those of these clumps whose first peak of all ranks is an own one.
    fn first_of_all_ranks(
        &self,
        first: &HashMap<u64, usize>,
        comm: &Comm,
    ) -> Result<HashSet<u64>, CommError> {
        let mut told = BTreeMap::<Rank, Vec<[u64; 2]>>::new();
        for (clump, peak) in first {
            let judge = Rank((clump % comm.n_ranks() as u64) as u32);
            told.entry(judge).or_default().push([*clump, self.peak_rank[*peak]]);
        }
        let mut best = HashMap::<u64, (u64, Rank)>::new();
        for (rank, peaks) in comm.exchange(told.into_iter().collect())? {
            for [clump, place] in peaks {
                let at = best.entry(clump).or_insert((place, rank));
                *at = (*at).min((place, rank));
            }
        }
        let mut answers = BTreeMap::<Rank, Vec<u64>>::new();
        best.into_iter().for_each(|(clump, (_, rank))| answers.entry(rank).or_default().push(clump));
        let received = comm.exchange(answers.into_iter().collect())?;
        Ok(received.into_iter().flat_map(|(_, clumps)| clumps).collect())
    }
}
