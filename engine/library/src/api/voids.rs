//! Voids among particles on disk: one call, and what it found.

use crate::api::found::FoundCatalogue;
use crate::api::opened::OpenParticles;
use crate::api::params::ParticleGraphParams;
use crate::api::quantities::{MeanOf, converted, scale_of_particles};
use crate::api::session::Session;
use crate::error::Error;
use crate::projection::{KeptForMaps, KeptLeaves};
use crate::tables::input_notes_of;
use crate::voids::{VoidOutcome, VoidParams, run_voids};
use inselberg_io::Snapshot;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Voids of particles and their zones, as a [`FoundCatalogue`].
pub struct Voids {
    catalogue: FoundCatalogue,
}

/// Why there are no maps.
const NO_MAPS: &str = "maps of a density that was not kept; expected `keep_density`";

/// Collective: the voids of particles.
pub(crate) fn find(
    session: &Session,
    particles: &OpenParticles,
    graph: &ParticleGraphParams,
    params: &VoidParams,
) -> Result<Voids, Error> {
    let graph = graph.config()?;
    let snapshot = particles.on_ranks_of(session.comm)?.on_mesh(&graph.mesh)?;
    params.check()?;
    let scale = scale_of_particles(session, particles, &graph.mesh, MeanOf::Particles, params)?;
    let params = &converted(params, &scale)?;
    let found = run_voids(&snapshot, &graph, params, session.comm, session.executor)?;
    let VoidOutcome { catalogue, leaves, .. } = found;
    let (side, origin) = (snapshot.header().boxlen, snapshot.header().origin);
    let kept = leaves.map(|leaves| KeptLeaves::of_roots(leaves, side, session.comm)).transpose()?;
    let kept = kept.map(|kept| -> Arc<dyn KeptForMaps> { Arc::new(kept.at_origin(origin)) });
    Ok(Voids { catalogue: FoundCatalogue::new(session.shared, catalogue, kept.ok_or(NO_MAPS)) })
}

impl std::fmt::Debug for Voids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Voids").field("n_voids", &self.n_voids()).finish_non_exhaustive()
    }
}

impl Deref for Voids {
    type Target = FoundCatalogue;

    fn deref(&self) -> &FoundCatalogue {
        &self.catalogue
    }
}

impl DerefMut for Voids {
    fn deref_mut(&mut self) -> &mut FoundCatalogue {
        &mut self.catalogue
    }
}

impl Voids {
    /// What a user should know about a result that is right but may surprise: one line each, the same on all
    /// ranks.
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
}
