//! All leaf cells as a tree. A split cell has the labels and the density of its densest leaf. Places without
//! a leaf are masked.

use super::cells::{CellColumns, refused};
use super::{count, stage_file, subgroup};
use crate::catalogue::hdf5::swift::put;
use crate::catalogue::hdf5::write::put_values;
use crate::catalogue::leaf_tree::{BitList, LeafTree, NO_ROW};
use crate::catalogue::viewers::CELLS_FILE;
use crate::catalogue::{Values, WriteResult};
use crate::staging::Staged;
use ::hdf5::{Group, Result};
use std::path::Path;

/// Stages the file.
pub fn stage_tree(folder: &Path, cells: &CellColumns) -> WriteResult<Staged> {
    let tree = LeafTree::new(&cells.leaves).map_err(|problem| refused(folder, problem))?;
    stage_file::<13>(&folder.join(CELLS_FILE), "HyperTreeGrid", 4, |root| {
        grid(root, cells)?;
        shape(root, &tree)?;
        let data = subgroup(root, "CellData")?;
        cells.columns(&tree.rows).try_for_each(|(name, values)| put_values(&data, name, &values).map(drop))
    })
}

/// The grid of root cells.
fn grid(root: &Group, cells: &CellColumns) -> Result<()> {
    put(root, "BranchFactor", &[2_i64])?;
    put(root, "Dimensions", &cells.leaves.roots.map(|n| n as i32 + 1))?;
    for (axis, name) in ["XCoordinates", "YCoordinates", "ZCoordinates"].into_iter().enumerate() {
        let border = |i: u32| cells.origin[axis] + f64::from(i) * cells.side;
        let borders = (0..=cells.leaves.roots[axis]).map(border).collect();
        put_values(root, name, &Values::F64(borders))?;
    }
    Ok(())
}

/// The existing cells, and which of them are split.
fn shape(root: &Group, tree: &LeafTree) -> Result<()> {
    count(root, "NumberOfTrees", tree.tree_ids.len())?;
    count(root, "NumberOfDepths", tree.level_sizes.len())?;
    count(root, "NumberOfCells", tree.rows.len())?;
    count(root, "DescriptorsSize", tree.splits.n)?;
    put_values(root, "TreeIds", &Values::I64(tree.tree_ids.clone()))?;
    put_values(root, "DepthPerTree", &Values::I64(tree.depths.clone()))?;
    put_values(root, "NumberOfCellsPerTreeDepth", &Values::I64(tree.level_sizes.clone()))?;
    put_values(root, "Descriptors", &Values::U8(tree.splits.bytes.clone()))?;
    if tree.rows.contains(&NO_ROW) {
        let mask: BitList = tree.rows.iter().map(|row| *row == NO_ROW).collect();
        put_values(root, "Mask", &Values::U8(mask.bytes))?;
    }
    Ok(())
}
