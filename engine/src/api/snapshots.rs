//! Outputs of simulations on disk: opened by their headers, read by a call.

use crate::api::cells::Geometry;
use crate::api::clumps::{ClumpLabels, CutResult};
use crate::api::groups::SearchResult;
use crate::api::params::{FofParams, PhewParams};
use crate::api::particle_types::{LinkingTypes, ParticleMeshParams};
use crate::api::phew::project_if;
use crate::api::session::Session;
use crate::error::{Error, ParticleMeshError};
use crate::fof::run_fof;
use crate::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use crate::phew::params::FieldChoice;
use crate::phew::run::{PhewOutcome, run, run_on_particles};
use crate::projection::KeptLeaves;
use inselberg_comm::Comm;
use inselberg_io::particles::{
    InputDefaults, ParticleHeader, ParticleInput, open_particles_from, read_particle_headers_with,
};
use inselberg_io::{InputFacts, Snapshot, collective, open_from};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An output with cells on disk, such as the folder `output_00080` of RAMSES. Only its headers have been read.
pub struct OpenSnapshot(Box<dyn Snapshot>);

impl std::fmt::Debug for OpenSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenSnapshot").field(self.0.header()).finish()
    }
}

impl OpenSnapshot {
    /// Collective: reads the headers on rank 0.
    pub(crate) fn open(path: &Path, comm: &Comm) -> Result<Self, Error> {
        Ok(Self(collective::open(path, comm)?))
    }

    /// From headers that were read before, for the command line.
    #[doc(hidden)]
    pub fn from_headers(facts: &InputFacts) -> Self {
        Self(open_from(facts))
    }

    /// The reader.
    #[doc(hidden)]
    pub fn reader(&self) -> &dyn Snapshot {
        self.0.as_ref()
    }

    /// The name of its format.
    pub fn format(&self) -> &str {
        self.0.header().format
    }

    /// Its number, where the format has one.
    pub fn number(&self) -> Option<u32> {
        self.0.header().number
    }

    /// Its box, time, units and cosmology.
    pub fn geometry(&self) -> Geometry {
        Geometry::of_header(self.0.header(), self.0.has_units())
    }

    /// The coarsest level of leaves, and the deepest that it may hold.
    pub fn levels(&self) -> [u8; 2] {
        [self.0.header().levelmin, self.0.header().levelmax]
    }

    /// The names of its cell quantities, in the order of the files.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.fields().iter().map(|field| field.name.as_str())
    }

    /// Whether it has particles.
    pub fn has_particles(&self) -> bool {
        self.0.has_particles()
    }
}

/// Particles on disk, in one or more files of one input. Only the headers have been read.
pub struct OpenParticles {
    facts: InputFacts,
    input: Box<dyn ParticleInput>,
}

impl std::fmt::Debug for OpenParticles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenParticles").field(self.header()).finish()
    }
}

impl OpenParticles {
    /// Collective: reads the headers on rank 0.
    pub(crate) fn open(paths: &[PathBuf], defaults: &InputDefaults, comm: &Comm) -> Result<Self, Error> {
        let facts = collective::shared(comm, || read_particle_headers_with(paths, defaults))?;
        Ok(Self::from_headers(facts))
    }

    /// From headers that were read before, for the command line.
    #[doc(hidden)]
    pub fn from_headers(facts: InputFacts) -> Self {
        Self { input: open_particles_from(&facts), facts }
    }

    /// The reader.
    #[doc(hidden)]
    pub fn reader(&self) -> &dyn ParticleInput {
        self.input.as_ref()
    }

    /// The particles as a snapshot whose mesh they make.
    ///
    /// # Errors
    /// When no mesh can be made from them.
    #[doc(hidden)]
    pub fn on_mesh(&self, mesh: &ParticleMeshConfig) -> Result<ParticleSnapshot, ParticleMeshError> {
        ParticleSnapshot::new(open_particles_from(&self.facts), mesh)
    }

    fn header(&self) -> &ParticleHeader {
        self.input.about()
    }

    /// The name of its format.
    pub fn format(&self) -> &str {
        self.header().format
    }

    /// Lengths of the box along the axes; `None` if it does not state them.
    pub fn sides(&self) -> Option<[f64; 3]> {
        self.header().sides
    }

    /// Time in its units, or the expansion factor.
    pub fn time(&self) -> f64 {
        self.header().time
    }

    /// Its species by name, and the number of particles of each.
    pub fn species(&self) -> impl Iterator<Item = (&str, u64)> {
        self.header().species.iter().map(|species| (species.name.as_str(), species.n))
    }
}

/// Collective: PHEW on an output.
pub(crate) fn phew(
    session: &Session,
    snapshot: &OpenSnapshot,
    field: &FieldChoice,
    params: &PhewParams,
) -> Result<CutResult, Error> {
    session.check_same("field and parameters", &(field, params))?;
    params.check()?;
    let config = params.config(field.clone());
    let found = run(snapshot.0.as_ref(), &config, session.comm, session.executor)?;
    CutResult::of_output(found, params, snapshot.0.header().boxlen, session.comm)
}

/// Collective: PHEW on the mesh that particles make.
pub(crate) fn phew_particles(
    session: &Session,
    particles: &OpenParticles,
    mesh: &ParticleMeshParams,
    params: &PhewParams,
) -> Result<CutResult, Error> {
    session.check_same("mesh and parameters", &(mesh, params))?;
    params.check()?;
    let mesh = mesh.config()?;
    let snapshot = particles.on_mesh(&mesh)?;
    let config = params.config(FieldChoice::Auto);
    let found = run_on_particles(&snapshot, &mesh, &config, session.comm, session.executor)?;
    CutResult::of_output(found, params, snapshot.header().boxlen, session.comm)
}

/// Collective: friends-of-friends groups of particles on disk.
pub(crate) fn fof(
    session: &Session,
    particles: &OpenParticles,
    types: &LinkingTypes,
    params: &FofParams,
) -> Result<SearchResult, Error> {
    session.check_same("types and parameters", &(types, params))?;
    params.check()?;
    let config = types.config(params)?;
    Ok(SearchResult::of_output(run_fof(particles.input.as_ref(), &config, session.comm, session.executor)?))
}

impl CutResult {
    /// Collective, where a projection is wanted or the density is kept; `side` is that of a level-0 cell.
    fn of_output(found: PhewOutcome, params: &PhewParams, side: f64, comm: &Comm) -> Result<Self, Error> {
        let PhewOutcome { catalogue, part, balance, structures, peaks, units, densest, field, leaves } =
            found;
        let projection = project_if(params, &part, comm)?;
        let kept = match (params.keep_density, leaves) {
            (false, _) => None,
            (true, Some(roots)) => Some(KeptLeaves::of_roots(roots, side, comm)?),
            (true, None) => Some(KeptLeaves::of_part(part, side, comm)?),
        };
        Ok(Self {
            catalogue,
            structures,
            peaks: Arc::new(peaks),
            patches: None,
            params: params.clone(),
            units,
            labels: ClumpLabels::default(),
            // An octree has no gaps.
            coverage: 1.0,
            densest,
            projection,
            field: Some(field),
            balance,
            kept: kept.map(Arc::new),
        })
    }
}
