//! Maps of a stored catalogue: its box, and its cells if it has some.

use super::pictures::chosen_views;
use crate::config::{CubeRegion, MapChoices};
use inselberg::projection::{KeptLeaves, ListedLeaves};
use inselberg::{DensityMap, MapBox, View};
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_kernels::geom::{Domain, cell_centre, cell_volume};

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
        let kept = |cells: StoredCells<'_>| KeptLeaves::of_rows(cells.listed(), cells.side);
        let cells = StoredCells::new(whole).map(kept).transpose().map_err(|error| error.to_string())?;
        let cells = cells.map(|cells| cells.at_origin(space.low));
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
        let scale = scale_of(&whole.attributes);
        let views = chosen_views(chosen, &scale, cube, (&self.space, self.finest()))?;
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

/// The table of cells of a catalogue.
struct StoredCells<'a> {
    level: &'a [u8],
    ijk: &'a [[u32; 3]],
    density: &'a [f64],
    domain: Domain,
    /// The side of a cell of level 0.
    side: f64,
}

impl<'a> StoredCells<'a> {
    /// `None` if the catalogue lists no cells, or does not state their sizes.
    fn new(whole: &'a Catalogue) -> Option<Self> {
        let cells = whole.table("cells")?;
        let (coarse, periodic) = (triple(whole, "coarse_cells")?, triple(whole, "periodic")?);
        let domain = Domain { coarse: coarse.map(|n| n as u32), periodic: periodic.map(|p| p != 0.0) };
        let Some(Attribute::Real(side)) = whole.attribute("boxlen") else { return None };
        let (level, ijk) = (cells.bytes("level")?, cells.positions("ijk")?);
        Some(Self { level, ijk, density: cells.reals("density")?, domain, side: *side })
    }

    /// A copy for maps.
    fn listed(&self) -> ListedLeaves {
        ListedLeaves {
            domain: self.domain,
            level: self.level.to_vec(),
            ijk: self.ijk.to_vec(),
            density: self.density.to_vec(),
        }
    }
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
    let cells = StoredCells::new(whole)?;
    let centre = std::array::from_fn(|axis| (centre[axis] - space.low[axis]) / cells.side);
    for ((level, ijk), density) in cells.level.iter().zip(cells.ijk).zip(cells.density) {
        let offset = cells.domain.displacement(centre, cell_centre(*level, *ijk));
        let squared: f64 = axes.iter().map(|axis| offset[*axis].powi(2)).sum();
        cell(squared.sqrt() * cells.side, cell_volume(*level) * cells.side.powi(3), *density);
    }
    Some(())
}
