//! Maps of a stored catalogue: its box, and its cells if it has some.

use crate::config::{CubeRegion, MapChoices};
use crate::report::page::{cube_view, whole_view};
use inselberg::projection::{KeptLeaves, ListedLeaves};
use inselberg::{DensityMap, MapBox, View};
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::catalogue::{Attribute, Catalogue, Values};
use inselberg_kernels::geom::{Domain, cell_side};

/// The pixels of a map without cells, along the longer side of the box.
const N_PIXELS: f64 = 64.0;

/// What maps of a catalogue are made from.
pub struct StoredMatter {
    /// The box.
    pub space: MapBox,
    /// The cells; `None` if the catalogue has none.
    pub cells: Option<KeptLeaves>,
}

impl StoredMatter {
    /// The matter of a catalogue.
    ///
    /// # Errors
    /// The catalogue does not state its box, or a cell is outside of it.
    pub fn new(whole: &Catalogue) -> Result<Self, String> {
        let no_box = || "no box in the attributes; expected boxlen, coarse_cells and periodic, or sides";
        let space = space(whole).ok_or_else(no_box)?;
        let cells = match rows(whole) {
            Some((rows, side)) => {
                let kept = KeptLeaves::of_rows(rows, side).map_err(|error| error.to_string())?;
                Some(kept.at_origin(space.low))
            }
            None => None,
        };
        Ok(Self { space, cells })
    }

    /// The side of the smallest cell.
    pub fn finest(&self) -> f64 {
        let longest = self.space.sides.into_iter().fold(0.0, f64::max);
        self.cells.as_ref().map_or(longest / N_PIXELS, KeptLeaves::finest)
    }

    /// Maps along the chosen axes: of the chosen region, else of `cube`, else of the whole box.
    ///
    /// # Errors
    /// The region is not in the box, or a map cannot be made.
    pub fn maps(
        &self,
        whole: &Catalogue,
        chosen: &MapChoices,
        cube: Option<CubeRegion>,
    ) -> Result<Vec<DensityMap>, String> {
        let space = &self.space;
        let given = |region: &crate::config::MapRegion| {
            region.cube(&scale_of(&whole.attributes), space.low, space.sides)
        };
        let cube = chosen.region.as_ref().map(given).transpose()?.or(cube);
        let view = |along: &usize| match cube {
            Some(CubeRegion { centre, side }) => cube_view(&centre, side, *along, space, self.finest()),
            None => whole_view(*along, space, self.finest()),
        };
        let views: Vec<View> = chosen.axes.iter().map(view).collect();
        match &self.cells {
            Some(cells) => cells.maps(&views).map_err(|error| error.to_string()),
            None => Ok(views.into_iter().map(without_values).collect()),
        }
    }
}

/// A map that shows objects alone.
fn without_values(view: View) -> DensityMap {
    DensityMap { view: View { pixels: [1, 1], ..view }, values: vec![f32::NAN] }
}

fn triple(whole: &Catalogue, name: &str) -> Option<[f64; 3]> {
    match whole.attribute(name)? {
        Attribute::Reals(numbers) => <[f64; 3]>::try_from(numbers.as_slice()).ok(),
        _ => None,
    }
}

/// The box of a catalogue. Where it does not state a lower corner, that is 0.
fn space(whole: &Catalogue) -> Option<MapBox> {
    let periodic = triple(whole, "periodic")?.map(|p| p != 0.0);
    let low = triple(whole, "origin").unwrap_or([0.0; 3]);
    let sides = match (triple(whole, "sides"), whole.attribute("boxlen")) {
        (Some(sides), _) => sides,
        (None, Some(Attribute::Real(side))) => triple(whole, "coarse_cells")?.map(|n| n * side),
        _ => return None,
    };
    sides.iter().all(|side| side.is_finite() && *side > 0.0).then_some(MapBox { low, sides, periodic })
}

/// The cells of a catalogue, and the side of one of level 0.
fn rows(whole: &Catalogue) -> Option<(ListedLeaves, f64)> {
    let cells = whole.table("cells")?;
    let (coarse, periodic) = (triple(whole, "coarse_cells")?, triple(whole, "periodic")?);
    let Some(Attribute::Real(side)) = whole.attribute("boxlen") else { return None };
    let (Values::U8(level), Values::U32x3(ijk)) =
        (&cells.column("level")?.values, &cells.column("ijk")?.values)
    else {
        return None;
    };
    let rows = ListedLeaves {
        domain: Domain { coarse: coarse.map(|n| n as u32), periodic: periodic.map(|p| p != 0.0) },
        level: level.clone(),
        ijk: ijk.clone(),
        density: cells.reals("density")?.to_vec(),
    };
    Some((rows, *side))
}

/// The cells around a place, for profiles: distance and volume in code units, and density. `axes` are those
/// of the distance.
pub fn cells_around(
    whole: &Catalogue,
    space: &MapBox,
    centre: [f64; 3],
    axes: &[usize],
    mut cell: impl FnMut(f64, f64, f64),
) -> Option<()> {
    let (ListedLeaves { level, ijk, density, .. }, coarse) = rows(whole)?;
    for ((level, ijk), density) in level.iter().zip(&ijk).zip(&density) {
        let side = coarse * cell_side(*level);
        let offset = |axis: usize| {
            let from = space.low[axis] + (f64::from(ijk[axis]) + 0.5) * side - centre[axis];
            match space.periodic[axis] {
                true => from - space.sides[axis] * (from / space.sides[axis]).round(),
                false => from,
            }
        };
        let squared: f64 = axes.iter().map(|axis| offset(*axis).powi(2)).sum();
        cell(squared.sqrt(), side.powi(3), *density);
    }
    Some(())
}
