//! Ranks as processes under MPI. A program and a guest differ only in the start of MPI and the effect of a
//! failure.
//!
//! - `link`: messages in pieces, over one communicator.
//! - `watch`: questions about the state of other ranks.
//! - `program`: MPI belongs to this program; a failure ends the job.
//! - `guest`: MPI belongs to a host; a failure is an error on all ranks, and `recover` leads back.
//!
//! `unsafe` occurs only where the library is called. All calls are made by the thread that uses the rank. The
//! only exception is `MPI_Abort` after a panic in a program.

mod guest;
mod in_flight;
mod link;
mod program;
mod recover;
mod stall_probe;
mod watch;

pub use guest::HostComm;
pub(crate) use guest::{Guest, start_guest};
pub(crate) use program::{Program, start_program, write_line};

use super::{Finding, RankState, Tag, Transport};
use crate::{CommError, Pulse, Rank, Result, ThreadLevel};
use link::Link;
use std::ffi::c_int;
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use watch::StallWatch;

/// Greatest length of a piece of a message: counts of the library have 32 bits.
pub(crate) const PIECE_BYTES: usize = 1 << 30;

/// Tags in addition to those of [`Tag`].
#[derive(Debug, Clone, Copy)]
enum ControlTag {
    /// A question about the state of a rank.
    Ask = Tag::N as isize,
    /// The answer.
    Answer,
    /// A rank of a program ends.
    Exit,
    /// A guest has failed, or a rank of a program ends the job.
    Failed,
    /// A guest has waited for too long in `recover` or `close`, and has failed for good.
    GaveUp,
}

/// All tags.
const N_TAGS: usize = ControlTag::GaveUp as usize + 1;

/// How often and for how long a rank only yields its core before it sleeps. On a busy machine it takes long
/// to get the core back.
const SPINS: u32 = 500;
const SPIN_TIME: Duration = Duration::from_millis(2);
/// How often a sleeping rank checks for questions and failures.
const SERVE_INTERVAL: Duration = Duration::from_millis(2);

/// The start of MPI, the effect of a failure, and the end of a rank.
pub(crate) trait Lifecycle: Sized {
    /// Sets the current location of the rank.
    fn set_location(&mut self, _place: RankState) {}

    /// Receives reports of ends and failures of ranks. Returns an error if this rank cannot go on.
    fn serve(mpi: &mut Mpi<Self>) -> Result<()>;

    /// See [`Transport::before_end`].
    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        drop(clean);
    }

    /// See [`Transport::abort`].
    fn abort(mpi: &mut Mpi<Self>, error: CommError) -> CommError;

    /// See [`Transport::recover`].
    fn recover(_mpi: &mut Mpi<Self>, _within: Duration) -> Result<()> {
        Ok(())
    }

    /// Returns an error if MPI has ended.
    fn check_running() -> Result<()> {
        Ok(())
    }

    /// See [`Transport::close`].
    fn close(_mpi: &mut Mpi<Self>, _within: Duration) -> Result<()> {
        Ok(())
    }

    /// The rank is dropped.
    fn end(_mpi: &mut Mpi<Self>) {}
}

/// One rank.
pub(crate) struct Mpi<L: Lifecycle> {
    link: Link,
    place: RankState,
    signs: u64,
    pulse: Pulse,
    moved: Instant,
    parks: u32,
    /// When this rank last checked for questions and failures.
    served: Instant,
    watch: Box<StallWatch>,
    level: ThreadLevel,
    /// The thread that built the rank.
    thread: ThreadId,
    /// Dropped after the link: it may end MPI.
    lifecycle: L,
}

impl<L: Lifecycle> Mpi<L> {
    /// The rank that uses `link`, built by its own thread.
    fn new(link: Link, level: ThreadLevel, lifecycle: L) -> Self {
        Self {
            link,
            place: RankState::default(),
            signs: 0,
            pulse: Pulse::default(),
            moved: Instant::now(),
            parks: 0,
            served: Instant::now(),
            watch: Box::default(),
            level,
            thread: std::thread::current().id(),
            lifecycle,
        }
    }

    fn sign(&mut self) {
        self.signs += 1;
        self.moved = Instant::now();
        self.parks = 0;
    }

    /// Answers questions about the state of this rank, and receives the exits and failures of others.
    fn serve(&mut self) -> Result<()> {
        self.serve_watch()?;
        L::serve(self)
    }

    fn send_to_all_others(&mut self, tag: ControlTag, bytes: &[u8]) {
        let (own, n_ranks) = (self.link.rank(), self.link.n_ranks() as u32);
        for to in (0..n_ranks).map(Rank).filter(|to| *to != own) {
            // If the library refuses, there is no other way to reach that rank.
            let _ = self.link.start_send(to, tag as c_int, bytes.to_vec(), false);
        }
    }

    /// Returns an error if the library allows no call from this thread.
    fn check_level(&self) -> Result<()> {
        match self.level >= ThreadLevel::Serialized || std::thread::current().id() == self.thread {
            true => Ok(()),
            false => Err(CommError::WrongThread { level: self.level }),
        }
    }

    /// The error for a control message that cannot be decoded.
    fn broken(message: &str, from: Rank) -> CommError {
        CommError::Mismatch { what: format!("{message} of {from} cannot be read") }
    }
}

impl<L: Lifecycle> std::fmt::Debug for Mpi<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mpi({} of {})", self.link.rank(), self.link.n_ranks())
    }
}

impl<L: Lifecycle> Transport for Mpi<L> {
    fn rank(&self) -> Rank {
        self.link.rank()
    }

    fn n_ranks(&self) -> usize {
        self.link.n_ranks()
    }

    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.sign();
        self.link.start_send(to, tag.at() as c_int, bytes, false)
    }

    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.sign();
        self.link.start_send(to, tag.at() as c_int, bytes, true)
    }

    fn pending(&mut self) -> Result<usize> {
        let before = self.link.n_sending();
        let n = self.link.pending()?;
        if n < before {
            self.sign();
        }
        Ok(n)
    }

    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        let message = self.link.take(tag.at() as c_int)?;
        if message.is_some() {
            self.sign();
        }
        Ok(message)
    }

    fn is_receiving(&self, tag: Tag) -> bool {
        self.link.is_receiving(tag.at() as c_int)
    }

    /// The library cannot wake a sleeping rank, so this one soon polls again.
    fn park(&mut self, at_most: Duration) -> Result<()> {
        self.parks = self.parks.saturating_add(1);
        if self.parks < SPINS && self.moved.elapsed() < SPIN_TIME {
            std::thread::yield_now();
            return Ok(());
        }
        std::thread::sleep(at_most.min(Duration::from_micros(100)));
        if self.served.elapsed() < SERVE_INTERVAL {
            return Ok(());
        }
        self.served = Instant::now();
        self.serve()
    }

    fn progress_signs(&mut self) -> u64 {
        self.signs.wrapping_add(self.pulse.count())
    }

    fn set_location(&mut self, place: RankState) {
        self.place = place;
        self.lifecycle.set_location(place);
        self.sign();
    }

    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding {
        self.look_around(patience, idle).unwrap_or_else(Finding::Stalled)
    }

    fn watch_messages(&self) -> u64 {
        self.watch.n_messages()
    }

    fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        self.lifecycle.before_end(clean);
    }

    fn abort(&mut self, error: CommError) -> CommError {
        L::abort(self, error)
    }

    fn recover(&mut self, within: Duration) -> Result<()> {
        L::recover(self, within)
    }

    fn close(&mut self, within: Duration) -> Result<()> {
        L::close(self, within)
    }

    fn as_host(&self) -> Option<HostComm> {
        Some(HostComm::from_own(self.link.comm()))
    }

    fn thread_level(&self) -> ThreadLevel {
        self.level
    }

    fn check_callable(&self) -> Result<()> {
        L::check_running()?;
        self.check_level()
    }
}

impl<L: Lifecycle> Drop for Mpi<L> {
    fn drop(&mut self) {
        L::end(self);
    }
}

/// The error that a call of the library returned.
fn check(code: c_int, call: &'static str) -> Result<()> {
    link::message_of(code).map_or(Ok(()), |message| Err(CommError::Mpi { call, message }))
}
