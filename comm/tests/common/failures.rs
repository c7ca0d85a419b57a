//! Random calls in which random ranks fail.

use super::mixed;
use inselberg_comm::{Comm, CommError, Rank, Reduce, Result, SparseAlgorithm};

/// Numbers from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = mixed(self.0);
        (self.0 >> 7) % n
    }
}

/// Calls of up to `longest` records, which all ranks draw from the same seed, until one fails. The failing
/// ranks and their calls are drawn as well. In one of three cases a single rank fails.
pub fn call_until_a_rank_fails(comm: &Comm, seed: u64, longest: u64) -> CommError {
    let (rank, n) = (u64::from(comm.rank().0), comm.n_ranks() as u64);
    let mut draws = Draws(seed);
    // One rank, or several at different calls.
    let failing: Vec<[u64; 3]> =
        (0..1 + draws.below(3)).map(|_| [0; 3].map(|_| draws.below(1 << 20))).collect();
    for call in 0.. {
        for &[who, when, how] in &failing {
            if who % n == rank && when % 12 == call {
                return fail(comm, how);
            }
        }
        let length = draws.below(longest) as usize;
        if let Err(error) = any_call(comm, draws.below(6), length) {
            return error;
        }
    }
    unreachable!("some rank fails")
}

/// A failure of this rank alone, in one of two ways.
fn fail(comm: &Comm, how: u64) -> CommError {
    let nobody = Rank(comm.n_ranks() as u32);
    match how % 2 {
        0 => comm.abort("on purpose"),
        _ => comm.exchange(vec![(nobody, vec![1u8])]).expect_err("there is no such rank"),
    }
}

fn any_call(comm: &Comm, which: u64, length: usize) -> Result<()> {
    let (rank, n) = (comm.rank().0, comm.n_ranks() as u32);
    match which {
        0 => comm.barrier(),
        1 => comm.all_reduce_counts(&[1, 2, 3], Reduce::Sum).map(drop),
        2 => comm.all_gather(&vec![rank; length / 10]).map(drop),
        3 => exchange(comm, SparseAlgorithm::Nbx, length),
        4 => exchange(comm, SparseAlgorithm::AllToAll, length),
        _ => {
            let ring = [Rank((rank + 1) % n), Rank((rank + n - 1) % n)];
            comm.exchange_with(&ring, vec![(ring[0], vec![rank; length])]).map(drop)
        }
    }
}

fn exchange(comm: &Comm, algorithm: SparseAlgorithm, length: usize) -> Result<()> {
    let everyone = (0..comm.n_ranks() as u32).map(Rank);
    comm.exchange_by(algorithm, everyone.map(|to| (to, vec![comm.rank().0; length])).collect()).map(drop)
}
