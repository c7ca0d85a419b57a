//! What a run of PHEW computes.

use inselberg_kernels::phew::Rules;

/// Which cell quantity is segmented.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChoice {
    /// Hydro `density` if there is one, else `rho` of the grav files, else dark-matter particles,
    /// deposited as [`Rules`] say.
    #[default]
    Auto,
    /// A field of the snapshot by name.
    Named(String),
    /// Dark-matter particles by cloud-in-cell, every gram kept.
    Cic,
    /// Dark-matter particles by cloud-in-cell, level by level as RAMSES deposits them, and the gas where there is any.
    CicRamses,
}

/// The thresholds of PHEW, densities in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Cells above it are test cells.
    pub density: f64,
    /// Peaks with a smaller peak-to-saddle ratio are noise.
    pub relevance: f64,
    /// Clumps that meet above it are merged into one halo; `None`: no such pass.
    pub saddle: Option<f64>,
    /// Clumps of haloes up to this mass (code units) are not listed.
    pub mass: f64,
}

/// Everything that decides what a run computes; nothing that only decides how fast.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewConfig {
    /// What is segmented.
    pub field: FieldChoice,
    /// Where it is cut.
    pub thresholds: Thresholds,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Also list every leaf cell with its clump and halo.
    pub with_cells: bool,
    /// Also list every particle with its clump and halo.
    pub with_particles: bool,
}
