//! The state of one rank: its backend, its stage and call, and the only loop in which it waits.

use crate::backend::traced::{MessageTrace, Traced};
use crate::backend::{Backend, RankState, Transport};
use crate::settings::{RECOVER_TIMEOUT, Settings};
use crate::traffic::TrafficLog;
use crate::watchdog::Watchdog;
use crate::{CommError, Rank, Result};
use std::time::{Duration, Instant};

/// The kinds of collective calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// A barrier.
    Barrier,
    /// A reduction to one value.
    Reduce,
    /// Sums over the ranks before each rank.
    SumBefore,
    /// All records to all ranks.
    Gather,
    /// From one rank to all.
    Broadcast,
    /// Records to their destinations.
    Exchange,
    /// Records between neighbours.
    Neighbours,
}

impl Op {
    /// As errors name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Reduce => "all_reduce",
            Self::SumBefore => "sum_before",
            Self::Gather => "all_gather",
            Self::Broadcast => "broadcast",
            Self::Exchange => "exchange",
            Self::Neighbours => "exchange_with",
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Endpoint {
    backend: Backend,
    rank: Rank,
    n_ranks: usize,
    place: RankState,
    /// Finished calls that all ranks synchronise in.
    rounds: u64,
    patience: Option<Duration>,
    recover_timeout: Duration,
    failed: Option<CommError>,
    /// Neighbour messages of later calls, with their numbers.
    pub early: Vec<(u64, (Rank, Vec<u8>))>,
    /// The traffic so far.
    pub traffic: TrafficLog,
}

impl Endpoint {
    /// An endpoint with these settings.
    pub fn new(backend: Backend, settings: Settings) -> Self {
        let (rank, n_ranks) = (backend.look().rank(), backend.look().n_ranks());
        let traffic = TrafficLog::new(None);
        let place = RankState::default();
        let plain = Self {
            backend,
            rank,
            n_ranks,
            place,
            rounds: 0,
            patience: None,
            recover_timeout: RECOVER_TIMEOUT,
            failed: None,
            early: Vec::new(),
            traffic,
        };
        plain.with_settings(settings)
    }

    /// The same endpoint with these settings; records and counts begin anew.
    pub fn with_settings(self, settings: Settings) -> Self {
        let Settings { traced, clock, stall_timeout, recover_timeout } = settings;
        let recover_timeout = recover_timeout.unwrap_or(RECOVER_TIMEOUT);
        let backend = match self.backend {
            Backend::Traced(traced) => traced.into_inner(),
            backend => backend,
        };
        let backend = if traced { Backend::Traced(Traced::new(backend)) } else { backend };
        Self { backend, patience: stall_timeout, recover_timeout, traffic: TrafficLog::new(clock), ..self }
    }

    /// Sets how long this rank waits from now on.
    pub fn set_time_limits(&mut self, stall: Option<Duration>, recover: Duration) {
        (self.patience, self.recover_timeout) = (stall, recover);
    }

    /// The error that calls return after a failure.
    pub fn failure(&self) -> Option<&CommError> {
        self.failed.as_ref()
    }

    pub fn rank(&self) -> Rank {
        self.rank
    }

    pub fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    /// The number of the collective call now made, from 0.
    pub fn number(&self) -> u64 {
        self.place.finished
    }

    /// The number of that call among those in which all ranks synchronise. Tags alternate with it.
    pub fn round(&self) -> u64 {
        self.rounds
    }

    pub fn notes(&self) -> &[MessageTrace] {
        match &self.backend {
            Backend::Traced(traced) => traced.notes(),
            _ => &[],
        }
    }

    pub fn transport(&mut self) -> &mut dyn Transport {
        self.backend.transport()
    }

    pub fn stage(&self) -> &'static str {
        self.place.stage
    }

    pub fn enter(&mut self, stage: &'static str) {
        self.traffic.enter(stage);
        self.place.stage = stage;
        self.set_location();
    }

    pub fn abort(&mut self, message: String) -> CommError {
        let (rank, stage) = (self.rank, self.place.stage.to_string());
        self.fail(CommError::Aborted { rank, stage, message })
    }

    pub fn panicked(&mut self, message: String) -> CommError {
        let (rank, stage) = (self.rank, self.place.stage.to_string());
        self.fail(CommError::Panicked { rank, stage, message })
    }

    /// Makes one collective call. A failure reaches all ranks.
    pub fn call<R>(&mut self, op: Op, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.transport().check_callable()?;
        self.place.call = op.name();
        self.set_location();
        let lap = self.traffic.lap();
        self.traffic.now().work += lap;
        let begin = Instant::now();
        let done = work(self).and_then(|result| self.finish_sends().map(|()| result));
        let lap = self.traffic.lap();
        let now = self.traffic.now();
        now.in_calls += lap;
        now.call_time += begin.elapsed();
        match done {
            Ok(result) => {
                self.place.finished += 1;
                self.rounds += u64::from(op != Op::Neighbours);
                self.place.call = "";
                self.set_location();
                Ok(result)
            }
            // A broken protocol is reported with the rank that found it, and its stage.
            Err(CommError::Mismatch { what }) => {
                let what = format!("{} [{}: {}]", what, self.rank, self.place);
                Err(self.fail(CommError::Mismatch { what }))
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Makes this rank and all others ready for calls again. A rank without an error first makes the others
    /// fail.
    pub fn recover(&mut self) -> Result<()> {
        self.transport().check_callable()?;
        match self.failed {
            Some(CommError::Closed) => return Err(CommError::Closed),
            Some(_) => {}
            None => drop(self.abort("called recover".into())),
        }
        // Ranks that stalled have waited already.
        let within = match (&self.failed, self.patience) {
            (Some(failure), Some(patience)) if failure.is_stall() => patience.min(self.recover_timeout),
            _ => self.recover_timeout,
        };
        let recovered = self.transport().recover(within);
        self.failed = recovered.as_ref().err().cloned();
        if recovered.is_ok() {
            self.early.clear();
            self.rounds = 0;
            self.place = RankState { stage: self.place.stage, ..RankState::default() };
            self.set_location();
        }
        recovered
    }

    /// Waits for all ranks and frees their shared resources.
    pub fn close(&mut self) -> Result<()> {
        self.transport().check_callable()?;
        let within = self.recover_timeout;
        let closed = self.transport().close(within);
        self.failed = Some(CommError::Closed);
        closed
    }

    /// Counts a message of a sparse exchange.
    pub fn count_message(&mut self, n_bytes: usize) {
        let now = self.traffic.now();
        now.messages += 1;
        now.bytes += n_bytes as u64;
    }

    /// Polls until there is a result; the only place where a rank waits.
    pub fn wait<T>(&mut self, mut poll: impl FnMut(&mut dyn Transport) -> Result<Option<T>>) -> Result<T> {
        let transport = self.backend.transport();
        let mut watch = Watchdog::new(self.patience, Instant::now());
        loop {
            if let Some(found) = poll(transport)? {
                return Ok(found);
            }
            transport.park(watch.nap)?;
            watch.look(transport, Instant::now())?;
        }
    }

    fn finish_sends(&mut self) -> Result<()> {
        self.wait(|t| Ok((t.pending()? == 0).then_some(())))
    }

    fn fail(&mut self, error: CommError) -> CommError {
        let error = self.backend.transport().abort(error);
        self.failed.get_or_insert(error).clone()
    }

    fn set_location(&mut self) {
        let place = self.place;
        self.transport().set_location(place);
    }
}
