//! One rank of a small MPI job, for `tests/mpi.rs`. Its argument says what it does.

#[path = "../tests/common/mod.rs"]
mod common;

use inselberg_comm::{Comm, CommError, Rank};
use std::time::{Duration, Instant};

fn main() -> Result<(), CommError> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let comm = match what.as_str() {
        "chaos" => Comm::mpi().chaos(7).build()?,
        "pieces" => Comm::mpi().piece_bytes(1000).build()?,
        "watch" => Comm::mpi().stall_timeout(Duration::from_millis(400)).build()?,
        "stall" => Comm::mpi().stall_timeout(Duration::from_millis(200)).build()?,
        _ => Comm::mpi().build()?,
    };
    comm.at(["all", "fine"][usize::from(what == "fine")]);
    let last = comm.rank().at() + 1 == comm.n_ranks();
    match what.as_str() {
        "abort" if last => return Err(comm.abort("the disk is full")),
        "panic" if last => std::thread::spawn(|| panic!("on purpose")).join().expect("no return"),
        "leave" if last => return Ok(()),
        "stall" if last => std::thread::sleep(Duration::from_secs(60)),
        "abort" | "panic" | "leave" | "stall" => {
            comm.barrier()?;
            comm.barrier()?;
        }
        "abort all" => abort_alike(&comm)?,
        "long" => long(&comm)?,
        "watch" => watch(&comm)?,
        "time" => time(&comm)?,
        _ => exchange(&comm)?,
    }
    Ok(())
}

/// All ranks abort. Rank 0 is so late that rank 1 has reported the reason, even on a busy machine.
fn abort_alike(comm: &Comm) -> Result<(), CommError> {
    comm.barrier()?;
    if comm.rank() == Rank(0) {
        std::thread::sleep(Duration::from_secs(1));
    }
    Err(comm.abort("no such file"))
}

fn exchange(comm: &Comm) -> Result<(), CommError> {
    common::collect_everything(comm);
    for seed in 0..5 {
        common::exchange_everything(comm, seed);
    }
    let n_ranks = comm.n_ranks();
    comm.barrier()?;
    if comm.rank() == Rank(0) {
        println!("{n_ranks} ranks agree");
    }
    Ok(())
}

/// Long messages. Parts of them may still be in flight when the barrier of their exchange ends.
fn long(comm: &Comm) -> Result<(), CommError> {
    let (rank, n_ranks) = (comm.rank().0, comm.n_ranks() as u32);
    let records = |from: u32, round: u32| vec![[from, round]; 20_000 + 3000 * ((from + round) % 7) as usize];
    for round in 0..60 {
        let others = (0..n_ranks).filter(|to| *to != rank);
        let sent = others.clone().map(|to| (Rank(to), records(rank, round))).collect();
        let expected: Vec<_> = others.map(|from| (Rank(from), records(from, round))).collect();
        assert!(comm.exchange(sent)? == expected, "round {round}");
    }
    if rank == 0 {
        println!("{n_ranks} ranks agree");
    }
    Ok(())
}

/// Rank 3 computes while the others wait. Returns the number of messages that the watchdog of each rank sent.
fn watch(comm: &Comm) -> Result<(), CommError> {
    if comm.rank() == Rank(3) {
        std::thread::sleep(Duration::from_secs(3));
    }
    comm.barrier()?;
    let sent = comm.all_gather(&[comm.watch_messages()])?;
    if comm.rank() == Rank(0) {
        println!("{}", sent.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

/// The seconds that an exchange, a barrier and a reduction take.
fn time(comm: &Comm) -> Result<(), CommError> {
    let n = comm.n_ranks() as u32;
    let next = |step| Rank((comm.rank().0 + step) % n);
    let start = Instant::now();
    for _ in 0..200 {
        comm.exchange((1..n.min(7)).map(|s| (next(s), vec![1u64; 128])).collect())?;
    }
    let exchange = start.elapsed() / 200;
    let start = Instant::now();
    for _ in 0..200 {
        comm.barrier()?;
    }
    if comm.rank() == Rank(0) {
        println!("{n} ranks: exchange {exchange:?}, barrier {:?}", start.elapsed() / 200);
    }
    Ok(())
}
