//! What is done with each particle type of an output. Types have the numbers of Gadget: 0 gas, 1 dark matter,
//! 2 background dark matter, 3 sinks, 4 stars, 5 black holes, 6 neutrinos.

use super::FofParams;
use crate::error::{Error, ErrorKind};
use crate::fof::FofRequest;
use crate::graph::{GraphDensity, ParticleGraphConfig};
use crate::particle_mesh::ParticleMeshConfig;
use inselberg_io::params;
use inselberg_io::params::{ParamError, check_ranges};
use inselberg_io::particles::{DARK_MATTER, KIND_NAMES, N_KINDS};
use inselberg_kernels::graph::MOST_NEIGHBOURS;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE};

params! {
    /// Which particle types link and which are attached, and the box where the input states none.
    ///
    /// ```
    /// use inselberg::LinkingTypes;
    ///
    /// let types = LinkingTypes::default().attaching(vec![0, 4]);
    /// assert_eq!((types.linking, types.attaching), (vec![1], Some(vec![0, 4])));
    /// ```
    #[non_exhaustive]
    pub struct LinkingTypes of "fof" {
        /// Particle types that link and so form the groups.
        ///
        /// One digit each for gas, dark matter, background dark matter, sinks, stars, black holes and
        /// neutrinos.
        pub linking: Vec<u8> = vec![DARK_MATTER], "linking_types" = types("0,1,0,0,0,0,0");
        /// Particle types that join the group of the nearest linking particle in reach.
        ///
        /// No type can both link and attach. The default leaves out the types that link.
        pub attaching: Option<Vec<u8>> = None, "attaching_types" = any_types("1,0,0,0,1,1,0");
        /// Side of the periodic box of a plain array, in the units of the positions.
        pub side: Option<f64> = None, "box" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x > 0.0), "a finite side above 0").topic(Topic::Input).example("100");
        /// The box is not periodic.
        pub is_open: bool = false, "open" = flag("false").topic(Topic::Input);
    }
}

/// Gas, stars and black holes, as in SWIFT.
const ATTACHED: [u8; 3] = [0, 4, 5];

impl LinkingTypes {
    /// The types that are attached.
    pub fn attached(&self) -> Vec<u8> {
        let by_default = || ATTACHED.into_iter().filter(|kind| !self.linking.contains(kind)).collect();
        self.attaching.clone().unwrap_or_else(by_default)
    }

    /// What a search with these types is asked for, for checks before a run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a type that does not exist, or that links and is attached.
    #[doc(hidden)]
    pub fn request(&self, params: &FofParams) -> Result<FofRequest, Error> {
        let (linking, attaching) = (kinds(&self.linking)?, kinds(&self.attached())?);
        self.check()?;
        Ok(FofRequest { params: params.clone(), linking, attaching, side: self.side, open: self.is_open })
    }

    /// Checks each parameter, and that no type both links and is attached.
    ///
    /// # Errors
    /// The first parameter that is out of range or does not go with another one.
    pub fn check(&self) -> Result<(), ParamError> {
        check_ranges(self)?;
        let Some(both) = self.attached().into_iter().find(|kind| self.linking.contains(kind)) else {
            return Ok(());
        };
        let expected = format!("{} either linking or attaching, not both", KIND_NAMES[usize::from(both)]);
        let value = params::Params::get(self, "attaching_types").unwrap_or_default();
        Err(ParamError::value("attaching_types", value, expected))
    }
}

params! {
    /// The mesh that particles make: cells with many particles are split.
    ///
    /// ```
    /// use inselberg::ParticleMeshParams;
    ///
    /// let mesh = ParticleMeshParams::default().level_max(14);
    /// assert_eq!((mesh.m_refine, mesh.level_max), (6, 14));
    /// ```
    #[non_exhaustive]
    pub struct ParticleMeshParams of "phew" {
        /// Mesh from particles: split cells with more particles than this.
        pub m_refine: u64 = 6, "m_refine" =
            count("6", |n| (1..=1 << 40).contains(n), "1 or more particles").topic(Topic::Particles);
        /// Mesh from particles: split all cells coarser than this level, 2 to 12.
        ///
        /// Default: the deepest level with no more cells than particles. Level l has 8^l cells, at most 2^30
        /// or 4096 per particle. Tasks and ranks share parts that are at least two levels coarser, so a small
        /// value limits the number of ranks.
        pub level_min: Option<u8> = None, "level_min" = count(
            "",
            |level: &Option<u8>| level.is_none_or(|level| (2..=DEEPEST_COARSE).contains(&level)),
            "a level from 2 to 12",
        ).topic(Topic::Particles).example("7");
        /// Mesh from particles: never split cells of this level, 2 to 20.
        pub level_max: u8 = DEEPEST, "level_max" =
            count("20", |level| (2..=DEEPEST).contains(level), "a level from 2 to 20").topic(Topic::Particles);
        /// The types of particles that make the mesh or the graph.
        ///
        /// One digit each for gas, dark matter, background dark matter, sinks, stars, black holes and
        /// neutrinos.
        pub types: Vec<u8> = vec![DARK_MATTER], "particle_types" = types("0,1,0,0,0,0,0").topic(Topic::Particles);
        /// Side of the periodic box of a plain array, in the units of the positions.
        pub side: Option<f64> = None, "box" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x > 0.0), "a finite side above 0").topic(Topic::Input).example("100");
    }
}

impl ParticleMeshParams {
    /// The configuration, for checks before a run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first parameter that is out of range.
    #[doc(hidden)]
    pub fn config(&self) -> Result<ParticleMeshConfig, Error> {
        let kinds = kinds(&self.types)?;
        self.check()?;
        let Self { m_refine, level_min, level_max, side, .. } = *self;
        Ok(ParticleMeshConfig { m_refine, level_min, level_max, kinds, side, root_level: None })
    }

    /// Checks each parameter, and one level against the other.
    ///
    /// # Errors
    /// The first parameter that is out of range or does not go with another one.
    pub fn check(&self) -> Result<(), ParamError> {
        check_ranges(self)?;
        match self.level_min.filter(|least| *least > self.level_max) {
            Some(least) => {
                Err(ParamError::value("level_min", least, format!("at most `level_max` {}", self.level_max)))
            }
            None => Ok(()),
        }
    }
}

params! {
    /// The graph of particles and their nearest neighbours.
    ///
    /// ```
    /// use inselberg::ParticleGraphParams;
    ///
    /// let graph = ParticleGraphParams::default().neighbours(64);
    /// assert_eq!(graph.neighbours, 64);
    /// ```
    #[non_exhaustive]
    pub struct ParticleGraphParams of "phew" {
        /// Particle graph: number of nearest neighbours of each particle, 1 to 254.
        pub neighbours: usize = 16, "neighbours" =
            count("16", |n| (1..=MOST_NEIGHBOURS).contains(n), "1 to 254 neighbours").topic(Topic::Particles);
        /// Take densities of the particle graph from the input, as SPH codes store them.
        ///
        /// For gas: `particle_types` 1,0,0,0,0,0,0. Otherwise densities are sums over the neighbours.
        pub given_density: bool = false, "given_density" = flag("false").topic(Topic::Particles);
        /// The types of particles that make the mesh or the graph.
        ///
        /// One digit each for gas, dark matter, background dark matter, sinks, stars, black holes and
        /// neutrinos.
        pub types: Vec<u8> = vec![DARK_MATTER], "particle_types" = types("0,1,0,0,0,0,0").topic(Topic::Particles);
        /// Side of the periodic box of a plain array, in the units of the positions.
        pub side: Option<f64> = None, "box" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x > 0.0), "a finite side above 0").topic(Topic::Input).example("100");
    }
}

impl ParticleGraphParams {
    /// The graph for voids, which takes 32 neighbours by default.
    pub fn for_voids() -> Self {
        Self { neighbours: 32, ..Self::default() }
    }

    /// The configuration, for checks before a run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first parameter that is out of range.
    #[doc(hidden)]
    pub fn config(&self) -> Result<ParticleGraphConfig, Error> {
        let of_pictures = ParticleMeshParams { side: self.side, ..ParticleMeshParams::default() };
        let mesh = of_pictures.types(&self.types).config()?;
        check_ranges(self)?;
        let density = if self.given_density { GraphDensity::Given } else { GraphDensity::Neighbours };
        Ok(ParticleGraphConfig { neighbours: self.neighbours, density, mesh })
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

/// Flags by type.
fn kinds(types: &[u8]) -> Result<[bool; N_KINDS], Error> {
    let mut flags = [false; N_KINDS];
    for kind in types {
        match flags.get_mut(usize::from(*kind)) {
            Some(flag) => *flag = true,
            None => return Err(refused(format!("particle type {kind}; expected 0 to {}", N_KINDS - 1))),
        }
    }
    Ok(flags)
}
