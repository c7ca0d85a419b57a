//! After a failure on any rank, `recover` makes all ranks ready for calls again, and their results are right.

mod common;

use common::failures::call_until_a_rank_fails;
use common::{builders, collect_everything, exchange_everything, mixed};
use inselberg_comm::agree::{AgreeError, agree};
use inselberg_comm::{Comm, CommError, Rank, ThreadLevel, run_ranks, run_threads};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A rank may fail again while others are still in earlier calls; these calls succeed.
fn fail_and_recover(comm: &Comm, seed: u64) {
    for round in 0..3 {
        let error = call_until_a_rank_fails(comm, mixed(seed) ^ round, 50_000);
        assert_eq!(comm.barrier(), Err(error));
        let pause = mixed(seed ^ u64::from(comm.rank().0)) % 3;
        std::thread::sleep(Duration::from_millis(pause));
        comm.recover().expect("all ranks recover");
        collect_everything(comm);
        exchange_everything(comm, seed);
    }
}

#[test]
fn random_failures_on_threads() {
    for seed in 0..100 {
        let n_ranks = 1 + seed as usize % 5;
        let ran = run_threads(n_ranks, |comm| fail_and_recover(comm, seed));
        assert_eq!(ran.map(|all| all.len()), Ok(n_ranks), "seed {seed}");
    }
}

#[test]
fn random_failures_with_messages_late_and_in_any_order() {
    for seed in 0..100 {
        let n_ranks = 2 + seed as usize % 4;
        let builders = builders(n_ranks, Some(seed)).into_iter().map(|b| b.traced(seed % 2 == 0)).collect();
        let ran = run_ranks(builders, |comm| fail_and_recover(comm, seed));
        assert_eq!(ran.map(|all| all.len()), Ok(n_ranks), "seed {seed}");
    }
}

#[test]
fn one_rank_alone_recovers() {
    let comm = Comm::solo();
    let error = comm.abort("enough");
    assert_eq!(comm.barrier(), Err(error));
    assert_eq!(comm.recover(), Ok(()));
    collect_everything(&comm);
    assert_eq!(comm.close(), Ok(()));
}

#[test]
fn ranks_agree_after_a_recovery() {
    let ran = run_threads(4, |comm| {
        let local = if comm.rank() == Rank(2) { Err(comm.abort("the disk is full")) } else { comm.barrier() };
        let expected =
            CommError::Aborted { rank: Rank(2), stage: String::new(), message: "the disk is full".into() };
        assert_eq!(local, Err(expected));
        comm.recover().expect("all ranks recover");
        let local = if comm.rank() == Rank(2) { Err("the disk is full") } else { Ok(()) };
        agree(comm, local)
    });
    for (rank, agreed) in ran.expect("no panic").into_iter().enumerate() {
        match agreed {
            Err(AgreeError::Here(_)) => assert_eq!(rank, 2),
            Err(AgreeError::Elsewhere { rank, message }) => {
                assert_eq!((rank, message.as_str()), (Rank(2), "the disk is full"));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Another rank has no error yet, and gets one from the rank that recovers.
#[test]
fn a_rank_without_an_error_makes_the_others_fail() {
    let ran = run_threads(3, |comm| {
        if comm.rank() != Rank(1) {
            let error = comm.barrier().expect_err("rank 1 does not come");
            assert_eq!(error.to_string(), "rank 1: called recover");
        }
        comm.recover()?;
        comm.sum_before(1)
    });
    assert_eq!(ran, Ok(vec![Ok(0), Ok(1), Ok(2)]));
}

fn impatient(n_ranks: usize) -> Vec<inselberg_comm::CommBuilder> {
    let ranks = Comm::threads(n_ranks).into_iter();
    ranks.map(|rank| rank.recover_timeout(Duration::from_millis(200))).collect()
}

#[test]
fn a_rank_that_never_comes_is_an_error() {
    let start = Instant::now();
    let given_up = Barrier::new(3);
    let ran = run_ranks(impatient(3), |comm| {
        if comm.rank() == Rank(2) {
            comm.abort("on purpose");
            given_up.wait();
            return comm.recover();
        }
        comm.barrier().expect_err("rank 2 fails");
        let error = comm.recover();
        given_up.wait();
        assert_eq!(comm.barrier(), error);
        assert_eq!(comm.recover(), error);
        error
    });
    let error = CommError::TimedOut { call: "recover", after: Duration::from_millis(200) };
    assert_eq!(error.to_string(), "recover: some rank did not call it within 0.2 s");
    assert_eq!(ran, Ok(vec![Err(error); 3]));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_rank_that_ended_never_comes() {
    let start = Instant::now();
    let ran = run_threads(3, |comm| {
        comm.at("forest");
        if comm.rank() == Rank(1) {
            return Err(comm.abort("on purpose"));
        }
        comm.barrier().expect_err("rank 1 fails");
        comm.recover()
    });
    let left = Err(CommError::Left { rank: Rank(1), stage: "forest".into() });
    let ran = ran.expect("no panic");
    assert_eq!([&ran[0], &ran[2]], [&left; 2]);
    assert!(start.elapsed() < Duration::from_secs(5), "the time is not waited for");
}

/// The results of `work` on ranks that each own their `Comm`.
fn owned<T: Send>(builders: Vec<inselberg_comm::CommBuilder>, work: impl Fn(Comm) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let ranks: Vec<_> =
            builders.into_iter().map(|b| scope.spawn(move || work(b.build().expect("a rank")))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    })
}

#[test]
fn ranks_close_together_after_a_failure_as_well() {
    let closed = owned(Comm::threads(4), |comm| {
        comm.barrier()?;
        comm.close()
    });
    assert_eq!(closed, vec![Ok(()); 4]);
    let closed = owned(Comm::threads(4), |comm| {
        if comm.rank() == Rank(0) {
            comm.abort("on purpose");
        }
        comm.close()
    });
    assert_eq!(closed, vec![Ok(()); 4]);
    let given_up = Barrier::new(2);
    let closed = owned(impatient(2), |comm| {
        if comm.rank() == Rank(0) {
            given_up.wait();
            return comm.close();
        }
        let closed = comm.close();
        given_up.wait();
        closed
    });
    assert_eq!(closed[1], Err(CommError::TimedOut { call: "close", after: Duration::from_millis(200) }));
    assert!(closed[0].is_err());
}

/// The owner of a rank may lend it to a thread that works while the owner waits.
#[test]
fn a_rank_may_move_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<Comm>();
    is_send::<&mut Comm>();
    let sums = owned(Comm::threads(3), |mut comm| {
        assert_eq!(comm.thread_level(), ThreadLevel::Multiple);
        let lent = &mut comm;
        let before =
            std::thread::scope(|scope| scope.spawn(move || lent.sum_before(1)).join().expect("no panic"));
        before.and_then(|before| comm.close().map(|()| before))
    });
    assert_eq!(sums, vec![Ok(0), Ok(1), Ok(2)]);
}
