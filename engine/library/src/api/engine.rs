//! The engine: threads, ranks and meshes that calls share.

use crate::api::call::Call;
use crate::api::cell_fields::CellFields;
use crate::api::cells::Cells;
use crate::api::clumps::Clumps;
use crate::api::compare;
use crate::api::default_threads::default_threads;
use crate::api::groups::{self, FofGroups};
use crate::api::guard;
use crate::api::hook::{Hook, Progress};
use crate::api::opened::{OpenParticles, OpenSnapshot};
use crate::api::params::{FofParams, PhewParams};
use crate::api::params::{LinkingTypes, ParticleGraphParams, ParticleMeshParams};
use crate::api::params::{TimeLimits, TreeParams};
use crate::api::particles::ParticleColumns;
use crate::api::phew;
use crate::api::rank_builder::RankBuilder;
use crate::api::session::{CallThreads, Part, ProcessOwner, Shared};
use crate::api::snapshots;
use crate::api::tracks::TrackMemory;
use crate::api::trees::{self, MergerTree};
use crate::api::voids::{self, Voids};
use crate::compare::{CatalogueComparison, CompareParams};
use crate::error::{Error, ErrorKind};
use crate::phew::params::FieldChoice;
use crate::voids::VoidParams;
use inselberg_comm::Comm;
use inselberg_io::FieldDefaults;
use inselberg_io::particles::InputDefaults;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The state that calls share and later calls reuse: threads, the communicator, plans of tasks, the mesh of
/// the last cells.
///
/// One engine per rank. Over several ranks every call is collective: all ranks make it, in the same order,
/// each with its own cells or particles. An error on one rank is the error of the call on all of them, and
/// the engine can then be used again. Different calls or parameters are such an error. It never prints, exits, aborts or reads the environment.
///
/// It may be used from any thread, also from within a rayon pool. Calls of one engine wait for each other.
pub struct Engine {
    pub(super) shared: Arc<Shared>,
}

impl Engine {
    /// A builder of an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder {
            threads: None,
            rank: None,
            hook: None,
            limits: TimeLimits::default(),
            is_ready: Ok(()),
        }
    }

    pub(crate) fn of(owner: ProcessOwner, comm: Comm) -> Self {
        Self { shared: Shared::new(owner, comm) }
    }

    /// Collective: PHEW on cells.
    ///
    /// The mesh of the cells is built at the first call with them, and kept until a call with other cells.
    /// Labels and catalogue are the same bit for bit for any number of ranks and threads, and for any
    /// decomposition and order of the cells. Takes about 80 bytes per test cell while it runs.
    ///
    /// # Errors
    /// When a parameter, a cell or a value is not valid; the message names the first one. When cells overlap
    /// or do not form an octree. When the hook cancels, or a rank fails. All ranks return the same error.
    pub fn phew<'a>(
        &mut self,
        cells: &Cells,
        fields: impl Into<CellFields<'a>>,
        params: &PhewParams,
    ) -> Result<Clumps, Error> {
        let fields = fields.into();
        let call =
            Call::new("phew").geometry(&cells.geometry).same("set of fields", &fields.kinds()).params(params);
        self.shared.call(&call, |session| phew::find(session, cells, &fields, params))
    }

    /// Collective: friends-of-friends groups. Labels and catalogue are the same bit for bit for any number of
    /// ranks and threads; with IDs given, also for any decomposition of the particles. Takes about 100 bytes
    /// per particle while it runs.
    ///
    /// # Errors
    /// When a parameter or a value is not valid, or an ID occurs twice. When the hook cancels, or a rank
    /// fails. All ranks return the same error.
    pub fn fof(&mut self, particles: &ParticleColumns, params: &FofParams) -> Result<FofGroups, Error> {
        let call = Call::new("fof").geometry(&particles.geometry);
        let call = call.same("set of columns", &particles.kinds()).params(params);
        self.shared.call(&call, |session| groups::search(&session, particles, params))
    }

    /// Collective: opens an output with cells, by its headers alone. Rank 0 reads them.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if there is no such output, its format is unknown, or its headers are broken.
    pub fn open(&mut self, path: impl AsRef<Path>) -> Result<OpenSnapshot, Error> {
        self.open_with(path, &FieldDefaults::default())
    }

    /// Collective: as [`Self::open`], with `defaults` for facts that the input does not state: the boundary,
    /// names of variables, a plane.
    ///
    /// # Errors
    /// As [`Self::open`], and for a default that the input does not need.
    pub fn open_with(
        &mut self,
        path: impl AsRef<Path>,
        defaults: &FieldDefaults,
    ) -> Result<OpenSnapshot, Error> {
        let path = path.as_ref();
        self.shared.call(&Call::new("open").params(defaults), |session| {
            OpenSnapshot::open(path, defaults, session.comm)
        })
    }

    /// Collective: opens particles by their headers alone, in the files of one input. Rank 0 reads them.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_particles(&mut self, paths: &[impl AsRef<Path>]) -> Result<OpenParticles, Error> {
        self.open_particles_with(paths, &InputDefaults::default())
    }

    /// Collective: as [`Self::open_particles`], with `defaults` for facts that the input does not state:
    /// masses and units.
    ///
    /// # Errors
    /// As [`Self::open`], and for a default that the input does not need.
    pub fn open_particles_with(
        &mut self,
        paths: &[impl AsRef<Path>],
        defaults: &InputDefaults,
    ) -> Result<OpenParticles, Error> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        self.shared.call(&Call::new("open_particles").params(defaults), |session| {
            OpenParticles::open(&paths, defaults, session.comm)
        })
    }

    /// Collective: PHEW on a density of an output, as the command does it. Each rank reads a share of the
    /// files.
    ///
    /// # Errors
    /// When a parameter is not valid, or the output lacks requested data. When a file cannot be read or a
    /// value is not valid. When the hook cancels, or a rank fails. All ranks return the same error.
    pub fn phew_snapshot(
        &mut self,
        snapshot: &OpenSnapshot,
        field: &FieldChoice,
        params: &PhewParams,
    ) -> Result<Clumps, Error> {
        let call = Call::new("phew_snapshot").same("field", field).params(params);
        self.shared.call(&call, |mut session| snapshots::phew(&mut session, snapshot, field, params))
    }

    /// Collective: PHEW on the mesh that particles on disk make, as the command does it. Densities of
    /// `params` are in units of the mean density.
    ///
    /// # Errors
    /// As [`Self::phew_snapshot`].
    pub fn phew_particles(
        &mut self,
        particles: &OpenParticles,
        mesh: &ParticleMeshParams,
        params: &PhewParams,
    ) -> Result<Clumps, Error> {
        let call = Call::new("phew_particles").params(mesh).params(params);
        self.shared
            .call(&call, |mut session| snapshots::phew_particles(&mut session, particles, mesh, params))
    }

    /// Collective: PHEW on the graph of particles on disk and their nearest neighbours, without a mesh, as
    /// the command does it. Densities of `params` are in units of the mean density.
    ///
    /// # Errors
    /// As [`Self::phew_snapshot`]; when `params` requests something that needs cells, or when a particle and
    /// all its neighbours share one position.
    pub fn phew_graph(
        &mut self,
        particles: &OpenParticles,
        graph: &ParticleGraphParams,
        params: &PhewParams,
    ) -> Result<Clumps, Error> {
        let call = Call::new("phew_graph").params(graph).params(params);
        self.shared.call(&call, |mut session| snapshots::phew_graph(&mut session, particles, graph, params))
    }

    /// Collective: forgets all tracks of clumps and groups. The next search with
    /// [`TrackParams`](crate::TrackParams) begins new ones, or reads those of the catalogue that it names. Free.
    ///
    /// # Errors
    /// When a rank makes another call, or fails.
    pub fn forget_tracks(&mut self) -> Result<(), Error> {
        self.shared.call(&Call::new("forget_tracks"), |session| {
            *session.tracks = TrackMemory::default();
            Ok(())
        })
    }

    /// Collective: voids of particles on disk, from the graph of nearest neighbours, as the command finds
    /// them. Takes about 500 bytes per particle with 32 neighbours, which suit voids, while it runs.
    ///
    /// # Errors
    /// As [`Self::phew_graph`], and if a threshold is not a density, ratio or length.
    pub fn voids(
        &mut self,
        particles: &OpenParticles,
        graph: &ParticleGraphParams,
        params: &VoidParams,
    ) -> Result<Voids, Error> {
        let call = Call::new("voids").params(graph).params(params);
        self.shared.call(&call, |session| voids::find(&session, particles, graph, params))
    }

    /// Collective: copies the particles of a program, as an input of every call that takes one: groups with
    /// bound particles and spheres, voids, clumps on a mesh or graph of particles, and members of clumps of
    /// cells ([`CellFields::particles`](crate::CellFields::particles)). Takes 12 to 24 bytes per particle for
    /// positions, and 12 for velocities, 8 for masses, IDs, 4 for densities and 1 for types, each if given.
    /// Velocities and densities are kept in single precision, as in files. Where masses are left out, calls
    /// that need them refuse the particles.
    ///
    /// # Errors
    /// When a column has another length, or a type or an ID is not valid. Positions, velocities and masses
    /// are checked by each call. All ranks return the same error.
    pub fn hold_particles(&mut self, particles: &ParticleColumns) -> Result<OpenParticles, Error> {
        let call = Call::new("hold_particles")
            .geometry(&particles.geometry)
            .same("set of columns", &particles.kinds());
        self.shared.call(&call, |session| particles.to_input(session.comm).map(OpenParticles::held))
    }

    /// Collective: friends-of-friends groups of particles on disk, as the command finds them. Each rank reads
    /// a share.
    ///
    /// # Errors
    /// When a parameter is not valid, or the input lacks requested data. When a file cannot be read, a value
    /// is not valid, or an ID occurs twice. When the hook cancels, or a rank fails. All ranks return the same
    /// error.
    pub fn fof_particles(
        &mut self,
        particles: &OpenParticles,
        types: &LinkingTypes,
        params: &FofParams,
    ) -> Result<FofGroups, Error> {
        let call = Call::new("fof_particles").params(types).params(params);
        self.shared.call(&call, |mut session| snapshots::fof(&mut session, particles, types, params))
    }

    /// Collective: an empty merger tree, to which outputs are added one after another.
    ///
    /// # Errors
    /// When a parameter is out of range, or not the same on all ranks.
    pub fn trees(&mut self, params: &TreeParams) -> Result<MergerTree, Error> {
        trees::begin(&self.shared, params)
    }

    /// Collective: compares the catalogues in two files, of this program or of another finder
    /// ([`inselberg_io::catalogue::finders`]). Members on each rank take 16 bytes each. Rank 0 gets the
    /// comparison.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Read`] if a file cannot be read, [`crate::ErrorKind::InvalidArgument`] if it has
    /// no objects, a parameter is out of range, or ranks differ in their arguments.
    pub fn compare(
        &mut self,
        first: impl AsRef<Path>,
        second: impl AsRef<Path>,
        params: &CompareParams,
    ) -> Result<Option<CatalogueComparison>, Error> {
        compare::compare(&self.shared, [first.as_ref(), second.as_ref()], params)
    }

    /// Collective: work of the caller as a call of this name, on the threads of the engine. All ranks return
    /// their value, or all return the error of the lowest rank that has one.
    ///
    /// # Errors
    /// When a rank has an error, makes another call, or fails.
    pub fn agree<T: Send>(
        &mut self,
        call: &'static str,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        self.shared.call(&Call::new(call), |_| work())
    }

    /// Collective: as [`Self::agree`], for work that is a part of the call of this name: the next or the last
    /// one. It is not counted as a call.
    ///
    /// # Errors
    /// As [`Self::agree`]. The call is then over on all ranks.
    pub fn agree_beside<T: Send>(
        &mut self,
        call: &'static str,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        self.shared.make(&Call::new(call), Part::Beside, |_| work())
    }

    /// Local: this rank refused so many collective calls before they came here. They are counted, so the
    /// others notice at its next call, which then is an error on all ranks.
    pub fn missed(&mut self, n_calls: u64) {
        self.shared.missed(n_calls);
    }

    /// How long the ranks wait for each other in later calls. Local; all ranks set the same.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for the first that is out of range; none is set then.
    pub fn set_time_limits(&mut self, limits: &TimeLimits) -> Result<(), Error> {
        self.shared.set_time_limits(limits)
    }

    /// Collective: ends the use of the communicator. Results that were found before can still be read, but
    /// not gathered, written or cut again. Dropping an engine exchanges no messages.
    ///
    /// # Errors
    /// When another rank fails, or makes another call. That one then has the same error, and its engine is
    /// closed.
    pub fn close(self) -> Result<(), Error> {
        if self.shared.is_closed() {
            return Ok(());
        }
        let agreed = self.shared.call(&Call::free(), |_| Ok(()));
        let closed = self.shared.take_comm().map_or(Ok(()), |comm| Ok(comm.close()?));
        agreed.and(closed)
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Settings of an [`Engine`].
pub struct EngineBuilder {
    threads: Option<usize>,
    rank: Option<RankBuilder>,
    hook: Option<Hook>,
    limits: TimeLimits,
    is_ready: Result<(), Error>,
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl EngineBuilder {
    /// Number of threads, 1 or more. By default the processors that this process may use, divided by the
    /// ranks of its host that share them. It never changes a result.
    ///
    /// Under MPI below `MPI_THREAD_SERIALIZED` the calling thread is one of them. All engines of that thread
    /// then share the threads of the first one.
    #[must_use]
    pub fn threads(self, n: usize) -> Self {
        Self { threads: Some(n), ..self }
    }

    /// This engine is one rank of several: a thread of this process ([`RankBuilder::threads`]), or a process
    /// of an MPI job.
    #[must_use]
    pub fn rank(self, rank: impl Into<RankBuilder>) -> Self {
        Self { rank: Some(rank.into()), ..self }
    }

    /// This engine is one rank of a communicator of a host program under MPI, which is duplicated.
    ///
    /// The engine neither initialises nor finalises MPI, nor ends the process. [`Engine::close`] frees the
    /// duplicate.
    #[cfg(feature = "mpi")]
    #[must_use]
    pub fn guest_of(self, host: inselberg_comm::HostComm) -> Self {
        self.rank(RankBuilder::guest(host))
    }

    /// `hook` is called with the progress of every call, and ends it by [`ControlFlow::Break`]: the call then
    /// returns [`ErrorKind::Cancelled`] on all ranks, at the beginning of the next stage. It is called from
    /// any thread, but once at a time, and must not use the engine. Engines call their hooks independently.
    #[must_use]
    pub fn hook(self, hook: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self { hook: Some(Arc::new(hook)), ..self }
    }

    /// How long the ranks wait for each other. [`Engine::set_time_limits`] changes it later.
    #[must_use]
    pub fn time_limits(self, limits: TimeLimits) -> Self {
        Self { limits, ..self }
    }

    /// Whether this rank can use an engine. If one cannot, its error is that of [`Self::build`] on all ranks.
    #[must_use]
    pub fn only_if(self, is_ready: Result<(), Error>) -> Self {
        Self { is_ready, ..self }
    }

    /// The engine. Over several ranks collective.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for 0 threads and for time limits out of range; when the system has no threads left; when ranks cannot
    /// be reached. All ranks return the same error once they have reached each other.
    pub fn build(self) -> Result<Engine, Error> {
        let comm = self.rank.map_or_else(|| Ok(Comm::solo()), RankBuilder::build)?;
        let threads = guard::call(&comm, || {
            self.is_ready?;
            self.limits.set_on(&comm)?;
            let by_default = default_threads(&comm)?;
            match self.threads {
                Some(0) => Err(Error::new(ErrorKind::InvalidArgument, "0 threads; expected 1 or more")),
                n => CallThreads::new(n.unwrap_or(by_default), comm.thread_level()),
            }
        });
        match threads {
            Ok(threads) => Ok(Engine::of(ProcessOwner::Host { threads, hook: self.hook }, comm)),
            Err(error) => {
                // All ranks have this error. It counts more than one of the end.
                let _ = comm.close();
                Err(error)
            }
        }
    }
}
