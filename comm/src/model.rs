//! Mailboxes of ranks that are threads, under every order in which two of them can meet:
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release -p inselberg-comm --lib model
//!
//! The model checks that a sleeping rank is woken by what it waits for (loom reports threads that wait
//! forever). A message arrives once and complete, a synchronous one is pending until it is received, and a
//! failure ends both ranks.

use crate::backend::threads::{Threads, World};
use crate::backend::{Channel, Tag, Transport};
use crate::{CommError, Rank, Result};
use loom::thread;
use std::sync::Arc;
use std::time::Duration;

/// What one rank does.
type RankFn = fn(&mut Threads);

fn check(works: [RankFn; 2]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = World::new(2);
        let mut other = Threads::new(Arc::clone(&world), Rank(1));
        let mut own = Threads::new(world, Rank(0));
        let theirs = thread::spawn(move || {
            works[1](&mut other);
            other
        });
        works[0](&mut own);
        // Ended ranks are found by polling, which a model does not do. So both end together.
        drop(theirs.join().expect("no panic"));
    });
}

fn tag() -> Tag {
    Tag::new(Channel::Data, 0)
}

fn park(rank: &mut Threads) -> Result<()> {
    rank.park(Duration::MAX)
}

fn receive(rank: &mut Threads) -> (Rank, Vec<u8>) {
    loop {
        match rank.receive(tag()).expect("no failure") {
            Some(message) => return message,
            None => park(rank).expect("no failure"),
        }
    }
}

fn send(rank: &mut Threads, bytes: Vec<u8>) {
    let to = Rank(1 - rank.rank().0);
    rank.send(to, tag(), bytes).expect("no failure");
}

#[test]
fn a_message_wakes_who_waits_for_it() {
    check([|own| send(own, vec![7]), |other| assert_eq!(receive(other), (Rank(0), vec![7]))]);
}

#[test]
fn messages_that_cross_arrive_both() {
    let swap: RankFn = |rank| {
        send(rank, vec![rank.rank().0 as u8]);
        let from = Rank(1 - rank.rank().0);
        assert_eq!(receive(rank), (from, vec![from.0 as u8]));
    };
    check([swap, swap]);
}

#[test]
fn two_messages_are_two() {
    let both: RankFn = |other| {
        let mut got = [receive(other).1, receive(other).1];
        got.sort();
        assert_eq!(got, [vec![1], vec![2]]);
    };
    check([
        |own| {
            send(own, vec![1]);
            send(own, vec![2]);
        },
        both,
    ]);
}

#[test]
fn a_synchronous_message_is_pending_until_it_is_handed_out() {
    check([
        |own| {
            own.send_synchronous(Rank(1), tag(), vec![3]).expect("no failure");
            while own.pending().expect("no failure") > 0 {
                park(own).expect("no failure");
            }
        },
        |other| assert_eq!(receive(other), (Rank(0), vec![3])),
    ]);
}

#[test]
fn a_failure_wakes_who_waits_for_nothing_else() {
    check([
        |own| {
            own.abort(CommError::NotStarted { why: "a model".into() });
        },
        |other| while park(other).is_ok() {},
    ]);
}
