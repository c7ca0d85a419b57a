//! Which particles of an input, in which box, and the levels of the mesh.

use super::ParticleMeshConfig;
use crate::error::ParticleMeshError;
use crate::fof::contents;
use inselberg_io::particles::{N_KINDS, ParticleHeader, Species, mass_of_all};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE, Shape};

/// Particles of a root that a task works on, about: at least this on average.
const OF_ROOT: u64 = 8192;
/// Roots a rank, at least, where there are levels enough.
const ROOTS_OF_RANK: u64 = 32;
/// More roots are scattered to slowly.
const DEEPEST_ROOTS: u8 = 5;

/// Levels of a root whose cells are all split: they take up to 36 MB a worker.
const LEVELS_OF_ROOT: u8 = 7;

/// What is read.
#[derive(Debug, Clone)]
pub struct MeshPlan {
    /// The species, by their places in [`ParticleHeader::species`].
    pub species: Vec<usize>,
    /// The kinds.
    pub kinds: [bool; N_KINDS],
    /// Side of the box.
    pub side: f64,
    /// Whether it wraps around.
    pub periodic: bool,
    /// Whether the kind of each particle is to be looked at.
    pub mixed: bool,
    /// Whether positions are read in double precision.
    pub double: bool,
    /// The mass of all particles, where it is one.
    pub mass: Option<f64>,
}

impl MeshPlan {
    /// Holds an input against what is asked for. Local; nothing is read.
    pub fn new(about: &ParticleHeader, config: &ParticleMeshConfig) -> Result<Self, ParticleMeshError> {
        let wanted = |s: &Species| s.n > 0 && s.kind.is_none_or(|kind| config.kinds[usize::from(kind)]);
        let species: Vec<usize> = (0..about.species.len()).filter(|s| wanted(&about.species[*s])).collect();
        if species.is_empty() {
            return Err(no_particles(about));
        }
        let those: Vec<&Species> = species.iter().map(|s| &about.species[*s]).collect();
        Ok(Self {
            kinds: config.kinds,
            side: side(about, config)?,
            periodic: about.sides.is_none() || about.periodic,
            mixed: those.iter().any(|s| s.kind.is_none()),
            double: those.iter().any(|s| s.is_double),
            mass: mass_of_all(&those, about.units.is_some())?,
            species,
        })
    }

    /// The place of a point in units of the box, brought into it.
    #[inline]
    pub fn fold(side: f64, x: [f64; 3]) -> [f64; 3] {
        x.map(|x| {
            let x = if x < 0.0 { x + side } else { x };
            let x = if x >= side { x - side } else { x };
            // Rounded out of the box again: its other end is the same place.
            if (0.0..side).contains(&x) { x } else { 0.0 }
        })
    }
}

/// That there is none of what was asked for.
pub fn no_particles(about: &ParticleHeader) -> ParticleMeshError {
    ParticleMeshError::NoParticles { what: contents(about) }
}

fn side(about: &ParticleHeader, config: &ParticleMeshConfig) -> Result<f64, ParticleMeshError> {
    match (about.sides, config.side) {
        (Some(sides), Some(given)) => Err(ParticleMeshError::TwoBoxes { given, sides }),
        (Some([x, y, z]), None) if x == y && y == z => Ok(x),
        (Some(sides), None) => Err(ParticleMeshError::NoCube { sides }),
        (None, Some(side)) => Ok(side),
        (None, None) => Err(ParticleMeshError::NoBox),
    }
}

/// A coarse level may have this many cells per particle. Nearly all of more cells are empty, and only cost time.
const CELLS_OF_PARTICLE: u64 = 4096;
/// A coarse level may always have this many cells: those of level 10.
const CELLS_ALWAYS: u64 = 1 << 30;

/// Where cells are split, for so many particles.
pub fn shape(
    config: &ParticleMeshConfig,
    plan: &MeshPlan,
    n: u64,
    n_ranks: usize,
) -> Result<Shape, ParticleMeshError> {
    let level_max = config.level_max;
    let level_min = config.level_min.unwrap_or(level_of(n).min(DEEPEST_COARSE).min(level_max).max(2));
    let is_sound = (2..=DEEPEST_COARSE).contains(&level_min) && (level_min..=DEEPEST).contains(&level_max);
    if !is_sound {
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

/// Bytes that a process, one of so many, surely takes for a mesh with these workers: particles before and after they are
/// sorted, and the split cells of a root for each worker.
pub fn least_memory(
    config: &ParticleMeshConfig,
    plan: &MeshPlan,
    n: u64,
    n_processes: usize,
    n_workers: usize,
) -> u64 {
    let each = (if plan.double { 24 } else { 12 }) + if plan.mass.is_none() { 8 } else { 0 };
    let particles = n / n_processes as u64 * 2 * each;
    let of_root = shape(config, plan, n, n_processes).map_or(0, |shape| shape.least_of_root());
    let n_roots = 1 << (3 * u32::from(DEEPEST_ROOTS));
    particles.saturating_add(of_root.saturating_mul((n_workers as u64).min(n_roots)))
}

/// The deepest level with at most so many cells.
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

    #[test]
    fn points_come_into_the_box() {
        for (x, to) in [(-0.25, 9.75), (10.0, 0.0), (12.5, 2.5), (3.0, 3.0), (-1e-30, 0.0)] {
            assert_eq!(MeshPlan::fold(10.0, [x; 3]), [to; 3]);
        }
    }
}
