//! What is done with each particle type of an output. Types have the numbers of Gadget: 0 gas, 1 dark matter, 2 background dark
//! matter, 3 sinks, 4 stars, 5 black holes, 6 neutrinos.

use crate::api::params::FofParams;
use crate::error::{Error, ErrorKind};
use crate::fof::FofConfig;
use crate::graph::{GraphDensity, ParticleGraphConfig};
use crate::particle_mesh::ParticleMeshConfig;
use inselberg_io::particles::{DARK_MATTER, N_KINDS};
use inselberg_kernels::graph::MOST_NEIGHBOURS;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE};

/// Which particle types link and which are attached, and the box where the input states none.
///
/// ```
/// use inselberg::LinkingTypes;
///
/// let types = LinkingTypes::default().attaching(&[0, 4, 5]);
/// assert_eq!((types.linking, types.attaching), (vec![1], vec![0, 4, 5]));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LinkingTypes {
    /// Types that link.
    pub linking: Vec<u8>,
    /// Types that join the group of the nearest particle that links.
    pub attaching: Vec<u8>,
    /// The side of the box, for inputs that state none.
    pub side: Option<f64>,
    /// Whether boundaries are open, even if the input is periodic.
    pub is_open: bool,
}

impl Default for LinkingTypes {
    /// Dark matter links, nothing is attached.
    fn default() -> Self {
        Self { linking: vec![DARK_MATTER], attaching: Vec::new(), side: None, is_open: false }
    }
}

impl LinkingTypes {
    /// These types link.
    #[must_use]
    pub fn linking(self, types: &[u8]) -> Self {
        Self { linking: types.into(), ..self }
    }

    /// These types are attached.
    #[must_use]
    pub fn attaching(self, types: &[u8]) -> Self {
        Self { attaching: types.into(), ..self }
    }

    /// With the side of the box, for inputs that state none.
    #[must_use]
    pub fn side(self, side: f64) -> Self {
        Self { side: Some(side), ..self }
    }

    /// With open boundaries.
    #[must_use]
    pub fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// The configuration of a search with these types, for checks before a run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a type that does not exist, or that links and is attached.
    #[doc(hidden)]
    pub fn config(&self, params: &FofParams) -> Result<FofConfig, Error> {
        check_side(self.side)?;
        let (linking, attaching) = (kinds(&self.linking)?, kinds(&self.attaching)?);
        if let Some(both) = (0..N_KINDS).find(|kind| linking[*kind] && attaching[*kind]) {
            return Err(refused(format!("particle type {both} links and is attached; expected one of both")));
        }
        Ok(FofConfig { linking, attaching, side: self.side, open: self.is_open, ..params.config() })
    }
}

/// The mesh that particles make: cells with many particles are split.
///
/// ```
/// use inselberg::ParticleMeshParams;
///
/// let mesh = ParticleMeshParams::default().level_max(14);
/// assert_eq!((mesh.m_refine, mesh.level_max), (6, 14));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParticleMeshParams {
    /// Cells with more particles than this are split; at least 1.
    pub m_refine: u64,
    /// All cells of coarser levels are split: 2 to 12. `None`: the deepest level with at most as many cells as there are
    /// particles.
    pub level_min: Option<u8>,
    /// The level of the finest leaves: 2 to 20.
    pub level_max: u8,
    /// The particle types that are used.
    pub types: Vec<u8>,
    /// The side of the box, for inputs that state none.
    pub side: Option<f64>,
}

impl Default for ParticleMeshParams {
    /// Dark matter; cells with more than 8 particles are split, up to level 20.
    fn default() -> Self {
        Self { m_refine: 6, level_min: None, level_max: DEEPEST, types: vec![DARK_MATTER], side: None }
    }
}

impl ParticleMeshParams {
    /// Cells with more particles than this are split.
    #[must_use]
    pub fn m_refine(self, m_refine: u64) -> Self {
        Self { m_refine, ..self }
    }

    /// All cells of coarser levels are split.
    #[must_use]
    pub fn level_min(self, level: u8) -> Self {
        Self { level_min: Some(level), ..self }
    }

    /// The level of the finest leaves.
    #[must_use]
    pub fn level_max(self, level: u8) -> Self {
        Self { level_max: level, ..self }
    }

    /// These types are used.
    #[must_use]
    pub fn types(self, types: &[u8]) -> Self {
        Self { types: types.into(), ..self }
    }

    /// With the side of the box, for inputs that state none.
    #[must_use]
    pub fn side(self, side: f64) -> Self {
        Self { side: Some(side), ..self }
    }

    /// The configuration, for checks before a run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first parameter that is out of range.
    #[doc(hidden)]
    pub fn config(&self) -> Result<ParticleMeshConfig, Error> {
        check_side(self.side)?;
        let Self { m_refine, level_min, level_max, side, .. } = *self;
        if m_refine == 0 {
            return Err(refused("cells with more than 0 particles are split; expected 1 or more".into()));
        }
        let coarse = level_min.unwrap_or(2);
        if !(2..=DEEPEST_COARSE).contains(&coarse) || !(coarse..=DEEPEST).contains(&level_max) {
            return Err(refused(format!(
                "levels from {coarse} to {level_max}; expected a coarse level of 2 to {DEEPEST_COARSE}, and a finest \
                 level from there to {DEEPEST}"
            )));
        }
        let kinds = kinds(&self.types)?;
        Ok(ParticleMeshConfig { m_refine, level_min, level_max, kinds, side, root_level: None })
    }
}

/// The graph of particles and their nearest neighbours.
///
/// ```
/// use inselberg::ParticleGraphParams;
///
/// let graph = ParticleGraphParams::default().neighbours(64);
/// assert_eq!(graph.neighbours, 64);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParticleGraphParams {
    /// Number of neighbours of each particle: 1 to 254.
    pub neighbours: usize,
    /// Whether densities are those of the input, as SPH codes store them for gas, instead of sums over neighbours.
    pub given_density: bool,
    /// The particle types that are used.
    pub types: Vec<u8>,
    /// The side of the box, for inputs that state none.
    pub side: Option<f64>,
}

impl Default for ParticleGraphParams {
    /// Dark matter, with 16 neighbours each.
    fn default() -> Self {
        Self { neighbours: 16, given_density: false, types: vec![DARK_MATTER], side: None }
    }
}

impl ParticleGraphParams {
    /// With this number of neighbours.
    #[must_use]
    pub fn neighbours(self, neighbours: usize) -> Self {
        Self { neighbours, ..self }
    }

    /// With the densities of the input. Gas of SPH codes has them.
    #[must_use]
    pub fn given_density(self) -> Self {
        Self { given_density: true, ..self }
    }

    /// These types are used.
    #[must_use]
    pub fn types(self, types: &[u8]) -> Self {
        Self { types: types.into(), ..self }
    }

    /// With the side of the box, for inputs that state none.
    #[must_use]
    pub fn side(self, side: f64) -> Self {
        Self { side: Some(side), ..self }
    }

    /// The configuration, for checks before a run.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] with the first parameter that is out of range.
    #[doc(hidden)]
    pub fn config(&self) -> Result<ParticleGraphConfig, Error> {
        if !(1..=MOST_NEIGHBOURS).contains(&self.neighbours) {
            let given = self.neighbours;
            return Err(refused(format!("{given} neighbours; expected 1 to {MOST_NEIGHBOURS}")));
        }
        let of_pictures = ParticleMeshParams { side: self.side, ..ParticleMeshParams::default() };
        let mesh = of_pictures.types(&self.types).config()?;
        let density = if self.given_density { GraphDensity::Given } else { GraphDensity::Neighbours };
        Ok(ParticleGraphConfig { neighbours: self.neighbours, density, mesh })
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

fn check_side(side: Option<f64>) -> Result<(), Error> {
    match side.filter(|side| !(side.is_finite() && *side > 0.0)) {
        Some(side) => Err(refused(format!("the side of the box is {side}; expected a positive number"))),
        None => Ok(()),
    }
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
