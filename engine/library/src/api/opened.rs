//! Outputs of simulations on disk: opened by their headers.

use crate::api::cells::Geometry;
use crate::api::params::ParticleMeshParams;
use crate::error::{Error, ErrorKind};
use crate::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use crate::particles::BoxError;
use inselberg_comm::Comm;
use inselberg_io::particles::{
    HeldParticles, InputDefaults, N_KINDS, ParticleHeader, ParticleInput, open_particles_from,
    read_particle_headers_with,
};
use inselberg_io::{FieldDefaults, InputFacts, Snapshot, collective, open_from, read_headers_with};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An output with cells on disk, such as the folder `output_00080` of RAMSES. Only its headers have been
/// read.
pub struct OpenSnapshot(Box<dyn Snapshot>);

impl std::fmt::Debug for OpenSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenSnapshot").field(self.0.header()).finish()
    }
}

impl OpenSnapshot {
    /// Collective: reads the headers on rank 0.
    pub(crate) fn open(path: &Path, defaults: &FieldDefaults, comm: &Comm) -> Result<Self, Error> {
        let facts = collective::shared(comm, || read_headers_with(path, defaults))?;
        Ok(Self::from_headers(&facts))
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

    /// Its number, if the format has one.
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

/// Particles: on disk, in one or more files of one input, of which only the headers have been read; or copies
/// of those of a program ([`crate::Engine::hold_particles`]).
pub struct OpenParticles {
    input: Arc<dyn ParticleInput>,
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
        Self { input: open_particles_from(&facts).into() }
    }

    /// Those of a program.
    pub(crate) fn held(particles: HeldParticles) -> Self {
        Self { input: Arc::new(particles) }
    }

    /// These particles, if they are on these ranks: those of a program are in the memory of some.
    ///
    /// # Errors
    /// When another engine holds them, over another number of ranks.
    pub(crate) fn on_ranks_of(&self, comm: &Comm) -> Result<&Self, Error> {
        let held_by = self.input.first_rows().map(|first| first.len() - 1);
        match held_by.filter(|n_ranks| *n_ranks != comm.n_ranks()) {
            None => Ok(self),
            Some(n_ranks) => {
                let message = format!(
                    "the particles are held by another engine (its ranks: {n_ranks}, here: {}); expected that engine",
                    comm.n_ranks()
                );
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
        }
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
    pub fn on_mesh(&self, mesh: &ParticleMeshConfig) -> Result<ParticleSnapshot, BoxError> {
        ParticleSnapshot::new(Arc::clone(&self.input), mesh)
    }

    /// All particles with mass as members of clumps of cells in a box.
    ///
    /// # Errors
    /// When their box is another one.
    pub(crate) fn in_box(&self, geometry: &Geometry) -> Result<ParticleSnapshot, Error> {
        let (about, sides) = (self.header(), geometry.sides());
        let same_boundary = geometry.periodic == [about.periodic; 3];
        if about.sides != Some(sides) || !same_boundary {
            let boundary =
                |periodic: &[bool]| if periodic.contains(&true) { "a periodic" } else { "an open" };
            let message = format!(
                "particles in {} box of {:?} beside cells in {} box of {sides:?}; expected one box",
                boundary(&[about.periodic]),
                about.sides.unwrap_or_default(),
                boundary(&geometry.periodic)
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let all: Vec<u8> = (0..N_KINDS as u8).collect();
        Ok(self.on_mesh(&ParticleMeshParams::default().types(&all).config()?)?)
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
