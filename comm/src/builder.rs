//! What crosses to the thread of a rank and becomes its [`Comm`] there.

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

/// A rank to be: may be sent to a thread, and is built there.
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
    /// in the thread of its rank; see [`crate::run_threads`] for less work.
    pub fn threads(n_ranks: usize) -> Vec<CommBuilder> {
        let world = World::new(n_ranks.max(1));
        let rank = |rank| {
            CommBuilder::new(TransportKind::Threads(Box::new(Threads::new(Arc::clone(&world), Rank(rank)))))
        };
        (0..n_ranks.max(1) as u32).map(rank).collect()
    }

    /// This process as one rank of an MPI job; as the only rank where no launcher of this MPI library started it. To
    /// be built once in a process, in the thread that makes all its calls. From then on a panic anywhere in the
    /// process ends the whole job.
    #[cfg(feature = "mpi")]
    pub fn mpi() -> CommBuilder {
        let (piece_bytes, report) = (mpi::PIECE_BYTES, mpi::write_line as Report);
        CommBuilder::new(TransportKind::Program { piece_bytes, report })
    }

    /// This process as one rank of a communicator that belongs to a host program.
    ///
    /// [`CommBuilder::build`] is collective over the host's communicator: it duplicates it, and uses the duplicate only. MPI
    /// must run. This crate neither initialises nor finalises it, and a failure ends no process: it is an error on every rank,
    /// from which [`Comm::recover`] leads back. [`Comm::close`] frees the duplicate; a drop without it leaks the
    /// duplicate and may follow the end of MPI. Calls are made by the calling thread only, and nothing is printed.
    #[cfg(feature = "mpi")]
    pub fn guest(host: HostComm) -> CommBuilder {
        CommBuilder::new(TransportKind::Guest { host, piece_bytes: mpi::PIECE_BYTES })
    }

    /// This process as a guest of this communicator, for work whose failure must not end the job: an error there leaves this
    /// communicator as it was. `None` if no MPI library is beneath.
    ///
    /// [`CommBuilder::build`] is collective over all ranks of this communicator. As for [`Comm::guest`], only [`Comm::close`] frees the
    /// duplicate; call it while this communicator is open.
    #[cfg(feature = "mpi")]
    pub fn guest_of_own(&self) -> Option<CommBuilder> {
        self.endpoint().transport().as_host().map(Self::guest)
    }

    /// The same rank with these settings, which were not known when it was built. What it has sent and worked so
    /// far is no longer counted. Local, between calls, on all ranks.
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

    /// For tests: with [`Self::chaos`], every message is on its way for at least so long.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Calls and messages are noted ([`Comm::notes`]): 40 bytes each.
    pub fn traced(mut self, traced: bool) -> Self {
        self.settings.traced = traced;
        self
    }

    /// The time that this rank spends in and out of calls is counted by this clock, which is read in the thread of
    /// the rank ([`crate::StageTraffic::work`]): twice a call.
    pub fn clock(mut self, clock: Option<ThreadClock>) -> Self {
        self.settings.clock = clock;
        self
    }

    /// When all ranks are in calls and nothing has moved for so long, the job ends with
    /// [`crate::CommError::Stalled`], which says where each rank stands. Without it, ranks wait for ever.
    ///
    /// A rank between calls computes, and has ten times as long from its last sign of life: a call,
    /// [`Comm::at`] or a beat of its [`Comm::pulse`]. Other processes of an MPI job do not see beats, so
    /// there the longest computation between two calls must fit into ten times `after`.
    pub fn stall_timeout(mut self, after: Duration) -> Self {
        self.settings.stall_timeout = Some(after);
        self
    }

    /// How long a rank waits in [`Comm::recover`] and [`Comm::close`] for the others: 10 s without this.
    pub fn recover_timeout(mut self, within: Duration) -> Self {
        self.settings.recover_timeout = Some(within);
        self
    }

    /// For tests: MPI messages cross in pieces of so many bytes.
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

    /// How this process says why it ends an MPI job; otherwise it writes one line to standard error.
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

    /// The rank, in the thread that is to be its own.
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
