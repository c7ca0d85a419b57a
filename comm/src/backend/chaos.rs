//! A backend that misbehaves as much as the contract allows: a test tool.
//!
//! It holds messages back, lets later ones overtake, says that nothing has come although something
//! has, and gives its core away, all from a seed. It keeps no message once the backend inside has
//! handed it out, since the sender then counts it as received.

use super::{Backend, Finding, Place, Tag, Transport};
use crate::{CommError, Pulse, Rank, Result};
use std::time::Duration;

/// Another backend, made unpleasant.
#[derive(Debug)]
pub(crate) struct Chaos {
    inner: Box<Backend>,
    rank: Rank,
    n_ranks: usize,
    random: Random,
    held: Vec<Held>,
    /// Whether it may have hidden something since the last rest.
    hid: bool,
}

#[derive(Debug)]
struct Held {
    to: Rank,
    tag: Tag,
    bytes: Vec<u8>,
    synchronous: bool,
}

/// SplitMix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
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
    /// `inner`, made unpleasant by `seed`, differently on every rank.
    pub fn new(mut inner: Backend, seed: u64) -> Self {
        let (rank, n_ranks) = (inner.transport().rank(), inner.transport().n_ranks());
        let random = Random(seed ^ u64::from(rank.0).wrapping_mul(0xd134_2543_de82_ef95));
        Self { inner: Box::new(inner), rank, n_ranks, random, held: Vec::new(), hid: false }
    }

    fn disturb(&mut self) {
        if self.random.one_in(16) {
            std::thread::yield_now();
        }
        if self.random.one_in(4096) {
            std::thread::sleep(Duration::from_micros(self.random.next() % 500));
        }
    }

    fn hold(&mut self, held: Held) -> Result<()> {
        self.disturb();
        self.held.push(held);
        if self.random.one_in(2) { Ok(()) } else { self.release(1) }
    }

    /// Sends up to `n` of the held messages on, in any order.
    fn release(&mut self, n: usize) -> Result<()> {
        for _ in 0..n.min(self.held.len()) {
            let held = self.held.swap_remove(self.random.below(self.held.len()));
            let inner = self.inner.transport();
            match held.synchronous {
                true => inner.send_synchronous(held.to, held.tag, held.bytes)?,
                false => inner.send(held.to, held.tag, held.bytes)?,
            }
        }
        Ok(())
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
        self.hold(Held { to, tag, bytes, synchronous: false })
    }

    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.hold(Held { to, tag, bytes, synchronous: true })
    }

    fn pending(&mut self) -> Result<usize> {
        Ok(self.inner.transport().pending()? + self.held.len())
    }

    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        self.disturb();
        let hide = self.random.one_in(4);
        self.hid |= hide;
        if hide { Ok(None) } else { self.inner.transport().receive(tag) }
    }

    /// Releases something. Sleeps only if there was nothing held or hidden.
    fn rest(&mut self, at_most: Duration) -> Result<()> {
        let busy = std::mem::take(&mut self.hid) || !self.held.is_empty();
        let n = 1 + self.random.below(self.held.len());
        self.release(n)?;
        std::thread::yield_now();
        self.inner.transport().rest(if busy { Duration::ZERO } else { at_most })
    }

    fn signs_of_life(&mut self) -> u64 {
        self.inner.transport().signs_of_life()
    }

    fn stand(&mut self, place: Place) {
        self.inner.transport().stand(place);
    }

    fn look_around(&mut self, patience: Duration, idle: Duration) -> Finding {
        self.inner.transport().look_around(patience, idle)
    }

    fn pulse(&self) -> Pulse {
        self.inner.pulse()
    }

    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        self.inner.transport().before_end(clean);
    }

    fn abort(&mut self, error: CommError) -> CommError {
        self.inner.transport().abort(error)
    }
}
