//! The dendrogram of the cells of a catalogue, for astrodendro.

use super::fault::CommandError;
use crate::config::DendrogramRequest;
use inselberg::phew::image::SkyArray;
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
        wcs_header: cube.header.as_deref(),
    };
    Ok(stage_dendrogram(output, &content)?)
}

/// The most cells of the box.
const MOST_CELLS: usize = i32::MAX as usize;

/// The density of cells of one size, as an array. NaN for absent cells, and for those outside of the searched
/// region.
struct Cube {
    /// The slowest axis first; of two axes for an image.
    shape: Vec<usize>,
    density: Vec<f64>,
    /// Whether cells of the box are missing.
    has_gaps: bool,
    /// The coordinates of a FITS image.
    header: Option<String>,
}

impl Cube {
    fn new(whole: &Catalogue) -> Result<Self, String> {
        let expected = "a catalogue of `inselberg phew --with-cells`";
        let cells = whole.table("cells").ok_or_else(|| format!("no table cells; expected {expected}"))?;
        let ImageCells { levels, places, density, selected } =
            ImageCells::new(cells).ok_or_else(|| format!("no density of cells; expected {expected}"))?;
        let sides = sides(whole, levels)?;
        let SkyArray { axes, header } = SkyArray::from_attributes(&whole.attributes);
        let shape: Vec<usize> = axes.iter().map(|axis| sides[*axis]).collect();
        let n = sides.iter().try_fold(1_usize, |n, side| n.checked_mul(*side));
        let [nx, ny, nz] = sides;
        // Pixels without a value are absent.
        let n = n.filter(|n| (levels.len()..=MOST_CELLS).contains(n)).ok_or_else(|| {
            let n = levels.len();
            format!("{n} cells in a box of {nx} x {ny} x {nz}; expected as many or fewer, in a box of at most 2^31")
        })?;
        let mut array = Vec::new();
        array.try_reserve_exact(n).map_err(|_| format!("no memory for {n} cells; expected more memory"))?;
        array.resize(n, f64::NAN);
        for (i, (place, density)) in places.iter().zip(density).enumerate() {
            let place = place.map(|i| i as usize);
            if (0..3).any(|axis| place[axis] >= sides[axis]) {
                return Err(format!("a cell at {place:?}; expected places within {nx} x {ny} x {nz}"));
            }
            let at = axes.iter().fold(0, |at, axis| at * sides[*axis] + place[*axis]);
            array[at] = if selected.is_none_or(|of| of[i] == 1) { *density } else { f64::NAN };
        }
        let header = header.map(|cards| cards.to_text());
        Ok(Self { shape, density: array, has_gaps: n > levels.len(), header })
    }
}

/// Cells along each axis of the box of a catalogue whose cells have these levels.
fn sides(whole: &Catalogue, levels: &[u8]) -> Result<[usize; 3], String> {
    let Some(Attribute::Reals(coarse)) = whole.attribute("coarse_cells") else {
        return Err("no attribute coarse_cells; expected the shape of the box".into());
    };
    let (Some(least), Some(most)) = (levels.iter().min(), levels.iter().max()) else {
        return Err("no cells; expected 1 or more".into());
    };
    if least != most {
        return Err(format!("cells of levels {least} to {most}; expected cells of one size, for an array"));
    }
    let side = |axis: usize| (*coarse.get(axis)? as usize).checked_mul(1_usize.checked_shl((*most).into())?);
    let [Some(nx), Some(ny), Some(nz)] = [0, 1, 2].map(side) else {
        return Err("the shape of the box is too large; expected cells that fill it".into());
    };
    Ok([nx, ny, nz])
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
