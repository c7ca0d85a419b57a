//! A backend that notes what the one inside does: the calls of this rank, and every message.

use super::{Backend, Finding, Place, Tag, Transport};
use crate::{CommError, Pulse, Rank, Result};
use std::time::{Duration, Instant};

/// Something that a rank did, for a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// A collective call.
    Call {
        /// Its stage.
        stage: &'static str,
        /// Which call.
        call: &'static str,
        /// When it began.
        begin: Instant,
        /// How long it took.
        took: Duration,
    },
    /// A message was sent.
    Sent {
        /// When.
        at: Instant,
        /// To whom.
        to: Rank,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A message was received.
    Received {
        /// When.
        at: Instant,
        /// From whom.
        from: Rank,
        /// Its length in bytes.
        bytes: usize,
    },
}

/// Another backend, watched.
#[derive(Debug)]
pub(crate) struct Noted {
    inner: Box<Backend>,
    notes: Vec<Note>,
    /// The call that this rank is in.
    open: Option<(Place, Instant)>,
}

impl Noted {
    /// `inner`, watched from now on.
    pub fn new(inner: Backend) -> Self {
        Self { inner: Box::new(inner), notes: Vec::new(), open: None }
    }

    /// The other backend again.
    pub fn into_inner(self) -> Backend {
        *self.inner
    }

    /// What was noted so far.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn note_sent(&mut self, to: Rank, bytes: &[u8]) {
        self.notes.push(Note::Sent { at: Instant::now(), to, bytes: bytes.len() });
    }
}

impl Transport for Noted {
    fn rank(&self) -> Rank {
        self.inner.look().rank()
    }

    fn n_ranks(&self) -> usize {
        self.inner.look().n_ranks()
    }

    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.note_sent(to, &bytes);
        self.inner.transport().send(to, tag, bytes)
    }

    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.note_sent(to, &bytes);
        self.inner.transport().send_synchronous(to, tag, bytes)
    }

    fn pending(&mut self) -> Result<usize> {
        self.inner.transport().pending()
    }

    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>> {
        let received = self.inner.transport().receive(tag)?;
        if let Some((from, bytes)) = &received {
            self.notes.push(Note::Received { at: Instant::now(), from: *from, bytes: bytes.len() });
        }
        Ok(received)
    }

    fn rest(&mut self, at_most: Duration) -> Result<()> {
        self.inner.transport().rest(at_most)
    }

    fn signs_of_life(&mut self) -> u64 {
        self.inner.transport().signs_of_life()
    }

    /// The endpoint stands in a call from its begin to its end.
    fn stand(&mut self, place: Place) {
        if let Some((Place { stage, call, .. }, begin)) = self.open.take() {
            self.notes.push(Note::Call { stage, call, begin, took: begin.elapsed() });
        }
        if !place.call.is_empty() {
            self.open = Some((place, Instant::now()));
        }
        self.inner.transport().stand(place);
    }

    fn look_around(&mut self, patience: Duration, idle: Duration) -> Finding {
        self.inner.transport().look_around(patience, idle)
    }

    fn watch_messages(&self) -> u64 {
        self.inner.look().watch_messages()
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
}
