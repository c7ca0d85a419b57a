//! The dendrogram of the cells of a catalogue, for astrodendro.

use super::fault::CommandError;
use crate::config::DendrogramRequest;
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::catalogue::{Attribute, Catalogue, DendrogramFile, Table, Values, stage_dendrogram};
use inselberg_io::params::Measure;
use inselberg_io::staging::Staged;
use inselberg_kernels::dendrogram::{DendrogramLimits, NO_STRUCTURE, dendrogram, face_neighbours};
use std::path::Path;

/// Stages the file at `output`. `input` is the source of the cells, for messages.
pub fn stage(
    input: &Path,
    output: &Path,
    request: &DendrogramRequest,
    whole: &Catalogue,
) -> Result<Staged, CommandError> {
    let wrong = |problem: String| CommandError::about(input, problem);
    let cube = Cube::new(whole).map_err(wrong)?;
    let threshold = match whole.attribute("density_threshold") {
        Some(Attribute::Real(threshold)) => Some(*threshold),
        _ => None,
    };
    let scale = scale_of(&whole.attributes);
    let density = |given| {
        let expected = |lack| wrong(format!("expected densities without units: {lack}"));
        scale.plain(given, &Measure::DENSITY).map_err(expected)
    };
    let (given, delta) = (request.value.map(density).transpose()?, density(request.delta)?);
    let value = given.or(threshold).ok_or_else(|| {
        wrong("no attribute density_threshold; expected one, or a least density (--min-value)".into())
    })?;
    // A mesh from particles lists only cells denser than the threshold.
    if cube.has_gaps && threshold.is_some_and(|threshold| value < threshold) {
        let expected = "cells that fill the box, or a least density above the threshold";
        return Err(wrong(format!(
            "cells are missing, perhaps those below the density threshold; expected {expected}"
        )));
    }
    let limits = DendrogramLimits { value, delta, cells: request.cells };
    let found = dendrogram(&cube.density, &limits, |i, to| face_neighbours(&cube.shape, i, to));
    // No array of the file has more structures than cells.
    if i32::try_from(found.nodes.len()).is_err() {
        return Err(wrong(format!("{} structures; expected at most {}", found.nodes.len(), i32::MAX)));
    }
    let number = |of: &u32| if *of == NO_STRUCTURE { -1 } else { *of as i32 };
    let content = DendrogramFile {
        shape: &cube.shape,
        data: &cube.density,
        index_map: &found.of_cell.iter().map(number).collect::<Vec<_>>(),
        newick: &found.newick(),
        limits: (limits.value, limits.delta, limits.cells),
    };
    Ok(stage_dendrogram(output, &content)?)
}

/// The most cells of the box.
const MOST_CELLS: usize = i32::MAX as usize;

/// The density of cells of one size, as an array with z as the last axis. NaN for absent cells, and for those
/// outside of the searched region.
struct Cube {
    shape: [usize; 3],
    density: Vec<f64>,
    /// Whether cells of the box are missing.
    has_gaps: bool,
}

impl Cube {
    fn new(whole: &Catalogue) -> Result<Self, String> {
        let expected = "a catalogue of `inselberg phew --with-cells`";
        let cells = whole.table("cells").ok_or_else(|| format!("no table cells; expected {expected}"))?;
        let ImageCells { levels, places, density, selected } =
            ImageCells::new(cells).ok_or_else(|| format!("no density of cells; expected {expected}"))?;
        let Some(Attribute::Reals(coarse)) = whole.attribute("coarse_cells") else {
            return Err("no attribute coarse_cells; expected the shape of the box".into());
        };
        let (Some(least), Some(most)) = (levels.iter().min(), levels.iter().max()) else {
            return Err("no cells; expected 1 or more".into());
        };
        if least != most {
            return Err(format!(
                "cells of levels {least} to {most}; expected cells of one size, for an array"
            ));
        }
        let side =
            |axis: usize| (*coarse.get(axis)? as usize).checked_mul(1_usize.checked_shl((*most).into())?);
        let shape = [0, 1, 2].map(side);
        let n = shape.iter().try_fold(1_usize, |n, side| n.checked_mul((*side)?));
        let [Some(nx), Some(ny), Some(nz)] = shape else {
            return Err("the shape of the box is too large; expected cells that fill it".into());
        };
        // Pixels without a value are absent.
        let n = n.filter(|n| (levels.len()..=MOST_CELLS).contains(n)).ok_or_else(|| {
            let n = levels.len();
            format!("{n} cells in a box of {nx} x {ny} x {nz}; expected as many or fewer, in a box of at most 2^31")
        })?;
        let mut array = Vec::new();
        array.try_reserve_exact(n).map_err(|_| format!("no memory for {n} cells; expected more memory"))?;
        array.resize(n, f64::NAN);
        for (i, (place, density)) in places.iter().zip(density).enumerate() {
            let [x, y, z] = place.map(|i| i as usize);
            if x >= nx || y >= ny || z >= nz {
                return Err(format!("a cell at {place:?}; expected places within {nx} x {ny} x {nz}"));
            }
            array[(x * ny + y) * nz + z] =
                if selected.is_none_or(|of| of[i] == 1) { *density } else { f64::NAN };
        }
        Ok(Self { shape: [nx, ny, nz], density: array, has_gaps: n > levels.len() })
    }
}

/// The columns of cells that an array needs.
struct ImageCells<'a> {
    levels: &'a [u8],
    places: &'a [[u32; 3]],
    density: &'a [f64],
    /// 1 for those that were searched; `None`: all were.
    selected: Option<&'a [u8]>,
}

impl<'a> ImageCells<'a> {
    fn new(cells: &'a Table) -> Option<Self> {
        let density = cells.reals("density")?;
        let selected = match cells.column("selected").map(|column| &column.values) {
            Some(Values::U8(selected)) => Some(selected.as_slice()),
            _ => None,
        };
        match (&cells.column("level")?.values, &cells.column("ijk")?.values) {
            (Values::U8(levels), Values::U32x3(places)) => Some(Self { levels, places, density, selected }),
            _ => None,
        }
    }
}
