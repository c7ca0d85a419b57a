//! Voids among particles on disk: one call, and what it found.

use crate::api::opened::OpenParticles;
use crate::api::params::ParticleGraphParams;
use crate::api::quantities::{MeanOf, converted, scale_of_particles};
use crate::api::session::{Session, Shared};
use crate::error::{Error, ErrorKind};
use crate::projection::{DensityMap, KeptLeaves, MapBox, View};
use crate::tables::input_notes_of;
use crate::voids::{VoidOutcome, VoidParams, run_voids};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, Table};
use inselberg_io::staging::Staged;
use std::path::Path;
use std::sync::Arc;

/// What a call finds.
pub(crate) struct VoidResult {
    catalogue: CataloguePart,
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
    params.check()?;
    let scale = scale_of_particles(session, particles, &graph.mesh, MeanOf::Particles, params)?;
    let params = &converted(params, &scale)?;
    let found = run_voids(&snapshot, &graph, params, session.comm, session.executor)?;
    let VoidOutcome { catalogue, leaves, .. } = found;
    let (side, origin) = (snapshot.header().boxlen, snapshot.header().origin);
    let kept = leaves.map(|leaves| KeptLeaves::of_roots(leaves, side, session.comm)).transpose()?;
    Ok(VoidResult { catalogue, kept: kept.map(|kept| kept.at_origin(origin)) })
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

    /// What a user should know about a result that is right but may surprise: one line each, the same on all ranks.
    pub fn warnings(&self) -> Vec<String> {
        input_notes_of(self.attributes()).map(str::to_string).into_iter().collect()
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
        self.found.catalogue.add_texts(texts);
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
        self.shared.maps(kept, kept.space(), views)
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
}
