//! The parameters of a run of PHEW.

use crate::partition::Weights;
use inselberg_kernels::phew::Rules;

/// Which cell quantity is segmented.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChoice {
    /// Hydro `density` if the snapshot has it, else `rho` of the grav files, else dark-matter particles,
    /// deposited by the [`Rules`].
    #[default]
    Auto,
    /// A field of the snapshot by name.
    Named(String),
    /// Dark-matter particles by cloud-in-cell, with their whole mass.
    Cic,
    /// Dark-matter particles by cloud-in-cell, level by level as RAMSES deposits them, and gas where there is any.
    CicRamses,
}

/// The thresholds of PHEW, densities in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Cells above it are test cells.
    pub density: f64,
    /// Peaks with a smaller peak-to-saddle ratio are noise.
    pub relevance: f64,
    /// Clumps that meet above it merge into one halo; `None`: no saddle pass.
    pub saddle: Option<f64>,
    /// Clumps of haloes up to this mass (code units) are not listed.
    pub mass: f64,
}

/// Everything that the results of a run depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewConfig {
    /// The density.
    pub field: FieldChoice,
    /// Its thresholds.
    pub thresholds: Thresholds,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Also list every leaf cell with its clump and halo.
    pub with_cells: bool,
    /// Also list every particle with its clump and halo.
    pub with_particles: bool,
    /// What is divided evenly among ranks. It never changes a result.
    pub weights: Weights,
}
