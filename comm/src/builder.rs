//! What crosses to the thread of a rank and becomes its [`Comm`] there.

use crate::backend::threads::{Threads, World};
use crate::backend::{Backend, chaos, noted};
use crate::endpoint::Endpoint;
use crate::{Clock, Comm, Rank, Result};
use std::sync::Arc;
use std::time::Duration;

/// A rank to be: may be sent to a thread, and is built there.
#[derive(Debug)]
pub struct CommBuilder {
    kind: Kind,
    chaos: Option<u64>,
    delay: Duration,
    noted: bool,
    clock: Option<Clock>,
    stall_timeout: Option<Duration>,
}

#[derive(Debug)]
enum Kind {
    Solo,
    Threads(Box<Threads>),
    #[cfg(feature = "mpi")]
    Mpi {
        piece_bytes: usize,
    },
    #[cfg(not(feature = "mpi"))]
    NoMpi {
        n_ranks: usize,
    },
}

/// Where launchers tell the processes they start how many these are, and which of them each is: Open
/// MPI, MPICH and kin, Slurm.
const LAUNCHERS: [[&str; 2]; 3] = [
    ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"],
    ["PMI_SIZE", "PMI_RANK"],
    ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"],
];

/// Rank and number of ranks, if a launcher started several.
fn launched() -> Option<(Rank, usize)> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let found = LAUNCHERS.iter().find_map(|[size, rank]| Some((number(rank), number(size)?)));
    found.filter(|(_, n)| *n > 1).map(|(rank, n)| (Rank(rank.unwrap_or(0)), n as usize))
}

impl Comm {
    /// As how many ranks a launcher started this program: 1 where none did. Reads the environment.
    pub fn launched_ranks() -> usize {
        launched().map_or(1, |(_, n_ranks)| n_ranks)
    }

    /// As which of them a launcher started this program: rank 0 where none did, or where it does not say.
    /// Reads the environment, so it can be asked before a rank is built.
    pub fn launched_rank() -> Rank {
        launched().map_or(Rank(0), |(rank, _)| rank)
    }

    /// `n_ranks` ranks (at least one) as threads of this process. Every builder must be built, each
    /// in the thread of its rank; see [`crate::run_threads`] for less work.
    pub fn threads(n_ranks: usize) -> Vec<CommBuilder> {
        let world = World::new(n_ranks.max(1));
        let rank =
            |rank| CommBuilder::new(Kind::Threads(Box::new(Threads::new(Arc::clone(&world), Rank(rank)))));
        (0..n_ranks.max(1) as u32).map(rank).collect()
    }

    /// This process as one rank of the MPI job that `mpirun`, `srun` or the like started it in; one
    /// rank alone, without touching the MPI library, where none did.
    ///
    /// Where this crate was built without MPI and there are several ranks, building is an error.
    pub fn launched() -> CommBuilder {
        match Self::launched_ranks() {
            1 => CommBuilder::new(Kind::Solo),
            #[cfg(feature = "mpi")]
            _ => Self::mpi(),
            #[cfg(not(feature = "mpi"))]
            n_ranks => CommBuilder::new(Kind::NoMpi { n_ranks }),
        }
    }

    /// This process as one rank of an MPI job. To be built once in a process, in the thread that makes
    /// all its calls. From then on a panic anywhere in the process ends the whole job.
    #[cfg(feature = "mpi")]
    pub fn mpi() -> CommBuilder {
        CommBuilder::new(Kind::Mpi { piece_bytes: crate::backend::mpi::PIECE_BYTES })
    }
}

impl CommBuilder {
    fn new(kind: Kind) -> Self {
        Self { kind, chaos: None, delay: Duration::ZERO, noted: false, clock: None, stall_timeout: None }
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
    pub fn noted(mut self, noted: bool) -> Self {
        self.noted = noted;
        self
    }

    /// The time that this rank spends in and out of calls is counted by this clock, which is read in the thread of
    /// the rank ([`crate::StageTraffic::work`]): twice a call.
    pub fn clock(mut self, clock: Option<Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// When all ranks are in calls and nothing has moved for so long, the job ends with
    /// [`crate::CommError::Stalled`], which says where each rank stands. Without it, ranks wait for ever.
    ///
    /// A rank between calls computes, and has ten times as long from its last sign of life: a call,
    /// [`Comm::at`] or a beat of its [`Comm::pulse`]. Other processes of an MPI job do not see beats, so
    /// there the longest computation between two calls must fit into ten times `after`.
    pub fn stall_timeout(mut self, after: Duration) -> Self {
        self.stall_timeout = Some(after);
        self
    }

    /// For tests: MPI messages cross in pieces of so many bytes.
    #[cfg(feature = "mpi")]
    pub fn piece_bytes(mut self, n_bytes: usize) -> Self {
        if let Kind::Mpi { piece_bytes } = &mut self.kind {
            *piece_bytes = n_bytes.clamp(1, crate::backend::mpi::PIECE_BYTES);
        }
        self
    }

    /// The rank, in the thread that is to be its own.
    ///
    /// # Errors
    /// When the MPI library refuses, or there is none and several ranks were launched.
    pub fn build(self) -> Result<Comm> {
        let backend = match self.kind {
            Kind::Solo => Backend::solo(),
            Kind::Threads(threads) => Backend::Threads(threads),
            #[cfg(feature = "mpi")]
            Kind::Mpi { piece_bytes } => Backend::Mpi(of_the_launcher(piece_bytes)?),
            #[cfg(not(feature = "mpi"))]
            Kind::NoMpi { n_ranks } => return Err(no_mpi(n_ranks)),
        };
        let backend = match self.chaos {
            Some(seed) => Backend::Chaos(chaos::Chaos::new(backend, seed, self.delay)),
            None => backend,
        };
        let backend = if self.noted { Backend::Noted(noted::Noted::new(backend)) } else { backend };
        Ok(Comm::new(Endpoint::new(backend, self.stall_timeout, self.clock)))
    }
}

/// Starts MPI, and sees that ranks which were started together know of each other.
///
/// Where they do not, every process would do all the work, and write over the others' results.
#[cfg(feature = "mpi")]
fn of_the_launcher(piece_bytes: usize) -> Result<crate::backend::mpi::Mpi> {
    use crate::backend::Transport;
    let mpi = crate::backend::mpi::Mpi::start(piece_bytes)?;
    let n_ranks = Comm::launched_ranks();
    if mpi.n_ranks() == 1 && n_ranks > 1 {
        let why = format!(
            "a launcher started this as one of {n_ranks} ranks, but the MPI library that it was built with \
             knows of no other; expected a launcher of the same MPI"
        );
        return Err(crate::CommError::NotStarted { why });
    }
    Ok(mpi)
}

#[cfg(not(feature = "mpi"))]
fn no_mpi(n_ranks: usize) -> crate::CommError {
    let why = format!(
        "a launcher started this as one of {n_ranks} MPI ranks, but it was built without MPI (cargo \
         feature `mpi`)"
    );
    crate::CommError::NotStarted { why }
}
