//! A rank that fails, panics, ends or stalls ends the job for all ranks, and the error names it.

mod common;

use common::builders;
use inselberg_comm::{Comm, CommError, Rank, run_ranks, run_threads};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Many rounds, so that ranks fall asleep before the abort, during it, and after it.
#[test]
fn an_abort_wakes_all_ranks() {
    const N_RANKS: usize = 16;
    let start = Instant::now();
    let error =
        CommError::Aborted { rank: Rank(5), stage: "saddles".into(), message: "the disk is full".into() };
    assert_eq!(error.to_string(), "rank 5 in saddles: the disk is full");
    for round in 0..50 {
        let begun = Barrier::new(N_RANKS);
        let ran = run_threads(N_RANKS, |comm| {
            comm.at("saddles");
            begun.wait();
            if comm.rank() == Rank(5) {
                (0..round).for_each(|_| std::thread::yield_now());
                return Err(comm.abort("the disk is full"));
            }
            comm.exchange::<u8>(Vec::new()).map(|_| ())
        });
        assert_eq!(ran, Ok(vec![Err(error.clone()); N_RANKS]), "round {round}");
    }
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_panic_is_an_error_that_names_the_rank() {
    let ran = run_threads(8, |comm| {
        comm.at("labels");
        assert!(comm.rank() != Rank(3), "on purpose");
        comm.barrier()
    });
    let text = ran.expect_err("rank 3 panics").to_string();
    assert_eq!(text, "rank 3 panicked in labels: on purpose");
}

#[test]
fn a_rank_that_leaves_early_is_named() {
    let ran = run_threads(4, |comm| {
        comm.at("forest");
        comm.barrier()?;
        if comm.rank() == Rank(2) { Ok(()) } else { comm.barrier() }
    });
    let left = Err(CommError::Left { rank: Rank(2), stage: "forest".into() });
    assert_eq!(ran, Ok(vec![left.clone(), left.clone(), Ok(()), left]));
}

#[test]
fn a_builder_that_is_never_built_counts_as_left() {
    let mut builders = builders(3, None);
    builders.pop();
    let ran = run_ranks(builders, |comm| comm.barrier());
    let left = Err(CommError::Left { rank: Rank(2), stage: String::new() });
    assert_eq!(ran, Ok(vec![left.clone(), left]));
}

#[test]
fn a_stall_says_where_each_rank_stands() {
    let (begun, done) = (Barrier::new(4), AtomicBool::new(false));
    let builders = Comm::threads(4).into_iter().map(|b| b.stall_timeout(Duration::from_millis(50)));
    let ran = run_ranks(builders.collect(), |comm| {
        comm.at(if comm.rank() == Rank(3) { "saddles" } else { "labels" });
        // No rank waits in a call before all have begun, however late the system starts them.
        begun.wait();
        if comm.rank() == Rank(3) {
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let result = comm.barrier();
        done.store(true, Ordering::Relaxed);
        result
    });
    let places = "ranks 0-2: labels, in barrier (call 1); rank 3: saddles, between calls".to_string();
    let stalled = Err(CommError::Stalled { after: Duration::from_millis(500), places });
    assert_eq!(ran, Ok(vec![stalled; 4]));
}

#[test]
fn calls_that_do_not_go_together_are_errors_everywhere() {
    let ran = run_threads(4, |comm| match comm.rank() {
        Rank(3) => comm.barrier(),
        _ => comm.sum_before(1).map(|_| ()),
    });
    for result in ran.expect("no rank panics") {
        assert!(matches!(result, Err(CommError::Mismatch { .. })), "{result:?}");
    }
    let ran = run_threads(4, |comm| comm.all_max(&vec![0.0; 1 + comm.rank().at() / 3]));
    for result in ran.expect("no rank panics") {
        assert!(matches!(result, Err(CommError::Mismatch { .. })), "{result:?}");
    }
}

#[test]
fn a_destination_that_does_not_exist_is_an_error_everywhere() {
    let ran = run_threads(2, |comm| comm.exchange(vec![(Rank(2 * comm.rank().0), vec![1u8])]));
    let error = Err(CommError::NoSuchRank { rank: Rank(2), n_ranks: 2 });
    assert_eq!(ran, Ok(vec![error; 2]));
}

#[test]
fn neighbours_that_disagree_stall() {
    let builders = Comm::threads(2).into_iter().map(|b| b.stall_timeout(Duration::from_millis(300)));
    let ran = run_ranks(builders.collect(), |comm| {
        let neighbours = if comm.rank() == Rank(0) { vec![] } else { vec![Rank(0)] };
        comm.exchange_with::<u8>(&neighbours, Vec::new())?;
        comm.barrier()
    });
    let places = "rank 0: no stage, in barrier (call 2); rank 1: no stage, in exchange_with (call 1)";
    let stalled = CommError::Stalled { after: Duration::from_millis(300), places: places.into() };
    assert_eq!(ran, Ok(vec![Err(stalled); 2]));
}

#[test]
fn after_an_error_every_call_gives_it_again() {
    let comm = Comm::solo();
    let error = comm.abort("enough");
    assert_eq!(comm.barrier(), Err(error.clone()));
    assert_eq!(comm.exchange::<u8>(Vec::new()), Err(error));
}

#[test]
fn the_message_of_a_stall_is_bounded() {
    const STAGES: [&str; 50] = {
        let mut stages = [""; 50];
        let mut i = 0;
        while i < 50 {
            stages[i] = "a stage with a rather long name that is not that of any other".split_at(i + 5).0;
            i += 1;
        }
        stages
    };
    let builders = Comm::threads(200).into_iter().map(|b| b.stall_timeout(Duration::from_millis(300)));
    let ran = run_ranks(builders.collect(), |comm| {
        comm.at(STAGES[comm.rank().at() % 50]);
        // Rank 199 waits for a neighbour that never speaks to it.
        if comm.rank() == Rank(199) {
            comm.exchange_with::<u8>(&[Rank(0)], vec![]).map(|_| ())
        } else {
            comm.barrier()
        }
    });
    let error = ran.expect("no panic").swap_remove(0).expect_err("nobody moves").to_string();
    assert!(error.starts_with("nothing moved for 0.3 s; ranks 0, 50, 100, 150: "), "{error}");
    assert!(error.len() < 1500 && error.ends_with(" more ranks at other places"), "{error}");
}
