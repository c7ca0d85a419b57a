//! Which particles of an input, in which box, and the levels of the mesh.

use crate::error::ParticleMeshError;
use crate::particles::BoxPlan;
use inselberg_io::particles::N_KINDS;
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
    /// All cells of coarser levels than this are split: 2 to 12, and at most `level_max`. `None`: the deepest
    /// level with at most as many cells as there are particles.
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

/// The greatest number of cells per particle on the coarse level. Of more cells nearly all are empty, and
/// cost time.
const CELLS_OF_PARTICLE: u64 = 4096;
/// A coarse level may always have this many cells: those of level 10.
const CELLS_ALWAYS: u64 = 1 << 30;

/// The levels of the mesh of `n` particles.
///
/// # Errors
/// When the levels are out of range, or the coarse level has far more cells than particles.
pub fn shape(
    config: &ParticleMeshConfig,
    plan: &BoxPlan,
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

/// A lower bound of the bytes that one of `n_processes` processes needs for a mesh: particles before and
/// after they are sorted, and the split cells of one root per worker.
pub fn least_memory(
    config: &ParticleMeshConfig,
    plan: &BoxPlan,
    n: u64,
    n_processes: usize,
    n_workers: usize,
) -> u64 {
    let each = (if plan.taken.is_double { 24 } else { 12 }) + if plan.mass.is_none() { 8 } else { 0 };
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
