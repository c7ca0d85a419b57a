//! A backend that records the calls and messages of the inner backend.

#[cfg(feature = "mpi")]
use super::mpi::HostComm;
use super::{Backend, Finding, RankState, Tag, Transport};
use crate::{CommError, Pulse, Rank, Result, ThreadLevel};
use std::time::{Duration, Instant};

/// An event of a rank, for a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageTrace {
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

/// Another backend that is traced.
#[derive(Debug)]
pub(crate) struct Traced {
    inner: Box<Backend>,
    notes: Vec<MessageTrace>,
    /// The call that this rank is in.
    open: Option<(RankState, Instant)>,
}

impl Traced {
    /// Traces `inner` from now on.
    pub fn new(inner: Backend) -> Self {
        Self { inner: Box::new(inner), notes: Vec::new(), open: None }
    }

    /// The inner backend.
    pub fn into_inner(self) -> Backend {
        *self.inner
    }

    /// The events so far.
    pub fn notes(&self) -> &[MessageTrace] {
        &self.notes
    }

    fn note_sent(&mut self, to: Rank, bytes: &[u8]) {
        self.notes.push(MessageTrace::Sent { at: Instant::now(), to, bytes: bytes.len() });
    }
}

impl Transport for Traced {
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
            self.notes.push(MessageTrace::Received { at: Instant::now(), from: *from, bytes: bytes.len() });
        }
        Ok(received)
    }

    fn is_receiving(&self, tag: Tag) -> bool {
        self.inner.look().is_receiving(tag)
    }

    fn park(&mut self, at_most: Duration) -> Result<()> {
        self.inner.transport().park(at_most)
    }

    fn progress_signs(&mut self) -> u64 {
        self.inner.transport().progress_signs()
    }

    /// The endpoint is in a call from its begin to its end.
    fn set_location(&mut self, place: RankState) {
        if let Some((RankState { stage, call, .. }, begin)) = self.open.take() {
            self.notes.push(MessageTrace::Call { stage, call, begin, took: begin.elapsed() });
        }
        if !place.call.is_empty() {
            self.open = Some((place, Instant::now()));
        }
        self.inner.transport().set_location(place);
    }

    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding {
        self.inner.transport().probe_stall(patience, idle)
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

    fn recover(&mut self, within: Duration) -> Result<()> {
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
