//! `.phdf` and the restart files `.rhdf`: attributes of the group `/Info`; data are (block, components.., z,
//! y, x), perhaps with ghost cells.

use super::{BlockFile, BlockGrid, FieldPlace, check_dimensions, count, ends, sizes};
use crate::block_grid::RootGrid;
use crate::hdf5_file::Hdf5File;
use crate::{FieldDefaults, ReadResult};
use std::path::Path;

pub(super) const NAME: &str = "Parthenon";
const INFO: &str = "/Info";
/// The most components of a variable.
const MOST: usize = 1 << 16;

pub(super) fn recognises(path: &Path) -> bool {
    let has = |file: &Hdf5File| {
        ["RootGridDomain", "MeshBlockSize"].iter().all(|name| file.has_attribute(INFO, name))
    };
    super::recognises(path, has)
}

pub(super) fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<BlockFile> {
    defaults.refuse_grid(path, NAME)?;
    let file = Hdf5File::open(path)?;
    match count(&file, INFO, "OutputFormatVersion")? {
        3 | 4 => {}
        other => return Err(file.bad("/Info/OutputFormatVersion", format!("{other}"), "3 or 4")),
    }
    let coordinates = file.text(INFO, "Coordinates").unwrap_or_default();
    if coordinates != "UniformCartesian" {
        let expected = "UniformCartesian: others are not read";
        return Err(file.bad("/Info/Coordinates", format!("{coordinates:?}"), expected));
    }
    let root_size = sizes(&file, INFO, "RootGridSize")?;
    check_dimensions(&file, root_size)?;
    let all = file.numbers(INFO, "RootGridDomain")?.unwrap_or_default();
    let [low, high] = ends(&file, "/Info/RootGridDomain", &all)?;
    // With ghost cells, the size of blocks counts them.
    let stored = sizes(&file, INFO, "MeshBlockSize")?;
    let n_ghosts = match count(&file, INFO, "IncludesGhost")? {
        0 => 0,
        _ => count(&file, INFO, "NGhost")?,
    };
    let inner = |n: u32| u32::try_from(u64::from(n).checked_sub(2 * n_ghosts)?).ok().filter(|n| *n > 0);
    let [Some(x), Some(y), Some(z)] = stored.map(inner) else {
        let problem = format!("{stored:?} cells with {n_ghosts} ghosts at each side");
        return Err(file.bad("/Info/MeshBlockSize", problem, "more cells than ghosts"));
    };
    let ghosts = [n_ghosts as u32; 3];
    let faces = ["/Locations/x", "/Locations/y", "/Locations/z"];
    let grid = BlockGrid { root: RootGrid::new(path, root_size, low, high)?, size: [x, y, z], ghosts, faces };
    let n_blocks = count(&file, INFO, "NumMeshBlocks")?;
    let named = fields(&file, stored, n_blocks)?;
    let time = file.number(INFO, "Time")?.unwrap_or(0.0);
    let periodic = periodic(&file, path, defaults)?;
    BlockFile::new(&file, NAME, &grid, named, (time, n_blocks, periodic))
}

/// The axes that the boundary conditions close: both ends are periodic.
fn periodic(file: &Hdf5File, path: &Path, defaults: &FieldDefaults) -> ReadResult<[bool; 3]> {
    const NAMES: &str = "BoundaryConditions";
    if !file.has_attribute(INFO, NAMES) {
        return Ok(defaults.periodic.unwrap_or([false; 3]));
    }
    defaults.refuse_periodic(path, NAME)?;
    let ends = file.texts(INFO, NAMES)?;
    let &[_, _, _, _, _, _] = &ends[..] else {
        return Err(file.bad("/Info/BoundaryConditions", format!("{} names", ends.len()), "6"));
    };
    Ok(std::array::from_fn(|a| ends[2 * a..2 * a + 2].iter().all(|end| end == "periodic")))
}

/// The components of all variables that lie in cells.
fn fields(file: &Hdf5File, stored: [u32; 3], n_blocks: u64) -> ReadResult<Vec<(String, FieldPlace)>> {
    let datasets = file.texts(INFO, "OutputDatasetNames")?;
    let mut names = file.texts(INFO, "ComponentNames")?.into_iter();
    let counts = file.numbers(INFO, "NumComponents")?.unwrap_or_default();
    let mut all = Vec::new();
    for (i, name) in datasets.iter().enumerate() {
        let n = counts.get(i).copied().filter(|n| (1.0..=MOST as f64).contains(n)).map_or(0, |n| n as usize);
        let own: Vec<String> = names.by_ref().take(n).collect();
        if n == 0 || own.len() < n {
            return Err(file.bad(
                "/Info/ComponentNames",
                format!("too few names for {name}"),
                "one per component",
            ));
        }
        let place = format!("/{name}");
        let Some(found) = file.find(&place)? else {
            return Err(file.bad(&place, "no such dataset", "those of OutputDatasetNames"));
        };
        let [x, y, z] = stored.map(|n| n as usize);
        let middle = found.shape.len().checked_sub(3).map_or(&[][..], |end| &found.shape[..end]);
        let n_parts = middle.iter().skip(1).try_fold(1_usize, |n, m| n.checked_mul(*m));
        // Variables on faces, edges or nodes, and those without cells, have other shapes.
        let is_of_cells = middle.first() == Some(&(n_blocks as usize))
            && found.shape[middle.len()..] == [z, y, x]
            && n_parts == Some(n);
        if !is_of_cells || file.check_numbers(&found).is_err() {
            continue;
        }
        for (component, name) in own.into_iter().enumerate() {
            let mut left = component;
            let mut indices: Vec<Option<usize>> = Vec::new();
            for length in middle[1..].iter().rev() {
                indices.push(Some(left % length));
                left /= length;
            }
            indices.push(None);
            indices.reverse();
            all.push((name, FieldPlace { dataset: place.clone(), indices }));
        }
    }
    Ok(all)
}
