//! Which particles of an input, in which box, and the levels of the mesh.

use crate::error::ParticleMeshError;
use crate::fof::contents;
use inselberg_io::particles::{N_KINDS, ParticleHeader, Species, check_readable, mass_of_all};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE, Shape};

/// The least mean number of particles per root.
const OF_ROOT: u64 = 8192;
/// The least number of roots per rank, where there are enough levels.
const ROOTS_OF_RANK: u64 = 32;
/// The deepest level of roots: scattering particles to more roots is slow.
const DEEPEST_ROOTS: u8 = 5;

/// The greatest number of levels within a root whose cells are all split: they take up to 36 MB per worker.
const LEVELS_OF_ROOT: u8 = 7;

/// Which particles make the mesh, and how it is refined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParticleMeshConfig {
    /// Cells with more particles than this are split; at least 1.
    pub m_refine: u64,
    /// All cells of coarser levels than this are split: 2 to 12, and at most `level_max`. `None`: the deepest level with at
    /// most as many cells as there are particles.
    pub level_min: Option<u8>,
    /// The level of the finest leaves: 2 to 20.
    pub level_max: u8,
    /// The kinds of particles that are used.
    pub kinds: [bool; N_KINDS],
    /// The side of the box, for inputs that do not give it.
    pub side: Option<f64>,
    /// The level of the roots; `None`: chosen. Never changes a result.
    pub root_level: Option<u8>,
}

/// The parameters that all roots share.
#[derive(Debug, Clone, Copy)]
pub struct RootDeposits {
    /// The levels.
    pub shape: Shape,
    /// Side of the box.
    pub side: f64,
    /// Density threshold in code units.
    pub threshold: f64,
    /// The greatest mass of a particle.
    pub heaviest: f64,
    /// Number of particles of all ranks.
    pub n: u64,
    /// Whether all leaves are kept.
    pub keep_leaves: bool,
}

/// What to read of an input.
#[derive(Debug, Clone)]
pub struct MeshPlan {
    /// The species, as indices into [`ParticleHeader::species`].
    pub species: Vec<usize>,
    /// The kinds that are used.
    pub kinds: [bool; N_KINDS],
    /// Side of the box.
    pub side: f64,
    /// Whether it wraps around.
    pub periodic: bool,
    /// Whether it does although nothing in the input says so. A mesh fills a cube, and particles of a run in an open box may lie
    /// outside of it.
    pub boundary_is_assumed: bool,
    /// Whether species mix kinds, so that the kind of each particle is read.
    pub mixed: bool,
    /// Whether positions are read in double precision.
    pub double: bool,
    /// The mass of every particle, if they are all equal.
    pub mass: Option<f64>,
}

impl MeshPlan {
    /// What `config` takes of an input. Local; reads no particle.
    ///
    /// # Errors
    /// When the input has no such particles, no box or no masses.
    pub fn new(about: &ParticleHeader, config: &ParticleMeshConfig) -> Result<Self, ParticleMeshError> {
        let is_there = |s: &Species| s.n > 0 || s.problem.is_some();
        let wanted = |s: &Species| is_there(s) && s.may_be(|kind| config.kinds[usize::from(kind)]);
        let species: Vec<usize> = (0..about.species.len()).filter(|s| wanted(&about.species[*s])).collect();
        if species.is_empty() {
            return Err(no_particles(about));
        }
        let those: Vec<&Species> = species.iter().map(|s| &about.species[*s]).collect();
        check_readable(&those)?;
        Ok(Self {
            kinds: config.kinds,
            side: side(about, config)?,
            periodic: config.side.is_some() || about.periodic || about.boundary_is_assumed,
            boundary_is_assumed: config.side.is_none() && about.boundary_is_assumed,
            mixed: those.iter().any(|s| s.is_mixed()),
            double: those.iter().any(|s| s.is_double),
            mass: mass_of_all(&those, about.units.is_some())?,
            species,
        })
    }

    /// Whether particles of a kind are used; not those of a kind that the config does not know.
    pub fn takes(&self, kind: u8) -> bool {
        self.kinds.get(usize::from(kind)).is_some_and(|takes| *takes)
    }
}

/// The unit of density thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DensityUnit {
    /// The unit of the input.
    Code,
    /// The mean density of matter in the cosmology of the run.
    MeanMatter,
    /// The mean density of the particles that make the mesh or the graph.
    MeanOfParticles,
}

impl std::fmt::Display for DensityUnit {
    /// As catalogues and summaries name it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Code => "code unit",
            Self::MeanMatter => "mean matter density",
            Self::MeanOfParticles => "mean density of the particles",
        })
    }
}

/// The mean density that is the unit of thresholds for particles, in code units: that of all matter where the input states a cosmology and
/// its units, else `of_particles`. Particles of some types, or of a zoom, have another mean than the matter.
pub(crate) fn threshold_unit(about: &ParticleHeader, of_particles: f64) -> (f64, DensityUnit) {
    let is_guess = about.assumed_units.iter().any(|name| name != "velocity");
    match about.matter.map(|matter| matter.all).filter(|mean| !is_guess && mean.is_finite() && *mean > 0.0) {
        Some(mean) => (mean, DensityUnit::MeanMatter),
        None => (of_particles, DensityUnit::MeanOfParticles),
    }
}

/// The error for an input without any particle of the wanted kinds.
pub fn no_particles(about: &ParticleHeader) -> ParticleMeshError {
    ParticleMeshError::NoParticles { what: contents(about) }
}

fn side(about: &ParticleHeader, config: &ParticleMeshConfig) -> Result<f64, ParticleMeshError> {
    match (about.sides, config.side) {
        (Some(sides), Some(given)) if sides == [given; 3] => Ok(given),
        (Some(sides), Some(given)) => Err(ParticleMeshError::TwoBoxes { given, sides }),
        (Some([x, y, z]), None) if x == y && y == z => Ok(x),
        (Some(sides), None) => Err(ParticleMeshError::NoCube { sides }),
        (None, Some(side)) => Ok(side),
        (None, None) => Err(ParticleMeshError::NoBox),
    }
}

/// The greatest number of cells per particle on the coarse level. Of more cells nearly all are empty, and cost time.
const CELLS_OF_PARTICLE: u64 = 4096;
/// A coarse level may always have this many cells: those of level 10.
const CELLS_ALWAYS: u64 = 1 << 30;

/// The levels of the mesh of `n` particles.
///
/// # Errors
/// When the levels are out of range, or the coarse level has far more cells than particles.
pub fn shape(
    config: &ParticleMeshConfig,
    plan: &MeshPlan,
    n: u64,
    n_ranks: usize,
) -> Result<Shape, ParticleMeshError> {
    let level_max = config.level_max;
    let level_min = config.level_min.unwrap_or(level_of(n).min(DEEPEST_COARSE).min(level_max).max(2));
    let is_valid = (2..=DEEPEST_COARSE).contains(&level_min) && (level_min..=DEEPEST).contains(&level_max);
    if !is_valid {
        return Err(ParticleMeshError::Levels { least: level_min, most: level_max });
    }
    let n_cells = 1u64 << (3 * u32::from(level_min));
    let most = n.saturating_mul(CELLS_OF_PARTICLE).max(CELLS_ALWAYS);
    if n_cells > most {
        return Err(ParticleMeshError::TooFine { level_min, n_cells, n, most });
    }
    let enough =
        level_of(n / OF_ROOT).max(level_of(ROOTS_OF_RANK * n_ranks as u64 - 1) + u8::from(n_ranks > 1));
    let enough = enough.max(level_min.saturating_sub(LEVELS_OF_ROOT));
    let root_level = config.root_level.unwrap_or(enough).min(DEEPEST_ROOTS).min(level_min - 2);
    let domain = Domain { coarse: [1; 3], periodic: [plan.periodic; 3] };
    Ok(Shape { domain, root_level, level_min, level_max, m_refine: config.m_refine })
}

/// A lower bound of the bytes that one of `n_processes` processes needs for a mesh: particles before and after they are
/// sorted, and the split cells of one root per worker.
pub fn least_memory(
    config: &ParticleMeshConfig,
    plan: &MeshPlan,
    n: u64,
    n_processes: usize,
    n_workers: usize,
) -> u64 {
    let each = (if plan.double { 24 } else { 12 }) + if plan.mass.is_none() { 8 } else { 0 };
    let particles = n / n_processes as u64 * 2 * each;
    // Levels that are refused need no memory.
    let of_root = shape(config, plan, n, n_processes).map_or(0, |shape| shape.least_of_root());
    let n_roots = 1 << (3 * u32::from(DEEPEST_ROOTS));
    particles.saturating_add(of_root.saturating_mul((n_workers as u64).min(n_roots)))
}

/// The deepest level with at most `n` cells.
fn level_of(n: u64) -> u8 {
    (n.max(1).ilog2() / 3) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_at_most_so_many_cells() {
        assert_eq!([0, 1, 7, 8, 511, 512, 1 << 27].map(level_of), [0, 0, 0, 1, 2, 3, 9]);
    }
}
