//! The threads of this process and their processors.

use super::default_threads::DefaultThreads;
use super::fault::{CommandError, warn};
use super::ranks::RankHandles;
use super::survey::PlacementSurvey;
use crate::config::{Common, Launch};
use crate::topology::{Allowed, Hardware, Pin, PuSet, TopologyError, n_allowed};
use inselberg_comm::Rank;
use inselberg_tasks::ThreadPool;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::Arc;

/// More threads than this per processor only search for work, at a cost that grows with their square.
const PER_PROCESSOR: usize = 4;
/// This number of threads may start on any machine.
const ALWAYS: usize = 16;

/// Starts the threads of this process for work that is not divided among ranks.
pub fn start_threads(common: Common) -> Result<(), CommandError> {
    ThreadPoolBuilder::new().num_threads(n_threads(common)).build_global().map_err(too_few_threads)
}

/// Up to `n` useful threads, which end when the value is dropped.
pub fn some_threads(n: usize) -> Result<rayon::ThreadPool, CommandError> {
    ThreadPoolBuilder::new().num_threads(n.min(most_threads())).build().map_err(too_few_threads)
}

/// The threads of this process: the requested number, as far as it is useful.
fn n_threads(common: Common) -> usize {
    common.threads.map_or(DefaultThreads::here().n(), |n| n.get().min(most_threads()))
}

/// The greatest useful number of threads.
fn most_threads() -> usize {
    (PER_PROCESSOR * n_allowed()).max(ALWAYS)
}

/// The system refused to start threads.
fn too_few_threads(error: ThreadPoolBuildError) -> CommandError {
    CommandError::user(format!(
        "--threads: starting threads: {error}; expected fewer threads, or higher limits of processes and memory"
    ))
}

/// The placement of the ranks of this process and their workers.
pub enum Seating {
    /// Without binding.
    Free {
        /// The workers per rank.
        n_workers: usize,
    },
    /// Each thread bound to its processors.
    Pinned {
        /// The hardware.
        hardware: Arc<Hardware>,
        /// The placement of all ranks.
        survey: PlacementSurvey,
    },
}

impl Seating {
    /// Plans the threads of this process, once and before ranks work. The first rank reports problems of the
    /// launch.
    pub fn new(ranks: &RankHandles, launch: &Launch, common: Common) -> Result<Self, CommandError> {
        Allowed::at_start();
        let pin = launch.pin;
        // If work is counted, the clock of the rank's thread must include all of it.
        if launch.count_work {
            return Ok(Self::Free { n_workers: 1 });
        }
        if pin == Pin::None {
            // Ranks that are threads of one process share its threads.
            return Ok(Self::Free { n_workers: (n_threads(common) / ranks.n_here()).max(1) });
        }
        let hardware = Arc::new(ranks.prepare(|_| read(pin))?);
        let survey = PlacementSurvey::new(ranks, &hardware, pin, common)?;
        let own = &survey.ranks[ranks.first_here().at()..][..ranks.n_here()];
        let places = own.iter().flat_map(|rank| &rank.placement.workers).map(|place| place.pus.clone());
        let places: Vec<PuSet> = places.collect();
        let is_bound = ranks.prepare(|_| try_binding(&hardware, &places))?;
        if ranks.is_first() && !common.quiet {
            survey.complaints.iter().filter(|c| c.is_harmful()).for_each(warn);
            if !is_bound {
                warn("--pin: the system took the binding of threads and did nothing; they run anywhere");
            }
        }
        Ok(Self::Pinned { hardware, survey })
    }

    /// The most threads of a rank of this process.
    pub fn n_workers(&self) -> usize {
        match self {
            Self::Free { n_workers } => *n_workers,
            Self::Pinned { survey, .. } => {
                survey.ranks.iter().map(|rank| rank.placement.workers.len()).max().expect("a rank at least")
            }
        }
    }

    /// Starts the workers of `rank`, of which the calling thread is the first. They work until the first
    /// value is dropped.
    pub fn start(&self, rank: Rank) -> Result<(rayon::ThreadPool, ThreadPool), CommandError> {
        let builder = ThreadPoolBuilder::new().use_current_thread().thread_name(|n| format!("worker {n}"));
        match self {
            Self::Free { n_workers } => {
                let threads = builder.num_threads(*n_workers).build().map_err(too_few_threads)?;
                Ok((threads, ThreadPool::from_current()))
            }
            Self::Pinned { hardware, survey } => {
                let placement = survey.placement(rank.0);
                let places: Vec<PuSet> = placement.workers.iter().map(|place| place.pus.clone()).collect();
                let bind = {
                    let hardware = Arc::clone(hardware);
                    // That binding works was tried before.
                    move |worker: usize| drop(hardware.bind(&places[worker]))
                };
                bind(0);
                let builder = builder.num_threads(placement.workers.len()).start_handler(bind);
                let threads = builder.build().map_err(too_few_threads)?;
                Ok((threads, ThreadPool::from_current_placed(placement.seats())))
            }
        }
    }
}

fn read(pin: Pin) -> Result<Hardware, CommandError> {
    Hardware::read().map_err(|error| unpinnable(pin, &error))
}

/// The error that threads cannot be pinned.
pub fn unpinnable(pin: Pin, error: &TopologyError) -> CommandError {
    let instead = match error {
        TopologyError::NotBuilt => "none, or a build with --features numa",
        _ => "none",
    };
    CommandError::user(format!("--pin: `{pin}`, but {error}; expected {instead}"))
}

/// Whether bindings take effect, tried with a short-lived thread at each of these places.
fn try_binding(hardware: &Hardware, places: &[PuSet]) -> Result<bool, CommandError> {
    let tried = std::thread::scope(|scope| {
        let try_all = || {
            let bound = |pus| hardware.bind(pus).map(|()| hardware.bound().as_ref() == Some(pus));
            places.iter().map(bound).collect::<Result<Vec<bool>, _>>()
        };
        scope.spawn(try_all).join()
    });
    let tried = tried.map_err(|_| CommandError::internal(TopologyError::Unreadable))?;
    let is_bound =
        tried.map_err(|error| CommandError::user(format!("--pin: {error}; expected --pin none")))?;
    Ok(is_bound.into_iter().all(|is_bound| is_bound))
}
