//! The state shared by calls and results: the communicator, the threads, the mesh of the last cells.

use crate::api::call::{Call, Comparison};
use crate::api::guard;
use crate::api::hook::{Hook, HookObserver};
use crate::api::meshes::MeshCache;
use crate::api::params::TimeLimits;
use crate::api::tracks::TrackMemory;
use crate::error::{Error, ErrorKind};
use crate::executor::{Executor, Plans};
use crate::phew::image::{LabelsOf, stage_labels_of_part};
use crate::progress::Observer;
use crate::projection::{DensityMap, KeptForMaps, View, check_views, maps};
use crate::stage::Stage;
use crate::tables::identifiers;
use inselberg_comm::{Comm, Rank, ThreadLevel};
use inselberg_io::catalogue::{
    Catalogue, CataloguePart, SoapPlace, Table, bytes_of_first, check_soap, stage_part, stage_soap,
    write_part,
};
use inselberg_io::particles::ParticleInput;
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use parking_lot::Mutex;
use rayon::ThreadPoolBuilder;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread::ThreadId;

/// The state shared by an engine and its results.
pub(crate) struct Shared {
    owner: ProcessOwner,
    state: Mutex<CallState>,
}

/// The owner of the process. It decides about threads, and about the effect of a failure.
pub(crate) enum ProcessOwner {
    /// Another program, which continues: a failure of one rank is the same error on all ranks.
    Host {
        /// The threads of the engine.
        threads: CallThreads,
        /// The hook for the progress.
        hook: Option<Hook>,
    },
    /// The command line, which ends all ranks after a failure: each rank gets its own error, and panics pass
    /// through.
    Program {
        /// The threads of the rank, of which the calling thread is one.
        pool: ThreadPool,
        /// The observer of the stages.
        observer: Arc<dyn Observer + Send + Sync>,
    },
}

/// The threads on which calls run.
pub(crate) enum CallThreads {
    /// Threads of the engine, while the caller waits.
    Pool(rayon::ThreadPool),
    /// The calling thread, which is the only one that may call MPI, and the threads of its rayon pool.
    Caller(ThreadId),
}

impl CallThreads {
    /// # Errors
    /// When the system has no threads left.
    pub fn new(n_threads: usize, level: ThreadLevel) -> Result<Self, Error> {
        let threads = ThreadPoolBuilder::new().num_threads(n_threads);
        let threads = threads.thread_name(|worker| format!("inselberg {worker}"));
        let failed =
            |error| Error::new(ErrorKind::OutOfMemory, format!("starting {n_threads} threads: {error}"));
        if level >= ThreadLevel::Serialized {
            return threads.build().map(Self::Pool).map_err(failed);
        }
        // A thread joins one pool for good, so its threads must stay. Later engines of this thread use the
        // same.
        if rayon::current_thread_index().is_none() {
            std::mem::forget(threads.use_current_thread().build().map_err(failed)?);
        }
        Ok(Self::Caller(std::thread::current().id()))
    }

    fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        match self {
            // A worker of the caller's pool would take other work of that pool while it waits. That may be a call of
            // the same engine, which waits for this one. Another thread waits and does nothing else.
            Self::Pool(pool) if rayon::current_thread_index().is_some() => std::thread::scope(|scope| {
                let waiting = scope.spawn(|| pool.install(work));
                Ok(waiting.join().unwrap_or_else(|panic| resume_unwind(panic)))
            }),
            Self::Pool(pool) => Ok(pool.install(work)),
            Self::Caller(thread) if *thread == std::thread::current().id() => Ok(work()),
            Self::Caller(_) => {
                let message = "a call from another thread than the one that built the engine, which MPI does not \
                               allow at its thread level; expected the same thread";
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
        }
    }
}

/// The state that a call changes.
struct CallState {
    /// `None` once the engine is closed.
    comm: Option<Comm>,
    plans: Arc<Plans>,
    meshes: MeshCache,
    tracks: TrackMemory,
    /// Calls of this rank so far, also those that it refused alone.
    n_calls: u64,
}

/// Whether the call that is compared with those of other ranks is over after this work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// It is.
    Whole,
    /// The work comes before the call, or after it. If it fails, the call is over.
    Beside,
}

/// The context of a call.
pub(crate) struct Session<'a> {
    /// What results keep of the engine.
    pub shared: &'a Arc<Shared>,
    pub comm: &'a Comm,
    pub executor: &'a Executor<'a>,
    pub meshes: &'a mut MeshCache,
    /// The tracks that searches go on from, and leave to the next ones.
    pub tracks: &'a mut TrackMemory,
}

/// Where the calls of a rank stand beside those of the others.
struct Stand {
    number: u64,
    /// Whether some rank has ended its use of the engine while others made another call.
    is_ended: bool,
}

impl Stand {
    /// Collective: an error if the ranks do not make the same call.
    fn compare(&mut self, call: &Call, comm: &Comm) -> Result<(), Error> {
        if comm.n_ranks() == 1 {
            return Ok(());
        }
        match call.compare(self.number, comm)? {
            Comparison::Same => Ok(()),
            Comparison::Different { number, is_end, error } => {
                *self = Self { number, is_ended: is_end };
                Err(error)
            }
        }
    }
}

impl Shared {
    pub fn new(owner: ProcessOwner, comm: Comm) -> Arc<Self> {
        let state = CallState {
            comm: Some(comm),
            plans: Arc::default(),
            meshes: MeshCache::default(),
            tracks: TrackMemory::default(),
            n_calls: 0,
        };
        Arc::new(Self { owner, state: Mutex::new(state) })
    }

    /// Whether the communicator is gone: this rank or another one has closed its engine.
    pub fn is_closed(&self) -> bool {
        self.state.lock().comm.is_none()
    }

    /// The communicator. Calls are refused from now on.
    pub fn take_comm(&self) -> Option<Comm> {
        self.state.lock().comm.take()
    }

    /// Local: sets the time limits of later calls.
    pub fn set_time_limits(&self, limits: &TimeLimits) -> Result<(), Error> {
        self.state.lock().comm.as_ref().map_or(Ok(()), |comm| limits.set_on(comm)).map_err(Error::from)
    }

    /// Local: this rank refused so many collective calls alone. The others notice at its next one.
    pub fn missed(&self, n_calls: u64) {
        self.state.lock().n_calls += n_calls;
    }

    /// Collective: makes a call on the threads of the engine. An error on one rank is an error on all.
    pub fn call<T: Send>(
        self: &Arc<Self>,
        call: &Call,
        work: impl FnOnce(Session<'_>) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        self.make(call, Part::Whole, work)
    }

    /// Collective: as [`Self::call`], for work that may be a part of a call only.
    pub fn make<T: Send>(
        self: &Arc<Self>,
        call: &Call,
        part: Part,
        work: impl FnOnce(Session<'_>) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let mut state = self.state.lock();
        let CallState { comm: place, plans, meshes, tracks, n_calls } = &mut *state;
        let Some(comm) = place else {
            return Err(Error::new(ErrorKind::InvalidArgument, "the engine is closed; expected an open one"));
        };
        let plans = Arc::clone(plans);
        let (threads, hook) = match &self.owner {
            ProcessOwner::Host { threads, hook } => (threads, hook),
            ProcessOwner::Program { pool, observer } => {
                let executor = Executor::with_plans(pool.clone(), &**observer, plans);
                return work(Session { shared: self, comm, executor: &executor, meshes, tracks });
            }
        };
        let mut stand = Stand { number: *n_calls + 1, is_ended: false };
        let of_call = &mut stand;
        let made = threads.run(move || {
            comm.check_callable()?;
            let observer = HookObserver::new(hook.clone());
            let executor = Executor::with_plans(ThreadPool::from_current(), &observer, plans);
            guard::call(comm, || {
                of_call.compare(call, comm)?;
                work(Session { shared: self, comm, executor: &executor, meshes, tracks })
            })
        });
        let made = made.and_then(|made| made);
        *n_calls = if part == Part::Whole || made.is_err() { stand.number } else { stand.number - 1 };
        if stand.is_ended {
            // All ranks are here. The error of the call counts more.
            let _ = place.take().map(Comm::close);
        }
        made
    }

    /// Local: runs `work` on the threads of the engine, or on the calling thread if the engine may not use
    /// others.
    pub fn on_threads<T: Send>(&self, work: impl Fn() -> T + Sync) -> T {
        match &self.owner {
            ProcessOwner::Host { threads, .. } => threads.run(&work).unwrap_or_else(|_| work()),
            ProcessOwner::Program { .. } => work(),
        }
    }

    /// Collective: a whole catalogue on one rank, `None` on the others.
    pub fn gather(self: &Arc<Self>, part: &CataloguePart, rank: u32) -> Result<Option<Catalogue>, Error> {
        self.call(&Call::new("gather").same("rank", &rank), |Session { comm, .. }| {
            let n_ranks = comm.n_ranks();
            if rank as usize >= n_ranks {
                let message = format!("rank {rank} of {n_ranks}; expected one below {n_ranks}");
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
            Ok(part.clone().gather_on(Rank(rank), comm)?)
        })
    }

    /// Collective: the rows of a table with the identifiers that this rank wants.
    pub fn rows(self: &Arc<Self>, part: &CataloguePart, name: &str, ids: &[u64]) -> Result<Table, Error> {
        self.call(&Call::new("rows").same("table", &name), |Session { comm, .. }| {
            let refused = |message: String| Error::new(ErrorKind::InvalidArgument, message);
            let table = part.table(name).ok_or_else(|| {
                let names: Vec<&str> = part.tables.iter().map(|part| part.table.name.as_str()).collect();
                refused(format!("a table {name:?}; expected {}", names.join(", ")))
            })?;
            let own = identifiers(&table.table);
            let own =
                own.ok_or_else(|| refused(format!("{name} has no identifiers; expected a table that does")))?;
            Ok(table.rows_of(&own, ids, comm)?)
        })
    }

    /// Collective: as [`Self::write`], but rank 0 gets the staged file. A stage over bytes of values.
    pub fn stage(self: &Arc<Self>, part: &CataloguePart, path: &Path) -> Result<Staged, Error> {
        self.call(&Call::new("stage").same("place", &path), |Session { comm, executor, .. }| {
            let observer = executor.observer();
            let bytes = bytes_of_first(path, part, comm.n_ranks());
            let _write = Stage::begin("write", bytes, comm, observer);
            Ok(stage_part(path, part, comm, &|bytes| observer.advance(bytes))?)
        })
    }

    /// Collective: one map for each view on rank 0, `None` on the others.
    pub fn maps(
        self: &Arc<Self>,
        kept: &dyn KeptForMaps,
        views: &[View],
    ) -> Result<Option<Vec<DensityMap>>, Error> {
        self.call(&Call::new("maps").same("list of views", &views), |session| {
            check_views(views, kept.space())?;
            Ok(maps(kept, kept.space(), views, session.comm)?)
        })
    }

    /// Collective: writes files in the layout of SOAP. Rank 0 holds the tables for it.
    pub fn write_soap(
        self: &Arc<Self>,
        part: &CataloguePart,
        place: &Path,
        input: Option<&dyn ParticleInput>,
    ) -> Result<(), Error> {
        let is_wanted = |name: &str| ["clumps", "haloes", "Groups", "members"].contains(&name);
        let tables = part.tables.iter().filter(|part| is_wanted(&part.table.name)).cloned().collect();
        let part = CataloguePart { attributes: part.attributes.clone(), tables };
        self.call(&Call::new("write_soap").same("place", &place), |session| {
            let Some(whole) = part.gather_on(Rank(0), session.comm)? else { return Ok(()) };
            let place = SoapPlace::new(place);
            check_soap(&place)?;
            Ok(stage_soap(&place, &whole, input)?.commit()?)
        })
    }

    /// Collective: stages labels, on rank 0.
    pub fn stage_labels(
        self: &Arc<Self>,
        part: &CataloguePart,
        path: &Path,
        of: LabelsOf,
    ) -> Result<Staged, Error> {
        self.call(&Call::new("stage_labels").same("place", &path).same("objects", &of), |session| {
            stage_labels_of_part(path, part, of, session.comm)
        })
    }

    /// Collective: writes labels to a file.
    pub fn write_labels(
        self: &Arc<Self>,
        part: &CataloguePart,
        path: &Path,
        of: LabelsOf,
    ) -> Result<(), Error> {
        self.call(&Call::new("write_labels").same("place", &path).same("objects", &of), |session| {
            Ok(stage_labels_of_part(path, part, of, session.comm)?.commit()?)
        })
    }

    /// Collective: writes a catalogue to a file.
    pub fn write(self: &Arc<Self>, part: &CataloguePart, path: &Path) -> Result<(), Error> {
        self.call(&Call::new("write").same("place", &path), |session| {
            Ok(write_part(path, part, session.comm)?)
        })
    }
}
