//! Writes complete RAMSES outputs: info, amr, hydro, grav and part files with their descriptors.
//!
//! For synthetic inputs, and for tests that split an output over other numbers of CPUs or imitate other
//! builds of RAMSES. The files have all that readers of RAMSES outputs need. A run cannot restart from them.

mod amr;
mod cells;
mod layout;
mod part;
mod record;
mod text;

use super::super::{FieldInfo, Header, OctBlock, ParticleBlock};
use crate::staging::hidden;
use crate::staging::hidden::HiddenFolder;
use layout::OctTree;
use std::fs;
use std::path::{Path, PathBuf};

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RamsesWriteError {
    /// The operating system refused.
    #[error("{}: writing: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The cells or particles do not make an output.
    #[error("{0}")]
    Invalid(String),
}

/// Result of writing.
pub type RamsesWriteResult<T> = Result<T, RamsesWriteError>;

/// The content of an output.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    /// Scales, cosmology and coarse grid. Axes that are not periodic get boundary regions; its
    /// `format` and `n_pieces` are not looked at, and without a `number` it becomes 1.
    pub header: &'a Header,
    /// Names of the values of the octs, of the families `hydro` (any) and `grav` (of `rho`,
    /// `potential`, `force_x`, `force_y`, `force_z`; what is needed besides is written as 0).
    pub fields: &'a [FieldInfo],
    /// Every oct of every level exactly once, in any order; `values` as in `fields`.
    pub octs: &'a [OctBlock],
    /// Particles; no particle files without them.
    pub particles: Option<&'a ParticleBlock>,
    /// The ratio of specific heats of its gas.
    pub adiabatic_index: f64,
}

/// The distribution of an output over files.
#[derive(Clone, Copy)]
pub struct Split<'a> {
    /// Number of CPUs, so of files of each family.
    pub n_cpus: usize,
    /// CPU (from 0) that owns the oct at a level (of its cells) and position.
    pub oct_owner: &'a dyn Fn(u8, [u32; 3]) -> usize,
    /// CPU that owns the particle at a place in the columns.
    pub particle_owner: &'a dyn Fn(usize) -> usize,
    /// Also writes ghosts, as RAMSES does: fathers, sons and face neighbours of each CPU's own octs.
    pub ghosts: bool,
}

/// The conventions of a build of RAMSES; [`Dialect::default`] is a current one.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialect {
    /// Reals of 4 bytes.
    pub single_precision: bool,
    /// Identities of 8 bytes even where all would fit 4.
    pub wide_ids: bool,
    /// Particle counts of 8 bytes.
    pub wide_counts: bool,
    /// Hilbert keys of 16 bytes.
    pub wide_keys: bool,
    /// Family and tag columns; without them stars are the particles with a birth time.
    pub families: bool,
    /// Descriptor files.
    pub descriptors: Descriptors,
    /// The named decomposition of the domain.
    pub ordering: Ordering,
    /// CPUs to an I/O group (`group_NNNNN/`), if there are groups.
    pub group_size: Option<usize>,
    /// Whether the lower and the upper side of axes that are not periodic have a boundary region.
    pub boundary_sides: [bool; 2],
    /// Longest part of a record in bytes; longer records are written in several parts.
    pub longest_part: usize,
}

/// Which descriptor files an output has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptors {
    /// `# version: 1` for cells and particles.
    Current,
    /// `variable # 1: name` for hydro, none for particles (which then have no families).
    Old,
    /// None at all.
    Missing,
}

/// Names of RAMSES's domain decompositions, each with its own records in the amr files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// Peano-Hilbert curve.
    Hilbert,
    /// Slabs.
    Planar,
    /// Sectors.
    Angular,
    /// Recursive bisection.
    Bisection,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            single_precision: false,
            wide_ids: false,
            wide_counts: false,
            wide_keys: false,
            families: true,
            descriptors: Descriptors::Current,
            ordering: Ordering::Hilbert,
            group_size: None,
            boundary_sides: [true; 2],
            longest_part: i32::MAX as usize - 8,
        }
    }
}

impl Dialect {
    fn has_families(&self) -> bool {
        self.families && self.descriptors == Descriptors::Current
    }
}

/// The shared state of the writers of single files.
struct OutputWriter<'a> {
    output: Output<'a>,
    split: Split<'a>,
    dialect: &'a Dialect,
    layout: OctTree,
    number: u32,
    root: PathBuf,
}

/// Writes `output_NNNNN` into the folder `parent` and returns its path. It appears under its name
/// only when complete.
///
/// # Errors
/// When the octs are not a tree (an oct twice, a split cell without its oct or an oct in a leaf), columns
/// differ in length, something has no owner, or the system refuses; an existing output is not replaced.
pub fn write(parent: &Path, output: Output, split: Split, dialect: &Dialect) -> RamsesWriteResult<PathBuf> {
    stage(parent, output, split, dialect)?.commit()
}

/// As [`write()`], but the caller commits the output.
///
/// # Errors
/// As [`write()`].
pub fn stage(
    parent: &Path,
    output: Output,
    split: Split,
    dialect: &Dialect,
) -> RamsesWriteResult<StagedOutput> {
    let number = output.header.number.unwrap_or(1);
    let name = format!("output_{number:05}");
    let target = parent.join(&name);
    if target.exists() {
        return Err(RamsesWriteError::Invalid(format!("{}: is there already", target.display())));
    }
    part::check(output, split)?;
    let layout = OctTree::new(output, split, dialect.boundary_sides)?;
    let beside = hidden::folder(".output_", parent).map_err(failed(parent))?;
    let root = beside.path().join(&name);
    let job = OutputWriter { output, split, dialect, layout, number, root };
    job.write_all()?;
    let root = job.root;
    Ok(StagedOutput { _beside: beside, root, target })
}

/// A complete output in a hidden folder. Dropping it without [`StagedOutput::commit`] removes it.
#[derive(Debug)]
#[must_use]
pub struct StagedOutput {
    _beside: HiddenFolder,
    root: PathBuf,
    target: PathBuf,
}

impl StagedOutput {
    /// Gives it its name, and returns its path.
    ///
    /// # Errors
    /// The system refuses.
    pub fn commit(self) -> RamsesWriteResult<PathBuf> {
        hidden::making(|| fs::rename(&self.root, &self.target)).map_err(failed(&self.target))?;
        Ok(self.target)
    }
}

impl OutputWriter<'_> {
    fn write_all(&self) -> RamsesWriteResult<()> {
        for cpu in 0..self.split.n_cpus {
            let folder = self.folder(cpu);
            hidden::making(|| fs::create_dir_all(&folder)).map_err(failed(&folder))?;
        }
        text::write(self)?;
        for cpu in 0..self.split.n_cpus {
            let domains = self.layout.domains_of(cpu, self.split.ghosts);
            amr::write(self, cpu, &domains)?;
            cells::write(self, cpu, &domains)?;
            part::write(self, cpu)?;
        }
        Ok(())
    }

    /// Where the files of `cpu` are: in its I/O group, if there are groups.
    fn folder(&self, cpu: usize) -> PathBuf {
        match self.dialect.group_size {
            Some(size) => self.root.join(format!("group_{:05}", cpu / size.max(1) + 1)),
            None => self.root.clone(),
        }
    }

    /// The path of one of the files of `cpu`, which counts from 0; names count from 1. For the family `amr`
    /// and the first CPU of output 80: `amr_00080.out00001`.
    fn file(&self, family: &str, cpu: usize) -> PathBuf {
        self.folder(cpu).join(format!("{family}_{:05}.out{:05}", self.number, cpu + 1))
    }

    fn n_levels(&self) -> usize {
        self.layout.levels.len().max(usize::from(self.output.header.levelmax))
    }
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> RamsesWriteError {
    let path = path.to_path_buf();
    move |source| RamsesWriteError::Io { path, source }
}
