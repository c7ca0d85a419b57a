//! The test cells as cubes, for filters that cannot read a tree. Cubes share their corners.

use super::cells::CellColumns;
use super::{count, stage_file, subgroup};
use crate::catalogue::hdf5::write::put_values;
use crate::catalogue::viewers::CELLS_FILE;
use crate::catalogue::{Values, WriteResult};
use crate::staging::Staged;
use rayon::prelude::*;
use std::path::Path;

/// VTK's number for a cube along the axes, with x fastest among its corners.
const VOXEL: u8 = 11;

/// Stages the file.
pub fn stage_voxels(folder: &Path, cells: &CellColumns) -> WriteResult<Staged> {
    let leaves = &cells.leaves;
    let rows: Vec<usize> =
        (0..leaves.level.len()).into_par_iter().filter(|row| cells.is_test(*row)).collect();
    let corners = Corners { finest: leaves.level.last().copied().unwrap_or(0), cells };
    let keys = corners.sorted(&rows);
    stage_file::<16>(&folder.join(CELLS_FILE), "UnstructuredGrid", 0, |root| {
        count(root, "NumberOfPoints", keys.len())?;
        count(root, "NumberOfCells", rows.len())?;
        count(root, "NumberOfConnectivityIds", 8 * rows.len())?;
        put_values(root, "Points", &Values::F64x3(keys.par_iter().map(|key| corners.place(*key)).collect()))?;
        put_values(root, "Connectivity", &Values::I64(corners.of_cells(&rows, &keys)))?;
        let offsets = (0..=rows.len()).map(|n| 8 * n as i64).collect();
        put_values(root, "Offsets", &Values::I64(offsets))?;
        put_values(root, "Types", &Values::U8(vec![VOXEL; rows.len()]))?;
        let data = subgroup(root, "CellData")?;
        cells.columns(&rows).try_for_each(|(name, values)| put_values(&data, name, &values).map(drop))
    })
}

/// Corners of cells, as numbers made of their coordinates on the grid of the finest level.
struct Corners<'a> {
    finest: u8,
    cells: &'a CellColumns<'a>,
}

impl Corners<'_> {
    /// The corners of a leaf, x fastest.
    fn of_leaf(&self, row: usize) -> [u128; 8] {
        let leaves = &self.cells.leaves;
        let (shift, ijk) = (self.finest - leaves.level[row], leaves.ijk[row]);
        std::array::from_fn(|corner| {
            let along = |a: usize| u128::from((u64::from(ijk[a]) + (corner as u64 >> a & 1)) << shift);
            along(0) | along(1) << 42 | along(2) << 84
        })
    }

    /// All corners, each once, in order.
    fn sorted(&self, rows: &[usize]) -> Vec<u128> {
        let mut keys: Vec<u128> = rows.par_iter().flat_map_iter(|row| self.of_leaf(*row)).collect();
        keys.par_sort_unstable();
        keys.dedup();
        keys.shrink_to_fit();
        keys
    }

    /// The points of each cell, by their places among `keys`.
    fn of_cells(&self, rows: &[usize], keys: &[u128]) -> Vec<i64> {
        let point = |key: u128| keys.binary_search(&key).expect("each corner is listed") as i64;
        rows.par_iter().flat_map_iter(|row| self.of_leaf(*row).map(point)).collect()
    }

    /// The position of a corner, in code units.
    fn place(&self, key: u128) -> [f64; 3] {
        let side = self.cells.side / (1_u64 << self.finest) as f64;
        std::array::from_fn(|a| self.cells.origin[a] + (key >> (42 * a) & ((1 << 42) - 1)) as f64 * side)
    }
}
