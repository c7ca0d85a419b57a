//! PHEW from a snapshot, or from cells someone else owns, to a catalogue: the recipe.

use crate::amr::AmrField;
use crate::io::ReadError;
use crate::observe::Observer;
use crate::peaks::Peaks;
use crate::stages::properties::{Patches, TestFields};
use crate::stages::{self, ascent, label, properties, saddle};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::MeshError;
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::phew::tests::{Locator, TestCells};
use inselberg_kernels::phew::tree::MergeTree;
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

pub use inselberg_kernels::phew::Rules;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A field that the input does not have.
    #[error("the input has no field `{name}`; expected one of {known}")]
    NoField {
        /// The field.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Particles are asked for and there are none.
    #[error("the input has no particles; expected some, or a --field of its cells")]
    NoParticles,
    /// Its cells are no octree.
    #[error("the mesh of the input is broken: {0}")]
    Mesh(#[from] MeshError),
    /// Another rank failed, or could not be reached.
    #[error(transparent)]
    Comm(#[from] CommError),
}

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
    /// Dark-matter particles by cloud-in-cell, level by level as RAMSES deposits them.
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

/// A segmented field: the patch of every test cell, and the peaks.
#[derive(Debug)]
pub struct Segmentation {
    /// The test cells.
    pub tests: TestCells,
    /// Which of them are peaks.
    pub peak_cells: PeakSet,
    /// The patch of each.
    pub labels: Vec<PeakIdx>,
    /// The peaks with their tree.
    pub peaks: Peaks,
}

/// What [`segment`] works on.
#[derive(Debug)]
pub struct Task<'a> {
    /// The field.
    pub field: &'a AmrField,
    /// Further values of the test cells.
    pub extra: &'a TestFields,
    /// Threshold of the test cells.
    pub density_threshold: f64,
    /// Length of a level-0 cell in code units.
    pub side: f64,
    /// Paper or RAMSES.
    pub rules: Rules,
}

/// Segments the given test cells of a field into patches and grows their merge tree.
///
/// Collective. Uses the current rayon pool; the result does not depend on its size. At most 80 bytes
/// a test cell beside the field.
///
/// # Errors
/// When another rank fails.
pub fn segment(
    task: &Task,
    tests: TestCells,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<Segmentation, CommError> {
    let (mesh, rules, n) = (&task.field.mesh, task.rules, tests.len() as u64);
    let tasks = stages::cut_tasks(mesh, &tests);
    let up = timed(observer, "ascent", n, || ascent::run(mesh, &tests, rules, &tasks));
    let (peak_cells, labels) = timed(observer, "labels", n, || label::run(&up));
    drop(up);
    let edges = timed(observer, "saddles", n, || saddle::run(mesh, &tests, &peak_cells, &labels, &tasks));
    let patches = Patches { mesh, tests: &tests, peaks: &peak_cells, labels: &labels, tasks: &tasks };
    let grow = || MergeTree::grow(patches.peak_densities(), &edges);
    let (tree, cells) = timed(observer, "forest", n, grow);
    drop(edges);
    let locator = Locator::new(mesh, &tests);
    let places = patches.places(&locator);
    let summed = timed(observer, "sums", n, || patches.values(&places, task.extra, task.side, comm))?;
    let peaks = timed(observer, "positions", n, || Peaks {
        space: SizedBox { domain: *mesh.domain(), side: task.side },
        density_threshold: task.density_threshold,
        level: places.iter().map(|p| p.0).collect(),
        ijk: places.iter().map(|p| p.1).collect(),
        tree,
        refined: scaled(properties::refine(task.field, rules, &places), task.side),
        saddle_position: scaled(properties::saddle_positions(mesh, &locator, &cells), task.side),
        patches: summed,
        has_velocity: task.extra.velocity.is_some(),
    });
    Ok(Segmentation { tests, peak_cells, labels, peaks })
}

/// Positions in units of the level-0 cell, in code units.
fn scaled(mut positions: Vec<[f64; 3]>, side: f64) -> Vec<[f64; 3]> {
    positions.par_iter_mut().for_each(|x| *x = x.map(|c| c * side));
    positions
}

/// Runs `work` as a stage over `cells` cells.
pub(crate) fn timed<T>(
    observer: &dyn Observer,
    stage: &'static str,
    cells: u64,
    work: impl FnOnce() -> T,
) -> T {
    observer.begin(stage, cells);
    let result = work();
    observer.end(stage, cells);
    result
}
