//! Files of VTK, which ParaView and PyVista open: points of clumps or groups, and cells.
//!
//! | file | type | content |
//! |---|---|---|
//! | `clumps.vtkhdf`, `groups.vtkhdf` | PolyData 2.0 | `points` |
//! | `cells.vtkhdf` | HyperTreeGrid 2.4 | `tree`: all leaf cells |
//! | `cells.vtkhdf` | UnstructuredGrid 2.0 | `voxels`: the test cells |
//!
//! Values are those of the catalogue, in code units. Each file has one partition.

mod cells;
mod points;
mod tree;
mod voxels;

use super::make_file;
use super::swift::{group, put};
use super::write::put_values;
use crate::catalogue::objects::Objects;
use crate::catalogue::{Catalogue, Values, VtkCells, WriteError, WriteResult, check_shape};
use crate::staging::{Staged, hidden, stage_path};
use ::hdf5::types::FixedAscii;
use ::hdf5::{Group, Result};
use cells::CellColumns;
use std::path::Path;

/// Stages the files of a catalogue in `folder`, which is created if absent. Catalogues of groups have no
/// cells.
///
/// # Errors
/// The catalogue has no clumps or groups, lacks the wanted cells, or the folder cannot be written.
pub fn stage_vtk(folder: &Path, catalogue: &Catalogue, cells: VtkCells) -> WriteResult<Staged> {
    check_shape(folder, catalogue)?;
    let objects = Objects::new(folder, catalogue)?;
    let cells = if objects.name == "clumps" { cells } else { VtkCells::None };
    let columns = match cells {
        VtkCells::None => None,
        VtkCells::Tree | VtkCells::Voxels => Some(CellColumns::new(folder, catalogue)?),
    };
    let place = hidden::place(folder).map_err(WriteError::io(folder, "creating the folder"))?;
    let mut staged = points::stage_points(folder, catalogue, &objects)?;
    match (cells, columns) {
        (VtkCells::Tree, Some(columns)) => staged.extend(tree::stage_tree(folder, &columns)?),
        (VtkCells::Voxels, Some(columns)) => staged.extend(voxels::stage_voxels(folder, &columns)?),
        _ => {}
    }
    Ok(staged.in_place(place))
}

/// Stages a file of a type, whose name VTK wants in a text of just its length.
fn stage_file<const N: usize>(
    path: &Path,
    kind: &str,
    minor: i64,
    fill: impl FnOnce(&Group) -> Result<()>,
) -> WriteResult<Staged> {
    let staged = stage_path(path, |hidden| {
        make_file(path, hidden, kind, |file| {
            let root = group(file, "VTKHDF")?;
            let name = FixedAscii::<N>::from_ascii(kind).expect("a name of that length");
            root.new_attr::<FixedAscii<N>>().create("Type")?.write_scalar(&name)?;
            put(&root, "Version", &[2, minor])?;
            fill(&root)
        })
    })?;
    Ok(staged.into())
}

/// A group in another one.
fn subgroup(root: &Group, name: &str) -> Result<Group> {
    root.create_group_builder().obj_track_times(false).create(name)
}

/// A count of the only partition.
fn count(group: &Group, name: &str, n: usize) -> Result<()> {
    put_values(group, name, &Values::I64(vec![n as i64])).map(drop)
}
