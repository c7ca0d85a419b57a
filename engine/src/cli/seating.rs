//! The threads of this process, each where it is to run.

use super::fault::{Failure, warn};
use super::ranks::Ranks;
use super::survey::Survey;
use inselberg::config::{Common, Launch};
use inselberg::topology::{Hardware, Pin, PuSet, TopologyError, n_allowed};
use inselberg_comm::Rank;
use inselberg_tasks::Team;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::Arc;

/// More threads than this per processor only look for work: the time that this takes grows with their square.
const PER_PROCESSOR: usize = 4;
/// So many threads are started on any machine.
const ALWAYS: usize = 16;

/// Threads of the pool as many as asked for and of use, wherever the system has them.
pub fn start_threads(common: Common) -> Result<(), Failure> {
    let most = (PER_PROCESSOR * n_allowed()).max(ALWAYS);
    let n_threads = common.threads.map_or(0, |n| n.get().min(most));
    ThreadPoolBuilder::new().num_threads(n_threads).build_global().map_err(too_few_threads)
}

/// The system starts no more threads.
fn too_few_threads(error: ThreadPoolBuildError) -> Failure {
    Failure::user(format!(
        "--threads: starting threads: {error}; expected fewer threads, or higher limits of processes and memory"
    ))
}

/// Where the ranks of this process and their workers run.
pub enum Seating {
    /// Anywhere.
    Free {
        /// The workers of a rank.
        n_workers: usize,
    },
    /// Each rank works in its own thread alone, so that the clock of that thread shows all of its work.
    Counted,
    /// Each at its place.
    Pinned {
        /// What binds them.
        hardware: Arc<Hardware>,
        /// All ranks.
        survey: Survey,
    },
}

impl Seating {
    /// Starts the threads of the pool, once in every process and before ranks work. The first rank says what is
    /// wrong with how ranks were started.
    pub fn start(ranks: &Ranks, launch: &Launch, common: Common) -> Result<Self, Failure> {
        let pin = launch.pin;
        if launch.count_work {
            return Ok(Self::Counted);
        }
        if pin == Pin::None {
            ranks.prepare(|_| start_threads(common))?;
            // Ranks that are threads of one process share its threads.
            return Ok(Self::Free { n_workers: (rayon::current_num_threads() / ranks.n_here()).max(1) });
        }
        let hardware = Arc::new(ranks.prepare(|_| read(pin))?);
        let survey = Survey::of(ranks, &hardware, pin, common)?;
        let own = &survey.ranks[ranks.first_here().at()..][..ranks.n_here()];
        let places = own.iter().flat_map(|rank| &rank.placement.workers).map(|place| place.pus.clone());
        let places: Vec<PuSet> = places.collect();
        let is_bound = ranks.prepare(|_| try_binding(&hardware, &places))?;
        ranks.prepare(|_| start_pinned(&hardware, places))?;
        if ranks.is_first() && !common.quiet {
            survey.complaints.iter().filter(|c| c.is_harmful()).for_each(warn);
            if !is_bound {
                warn("--pin: the system took the binding of threads and did nothing; they run anywhere");
            }
        }
        Ok(Self::Pinned { hardware, survey })
    }

    /// Puts the current thread where `rank` runs. That this works was tried at the start. Plain loops run where the
    /// pool says that is handed back, if there is one.
    pub fn take(&self, rank: Rank) -> Option<ThreadPool> {
        match self {
            Self::Free { .. } => None,
            // A pool of this thread alone; where there can be none, loops run in the common one, uncounted.
            Self::Counted => ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok(),
            Self::Pinned { hardware, survey } => {
                let _ = hardware.bind(&survey.placement(rank.0).pus);
                None
            }
        }
    }

    /// The workers of a rank of this process.
    pub fn team(&self, rank: Rank) -> Team {
        match self {
            Self::Free { n_workers } => Team::of(*n_workers),
            Self::Counted => Team::of_caller(),
            Self::Pinned { hardware, survey } => {
                let placement = survey.placement(rank.0);
                let places: Vec<PuSet> = placement.workers.iter().map(|place| place.pus.clone()).collect();
                let hardware = Arc::clone(hardware);
                Team::new(placement.seats()).settle(move |worker| {
                    let _ = hardware.bind(&places[worker]);
                })
            }
        }
    }
}

fn read(pin: Pin) -> Result<Hardware, Failure> {
    Hardware::read().map_err(|error| unpinnable(pin, &error))
}

/// Why threads are not pinned.
pub fn unpinnable(pin: Pin, error: &TopologyError) -> Failure {
    let instead = match error {
        TopologyError::NotBuilt => "none, or a build with --features numa",
        _ => "none",
    };
    Failure::user(format!("--pin: `{pin}`, but {error}; expected {instead}"))
}

/// Whether threads are where they were bound to: a thread that ends here is, at each of these places.
fn try_binding(hardware: &Hardware, places: &[PuSet]) -> Result<bool, Failure> {
    let tried = std::thread::scope(|scope| {
        let try_all = || {
            let bound = |pus| hardware.bind(pus).map(|()| hardware.bound().as_ref() == Some(pus));
            places.iter().map(bound).collect::<Result<Vec<bool>, _>>()
        };
        scope.spawn(try_all).join()
    });
    let tried = tried.map_err(|_| Failure::internal(TopologyError::Unreadable))?;
    let is_bound = tried.map_err(|error| Failure::user(format!("--pin: {error}; expected --pin none")))?;
    Ok(is_bound.into_iter().all(|is_bound| is_bound))
}

/// The threads of the pool at the places of the workers, so that what either makes lies where the other uses it.
fn start_pinned(hardware: &Arc<Hardware>, places: Vec<PuSet>) -> Result<(), Failure> {
    let hardware = Arc::clone(hardware);
    ThreadPoolBuilder::new()
        .num_threads(places.len())
        .start_handler(move |thread| {
            let _ = hardware.bind(&places[thread]);
        })
        .build_global()
        .map_err(too_few_threads)
}
