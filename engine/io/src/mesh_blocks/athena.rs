//! `.athdf`: everything is in attributes of the file; data are (variable, block, z, y, x).

use super::{BlockFile, BlockGrid, FieldPlace, check_dimensions, count, ends, sizes};
use crate::block_grid::RootGrid;
use crate::hdf5_file::Hdf5File;
use crate::{FieldDefaults, ReadResult};
use std::path::Path;

pub(super) const NAME: &str = "Athena++";
/// Coordinates whose cells are cubes in space.
const CARTESIAN: [&str; 2] = ["cartesian", "minkowski"];

pub(super) fn recognises(path: &Path) -> bool {
    let has =
        |file: &Hdf5File| ["RootGridX1", "MeshBlockSize"].iter().all(|name| file.has_attribute("/", name));
    super::recognises(path, has)
}

pub(super) fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<BlockFile> {
    defaults.refuse_grid(path, NAME)?;
    let file = Hdf5File::open(path)?;
    let coordinates = file.text("/", "Coordinates").unwrap_or_default();
    if !CARTESIAN.contains(&coordinates.to_lowercase().as_str()) {
        return Err(file.bad("/Coordinates", format!("{coordinates:?}"), "cartesian: others are not read"));
    }
    let root_size = sizes(&file, "/", "RootGridSize")?;
    check_dimensions(&file, root_size)?;
    let size = sizes(&file, "/", "MeshBlockSize")?;
    let mut all = Vec::new();
    for name in ["RootGridX1", "RootGridX2", "RootGridX3"] {
        all.extend(file.numbers("/", name)?.unwrap_or_default());
    }
    let [low, high] = ends(&file, "/RootGridX1", &all)?;
    let faces = ["/x1f", "/x2f", "/x3f"];
    let grid = BlockGrid { root: RootGrid::new(path, root_size, low, high)?, size, ghosts: [0; 3], faces };
    let n_blocks = count(&file, "/", "NumMeshBlocks")?;
    let named = fields(&file, size, n_blocks)?;
    let time = file.number("/", "Time")?.unwrap_or(0.0);
    let periodic = defaults.periodic.unwrap_or([false; 3]);
    BlockFile::new(&file, NAME, &grid, named, (time, n_blocks, periodic))
}

/// The variables of all datasets.
fn fields(file: &Hdf5File, size: [u32; 3], n_blocks: u64) -> ReadResult<Vec<(String, FieldPlace)>> {
    let datasets = file.texts("/", "DatasetNames")?;
    let mut names = file.texts("/", "VariableNames")?.into_iter();
    let counts = file.numbers("/", "NumVariables")?.unwrap_or_default();
    let mut all = Vec::new();
    for (i, name) in datasets.iter().enumerate() {
        let place = format!("/{name}");
        let Some(found) = file.find(&place)? else {
            return Err(file.bad(&place, "no such dataset", "those of DatasetNames"));
        };
        let [x, y, z] = size.map(|n| n as usize);
        let n = counts.get(i).copied().unwrap_or(-1.0);
        let expected = [n as usize, n_blocks as usize, z, y, x];
        if !(1.0..1e6).contains(&n) || found.shape != expected {
            return Err(file.bad(&place, format!("shape {:?}", found.shape), format!("{expected:?}")));
        }
        file.check_numbers(&found)?;
        for variable in 0..n as usize {
            let Some(name) = names.next() else {
                return Err(file.bad("/VariableNames", "too few names", "one per variable"));
            };
            all.push((name, FieldPlace { dataset: place.clone(), indices: vec![Some(variable), None] }));
        }
    }
    Ok(all)
}
