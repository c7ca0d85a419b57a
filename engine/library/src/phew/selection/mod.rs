//! Which leaves take part? Those whose centre is in a region, and whose level is in a range.
//!
//! In the flow: between the snapshot and the density. A search sees the density of a leaf that does not take
//! part lowered to at most the density threshold, so it is not a test cell
//! ([`LocalField::lower_others`](crate::partition::LocalField::lower_others)). Tables and maps have its own
//! density, and neither its mass nor its particles change.
//!
//! This folder uses neither clumps nor ranks.

mod region;

pub use region::Region;

use crate::error::RunError;
use inselberg_io::Header;
use inselberg_io::params::assign;
use inselberg_kernels::geom::cell_centre;

/// Which leaves of an output take part. The default: all of them.
///
/// A leaf takes part if its centre is in one of the regions, and its level in the range. The others count as
/// not denser than the threshold.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Selection {
    /// Their regions; empty for the whole box.
    pub regions: Vec<Region>,
    /// Their coarsest and finest level; `None` for all levels.
    pub levels: Option<[u8; 2]>,
}

impl Selection {
    /// Adds the leaves in a region to those of earlier calls.
    #[must_use]
    pub fn region(mut self, region: Region) -> Self {
        self.regions.push(region);
        self
    }

    /// The leaves of these levels, both included.
    #[must_use]
    pub fn levels(self, coarsest: u8, finest: u8) -> Self {
        Self { levels: Some([coarsest, finest]), ..self }
    }

    /// Sets the regions of a text, separated by `;`. Returns whether the text is valid.
    pub(crate) fn set_regions(&mut self, text: &str) -> bool {
        let regions = text.split(';').map(|part| part.parse().ok());
        assign(&mut self.regions, regions.collect())
    }

    /// Sets the levels of a text, `MIN:MAX`. Returns whether the text is valid.
    pub(crate) fn set_levels(&mut self, text: &str) -> bool {
        let level = |word: &str| word.trim().parse::<u8>().ok();
        let levels = text.split_once(':').and_then(|(least, most)| level(least).zip(level(most)));
        let levels = levels.filter(|(least, most)| least <= most);
        assign(&mut self.levels, levels.map(|(least, most)| Some([least, most])))
    }

    /// Whether all leaves take part.
    pub fn is_all(&self) -> bool {
        self.regions.is_empty() && self.levels.is_none()
    }

    /// The regions as one text.
    pub fn regions_text(&self) -> String {
        self.regions.iter().map(Region::to_string).collect::<Vec<_>>().join(";")
    }

    /// The selection in the box of an output.
    ///
    /// # Errors
    /// When the middle of a region is outside the box.
    pub(crate) fn in_box(&self, header: &Header) -> Result<Selected, RunError> {
        let sides = header.coarse.map(|n| f64::from(n) * header.boxlen);
        let regions: Vec<Region> =
            self.regions.iter().map(|region| region.seen_from(header.origin)).collect();
        if let Some(i) = regions.iter().position(|region| !region.is_around(sides)) {
            let (region, low) = (self.regions[i].to_string(), header.origin);
            let high = std::array::from_fn(|a| low[a] + sides[a]);
            return Err(RunError::RegionOutside { region, low, high });
        }
        let levels = self.levels.unwrap_or([0, u8::MAX]);
        Ok(Selected { regions, levels, sides, periodic: header.periodic, unit: header.boxlen })
    }
}

/// The leaves of an output that take part.
#[derive(Debug, Clone)]
pub struct Selected {
    regions: Vec<Region>,
    levels: [u8; 2],
    /// Sides of the box in code units.
    sides: [f64; 3],
    periodic: [bool; 3],
    /// The side of a level-0 cell.
    unit: f64,
}

impl Selected {
    /// Whether the leaf at this position on the grid of its level takes part.
    pub fn has_leaf(&self, level: u8, position: [u32; 3]) -> bool {
        (self.levels[0]..=self.levels[1]).contains(&level)
            && self.has_point(cell_centre(level, position).map(|x| x * self.unit))
    }

    /// Whether a point, in code units, is in a region.
    pub fn has_point(&self, x: [f64; 3]) -> bool {
        self.regions.is_empty()
            || self.regions.iter().any(|region| region.has_point(x, self.sides, self.periodic))
    }
}
