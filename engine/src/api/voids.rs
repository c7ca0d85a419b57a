//! Voids among particles on disk: one call, and what it found.

use crate::api::opened::OpenParticles;
use crate::api::particle_types::ParticleGraphParams;
use crate::api::session::{Session, Shared};
use crate::error::{Error, ErrorKind};
use crate::phew::balance::Balance;
use crate::projection::{DensityMap, KeptLeaves, MapBox, View, check_views, maps};
use crate::voids::{VoidConfig, VoidOutcome, run_voids};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, Table};
use inselberg_io::staging::Staged;
use std::path::Path;
use std::sync::Arc;

/// Which walls divide voids, and which voids are listed. Densities are in units of the mean density.
///
/// ```
/// use inselberg::VoidParams;
///
/// let params = VoidParams::default().wall(0.3).radius(2.5);
/// assert_eq!((params.relevance, params.wall, params.radius), (2.0, Some(0.3), 2.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VoidParams {
    /// Only particles less dense than this take part; `None`: all do.
    pub density: Option<f64>,
    /// A zone with a smaller ratio of the density of the wall over which it overflows to its least density is noise.
    pub relevance: f64,
    /// Zones that meet below this density are one void; `None`: every zone is a void.
    pub wall: Option<f64>,
    /// Voids up to this effective radius, in units of the positions, are not listed.
    pub radius: f64,
    /// Voids of fewer particles are not listed.
    pub min_particles: u64,
    /// Whether the catalogue lists every particle with its zone and void.
    pub with_particles: bool,
    /// Also keeps the density for [`Voids::maps`].
    pub keep_density: bool,
}

impl Default for VoidParams {
    /// All particles, a ratio of at least 2, and walls of 0.2 mean densities.
    fn default() -> Self {
        Self {
            density: None,
            relevance: 2.0,
            wall: Some(0.2),
            radius: 0.0,
            min_particles: 0,
            with_particles: false,
            keep_density: false,
        }
    }
}

impl VoidParams {
    /// Only particles less dense than this take part.
    #[must_use]
    pub fn density(self, density: f64) -> Self {
        Self { density: Some(density), ..self }
    }

    /// Zones with a smaller ratio of wall to least density are noise.
    #[must_use]
    pub fn relevance(self, relevance: f64) -> Self {
        Self { relevance, ..self }
    }

    /// Zones that meet below this density are one void.
    #[must_use]
    pub fn wall(self, wall: f64) -> Self {
        Self { wall: Some(wall), ..self }
    }

    /// Voids up to this radius are not listed.
    #[must_use]
    pub fn radius(self, radius: f64) -> Self {
        Self { radius, ..self }
    }

    /// Voids of fewer particles are not listed.
    #[must_use]
    pub fn min_particles(self, min_particles: u64) -> Self {
        Self { min_particles, ..self }
    }

    /// The catalogue lists every particle with its zone and void.
    #[must_use]
    pub fn with_particles(self) -> Self {
        Self { with_particles: true, ..self }
    }

    /// Keeps the density for [`Voids::maps`].
    #[must_use]
    pub fn keep_density(self) -> Self {
        Self { keep_density: true, ..self }
    }

    fn config(&self) -> VoidConfig {
        VoidConfig {
            density: self.density,
            relevance: self.relevance,
            wall: self.wall,
            radius: self.radius,
            min_particles: self.min_particles,
            with_particles: self.with_particles,
            keep_density: self.keep_density,
        }
    }
}

/// What a call finds.
pub(crate) struct VoidResult {
    catalogue: CataloguePart,
    balance: Balance,
    kept: Option<KeptLeaves>,
}

/// Collective: the voids of particles.
pub(crate) fn find(
    session: &Session,
    particles: &OpenParticles,
    graph: &ParticleGraphParams,
    params: &VoidParams,
) -> Result<VoidResult, Error> {
    session.check_same("graph and parameters", &(graph, params))?;
    let graph = graph.config()?;
    let snapshot = particles.on_mesh(&graph.mesh)?;
    let found = run_voids(&snapshot, &graph, &params.config(), session.comm, session.executor)?;
    let VoidOutcome { catalogue, balance, leaves, .. } = found;
    let (side, origin) = (snapshot.header().boxlen, snapshot.header().origin);
    let kept = leaves.map(|leaves| KeptLeaves::of_roots(leaves, side, session.comm)).transpose()?;
    Ok(VoidResult { catalogue, balance, kept: kept.map(|kept| kept.at_origin(origin)) })
}

/// Voids of particles and their zones.
///
/// Over several ranks each rank has a range of the rows of each table.
pub struct Voids {
    shared: Arc<Shared>,
    found: VoidResult,
}

impl std::fmt::Debug for Voids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Voids").field("n_voids", &self.n_voids()).finish_non_exhaustive()
    }
}

impl Voids {
    pub(crate) fn new(shared: Arc<Shared>, found: VoidResult) -> Self {
        Self { shared, found }
    }

    /// Number of voids listed on all ranks.
    pub fn n_voids(&self) -> u64 {
        self.n_rows("voids")
    }

    /// Number of zones listed on all ranks.
    pub fn n_zones(&self) -> u64 {
        self.n_rows("zones")
    }

    fn n_rows(&self, table: &str) -> u64 {
        self.found.catalogue.table(table).expect("every catalogue has voids and zones").n_rows
    }

    /// The rows of a table that this rank has: `voids`, `zones`, `tree`; `particles` if asked for. On a rank alone the whole
    /// table.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.found.catalogue.table(name).map(|part| &part.table)
    }

    /// The tables of the catalogue, each with the rows of this rank and the number of rows on all ranks.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (&Table, u64)> {
        self.found.catalogue.tables.iter().map(|part| (&part.table, part.n_rows))
    }

    /// Adds texts to the attributes, as [`crate::Clumps::add_attributes`].
    #[doc(hidden)]
    pub fn add_attributes(&mut self, texts: impl IntoIterator<Item = (&'static str, String)>) {
        let texts = texts.into_iter().map(|(name, text)| (name.into(), Attribute::Text(text)));
        self.found.catalogue.attributes.extend(texts);
    }

    /// What the catalogue says of its input, its parameters and its totals.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        &self.found.catalogue.attributes
    }

    /// Collective: the whole catalogue on `rank`, `None` on the others.
    ///
    /// # Errors
    /// When there is no such rank, or a rank fails.
    pub fn gather(&self, rank: u32) -> Result<Option<Catalogue>, Error> {
        self.shared.gather(&self.found.catalogue, rank)
    }

    /// Collective: writes the catalogue to a file, whole or not at all. As [`crate::Clumps::write`].
    ///
    /// # Errors
    /// When the file cannot be written, or a rank fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.shared.write(&self.found.catalogue, path.as_ref())
    }

    /// Collective: stages the catalogue; rank 0 gets the file. For the command line, whose files get their names together.
    #[doc(hidden)]
    pub fn stage(&self, path: &Path) -> Result<Staged, Error> {
        self.shared.stage(&self.found.catalogue, path)
    }

    /// Collective: the mean density along the line of sight, as [`crate::Clumps::maps`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`VoidParams::keep_density`] kept the density, and for views that cannot be made. When
    /// a rank fails.
    pub fn maps(&self, views: &[View]) -> Result<Option<Vec<DensityMap>>, Error> {
        let kept = self.kept()?;
        check_views(views, kept.space())?;
        self.shared.call(|session| {
            session.check_same("views", &views)?;
            Ok(maps(kept, kept.space(), views, session.comm)?)
        })
    }

    /// The box of [`Self::maps`], and the side of the smallest leaf.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] unless [`VoidParams::keep_density`] kept the density.
    pub fn map_box(&self) -> Result<(MapBox, f64), Error> {
        self.kept().map(|kept| (*kept.space(), kept.finest()))
    }

    fn kept(&self) -> Result<&KeptLeaves, Error> {
        let missing = || {
            let message = "maps of a density that was not kept; expected `keep_density`";
            Error::new(ErrorKind::InvalidArgument, message)
        };
        self.found.kept.as_ref().ok_or_else(missing)
    }

    /// Frees what [`VoidParams::keep_density`] kept.
    #[doc(hidden)]
    pub fn forget_density(&mut self) {
        self.found.kept = None;
    }

    /// The distribution of the work over the ranks.
    #[doc(hidden)]
    pub fn balance(&self) -> Balance {
        self.found.balance
    }
}
