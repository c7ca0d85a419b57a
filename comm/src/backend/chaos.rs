//! A backend that misbehaves as much as the contract allows: a test tool.
//!
//! From a seed, it delays messages, lets later ones overtake, hides messages that have arrived, and yields
//! its core. A message that the inner backend has returned may count as partly received for a while: its
//! sender counts it as received, and [`Transport::is_receiving`] is true.

#[cfg(feature = "mpi")]
use super::mpi::HostComm;
use super::{Backend, Finding, RankState, Tag, Transport};
use crate::{CommError, Pulse, Rank, Result, ThreadLevel};
use std::time::{Duration, Instant};

/// Another backend that is disturbed.
#[derive(Debug)]
pub(crate) struct Chaos {
    inner: Box<Backend>,
    rank: Rank,
    n_ranks: usize,
    random: ChaosRandom,
    held: Vec<Held>,
    /// Messages that count as partly received.
    begun: Vec<(Tag, (Rank, Vec<u8>))>,
    /// The least time that a message takes.
    delay: Duration,
    /// Whether it may have hidden something since the last call of `park`.
    hid: bool,
}

#[derive(Debug)]
struct Held {
    to: Rank,
    tag: Tag,
    bytes: Vec<u8>,
    synchronous: bool,
    due: Instant,
}

/// SplitMix64.
#[derive(Debug)]
struct ChaosRandom(u64);

impl ChaosRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

impl Chaos {
    /// Disturbs `inner` as `seed` says, differently on every rank. No message arrives before `delay`.
    pub fn new(mut inner: Backend, seed: u64, delay: Duration) -> Self {
        let (rank, n_ranks) = (inner.transport().rank(), inner.transport().n_ranks());
        let random = ChaosRandom(seed ^ u64::from(rank.0).wrapping_mul(0xd134_2543_de82_ef95));
        Self {
            inner: Box::new(inner),
            rank,
            n_ranks,
            random,
            held: Vec::new(),
            begun: Vec::new(),
            delay,
            hid: false,
        }
    }

    fn disturb(&mut self) {
        if self.random.one_in(16) {
            std::thread::yield_now();
        }
        if self.random.one_in(4096) {
            std::thread::sleep(Duration::from_micros(self.random.next() % 500));
        }
    }

    fn hold(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>, synchronous: bool) -> Result<()> {
        self.disturb();
        self.held.push(Held { to, tag, bytes, synchronous, due: Instant::now() + self.delay });
        if self.random.one_in(2) { Ok(()) } else { self.release(1) }
    }

    /// Sends up to `n` of the due messages, in any order.
    fn release(&mut self, n: usize) -> Result<()> {
        let now = Instant::now();
        for _ in 0..n {
            let due: Vec<usize> = (0..self.held.len()).filter(|i| self.held[*i].due <= now).collect();
            if due.is_empty() {
                break;
            }
            let held = self.held.swap_remove(due[self.random.below(due.len())]);
            let inner = self.inner.transport();
            match held.synchronous {
                true => inner.send_synchronous(held.to, held.tag, held.bytes)?,
                false => inner.send(held.to, held.tag, held.bytes)?,
            }
        }
        Ok(())
    }

    /// How long until a held message is due, if any is held.
    fn until_due(&self) -> Option<Duration> {
        let next = self.held.iter().map(|held| held.due).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }
}

impl Transport for Chaos {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.hold(to, tag, bytes, false)
    }

    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.hold(to, tag, bytes, true)
    }

    fn pending(&mut self) -> Result<usize> {
        Ok(self.inner.transport().pending()? + self.held.len())
    }

    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        self.disturb();
        let hide = self.random.one_in(4);
        self.hid |= hide;
        if hide {
            return Ok(None);
        }
        if let Some(i) = self.begun.iter().position(|(of, _)| *of == tag) {
            return Ok(Some(self.begun.swap_remove(i).1));
        }
        let message = self.inner.transport().receive(tag)?;
        if self.random.one_in(4) {
            self.hid = true;
            self.begun.extend(message.map(|message| (tag, message)));
            return Ok(None);
        }
        Ok(message)
    }

    fn is_receiving(&self, tag: Tag) -> bool {
        self.begun.iter().any(|(of, _)| *of == tag) || self.inner.look().is_receiving(tag)
    }

    /// Releases something. Sleeps only if nothing was hidden and nothing held is due.
    fn park(&mut self, at_most: Duration) -> Result<()> {
        let hid = std::mem::take(&mut self.hid);
        let wait = if hid { Some(Duration::ZERO) } else { self.until_due() };
        let n = 1 + self.random.below(self.held.len());
        self.release(n)?;
        std::thread::yield_now();
        self.inner.transport().park(wait.map_or(at_most, |wait| wait.min(at_most)))
    }

    fn progress_signs(&mut self) -> u64 {
        self.inner.transport().progress_signs()
    }

    fn set_location(&mut self, place: RankState) {
        self.inner.transport().set_location(place);
    }

    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding {
        self.inner.transport().probe_stall(patience, idle)
    }

    fn pulse(&self) -> Pulse {
        self.inner.look().pulse()
    }

    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        self.inner.transport().before_end(clean);
    }

    fn abort(&mut self, error: CommError) -> CommError {
        self.inner.transport().abort(error)
    }

    /// Messages that are held were never sent.
    fn recover(&mut self, within: Duration) -> Result<()> {
        self.held.clear();
        self.begun.clear();
        self.inner.transport().recover(within)
    }

    fn close(&mut self, within: Duration) -> Result<()> {
        self.inner.transport().close(within)
    }

    #[cfg(feature = "mpi")]
    fn as_host(&self) -> Option<HostComm> {
        self.inner.look().as_host()
    }

    fn thread_level(&self) -> ThreadLevel {
        self.inner.look().thread_level()
    }

    fn check_callable(&self) -> Result<()> {
        self.inner.look().check_callable()
    }
}
