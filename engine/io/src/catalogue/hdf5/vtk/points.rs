//! Clumps or groups as points with all their columns, and lines from clumps to those into which they merge.

use super::{count, stage_file, subgroup};
use crate::catalogue::hdf5::swift::SwiftAttributes;
use crate::catalogue::hdf5::write::put_values;
use crate::catalogue::objects::Objects;
use crate::catalogue::viewers::vtk_names;
use crate::catalogue::{Catalogue, Values, WriteResult};
use crate::staging::Staged;
use ::hdf5::{Group, Result};
use std::path::Path;

/// Stages the file.
pub fn stage_points(folder: &Path, catalogue: &Catalogue, objects: &Objects) -> WriteResult<Staged> {
    let lines = lines(catalogue, objects);
    let [name, _] = vtk_names(objects.name);
    let path = folder.join(name);
    stage_file::<8>(&path, "PolyData", 0, |root| {
        let n = objects.id.len();
        count(root, "NumberOfPoints", n)?;
        put_values(root, "Points", &Values::F64x3(objects.position.to_vec()))?;
        cells(root, "Vertices", 1, (0..n as i64).collect())?;
        cells(root, "Lines", 2, lines)?;
        // The reader needs these too.
        cells(root, "Polygons", 1, Vec::new())?;
        cells(root, "Strips", 1, Vec::new())?;
        let data = subgroup(root, "PointData")?;
        objects
            .table
            .columns
            .iter()
            .try_for_each(|column| put_values(&data, &column.name, &column.values).map(drop))
    })
}

/// A group of cells of `size` points each.
fn cells(root: &Group, name: &str, size: usize, points: Vec<i64>) -> Result<()> {
    let group = subgroup(root, name)?;
    let offsets = (0..=points.len()).step_by(size).map(|first| first as i64).collect();
    count(&group, "NumberOfCells", points.len() / size)?;
    count(&group, "NumberOfConnectivityIds", points.len())?;
    put_values(&group, "Connectivity", &Values::I64(points))?;
    put_values(&group, "Offsets", &Values::I64(offsets)).map(drop)
}

/// The two ends of each line. Clumps that merge across a periodic border have none: it would cross the whole
/// box.
fn lines(catalogue: &Catalogue, objects: &Objects) -> Vec<i64> {
    let values = SwiftAttributes(&catalogue.attributes);
    let sides = values.sides().filter(|_| values.is_periodic()).unwrap_or([f64::INFINITY; 3]);
    let is_short = |from: usize, to: usize| {
        let (from, to) = (objects.position[from], objects.position[to]);
        (0..3).all(|a| (from[a] - to[a]).abs() <= 0.5 * sides[a])
    };
    let ends = objects.parents().into_iter().enumerate().filter_map(|(from, to)| Some((from, to?)));
    ends.filter(|(from, to)| is_short(*from, *to)).flat_map(|(from, to)| [from as i64, to as i64]).collect()
}
