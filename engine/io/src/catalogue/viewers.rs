//! Files that viewers open: yt's halo catalogues and VTK's files, both of which are HDF5.

#[cfg(not(feature = "hdf5"))]
use super::Catalogue;
use super::{Attribute, Table, WriteError, WriteResult};
#[cfg(not(feature = "hdf5"))]
use crate::staging::Staged;
use std::fs;
use std::path::{Path, PathBuf};

/// The cells in a file of VTK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VtkCells {
    /// All leaf cells, as a tree.
    #[default]
    Tree,
    /// The test cells, each as a separate cube.
    Voxels,
    /// None.
    None,
}

/// The content of a file in the layout of the program astrodendro.
#[derive(Debug, Clone, Copy)]
pub struct DendrogramFile<'a> {
    /// The shape of the field. The last axis is the fastest.
    pub shape: &'a [usize],
    /// The tree.
    pub newick: &'a str,
    /// Least value, least height of a leaf and least number of its cells.
    pub limits: (f64, f64, u64),
    /// Cards with the coordinates of the axes, the fastest one first.
    pub wcs_header: Option<&'a str>,
    /// The attributes of a catalogue.
    pub attributes: &'a [(String, Attribute)],
    /// A row for each structure.
    pub structures: &'a Table,
}

/// Some planes of the field.
#[derive(Debug, Clone, Default)]
pub struct DendrogramPart {
    /// The first plane across the slowest axis.
    pub first: usize,
    /// Number of planes.
    pub n: usize,
    /// The field.
    pub data: Vec<f64>,
    /// The structure of each cell; -1 for none.
    pub index_map: Vec<i32>,
}

/// Gives the next planes of the field; `None` past the last ones.
pub type NextPart<'a> = &'a mut dyn FnMut() -> Result<Option<DendrogramPart>, String>;

/// Whether this build can write files for viewers into `folder`.
///
/// # Errors
/// The build has no HDF5.
pub fn check_viewer(folder: &Path) -> WriteResult<()> {
    match cfg!(feature = "hdf5") {
        true => Ok(()),
        false => Err(WriteError::target(folder, "this build has no HDF5", "a build with the feature hdf5")),
    }
}

/// The name of the file for yt of `objects`, which are `clumps`, `groups` or `voids`.
pub fn yt_name(objects: &str) -> String {
    format!("{objects}.0.h5")
}

/// The names of the files for VTK of `objects`, and of their cells.
pub fn vtk_names(objects: &str) -> [String; 2] {
    [format!("{objects}.vtkhdf"), CELLS_FILE.into()]
}

/// The name of the file for VTK of cells.
pub(super) const CELLS_FILE: &str = "cells.vtkhdf";

/// Checks that yt will find one part of the catalogue of `objects` in `folder`: it counts every file whose
/// name begins with `objects` and ends in `.h5`. `others` are files that are to be written.
///
/// # Errors
/// There is another such file, or will be.
pub fn check_yt(folder: &Path, objects: &str, others: &[&Path]) -> WriteResult<()> {
    check_viewer(folder)?;
    let inside: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        // There is no such folder yet.
        Err(_) => Vec::new(),
    };
    let same = |path: &Path| {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::canonicalize(parent).ok().is_some_and(|place| fs::canonicalize(folder).ok() == Some(place))
    };
    let is_part = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(objects) && name.ends_with(".h5")
    };
    let own = yt_name(objects);
    let is_own = |path: &Path| path.file_name().is_some_and(|name| name == own.as_str());
    let stray = inside.iter().find(|path| is_part(path) && !is_own(path)).map(PathBuf::as_path);
    match stray.or_else(|| others.iter().copied().find(|path| is_part(path) && same(path))) {
        None => Ok(()),
        Some(stray) => {
            let problem = format!("yt would read {} as a part of {own}", stray.display());
            Err(WriteError::target(folder, problem, "a folder of its own"))
        }
    }
}

#[cfg(feature = "hdf5")]
pub use super::hdf5::{stage_dendrogram, stage_vtk, stage_yt, stage_ytree};

/// The error of a build without HDF5.
///
/// # Errors
/// Always.
#[cfg(not(feature = "hdf5"))]
pub fn stage_yt(folder: &Path, _: &Catalogue) -> WriteResult<Staged> {
    check_viewer(folder).map(|()| Staged::default())
}

/// The error of a build without HDF5.
///
/// # Errors
/// Always.
#[cfg(not(feature = "hdf5"))]
pub fn stage_vtk(folder: &Path, _: &Catalogue, _: VtkCells) -> WriteResult<Staged> {
    check_viewer(folder).map(|()| Staged::default())
}

/// The error of a build without HDF5.
///
/// # Errors
/// Always.
#[cfg(not(feature = "hdf5"))]
pub fn stage_dendrogram(path: &Path, _: &DendrogramFile<'_>, _: NextPart<'_>) -> WriteResult<Staged> {
    check_viewer(path).map(|()| Staged::default())
}

/// The error of a build without HDF5.
///
/// # Errors
/// Always.
#[cfg(not(feature = "hdf5"))]
pub fn stage_ytree(folder: &Path, _: &Catalogue) -> WriteResult<Staged> {
    check_viewer(folder).map(|()| Staged::default())
}
