//! The ranks of a command: only this process, its threads, or the processes of an MPI job.
//!
//! A failure on one rank ends all ranks. Only the rank where it happened reports it.

use super::fault::{CommandError, hold_panics};
use super::memory;
use crate::config::Launch;
use crate::report::thread_clock;
use inselberg_comm::agree::first_message;
use inselberg_comm::{Comm, CommBuilder, CommError, RECOVER_TIMEOUT, Rank, Settings, run_ranks};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Ranks that are ready to work.
pub enum RankHandles {
    /// This process is one rank, alone or among many.
    Process(Box<Comm>),
    /// Ranks that will be threads of this process.
    Threads(Vec<CommBuilder>),
}

/// The ranks that a job requests.
pub struct RankRequest {
    /// Their number, as threads of this process.
    pub ranks: NonZeroUsize,
    /// How long they may wait for each other.
    pub patience: Option<Duration>,
    /// How long one that has failed waits for one that computes.
    pub recover: Duration,
    /// Whether their messages are traced.
    pub traced: bool,
    /// Whether the processor time of each is counted.
    pub counted: bool,
}

impl RankRequest {
    /// The settings of the options, without traces of messages.
    pub fn from_launch(launch: &Launch) -> Self {
        let Launch { ranks, stall_timeout, recover_timeout, count_work, .. } = *launch;
        let counted = count_work;
        Self { patience: stall_timeout, recover: recover_timeout, counted, ..Self::plain(ranks) }
    }

    /// This number, with default settings.
    pub fn plain(ranks: NonZeroUsize) -> Self {
        Self { ranks, patience: None, recover: RECOVER_TIMEOUT, traced: false, counted: false }
    }

    /// Creates the ranks, or takes those of `world`.
    pub fn start(&self, world: Comm) -> Result<RankHandles, CommandError> {
        // An error here occurs in all processes.
        let is_first = world.rank() == Rank(0);
        self.begin(world).map_err(|failure| if is_first { failure } else { CommandError::Elsewhere })
    }

    fn begin(&self, world: Comm) -> Result<RankHandles, CommandError> {
        let (asked, n_ranks) = (self.ranks.get(), world.n_ranks());
        if asked > 1 && n_ranks > 1 {
            let what = format!("a launcher started this program as one of {n_ranks} ranks");
            let expected = "ranks from the launcher or from --ranks, not from both";
            return Err(CommandError::user(format!("--ranks: `{asked}`, but {what}; expected {expected}")));
        }
        let settings = self.settings()?;
        if asked > 1 {
            memory::check_ranks(asked as u64)?;
            return Ok(RankHandles::threads(asked, settings));
        }
        Ok(RankHandles::Process(Box::new(world.with_settings(settings))))
    }

    /// The settings of each rank.
    pub fn settings(&self) -> Result<Settings, CommandError> {
        let clock = if self.counted { thread_clock() } else { None };
        if self.counted && clock.is_none() {
            return Err(CommandError::user(
                "--count-work: this system has no clock of a thread's processor time",
            ));
        }
        let (stall_timeout, recover_timeout) = (self.patience, Some(self.recover));
        Ok(Settings { traced: self.traced, clock, stall_timeout, recover_timeout })
    }
}

impl RankHandles {
    fn threads(n_ranks: usize, settings: Settings) -> Self {
        let set = |builder: CommBuilder| builder.settings(settings);
        Self::Threads(Comm::threads(n_ranks).into_iter().map(set).collect())
    }

    /// Collective over processes: the same number of ranks, whose failures end neither these ranks nor the
    /// job.
    ///
    /// A rank that fails while others compute waits for these at the end.
    pub fn apart(&self, settings: Settings) -> Result<Self, CommandError> {
        let Self::Process(comm) = self else { return Ok(Self::threads(self.n_here(), settings)) };
        let apart = guest_of(comm, settings).map_err(CommandError::ranks)?;
        Ok(Self::Process(Box::new(apart.unwrap_or_else(|| Comm::solo().with_settings(settings)))))
    }

    /// Another handle of the rank of this process, if this process is one rank.
    pub fn handle(&self) -> Option<Comm> {
        match self {
            Self::Threads(_) => None,
            Self::Process(comm) => Some(comm.as_ref().clone()),
        }
    }

    /// Collective over processes, before ranks work: calls `work`, which gets whether this process is the
    /// first. A failure in one process ends all.
    pub fn prepare<T>(&self, work: impl FnOnce(bool) -> Result<T, CommandError>) -> Result<T, CommandError> {
        match self {
            Self::Threads(_) => work(true),
            Self::Process(comm) => agreed(comm, work(comm.rank() == Rank(0))),
        }
    }

    /// Collective over processes, before ranks work: calls `work` once per process.
    pub fn together<T>(
        &self,
        work: impl FnOnce(&Comm) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        match self {
            Self::Threads(_) => work(&Comm::solo()),
            Self::Process(comm) => work(comm),
        }
    }

    /// Whether this is the first process, which prints.
    pub fn is_first(&self) -> bool {
        self.first_here() == Rank(0)
    }

    /// The number of ranks in this process.
    pub fn n_here(&self) -> usize {
        match self {
            Self::Threads(builders) => builders.len(),
            Self::Process(_) => 1,
        }
    }

    /// The first rank of this process.
    pub fn first_here(&self) -> Rank {
        match self {
            Self::Threads(_) => Rank(0),
            Self::Process(comm) => comm.rank(),
        }
    }

    /// The rank of this process among all processes, and their number.
    pub fn process(&self) -> (Rank, usize) {
        match self {
            Self::Threads(_) => (Rank(0), 1),
            Self::Process(comm) => (comm.rank(), comm.n_ranks()),
        }
    }

    /// Collective over processes, before ranks work: the values of all ranks in their order. `own` has one
    /// per rank of this process.
    pub fn share<T: Serialize + DeserializeOwned>(&self, own: Vec<T>) -> Result<Vec<T>, CommandError> {
        let Self::Process(comm) = self else { return Ok(own) };
        let bytes = serde_json::to_vec(&own).map_err(CommandError::internal)?;
        let all = comm.all_gather_lists(&bytes).map_err(CommandError::ranks)?;
        let of_process =
            |bytes: Vec<u8>| serde_json::from_slice::<Vec<T>>(&bytes).map_err(CommandError::internal);
        Ok(all.into_iter().map(of_process).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Ends all processes because of this failure; in an MPI program this does not return.
    pub fn end(&self, failure: CommandError) -> CommandError {
        match self {
            Self::Process(comm) if comm.n_ranks() > 1 => end_all(comm, failure).failure,
            _ => failure,
        }
    }

    /// Calls `work` on every rank.
    pub fn run(self, work: impl Fn(&Comm) -> Result<(), CommandError> + Sync) -> Result<(), CommandError> {
        match self {
            Self::Process(comm) if comm.n_ranks() == 1 => work(&comm),
            Self::Process(comm) => work(&comm).map_err(|failure| end_all(&comm, failure).told(comm.rank())),
            Self::Threads(builders) => {
                hold_panics();
                let ran = run_ranks(builders, |comm| work(comm).map_err(|failure| end_all(comm, failure)));
                one_of(ran.map_err(not_run)?)
            }
        }
    }
}

/// A guest of the MPI communicator of `comm`, if there is one.
#[cfg(feature = "mpi")]
fn guest_of(comm: &Comm, settings: Settings) -> Result<Option<Comm>, CommError> {
    comm.guest_of_own().map(|guest| guest.settings(settings).build()).transpose()
}

/// This build has no MPI.
#[cfg(not(feature = "mpi"))]
fn guest_of(_: &Comm, _: Settings) -> Result<Option<Comm>, CommError> {
    Ok(None)
}

/// The reason why threads did not become ranks. Too many of them are a mistake of the user.
fn not_run(error: CommError) -> CommandError {
    match error {
        CommError::NotStarted { why } => {
            let expected = "fewer --ranks, or higher limits of processes and memory";
            CommandError::user(format!("starting the ranks: {why}; expected {expected}"))
        }
        error => CommandError::ranks(error),
    }
}

/// The end of one rank.
struct Ended {
    failure: CommandError,
    /// The failure that ended the job; the same on all ranks.
    first: CommError,
}

impl Ended {
    /// The failure as reported by a rank that continues: with its place, if it is its own.
    fn told(self, own: Rank) -> CommandError {
        match (self.failure, self.first) {
            (CommandError::User(_), CommError::Aborted { rank, stage, message }) if rank == own => {
                CommandError::user(CommError::Aborted { rank, stage, message })
            }
            (CommandError::Internal(_), CommError::Aborted { rank, stage, message }) if rank == own => {
                CommandError::internal(CommError::Aborted { rank, stage, message })
            }
            (failure, _) => failure,
        }
    }
}

/// Ends the job on all ranks. In an MPI program this does not return.
fn end_all(comm: &Comm, failure: CommandError) -> Ended {
    let first = match &failure {
        CommandError::Ranks(error) => error.clone(),
        // The rank that knows the reason reports it and aborts, so this barrier never completes.
        CommandError::Elsewhere => comm.barrier().err().unwrap_or_else(|| comm.abort("another rank failed")),
        failure => comm.abort(failure.to_string()),
    };
    Ended { failure, first }
}

/// The failure that is reported for all ranks.
fn one_of(ran: Vec<Result<(), Ended>>) -> Result<(), CommandError> {
    let n_ranks = ran.len();
    let mut failed: Vec<(u32, Ended)> =
        (0..).zip(ran).filter_map(|(rank, ran)| Some((rank, ran.err()?))).collect();
    let alike = failed.windows(2).all(|w| w[0].1.failure.to_string() == w[1].1.failure.to_string());
    if failed.len() == n_ranks && alike && !failed.iter().any(|(_, e)| e.failure.is_elsewhere()) {
        return Err(failed.swap_remove(0).1.failure);
    }
    let Some((_, Ended { first, .. })) = failed.first() else { return Ok(()) };
    let first = first.clone();
    let CommError::Aborted { rank, .. } = &first else { return Err(CommandError::ranks(first)) };
    match failed.into_iter().find(|(r, _)| *r == rank.0).map(|(_, ended)| ended.failure) {
        Some(CommandError::User(_)) => Err(CommandError::user(first)),
        _ => Err(CommandError::ranks(first)),
    }
}

/// Collective: `local` if it succeeded in all processes. Otherwise the lowest failing rank returns its error,
/// the others [`CommandError::Elsewhere`].
pub fn agreed<T>(comm: &Comm, local: Result<T, CommandError>) -> Result<T, CommandError> {
    if comm.n_ranks() == 1 {
        return local;
    }
    let message = local.as_ref().err().map(ToString::to_string);
    let Some((first, _)) = first_message(comm, message).map_err(CommandError::ranks)? else { return local };
    match local {
        // Rank 0 also fails for all: where all ranks fail alike, and where it alone checks the results.
        Err(failure) if comm.rank() == first && first == Rank(0) => Err(failure),
        Err(failure) if comm.rank() == first => Err(failure.on_rank(first)),
        _ => Err(CommandError::Elsewhere),
    }
}
