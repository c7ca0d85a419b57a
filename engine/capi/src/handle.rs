//! What does a handle keep between calls?

use crate::fields::{Fields, required};
use crate::given::{GivenColumns, ItemShape, NamedColumns};
use crate::message::refused;
use crate::options::Options;
use crate::turns::{MakesCalls, MissedCalls};
use crate::views::{Found, Views};
use inselberg::{
    CellFields, Cells, Clumps, Column, Engine, EngineBuilder, Error, FofGroups, FoundCatalogue, Geometry,
    LabelsOf, MergerTree, OpenParticles, ParticleColumns, Progress, VectorColumn,
};
use std::ffi::{CString, c_char, c_void};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A function of the caller that gets the progress of calls: the stage, the work done, and all work of the
/// stage. A result other than 0 ends the call. From any thread, but once at a time. May be NULL.
pub type ProgressFn =
    Option<extern "C" fn(user: *mut c_void, stage: *const c_char, done: u64, work: u64) -> i32>;

/// A function of the caller that gets one line about a result that is right but may surprise. May be NULL.
pub type WarningFn = Option<extern "C" fn(user: *mut c_void, message: *const c_char)>;

/// The function of the caller, and the address that it wants back.
type CallerHook = Arc<Mutex<(ProgressFn, usize)>>;

/// What a handle keeps.
pub struct HandleState {
    engine: Engine,
    missed: Arc<MissedCalls>,
    hook: CallerHook,
    warning: (WarningFn, usize),
    options: Options,
    pub geometry: Option<Geometry>,
    cells: Option<CallerCells>,
    /// Copies of the particles of the caller.
    particles: Option<OpenParticles>,
    found: Option<Views>,
}

/// The cells of the caller.
struct CallerCells {
    cells: Cells,
    /// Values per item: 8 per oct.
    n_parts: usize,
}

/// Cells by octs.
pub const OCTS: &[(&str, ItemShape)] =
    &[("level", ItemShape::Values(1)), ("position", ItemShape::Vector), ("split", ItemShape::Values(1))];
/// Cells by leaves.
pub const LEAVES: &[(&str, ItemShape)] = &[("level", ItemShape::Values(1)), ("position", ItemShape::Vector)];
/// Values of cells.
const FIELDS: [&str; 5] = ["density", "mass_density", "velocity_x", "velocity_y", "velocity_z"];
/// Rows that a rank picks.
const IDENTIFIERS: &[(&str, ItemShape)] = &[("id", ItemShape::Values(1))];
/// Particles of a search for groups.
const PARTICLES: &[(&str, ItemShape)] = &[
    ("position", ItemShape::Vector),
    ("id", ItemShape::Values(1)),
    ("mass", ItemShape::Values(1)),
    ("velocity", ItemShape::Vector),
    ("attached", ItemShape::Values(1)),
];
/// Particles that are kept.
const KEPT_PARTICLES: &[(&str, ItemShape)] = &[
    ("position", ItemShape::Vector),
    ("id", ItemShape::Values(1)),
    ("mass", ItemShape::Values(1)),
    ("velocity", ItemShape::Vector),
    ("type", ItemShape::Values(1)),
    ("density", ItemShape::Values(1)),
];

impl MakesCalls for HandleState {
    fn missed(&mut self, n_calls: u64) {
        self.engine.missed(n_calls);
    }
}

impl HandleState {
    /// Collective: a new engine. `is_welcome` says whether this rank can keep it.
    ///
    /// # Errors
    /// When it cannot be built, or a rank cannot keep it.
    pub fn new(builder: EngineBuilder, threads: i32, is_welcome: Result<(), Error>) -> Result<Self, Error> {
        let hook = CallerHook::default();
        let of_engine = Arc::clone(&hook);
        let builder = builder.hook(move |progress| report(&of_engine, progress));
        let counted =
            usize::try_from(threads).map_err(|_| refused(format!("{threads} threads; expected 0 or more")));
        // The other ranks wait for this one, whether it can use an engine or not.
        let builder = match counted {
            Ok(threads) if threads > 0 => builder.threads(threads),
            _ => builder,
        };
        let engine = builder.only_if(is_welcome.and(counted.map(drop))).build()?;
        let (warning, options) = ((None, 0), Options::default());
        let missed = Arc::new(MissedCalls::new());
        let (geometry, cells, particles, found) = (None, None, None, None);
        Ok(Self { engine, missed, hook, warning, options, geometry, cells, particles, found })
    }

    /// The calls that the engine missed, which its trees count as well.
    pub fn missed_calls(&self) -> Arc<MissedCalls> {
        Arc::clone(&self.missed)
    }

    /// Sets the function that gets the progress of calls.
    pub fn set_progress(&self, function: ProgressFn, user: *mut c_void) {
        *lock(&self.hook) = (function, user as usize);
    }

    /// Sets the function that gets warnings about results.
    pub fn set_warning(&mut self, function: WarningFn, user: *mut c_void) {
        self.warning = (function, user as usize);
    }

    /// Sets an option of the next calls.
    ///
    /// # Errors
    /// As [`Options::set`].
    pub fn set_option(&mut self, key: &str, value: &str) -> Result<(), Error> {
        self.options.set(key, value)?;
        self.engine.set_time_limits(self.options.limits())
    }

    /// Keeps a result, and warns the caller of what may surprise in it.
    fn keep(&mut self, found: Found) {
        if let (Some(function), user) = self.warning {
            for line in found.warnings() {
                let line = CString::new(line).expect("warnings have no zero bytes");
                function(user as *mut c_void, line.as_ptr());
            }
        }
        self.found = Some(Views::new(found));
    }

    /// Collective: takes octs or leaves, whose columns are `known`.
    ///
    /// # Errors
    /// When they are not valid on a rank.
    pub fn set_cells(
        &mut self,
        given: GivenColumns,
        known: &[(&'static str, ItemShape)],
        n_parts: usize,
    ) -> Result<(), Error> {
        let geometry = self.geometry.as_ref();
        let name = if n_parts == 1 { "set_leaves" } else { "set_octs" };
        let cells = self.engine.agree(name, move || cells(&given.read(known)?, geometry, n_parts))?;
        self.found = None;
        self.cells = Some(CallerCells { cells, n_parts });
        Ok(())
    }

    /// Values per item of the cells.
    fn n_parts(&self) -> usize {
        self.cells.as_ref().map_or(1, |cells| cells.n_parts)
    }

    /// Collective: PHEW.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn phew(&mut self, given: GivenColumns) -> Result<(), Error> {
        self.found = None;
        let shape = ItemShape::Values(self.n_parts());
        let known = FIELDS.map(|name| (name, shape));
        let (cells, geometry, options) = (self.cells.as_ref(), self.geometry.clone(), &self.options);
        let (cells, fields, params) = self.engine.agree_beside("phew", move || {
            let cells = cells.ok_or_else(|| refused("no cells; expected octs or leaves first"))?;
            // The box may be that of a later time than the cells.
            let cells = cells.cells.at(geometry.ok_or_else(no_box)?)?;
            let fields = Fields::new(&given.read(&known)?)?;
            cell_fields(&fields)?;
            Ok((cells, fields, options.phew()?))
        })?;
        let mut of_cells = cell_fields(&fields)?;
        if let Some(particles) = &self.particles {
            of_cells = of_cells.particles(particles);
        }
        let found = self.engine.phew(&cells, of_cells, &params)?;
        self.keep(Found::Clumps(Box::new(found)));
        Ok(())
    }

    /// Collective: friends-of-friends.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn fof(&mut self, given: GivenColumns) -> Result<(), Error> {
        self.found = None;
        let geometry = self.geometry.clone();
        let (fields, geometry) = self.engine.agree_beside("fof", move || {
            let fields = Fields::new(&given.read(PARTICLES)?)?;
            required("position", fields.vectors("position"))?;
            Ok((fields, geometry.ok_or_else(no_box)?))
        })?;
        let found = self.engine.fof(&particles(&fields, geometry)?, &self.options.fof())?;
        self.keep(Found::Groups(Box::new(found)));
        Ok(())
    }

    /// Collective: copies particles, or forgets those that were copied before if there are no columns.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn set_particles(&mut self, given: GivenColumns) -> Result<(), Error> {
        (self.found, self.particles) = (None, None);
        let geometry = self.geometry.clone();
        let (fields, geometry) = self.engine.agree_beside("set_particles", move || {
            let named = given.read(KEPT_PARTICLES)?;
            if named.is_empty() {
                return Ok((None, None));
            }
            let fields = Fields::new(&named)?;
            required("position", fields.vectors("position"))?;
            Ok((Some(fields), Some(geometry.ok_or_else(no_box)?)))
        })?;
        if let (Some(fields), Some(geometry)) = (fields, geometry) {
            self.particles = Some(self.engine.hold_particles(&particles(&fields, geometry)?)?);
        }
        Ok(())
    }

    /// Collective: what `name` says, of the particles that were copied.
    ///
    /// # Errors
    /// When there are none, or no such name; those of the engine.
    pub fn find(&mut self, name: Result<&str, Error>) -> Result<(), Error> {
        self.found = None;
        let (particles, options) = (self.particles.as_ref(), &self.options);
        let (what, particles) = self.engine.agree_beside("find", move || {
            let what = ParticleSearch::named(name?)?;
            Ok((
                what,
                particles.ok_or_else(|| refused("no particles; expected inselberg_set_particles first"))?,
            ))
        })?;
        let (engine, clumps) = (&mut self.engine, options.clumps_of_particles());
        let found = match what {
            ParticleSearch::Groups => {
                Found::Groups(Box::new(engine.fof_particles(particles, options.types(), &options.fof())?))
            }
            ParticleSearch::Mesh => {
                Found::Clumps(Box::new(engine.phew_particles(particles, options.mesh(), clumps)?))
            }
            ParticleSearch::Graph => {
                Found::Clumps(Box::new(engine.phew_graph(particles, options.graph(), clumps)?))
            }
            ParticleSearch::Voids => {
                let (graph, voids) = options.voids();
                Found::Voids(Box::new(engine.voids(particles, graph, voids)?))
            }
        };
        self.keep(found);
        Ok(())
    }

    /// Collective: cuts the clumps that were found at other thresholds.
    ///
    /// # Errors
    /// When there are none; those of [`inselberg::Clumps::recut`].
    pub fn recut(&mut self) -> Result<(), Error> {
        let (views, options) = (self.found.as_ref(), &self.options);
        let (clumps, params) =
            self.engine.agree_beside("recut", move || match views.map(|views| &views.found) {
                Some(Found::Clumps(clumps)) => Ok((clumps, options.phew()?)),
                _ => Err(refused("no clumps; expected PHEW first")),
            })?;
        let found = clumps.recut(&params)?;
        self.keep(Found::Clumps(Box::new(found)));
        Ok(())
    }

    /// Collective: an empty merger tree. `is_welcome` says whether this rank can keep it.
    ///
    /// # Errors
    /// When a rank cannot; those of [`Engine::trees`].
    pub fn begin_tree(&mut self, is_welcome: Result<(), Error>) -> Result<MergerTree, Error> {
        self.engine.agree_beside("tree_begin", move || is_welcome)?;
        self.engine.trees(&self.options.trees())
    }

    /// Collective: writes the catalogue.
    ///
    /// # Errors
    /// When there is none, or it cannot be written.
    pub fn write(&mut self, path: Result<&str, Error>) -> Result<(), Error> {
        let views = self.found.as_ref();
        let (path, found) = self.engine.agree_beside("write", move || Ok((path?, &found(views)?.found)))?;
        found.catalogue().write(path)
    }

    /// Collective: writes labels of the last result.
    ///
    /// # Errors
    /// When there is none, it has no such labels, the file cannot be written, or another rank fails.
    pub fn write_labels(&mut self, which: i32, path: Result<&str, Error>) -> Result<(), Error> {
        let views = self.found.as_ref();
        let (path, found, of) = self.engine.agree_beside("write_labels", move || {
            let of = match which {
                INSELBERG_CLUMP_LABELS => LabelsOf::Clumps,
                INSELBERG_HALO_LABELS => LabelsOf::Haloes,
                _ => {
                    return Err(refused(format!(
                        "labels {which} to a file; expected those of clumps or haloes"
                    )));
                }
            };
            Ok((path?, &found(views)?.found, of))
        })?;
        found.catalogue().write_labels(path, of)
    }

    /// The last result.
    ///
    /// # Errors
    /// When there is none.
    pub fn views(&self) -> Result<&Views, Error> {
        found(self.found.as_ref())
    }

    /// Labels of one kind, and how many each item has.
    ///
    /// # Errors
    /// When the last result has no such labels.
    pub fn labels(&self, which: i32) -> Result<(Box<dyn ExactSizeIterator<Item = u64> + '_>, usize), Error> {
        match (&self.views()?.found, which) {
            (Found::Clumps(clumps), INSELBERG_CLUMP_LABELS) => {
                Ok((Box::new(clumps.labels().iter().map(|l| l.map_or(0, |id| id.get()))), self.n_parts()))
            }
            (Found::Clumps(clumps), INSELBERG_HALO_LABELS) => Ok((
                Box::new(clumps.halo_labels().iter().map(|l| l.map_or(0, |id| id.get()))),
                self.n_parts(),
            )),
            (Found::Groups(groups), INSELBERG_GROUP_LABELS) => {
                Ok((Box::new(groups.labels().iter().map(|l| l.map_or(0, |id| id.get()))), 1))
            }
            _ => Err(refused(format!("labels {which}; expected a kind that the last result has"))),
        }
    }

    /// Collective: the clump whose peak each cell is, and how many cells each item has.
    ///
    /// # Errors
    /// When there are no clumps of cells; those of [`inselberg::Clumps::peak_labels`].
    pub fn peak_labels(&mut self) -> Result<(Vec<u64>, usize), Error> {
        let n_parts = self.n_parts();
        let views = self.found.as_ref();
        let clumps =
            self.engine.agree_beside("peak_labels", move || match views.map(|views| &views.found) {
                Some(Found::Clumps(clumps)) => Ok(clumps),
                _ => Err(refused("no clumps; expected PHEW first")),
            })?;
        let labels = clumps.peak_labels()?;
        Ok((labels.into_iter().map(|label| label.map_or(0, |id| id.get())).collect(), n_parts))
    }

    /// Collective: shows, on this rank, the rows of a table with the identifiers in the column `id`.
    ///
    /// # Errors
    /// When there is no result, an identifier is below 0; those of [`inselberg::FoundCatalogue::rows`].
    pub fn pick_rows(&mut self, table: Result<&str, Error>, given: GivenColumns) -> Result<(), Error> {
        let views = self.found.as_ref();
        let (table, ids, views) = self.engine.agree_beside("pick_rows", move || {
            let fields = Fields::new(&given.read(IDENTIFIERS)?)?;
            let ids = required("id", fields.values("id"))?;
            let id = |i| ids.integer(i).and_then(|id| u64::try_from(id).ok());
            let ids = (0..ids.len()).map(id).collect::<Option<Vec<u64>>>();
            let ids = ids.ok_or_else(|| refused("an identifier that is no integer from 0; expected such"))?;
            Ok((table?, ids, found(views)?))
        })?;
        let rows = views.found.catalogue().rows(table, &ids)?;
        self.found.as_mut().expect("there is a result").pick(rows);
        Ok(())
    }

    /// Collective: adds sums of values over the items of each label to the table of these labels.
    ///
    /// # Errors
    /// When there is no result with such labels, or the table has such a column; those of
    /// [`inselberg::Clumps::sums`].
    pub fn add_sums(&mut self, which: i32, given: GivenColumns) -> Result<(), Error> {
        let (n_of_cells, views) = (self.n_parts(), self.found.as_ref());
        let (labelled, fields) = self.engine.agree_beside("add_sums", move || {
            let labelled = Labelled::of(&found(views)?.found, which)?;
            let n_parts = if matches!(labelled, Labelled::Particles(_)) { 1 } else { n_of_cells };
            let fields = Fields::new(&given.read_values(n_parts)?)?;
            let taken = fields.all_values().into_iter().find(|(name, _)| labelled.has_column(name));
            match taken {
                Some((name, _)) => Err(refused(format!("a column {name:?}; expected a new name"))),
                None => Ok((labelled, fields)),
            }
        })?;
        let (table, columns) = (labelled.table(), fields.all_values());
        let sums = labelled.sums(&columns)?;
        let names = columns.iter().map(|(name, _)| (*name).to_string());
        self.found.as_mut().expect("there is a result").add_columns(table, names.zip(sums).collect())
    }

    /// Collective: ends the use of the communicator.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn close(mut self) -> Result<(), Error> {
        self.engine.missed(self.missed.take());
        self.engine.close()
    }
}

/// A result with labels of one kind.
enum Labelled<'a> {
    Cells(&'a Clumps, LabelsOf),
    Particles(&'a FofGroups),
}

impl<'a> Labelled<'a> {
    fn of(found: &'a Found, which: i32) -> Result<Self, Error> {
        match (found, which) {
            (Found::Clumps(clumps), INSELBERG_CLUMP_LABELS) => Ok(Self::Cells(clumps, LabelsOf::Clumps)),
            (Found::Clumps(clumps), INSELBERG_HALO_LABELS) => Ok(Self::Cells(clumps, LabelsOf::Haloes)),
            (Found::Groups(groups), INSELBERG_GROUP_LABELS) => Ok(Self::Particles(groups)),
            _ => Err(refused(format!("sums over labels {which}; expected a kind that the last result has"))),
        }
    }

    fn table(&self) -> &'static str {
        match self {
            Self::Cells(_, of) => of.table(),
            Self::Particles(_) => "Groups",
        }
    }

    fn has_column(&self, name: &str) -> bool {
        let catalogue: &FoundCatalogue = match self {
            Self::Cells(clumps, _) => clumps,
            Self::Particles(groups) => groups,
        };
        catalogue.table(self.table()).is_some_and(|table| table.column(name).is_some())
    }

    fn sums(&self, columns: &[(&str, Column)]) -> Result<Vec<Vec<f64>>, Error> {
        match self {
            Self::Cells(clumps, of) => clumps.sums(*of, columns),
            Self::Particles(groups) => groups.sums(columns),
        }
    }
}

/// What is searched for among particles.
#[derive(Debug, Clone, Copy)]
enum ParticleSearch {
    Groups,
    Mesh,
    Graph,
    Voids,
}

impl ParticleSearch {
    fn named(name: &str) -> Result<Self, Error> {
        match name {
            "groups" => Ok(Self::Groups),
            "mesh" => Ok(Self::Mesh),
            "graph" => Ok(Self::Graph),
            "voids" => Ok(Self::Voids),
            other => Err(refused(format!("a search {other:?}; expected groups, mesh, graph or voids"))),
        }
    }
}

/// The clump of each cell.
pub const INSELBERG_CLUMP_LABELS: i32 = 1;
/// The halo of each cell, by its main clump.
pub const INSELBERG_HALO_LABELS: i32 = 2;
/// The group of each particle.
pub const INSELBERG_GROUP_LABELS: i32 = 3;
/// The clump whose peak each cell is. Each clump has one such cell, on one rank. Collective.
pub const INSELBERG_PEAK_LABELS: i32 = 4;

fn no_box() -> Error {
    refused("no box; expected inselberg_set_box first")
}

fn found(views: Option<&Views>) -> Result<&Views, Error> {
    views.ok_or_else(|| refused("no result; expected PHEW or friends-of-friends first"))
}

fn lock(hook: &CallerHook) -> MutexGuard<'_, (ProgressFn, usize)> {
    hook.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the function of the caller.
fn report(hook: &CallerHook, progress: Progress) -> ControlFlow<()> {
    let (Some(function), user) = *lock(hook) else { return ControlFlow::Continue(()) };
    let stage = CString::new(progress.stage).expect("stages have no zero bytes");
    match function(user as *mut c_void, stage.as_ptr(), progress.done, progress.work) {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    }
}

fn cells(given: &NamedColumns, geometry: Option<&Geometry>, n_parts: usize) -> Result<Cells, Error> {
    let geometry = geometry.cloned().ok_or_else(no_box)?;
    let fields = Fields::new(given)?;
    let level = required("level", fields.values("level"))?;
    let position = required("position", fields.vectors("position"))?;
    match n_parts {
        1 => Cells::from_leaves(geometry, level, position),
        _ => Cells::from_octs(geometry, level, position, required("split", fields.values("split"))?),
    }
}

fn cell_fields<'a>(fields: &'a Fields<'a>) -> Result<CellFields<'a>, Error> {
    let mut found = CellFields::density(required("density", fields.values("density"))?);
    if let Some(density) = fields.values("mass_density") {
        found = found.mass_density(density);
    }
    let velocity = ["velocity_x", "velocity_y", "velocity_z"].map(|name| fields.values(name));
    match velocity {
        [Some(x), Some(y), Some(z)] => Ok(found.velocity(VectorColumn([x, y, z]))),
        [None, None, None] => Ok(found),
        _ => Err(refused("velocities along some axes; expected all three or none")),
    }
}

fn particles<'a>(fields: &'a Fields<'a>, geometry: Geometry) -> Result<ParticleColumns<'a>, Error> {
    let position = required("position", fields.vectors("position"))?;
    let mut particles = ParticleColumns::new(geometry, position);
    if let Some(ids) = fields.values("id") {
        particles = particles.ids(ids);
    }
    if let Some(masses) = fields.values("mass") {
        particles = particles.masses(masses);
    }
    if let Some(velocities) = fields.vectors("velocity") {
        particles = particles.velocities(velocities);
    }
    if let Some(flags) = fields.values("attached") {
        particles = particles.attached(flags);
    }
    if let Some(types) = fields.values("type") {
        particles = particles.types(types);
    }
    if let Some(densities) = fields.values("density") {
        particles = particles.gas_densities(densities);
    }
    Ok(particles)
}
