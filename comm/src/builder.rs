//! A value that is sent to the thread of a rank and becomes its [`Comm`] there.

#[cfg(feature = "mpi")]
use crate::backend::mpi::{self, HostComm};
use crate::backend::threads::{Threads, World};
use crate::backend::{Backend, chaos};
use crate::endpoint::Endpoint;
#[cfg(feature = "mpi")]
use crate::settings::Report;
use crate::settings::Settings;
use crate::{Comm, Rank, Result, ThreadClock};
use std::sync::Arc;
use std::time::Duration;

/// Builds a rank: it may be sent to a thread, where it builds the [`Comm`].
#[derive(Debug)]
pub struct CommBuilder {
    kind: TransportKind,
    chaos: Option<u64>,
    delay: Duration,
    settings: Settings,
}

#[derive(Debug)]
enum TransportKind {
    Threads(Box<Threads>),
    #[cfg(feature = "mpi")]
    Program {
        piece_bytes: usize,
        report: Report,
    },
    #[cfg(feature = "mpi")]
    Guest {
        host: HostComm,
        piece_bytes: usize,
    },
}

impl Comm {
    /// `n_ranks` ranks (at least one) as threads of this process. Every builder must be built, each
    /// in the thread of its rank; [`crate::run_threads`] is simpler.
    pub fn threads(n_ranks: usize) -> Vec<CommBuilder> {
        let world = World::new(n_ranks.max(1));
        let rank = |rank| {
            CommBuilder::new(TransportKind::Threads(Box::new(Threads::new(Arc::clone(&world), Rank(rank)))))
        };
        (0..n_ranks.max(1) as u32).map(rank).collect()
    }

    /// This process as one rank of an MPI job, or as the only rank if no launcher of this MPI library started
    /// it. Build it once in a process, in the thread that makes all its calls. From then on a panic anywhere
    /// in the process ends the whole job.
    #[cfg(feature = "mpi")]
    pub fn mpi() -> CommBuilder {
        let (piece_bytes, report) = (mpi::PIECE_BYTES, mpi::write_line as Report);
        CommBuilder::new(TransportKind::Program { piece_bytes, report })
    }

    /// This process as one rank of a communicator that belongs to a host program.
    ///
    /// [`CommBuilder::build`] is collective over the host's communicator: it duplicates it, and uses the
    /// duplicate only. MPI must run. This crate neither initialises nor finalises it, and a failure ends no
    /// process: it is an error on every rank, from which [`Comm::recover`] leads back. [`Comm::close`] frees
    /// the duplicate; a drop without it leaks the duplicate and may follow the end of MPI. Only the calling
    /// thread calls MPI, and nothing is printed.
    #[cfg(feature = "mpi")]
    pub fn guest(host: HostComm) -> CommBuilder {
        CommBuilder::new(TransportKind::Guest { host, piece_bytes: mpi::PIECE_BYTES })
    }

    /// This process as a guest of this communicator, for work whose failure must not end the job: an error
    /// there leaves this communicator as it was. `None` if no MPI library is beneath.
    ///
    /// [`CommBuilder::build`] is collective over all ranks of this communicator. As for [`Comm::guest`], only
    /// [`Comm::close`] frees the duplicate; call it while this communicator is open.
    #[cfg(feature = "mpi")]
    pub fn guest_of_own(&self) -> Option<CommBuilder> {
        self.endpoint().transport().as_host().map(Self::guest)
    }

    /// The same rank with these settings, which were not known when it was built. Earlier traffic and work
    /// are no longer counted. Local, between calls, on all ranks.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self::new(self.into_endpoint().with_settings(settings))
    }
}

impl CommBuilder {
    fn new(kind: TransportKind) -> Self {
        Self { kind, chaos: None, delay: Duration::ZERO, settings: Settings::default() }
    }

    /// For tests: messages are late and overtake each other as `seed` says.
    pub fn chaos(mut self, seed: u64) -> Self {
        self.chaos = Some(seed);
        self
    }

    /// For tests: with [`Self::chaos`], every message takes at least this time.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Records calls and messages ([`Comm::notes`]): 40 bytes each.
    pub fn traced(mut self, traced: bool) -> Self {
        self.settings.traced = traced;
        self
    }

    /// Measures the time inside and outside of calls with this clock, which the thread of the rank reads
    /// twice per call ([`crate::StageTraffic::work`]).
    pub fn clock(mut self, clock: Option<ThreadClock>) -> Self {
        self.settings.clock = clock;
        self
    }

    /// When all ranks are in calls and nothing has moved for this time, the job ends with
    /// [`crate::CommError::Stalled`], which states the location of each rank. Without it, ranks wait forever.
    ///
    /// A rank between calls computes. Its limit is ten times as long, from its last sign of life: a call,
    /// [`Comm::at`] or a beat of its [`Comm::pulse`]. Other processes of an MPI job do not see beats, so
    /// there the longest computation between two calls must fit into ten times `after`.
    pub fn stall_timeout(mut self, after: Duration) -> Self {
        self.settings.stall_timeout = Some(after);
        self
    }

    /// How long a rank waits for the others in [`Comm::recover`] and [`Comm::close`]; by default
    /// [`crate::RECOVER_TIMEOUT`]. After a stall it waits no longer than [`Self::stall_timeout`].
    pub fn recover_timeout(mut self, within: Duration) -> Self {
        self.settings.recover_timeout = Some(within);
        self
    }

    /// For tests: MPI messages are cut into pieces of this number of bytes.
    #[cfg(feature = "mpi")]
    pub fn piece_bytes(mut self, n_bytes: usize) -> Self {
        match &mut self.kind {
            TransportKind::Threads(_) => {}
            TransportKind::Program { piece_bytes, .. } | TransportKind::Guest { piece_bytes, .. } => {
                *piece_bytes = n_bytes.clamp(1, mpi::PIECE_BYTES);
            }
        }
        self
    }

    /// How this process reports why it ends an MPI job. By default it writes one line to standard error.
    #[cfg(feature = "mpi")]
    pub fn report_with(mut self, with: Report) -> Self {
        if let TransportKind::Program { report, .. } = &mut self.kind {
            *report = with;
        }
        self
    }

    /// All settings at once.
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// Builds the rank, in the thread that will use it.
    ///
    /// # Errors
    /// When the MPI library refuses; for a guest, when MPI does not run or this thread may not call it.
    pub fn build(self) -> Result<Comm> {
        let backend = match self.kind {
            TransportKind::Threads(threads) => Backend::Threads(threads),
            #[cfg(feature = "mpi")]
            TransportKind::Program { piece_bytes, report } => {
                Backend::Program(Box::new(mpi::start_program(piece_bytes, report)?))
            }
            #[cfg(feature = "mpi")]
            TransportKind::Guest { host, piece_bytes } => {
                Backend::Guest(Box::new(mpi::start_guest(host, piece_bytes)?))
            }
        };
        let backend = match self.chaos {
            Some(seed) => Backend::Chaos(chaos::Chaos::new(backend, seed, self.delay)),
            None => backend,
        };
        Ok(Comm::new(Endpoint::new(backend, self.settings)))
    }
}
