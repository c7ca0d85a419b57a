//! Shared by the tests of the ranks: worlds to loop over, and patterns with their answers.
#![allow(dead_code)]

pub mod failures;

use inselberg_comm::{Comm, CommBuilder, Rank};

/// Ranks as threads, each misbehaving as `seed` says, if any.
pub fn builders(n_ranks: usize, seed: Option<u64>) -> Vec<CommBuilder> {
    let ranks = Comm::threads(n_ranks).into_iter();
    ranks.map(|b| if let Some(seed) = seed { b.chaos(seed) } else { b }).collect()
}

/// Which rank sends how many records to which rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Nothing at all.
    Empty,
    /// Each rank to itself.
    ToSelf,
    /// All ranks to rank 0.
    ToOne,
    /// Rank 0 to all ranks.
    FromOne,
    /// Each rank to the next one, large messages.
    Ring,
    /// To a few ranks, drawn from a seed.
    Random(u64),
}

/// All kinds of patterns.
pub fn patterns(seed: u64) -> [Pattern; 6] {
    use Pattern::*;
    [Empty, ToSelf, ToOne, FromOne, Ring, Random(seed)]
}

impl Pattern {
    fn n_records(self, from: usize, to: usize, n_ranks: usize) -> usize {
        match self {
            Self::Empty => 0,
            Self::ToSelf => usize::from(from == to),
            Self::ToOne => {
                if to == 0 {
                    from % 3
                } else {
                    0
                }
            }
            Self::FromOne => usize::from(from == 0),
            Self::Ring => {
                if to == (from + 1) % n_ranks {
                    3000
                } else {
                    0
                }
            }
            Self::Random(seed) => {
                let drawn = mixed(seed ^ ((from * n_ranks + to) as u64) << 20);
                if drawn % n_ranks as u64 > 3 { 0 } else { (drawn >> 32) as usize % 20 }
            }
        }
    }

    /// The records that `from` sends to `to` in a round.
    fn records(self, from: usize, to: usize, n_ranks: usize, round: u64) -> Vec<[u64; 3]> {
        let n = self.n_records(from, to, n_ranks) as u64;
        (0..n).map(|i| [(from * n_ranks + to) as u64, round, mixed(i ^ round)]).collect()
    }

    /// The records that `from` sends, in two lists for some ranks, in descending order.
    pub fn sent(self, from: usize, n_ranks: usize, round: u64) -> Vec<(Rank, Vec<[u64; 3]>)> {
        let mut parts = Vec::new();
        for to in (0..n_ranks).rev() {
            let mut first = self.records(from, to, n_ranks, round);
            let second = if to % 2 == 0 { first.split_off(first.len() / 2) } else { Vec::new() };
            parts.extend([first, second].map(|records| (Rank(to as u32), records)));
        }
        parts
    }

    /// The records that `to` must receive.
    pub fn expected(self, to: usize, n_ranks: usize, round: u64) -> Vec<(Rank, Vec<[u64; 3]>)> {
        let parts = (0..n_ranks).map(|from| (Rank(from as u32), self.records(from, to, n_ranks, round)));
        parts.filter(|part| !part.1.is_empty()).collect()
    }
}

/// A number that looks random.
pub fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 3
}

/// Back-to-back exchanges of every pattern by every algorithm, with collectives between them.
pub fn exchange_everything(comm: &Comm, seed: u64) {
    use inselberg_comm::SparseAlgorithm;
    let (rank, n_ranks) = (comm.rank().at(), comm.n_ranks());
    let everyone: Vec<Rank> = (0..n_ranks as u32).map(Rank).collect();
    let mut round = seed << 8;
    for pattern in patterns(seed) {
        let expected = |round| Ok(pattern.expected(rank, n_ranks, round));
        for algorithm in SparseAlgorithm::ALL {
            round += 1;
            let got = comm.exchange_by(algorithm, pattern.sent(rank, n_ranks, round));
            assert_eq!(got, expected(round), "{pattern:?} by {algorithm:?} on {n_ranks}");
        }
        round += 1;
        let got = comm.exchange_with(&everyone, pattern.sent(rank, n_ranks, round));
        assert_eq!(got, expected(round), "{pattern:?} with neighbours on {n_ranks}");
        let before = comm.sum_before(rank as u64 + 1);
        assert_eq!(before, Ok((rank * (rank + 1) / 2) as u64));
    }
}

/// Every collective, with its expected result.
pub fn collect_everything(comm: &Comm) {
    use inselberg_comm::Reduce;
    let (rank, n) = (comm.rank().at() as u64, comm.n_ranks() as u64);
    let reduced = |how| comm.all_reduce_counts(&[rank, 7, n - rank], how);
    assert_eq!(reduced(Reduce::Sum), Ok(vec![n * (n - 1) / 2, 7 * n, n * (n + 1) / 2]));
    assert_eq!(reduced(Reduce::Min), Ok(vec![0, 7, 1]));
    assert_eq!(reduced(Reduce::Max), Ok(vec![n - 1, 7, n]));
    assert_eq!(comm.all_max(&[-(rank as f64), rank as f64]), Ok(vec![0.0, (n - 1) as f64]));
    assert_eq!(comm.sum_before(rank), Ok(rank * rank.saturating_sub(1) / 2));
    comm.barrier().expect("a barrier");
    let own = vec![rank as u32; rank as usize % 4];
    let everything = (0..n as usize).map(|r| vec![r as u32; r % 4]).collect::<Vec<_>>();
    assert_eq!(comm.all_gather(&own), Ok(everything.concat()));
    assert_eq!(comm.all_gather_lists(&own), Ok(everything));
    for from in [0, n / 2, n - 1] {
        let spread = comm.broadcast(Rank(from as u32), &[rank as u16, 9]);
        assert_eq!(spread, Ok(vec![from as u16, 9]));
    }
}
