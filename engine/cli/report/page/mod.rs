//! The report: one self-contained HTML page about a run.
//!
//! | file | content |
//! |---|---|
//! | `frame` | the common parts: head, warnings, facts, counts, attributes |
//! | `tracks` | the page of a merger tree |
//! | `atlas`, `atlas.js` | the page of thresholds, and the code that cuts the tree again |
//! | `comparison` | the page of two catalogues beside each other |
//! | `zooms` | which regions are shown |
//! | `objects`, `tree` | the largest objects, and their substructure |
//! | `costs` | stages, load and messages |
//! | `kinds` | haloes, groups or voids |
//! | `style.css`, `tables.js` | embedded in the page |
//!
//! Pictures are drawn by `plot`, and lie within the page. Texts of inputs are escaped. The page stays small
//! however many objects there are: it lists only the largest, and says so.

mod atlas;
mod comparison;
mod costs;
mod frame;
mod kinds;
mod objects;
mod tracks;
mod tree;
mod zooms;

use super::StageTime;
use super::colour_choice::ColourChoice;
use super::html::{escaped, figure};
use super::least_drawn::LeastDrawn;
use super::plot::colour::colour_axis;
use super::plot::kinds::{MOST_CIRCLES, MapCircle, Shown, circles, shown};
use super::plot::sky_axes::{ShownValues, shown_values};
use super::plot::{MapStyle, map_svg, masses_svg};
use super::ranks::RankReport;
use super::summary::grouped;
use super::units::DisplayUnits;
pub use atlas::{AtlasReport, atlas_page};
pub use comparison::{ComparisonReport, comparison_page};
use costs::ShownCosts;
use inselberg::phew::image::{ImageSky, is_flat};
use inselberg::{DensityMap, MapBox};
use inselberg_io::catalogue::Catalogue;
pub use tracks::{TreeReport, tree_page};
pub use zooms::{cube_view, whole_view, zoom_views};

/// The content of a report.
#[derive(Debug)]
pub struct ReportData<'a> {
    /// Its title.
    pub title: String,
    /// The command and its input: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// Notes for readers.
    pub warnings: Vec<String>,
    /// Counts by name; `None` where one is unknown.
    pub counts: Vec<(&'static str, Option<i64>)>,
    /// The units.
    pub units: DisplayUnits,
    /// Smaller objects get no circle.
    pub least: LeastDrawn,
    /// The sky of an image.
    pub sky: Option<ImageSky>,
    /// How values become colours in the maps of the box.
    pub colours: ColourChoice,
    /// The box of the maps.
    pub space: MapBox,
    /// Maps of the box, or of a part of it.
    pub maps: Vec<DensityMap>,
    /// Maps of the largest objects.
    pub zooms: Vec<Zoom>,
    /// Attributes, and the tables `clumps` and `haloes`, or `Groups`, or `voids`.
    pub catalogue: &'a Catalogue,
    /// The stages.
    pub stages: &'a [StageTime],
    /// What the stages process.
    pub things: &'static str,
    /// Load and messages.
    pub ranks: &'a RankReport,
    /// Bytes; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
}

/// The map of an object.
#[derive(Debug)]
pub struct Zoom {
    /// Its row in the table.
    pub row: usize,
    /// The map.
    pub map: DensityMap,
}

/// The page.
///
/// # Errors
/// When a picture cannot be encoded.
pub fn page(data: &ReportData<'_>) -> Result<String, String> {
    let mut text = frame::warnings(&data.warnings);
    text += &frame::facts(&data.facts);
    let units = escaped(&data.units.sentence(&data.catalogue.attributes));
    text += &format!("<p id=\"units\">{units}</p>\n");
    text += &frame::counts(&data.counts);
    text += &maps(data)?;
    text += &objects::section(data)?;
    let ReportData { stages, things, peak_memory, .. } = *data;
    text += &costs::sections(&ShownCosts { stages, things, ranks: Some(data.ranks), peak_memory });
    text += &frame::attributes(&data.catalogue.attributes);
    Ok(frame::page(&data.title, &text))
}

impl ReportData<'_> {
    /// What the values of a map are.
    fn values(&self, map: &DensityMap) -> ShownValues {
        let flat = is_flat(&self.catalogue.attributes);
        shown_values(&self.units, self.sky.as_ref(), &map.view, flat)
    }

    /// A map with circles, in colours of its own as chosen.
    fn drawn(
        &self,
        map: &DensityMap,
        colours: ColourChoice,
        circles: &[MapCircle],
    ) -> Result<String, String> {
        let values = self.values(map);
        let colours = colour_axis(std::iter::once(map), colours, values.unit.factor);
        let (space, units, sky) = (&self.space, &self.units, self.sky.as_ref());
        map_svg(map, MapStyle { space, units, sky, values: &values, colours }, circles)
    }
}

/// Words for the drawn objects of a kind.
fn drawn_words(list: &Shown) -> String {
    let (n, name) = (grouped(list.drawn.n_large as i64), list.kind.name);
    match list.drawn.n_large > MOST_CIRCLES {
        true => format!("the {MOST_CIRCLES} largest of {n} {name}"),
        false => format!("{n} {name}"),
    }
}

fn maps(data: &ReportData<'_>) -> Result<String, String> {
    let mut text = "<h2 id=\"maps\">Maps and mass functions</h2>\n<div class=\"maps\">\n".to_string();
    let lists = shown(data.catalogue, data.least);
    let circles = circles(&lists);
    let drawn: Vec<String> = lists.iter().map(drawn_words).collect();
    let least = match data.least.words() {
        words if words.is_empty() => words,
        words => format!(" of {words}"),
    };
    let singles = match lists.iter().any(Shown::has_singles) {
        true => "; a dot: a halo of one clump",
        false => "",
    };
    for map in &data.maps {
        let axis = ["x", "y", "z"][map.view.along];
        let quantity = data.values(map).quantity;
        let caption = format!("{quantity} along {axis}, with {}{least}{singles}", drawn.join(" and "));
        let figure_id = format!("map-{axis}");
        text += &figure(&figure_id, "map", &data.drawn(map, data.colours, &circles)?, &caption);
    }
    let drawn = masses_svg(&lists, &data.units)?;
    let counted = lists.first().map_or("mass functions", |list| list.kind.counted.functions);
    text += &figure("mass-function", "masses", &drawn, &format!("Cumulative {counted} of all objects"));
    Ok(text + "</div>\n")
}
