//! The threads of this process and their processors.

use super::default_threads::{DefaultThreads, most_useful};
use super::fault::{CommandError, warn};
use super::ranks::RankHandles;
use super::survey::PlacementSurvey;
use crate::config::{Common, Launch};
use crate::topology::{Allowed, Hardware, Machine, Pin, PuSet, TopologyError, n_allowed};
use inselberg_comm::Rank;
#[cfg(target_os = "linux")]
use inselberg_tasks::Seat;
use inselberg_tasks::ThreadPool;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
#[cfg(target_os = "linux")]
use std::collections::HashMap;
use std::sync::Arc;

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

/// The greatest useful number of threads of this process.
fn most_threads() -> usize {
    most_useful(n_allowed())
}

/// The system refused to start threads.
fn too_few_threads(error: ThreadPoolBuildError) -> CommandError {
    CommandError::user(format!(
        "--threads: starting threads: {error}; expected fewer threads, or higher limits of processes and memory"
    ))
}

/// The placement of the ranks of this process and their workers.
pub enum Seating {
    /// At unknown places: there is nothing to choose, or the machine cannot be read.
    Unknown {
        /// The workers per rank.
        n_workers: usize,
    },
    /// At places that the survey has found; threads are bound to them if it says so.
    Known {
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
            return Ok(Self::Unknown { n_workers: 1 });
        }
        // Ranks that are threads of one process share its threads.
        let n_workers = (n_threads(common) / ranks.n_here()).max(1);
        let is_alone = ranks.process().1 == 1 && n_workers == 1 && pin == Pin::Auto;
        let hardware = if is_alone { None } else { ranks.prepare(|_| read(pin))? };
        let is_known = ranks.share(vec![hardware.is_some(); ranks.n_here()])?.into_iter().all(|known| known);
        let Some(hardware) = hardware.filter(|_| is_known) else { return Ok(Self::Unknown { n_workers }) };

        let survey = PlacementSurvey::new(ranks, &hardware, pin, common)?;
        let own = &survey.ranks[ranks.first_here().at()..][..ranks.n_here()];
        let pinned = own.iter().filter(|rank| rank.pin != Pin::None);
        let places = pinned.flat_map(|rank| &rank.placement.workers).map(|place| place.pus.clone());
        let places: Vec<PuSet> = places.collect();
        let is_bound = ranks.prepare(|_| try_binding(&hardware, &places))?;
        if ranks.is_first() && !common.quiet {
            survey.complaints.iter().filter(|c| c.is_harmful()).for_each(warn);
            if !is_bound {
                warn("--pin: the system took the binding of threads and did nothing; they run anywhere");
            }
        }
        Ok(Self::Known { hardware: Arc::new(hardware), survey })
    }

    /// The places of all ranks, if they are known.
    pub fn survey(&self) -> Option<&PlacementSurvey> {
        match self {
            Self::Unknown { .. } => None,
            Self::Known { survey, .. } => Some(survey),
        }
    }

    /// The most threads of a rank of this process.
    pub fn n_workers(&self) -> usize {
        match self {
            Self::Unknown { n_workers } => *n_workers,
            Self::Known { survey, .. } => {
                survey.ranks.iter().map(|rank| rank.placement.workers.len()).max().expect("a rank at least")
            }
        }
    }

    /// Starts the workers of `rank`, of which the calling thread is the first. They work until the first
    /// value is dropped.
    pub fn start(&self, rank: Rank) -> Result<(rayon::ThreadPool, ThreadPool), CommandError> {
        let builder = ThreadPoolBuilder::new().use_current_thread().thread_name(|n| format!("worker {n}"));
        let (hardware, places) = match self {
            Self::Unknown { n_workers } => {
                let threads = builder.num_threads(*n_workers).build().map_err(too_few_threads)?;
                return Ok((threads, ThreadPool::from_current()));
            }
            Self::Known { hardware, survey } => (hardware, survey.place(rank.0)),
        };
        let placement = &places.placement;
        let builder = builder.num_threads(placement.workers.len());
        if places.pin == Pin::None {
            let threads = builder.build().map_err(too_few_threads)?;
            return Ok((threads, located(hardware.machine())));
        }
        let pus: Vec<PuSet> = placement.workers.iter().map(|place| place.pus.clone()).collect();
        let bind = {
            let hardware = Arc::clone(hardware);
            // That binding works was tried before.
            move |worker: usize| drop(hardware.bind(&pus[worker]))
        };
        bind(0);
        let threads = builder.start_handler(bind).build().map_err(too_few_threads)?;
        Ok((threads, ThreadPool::from_current_placed(placement.seats())))
    }
}

/// The threads of this pool, which the system moves as it likes. Each says where it is when work begins.
#[cfg(target_os = "linux")]
fn located(machine: &Machine) -> ThreadPool {
    let seats: HashMap<usize, Seat> = machine.pus.iter().map(|pu| (pu.index as usize, pu.seat())).collect();
    ThreadPool::from_current_located(move || {
        seats.get(&rustix::thread::sched_getcpu()).copied().unwrap_or_default()
    })
}

#[cfg(not(target_os = "linux"))]
fn located(_: &Machine) -> ThreadPool {
    ThreadPool::from_current()
}

/// `None` if nobody has asked for the machine and it cannot be read.
fn read(pin: Pin) -> Result<Option<Hardware>, CommandError> {
    match (Hardware::read(), pin) {
        (Ok(hardware), _) => Ok(Some(hardware)),
        (Err(_), Pin::Auto | Pin::None) => Ok(None),
        (Err(error), _) => Err(unpinnable(pin, &error)),
    }
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
    if places.is_empty() {
        return Ok(true);
    }
    let try_all = || {
        let bound = |pus| hardware.bind(pus).map(|()| hardware.bound().as_ref() == Some(pus));
        places.iter().map(bound).collect::<Result<Vec<bool>, _>>()
    };
    let tried = std::thread::scope(|scope| {
        std::thread::Builder::new().spawn_scoped(scope, try_all).map(std::thread::ScopedJoinHandle::join)
    });
    let tried = tried.map_err(|error| CommandError::user(format!("--pin: starting a thread: {error}")))?;
    let tried = tried.map_err(|_| CommandError::internal(TopologyError::Unreadable))?;
    let is_bound =
        tried.map_err(|error| CommandError::user(format!("--pin: {error}; expected --pin none")))?;
    Ok(is_bound.into_iter().all(|is_bound| is_bound))
}
