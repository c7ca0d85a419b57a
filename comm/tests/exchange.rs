//! Every algorithm of exchange delivers what was sent, on every backend and any number of ranks.

mod common;

use common::{builders, collect_everything, exchange_everything};
use inselberg_comm::{Comm, MessageTrace, Rank, Reduce, run_ranks, run_threads};
use std::cell::Cell;
use std::time::Duration;

const RANKS: [usize; 7] = [1, 2, 3, 4, 7, 8, 64];

#[test]
fn one_rank_alone() {
    collect_everything(&Comm::solo());
    exchange_everything(&Comm::solo(), 1);
}

#[test]
fn ranks_as_threads() {
    for n_ranks in RANKS {
        for seed in 0..if n_ranks < 64 { 20 } else { 3 } {
            run_threads(n_ranks, |comm| {
                collect_everything(comm);
                exchange_everything(comm, seed);
            })
            .expect("no rank fails");
        }
    }
}

#[test]
fn messages_late_and_in_any_order() {
    for seed in 0..100 {
        for n_ranks in [1, 2, 3, 5, 8, 64] {
            let ran = run_ranks(builders(n_ranks, Some(seed)), |comm| {
                collect_everything(comm);
                exchange_everything(comm, seed);
            });
            assert_eq!(ran.map(|all| all.len()), Ok(n_ranks), "seed {seed}");
        }
    }
}

#[test]
fn thousands_of_ranks() {
    let ran = run_threads(2048, |comm| {
        collect_everything(comm);
        let next = Rank((comm.rank().0 + 1) % 2048);
        let received = comm.exchange(vec![(next, vec![comm.rank().0])]).expect("an exchange");
        assert_eq!(received.len(), 1);
        received[0].1[0]
    });
    let expected = (0..2048).map(|r: u32| (r + 2047) % 2048).collect::<Vec<_>>();
    assert_eq!(ran, Ok(expected));
}

#[test]
fn a_huge_message() {
    let ran = run_threads(2, |comm| {
        let other = Rank(1 - comm.rank().0);
        let records: Vec<u64> = (0..4_000_000).map(|i| i ^ u64::from(comm.rank().0)).collect();
        let received = comm.exchange(vec![(other, records)]).expect("an exchange");
        received[0].1.iter().enumerate().all(|(i, &x)| x == i as u64 ^ u64::from(other.0))
    });
    assert_eq!(ran, Ok(vec![true, true]));
}

/// Neighbours on a ring are many calls apart, and meet again in collectives.
#[test]
fn neighbours_far_ahead_of_distant_ranks() {
    for seed in 0..20 {
        let ran = run_ranks(builders(9, Some(seed)), |comm| {
            let (rank, n) = (comm.rank().0, comm.n_ranks() as u32);
            for round in 0..30u32 {
                let step = 1 + round % 3;
                let ring = [Rank((rank + step) % n), Rank((rank + n - step) % n)];
                let received = comm.exchange_with(&ring, vec![(ring[0], vec![[rank, round]])]);
                assert_eq!(received, Ok(vec![(ring[1], vec![[ring[1].0, round]])]));
                if round % 7 == seed as u32 % 7 {
                    let received = comm.exchange(vec![(ring[0], vec![round])]);
                    assert_eq!(received, Ok(vec![(ring[1], vec![round])]));
                }
            }
        });
        assert_eq!(ran.map(|all| all.len()), Ok(9));
    }
}

#[test]
fn traffic_is_counted_by_stage() {
    let ran = run_threads(4, |comm| {
        comm.at("ghosts");
        let to_all = (0..4).map(|to| (Rank(to), vec![1u32; 5])).collect();
        comm.exchange(to_all).expect("an exchange");
        comm.at("labels");
        comm.barrier().expect("a barrier");
        comm.at("ghosts");
        comm.exchange::<u32>(Vec::new()).expect("an exchange");
        comm.traffic()
    });
    for stages in ran.expect("no rank fails") {
        let of = |i: usize| {
            let s = stages[i];
            (s.stage, s.rounds, s.messages, s.bytes, s.collectives)
        };
        assert_eq!(stages.len(), 2);
        assert_eq!((of(0), of(1)), (("ghosts", 2, 3, 60, 0), ("labels", 0, 0, 0, 1)));
    }
}

#[test]
fn what_came_and_what_crossed_the_tree_is_counted_too() {
    let ran = run_threads(4, |comm| {
        comm.at("labels");
        let next = Rank((comm.rank().0 + 1) % 4);
        comm.exchange(vec![(next, vec![1u64; 1 + comm.rank().at()])]).expect("an exchange");
        comm.exchange_with(&[Rank(comm.rank().0 ^ 1)], vec![(Rank(comm.rank().0 ^ 1), vec![1u8; 3])])
            .expect("an exchange");
        comm.all_reduce_counts(&[1; 10], Reduce::Sum).expect("a reduction");
        comm.traffic()[0]
    });
    for (rank, s) in ran.expect("no rank fails").into_iter().enumerate() {
        assert_eq!((s.rounds, s.near_rounds, s.received), (2, 1, 2));
        assert!(s.received_bytes >= 8 * (1 + (rank as u64 + 3) % 4) + 3);
        // Rank 0 has two children, rank 2 has one and a parent, the others a parent alone: 80 bytes up and
        // down.
        assert_eq!(s.tree_bytes, [320, 160, 320, 160][rank]);
        assert_eq!((s.work, s.in_calls), (Duration::ZERO, Duration::ZERO));
    }
}

#[test]
fn time_is_counted_in_and_out_of_calls_by_the_given_clock() {
    thread_local! { static NOW: Cell<u64> = const { Cell::new(0) }; }
    // Each look at it is a second, and work is what the test adds.
    let clock = || {
        NOW.with(|now| now.set(now.get() + 1));
        Duration::from_secs(NOW.with(Cell::get))
    };
    let clocked = Comm::threads(2).into_iter().map(|rank| rank.clock(Some(clock))).collect();
    let ran = run_ranks(clocked, |comm| {
        comm.at("ascent");
        NOW.with(|now| now.set(now.get() + 100));
        comm.barrier().expect("a barrier");
        comm.at("labels");
        NOW.with(|now| now.set(now.get() + 1000));
        comm.traffic()
    });
    for stages in ran.expect("no rank fails") {
        let times: Vec<_> =
            stages.iter().map(|s| (s.stage, s.work.as_secs(), s.in_calls.as_secs())).collect();
        assert_eq!(times, [("", 1, 0), ("ascent", 102, 1), ("labels", 1001, 0)]);
    }
}

#[test]
fn what_is_noted_is_what_went() {
    let traced = Comm::threads(3).into_iter().map(|rank| rank.traced(true)).collect();
    let ran = run_ranks(traced, |comm| {
        comm.at("ghosts");
        let next = Rank((comm.rank().0 + 1) % 3);
        comm.exchange(vec![(next, vec![7u32; 5])]).expect("an exchange");
        comm.notes()
    });
    let notes = ran.expect("no rank fails");
    let sum = |of: fn(&MessageTrace) -> Option<usize>| notes.iter().flatten().filter_map(of).sum::<usize>();
    let sent = |note: &MessageTrace| matches!(note, MessageTrace::Sent { bytes: 20, .. }).then_some(1);
    let received =
        |note: &MessageTrace| matches!(note, MessageTrace::Received { bytes: 20, .. }).then_some(1);
    assert_eq!((sum(sent), sum(received)), (3, 3));
    for (rank, notes) in notes.iter().enumerate() {
        let to = notes.iter().find_map(|note| match note {
            MessageTrace::Sent { to, bytes: 20, .. } => Some(to.at()),
            _ => None,
        });
        assert_eq!(to, Some((rank + 1) % 3));
        assert!(notes.iter().any(|note| matches!(note, MessageTrace::Call { stage: "ghosts", .. })));
    }
}

#[test]
fn nothing_is_noted_unasked() {
    let notes = run_threads(2, |comm| {
        comm.barrier().expect("a barrier");
        comm.notes().len()
    });
    assert_eq!(notes, Ok(vec![0, 0]));
}
