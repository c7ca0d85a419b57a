//! Ranks as threads of one process, with one mailbox each.

use super::rank_states::RankStates;
use super::{Finding, RankState, Tag, Transport};
use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, lock, wait_while};
use crate::{CommError, Pulse, Rank, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Longest sleep of a rank between two checks of the others, for at most [`FEW`] ranks.
const LONGEST_PARK: Duration = Duration::from_millis(200);
/// With more ranks than this, each rank checks the others less often.
const FEW: usize = 256;

/// The state that the ranks share.
#[derive(Debug)]
pub(crate) struct World {
    mailboxes: Vec<Mailbox>,
    /// The failure of the rank that had finished the fewest calls: that number, and the error.
    failed: Mutex<Option<(u64, CommError)>>,
    /// Whether `failed` holds an error.
    has_failed: AtomicBool,
    /// The ended rank with the fewest finished calls: that number, and the rank.
    left: Mutex<Option<(u64, Rank)>>,
    recovery: Mutex<Recovery>,
    recovered: Condvar,
}

/// Ranks that recover together, or close.
#[derive(Debug, Default)]
struct Recovery {
    /// Ranks that wait for the others.
    n_waiting: usize,
    /// Number of finished recoveries.
    n_done: u64,
    /// Why no recovery can succeed any more.
    lost: Option<CommError>,
}

/// The part of a rank that other ranks access.
#[derive(Debug, Default)]
struct Mailbox {
    inbox: Mutex<MailQueue>,
    condvar: Condvar,
    /// Number of this rank's synchronous messages that were not received yet.
    unmatched: AtomicUsize,
    /// Signs of life.
    signs: Pulse,
    place: Mutex<RankState>,
}

#[derive(Debug, Default)]
struct MailQueue {
    messages: Vec<Envelope>,
    /// Number of wake-ups so far.
    wakeups: u64,
    asleep: bool,
}

#[derive(Debug)]
struct Envelope {
    from: Rank,
    tag: Tag,
    synchronous: bool,
    bytes: Vec<u8>,
}

/// One rank's end.
#[derive(Debug)]
pub(crate) struct Threads {
    world: Arc<World>,
    rank: Rank,
    /// Messages taken out of the mailbox, by tag.
    sorted: [VecDeque<Envelope>; Tag::N],
    /// Number of wake-ups until the last `park`.
    wakeups_seen: u64,
    place: RankState,
}

impl World {
    /// A world of `n_ranks` ranks that have not started yet.
    pub fn new(n_ranks: usize) -> Arc<Self> {
        Arc::new(Self {
            mailboxes: (0..n_ranks).map(|_| Mailbox::default()).collect(),
            failed: Mutex::new(None),
            has_failed: AtomicBool::new(false),
            left: Mutex::new(None),
            recovery: Mutex::default(),
            recovered: Condvar::new(),
        })
    }

    /// Fails call number `finished` and all later ones on all ranks, unless an earlier call has failed, and
    /// wakes all ranks. Returns the error of that call.
    pub fn fail(&self, finished: u64, error: CommError) -> CommError {
        let mut failed = lock(&self.failed);
        if let Some((at, first)) = &*failed
            && *at <= finished
        {
            return first.clone();
        }
        *failed = Some((finished, error.clone()));
        drop(failed);
        self.has_failed.store(true, Ordering::Release);
        for mailbox in &self.mailboxes {
            mailbox.wake(|_| ());
        }
        error
    }

    /// Records that a rank ended without a failure.
    pub fn leave(&self, rank: Rank, finished: u64) {
        let mut left = lock(&self.left);
        if left.is_none_or(|least| (finished, rank) < least) {
            *left = Some((finished, rank));
        }
        drop(left);
        // Under the lock, so that a rank that is about to wait for this one has seen `left` or wakes up.
        let _recovery = lock(&self.recovery);
        self.recovered.notify_all();
    }

    /// Waits until all ranks have called it. The last one discards all messages and the error.
    fn recover(&self, call: &'static str, within: Duration) -> Result<()> {
        let mut recovery = lock(&self.recovery);
        let number = recovery.n_done;
        recovery.n_waiting += 1;
        if recovery.n_waiting == self.mailboxes.len() && recovery.lost.is_none() {
            self.reset();
            *recovery = Recovery { n_waiting: 0, n_done: number + 1, lost: None };
            self.recovered.notify_all();
            return Ok(());
        }
        let hopeful = |recovery: &mut Recovery| {
            recovery.n_done == number && recovery.lost.is_none() && lock(&self.left).is_none()
        };
        let mut recovery = wait_while(&self.recovered, recovery, within, hopeful);
        if recovery.n_done != number {
            return Ok(());
        }
        let timed_out = CommError::TimedOut { call, after: within };
        let why = || self.left_error().map_or(timed_out, |(_, left)| left);
        let error = recovery.lost.get_or_insert_with(why).clone();
        self.recovered.notify_all();
        Err(error)
    }

    /// Discards all messages. No rank may be in a call.
    fn reset(&self) {
        for mailbox in &self.mailboxes {
            lock(&mailbox.inbox).messages.clear();
            mailbox.unmatched.store(0, Ordering::Release);
        }
        *lock(&self.failed) = None;
        self.has_failed.store(false, Ordering::Release);
    }

    /// If a rank has ended: the error that names it, and the number of calls that it finished.
    fn left_error(&self) -> Option<(u64, CommError)> {
        let (at, rank) = (*lock(&self.left))?;
        let stage = lock(&self.mailboxes[rank.at()].place).stage.to_string();
        Some((at, CommError::Left { rank, stage }))
    }

    /// Calls that the failed rank has finished do not fail because of it.
    fn check(&self, finished: u64) -> Result<()> {
        if !self.has_failed.load(Ordering::Acquire) {
            return Ok(());
        }
        match &*lock(&self.failed) {
            Some((at, error)) if *at <= finished => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// A rank that ended before call number `finished` will never make it.
    fn check_left(&self, finished: u64) -> Result<()> {
        match self.left_error() {
            Some((at, error)) if at <= finished => Err(self.fail(at, error)),
            _ => Ok(()),
        }
    }
}

impl Mailbox {
    fn wake(&self, change: impl FnOnce(&mut MailQueue)) {
        let mut inbox = lock(&self.inbox);
        change(&mut inbox);
        inbox.wakeups += 1;
        if inbox.asleep {
            self.condvar.notify_one();
        }
    }

    fn sign(&self) {
        self.signs.beat();
    }
}

impl Threads {
    /// The end of `rank`.
    pub fn new(world: Arc<World>, rank: Rank) -> Self {
        Self { world, rank, sorted: Default::default(), wakeups_seen: 0, place: RankState::default() }
    }

    fn own(&self) -> &Mailbox {
        &self.world.mailboxes[self.rank.at()]
    }

    fn post(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>, synchronous: bool) -> Result<()> {
        self.world.check(self.place.finished)?;
        let n_ranks = self.n_ranks();
        let mailbox = self.world.mailboxes.get(to.at()).ok_or(CommError::NoSuchRank { rank: to, n_ranks })?;
        if synchronous {
            self.own().unmatched.fetch_add(1, Ordering::AcqRel);
        }
        self.own().sign();
        mailbox.wake(|inbox| inbox.messages.push(Envelope { from: self.rank, tag, synchronous, bytes }));
        Ok(())
    }

    /// How long a rank sleeps. A check of all others takes longer with more ranks, so checks become rarer.
    fn nap(&self, at_most: Duration) -> Duration {
        at_most.min(LONGEST_PARK) * (self.world.mailboxes.len() / FEW).max(1) as u32
    }

    fn meet(&mut self, call: &'static str, within: Duration) -> Result<()> {
        self.world.recover(call, within)?;
        self.sorted.iter_mut().for_each(VecDeque::clear);
        Ok(())
    }

    fn sort_mail(&mut self) {
        let messages = std::mem::take(&mut lock(&self.own().inbox).messages);
        for envelope in messages {
            self.sorted[envelope.tag.at()].push_back(envelope);
        }
    }
}

impl Transport for Threads {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn n_ranks(&self) -> usize {
        self.world.mailboxes.len()
    }

    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.post(to, tag, bytes, false)
    }

    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.post(to, tag, bytes, true)
    }

    fn pending(&mut self) -> Result<usize> {
        self.world.check(self.place.finished)?;
        Ok(self.own().unmatched.load(Ordering::Acquire))
    }

    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        self.world.check(self.place.finished)?;
        if self.sorted[tag.at()].is_empty() {
            self.sort_mail();
        }
        let Some(envelope) = self.sorted[tag.at()].pop_front() else { return Ok(None) };
        self.own().sign();
        if envelope.synchronous {
            let sender = &self.world.mailboxes[envelope.from.at()];
            if sender.unmatched.fetch_sub(1, Ordering::AcqRel) == 1 {
                sender.wake(|_| ());
            }
        }
        Ok(Some((envelope.from, envelope.bytes)))
    }

    fn park(&mut self, at_most: Duration) -> Result<()> {
        let own = self.own();
        let mut inbox = lock(&own.inbox);
        if inbox.wakeups == self.wakeups_seen {
            drop(inbox);
            self.world.check_left(self.place.finished)?;
            inbox = lock(&own.inbox);
            inbox.asleep = true;
            inbox = wait_while(&own.condvar, inbox, self.nap(at_most), |inbox| {
                inbox.wakeups == self.wakeups_seen
            });
            inbox.asleep = false;
        }
        let wakeups = inbox.wakeups;
        drop(inbox);
        self.wakeups_seen = wakeups;
        self.world.check(self.place.finished)
    }

    fn progress_signs(&mut self) -> u64 {
        let signs = self.world.mailboxes.iter().map(|b| b.signs.count());
        signs.fold(0, u64::wrapping_add)
    }

    fn set_location(&mut self, place: RankState) {
        self.place = place;
        *lock(&self.own().place) = place;
        self.own().sign();
    }

    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding {
        let places: Vec<RankState> = self.world.mailboxes.iter().map(|b| *lock(&b.place)).collect();
        let computing = places.iter().any(|place| place.call.is_empty());
        let mut states = RankStates::default();
        (0..).map(Rank).zip(&places).for_each(|(rank, place)| states.add([rank, rank], place));
        Finding::new(patience, idle, computing, states)
    }

    fn pulse(&self) -> Pulse {
        self.own().signs.clone()
    }

    fn abort(&mut self, error: CommError) -> CommError {
        self.world.fail(self.place.finished, error)
    }

    fn recover(&mut self, within: Duration) -> Result<()> {
        self.meet("recover", within)
    }

    fn close(&mut self, within: Duration) -> Result<()> {
        self.meet("close", within)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (rank, stage) = (self.rank, self.place.stage.to_string());
            let error = CommError::Panicked { rank, stage, message: "see its own message".into() };
            self.world.fail(self.place.finished, error);
        }
        self.world.leave(self.rank, self.place.finished);
    }
}
