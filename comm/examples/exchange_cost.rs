//! The cost of an exchange and a barrier with ranks as threads: `exchange_cost [ranks...]`.

use inselberg_comm::{Comm, CommError, Rank, SparseAlgorithm, run_threads};
use std::time::{Duration, Instant};

const ROUNDS: u32 = 50;

fn main() -> Result<(), CommError> {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    println!("| ranks | exchange, NBX | all to all | neighbours | barrier |\n|---|---|---|---|---|");
    for n_ranks in if given.is_empty() { vec![2, 8, 64, 512] } else { given } {
        let ran = run_threads(n_ranks, cost)?;
        let [nbx, all, near, barrier] = ran[0].clone()?;
        println!("| {n_ranks} | {nbx:.1?} | {all:.1?} | {near:.1?} | {barrier:.1?} |");
    }
    Ok(())
}

/// Each rank sends 1 kB to its six nearest ranks.
fn cost(comm: &Comm) -> Result<[Duration; 4], CommError> {
    let n = comm.n_ranks() as u32;
    let near: Vec<Rank> =
        (1..=3).flat_map(|s| [s, n * 3 - s]).map(|s| Rank((comm.rank().0 + s) % n)).collect();
    let parts = || near.iter().map(|&to| (to, vec![1u64; 128])).collect::<Vec<_>>();
    let nbx = timed(comm, || comm.exchange(parts()).map(drop))?;
    let all = timed(comm, || comm.exchange_by(SparseAlgorithm::AllToAll, parts()).map(drop))?;
    let neighbours = timed(comm, || comm.exchange_with(&near, parts()).map(drop))?;
    let barrier = timed(comm, || comm.barrier())?;
    Ok([nbx, all, neighbours, barrier])
}

fn timed(comm: &Comm, work: impl Fn() -> Result<(), CommError>) -> Result<Duration, CommError> {
    comm.barrier()?;
    let start = Instant::now();
    (0..ROUNDS).try_for_each(|_| work())?;
    comm.barrier()?;
    Ok(start.elapsed() / ROUNDS)
}
