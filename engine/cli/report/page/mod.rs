//! The report: one self-contained HTML page about a run.
//!
//! | file | content |
//! |---|---|
//! | `frame` | the common parts: head, warnings, facts, counts, attributes |
//! | `tracks` | the page of a merger tree |
//! | `zooms` | which regions are shown |
//! | `objects`, `tree` | the largest objects, and their substructure |
//! | `costs` | stages, load and messages |
//! | `kinds` | haloes or groups |
//! | `style.css`, `sort.js` | embedded in the page |
//!
//! Pictures are drawn by `plot`, and lie within the page. Texts of inputs are escaped. The page stays small
//! however many objects there are: it lists only the largest, and says so.

mod costs;
mod frame;
mod kinds;
mod objects;
mod tracks;
mod tree;
mod zooms;

use super::StageTime;
use super::html::{escaped, figure};
use super::least_drawn::LeastDrawn;
use super::plot::colour::colour_axis;
use super::plot::layout::MOST_CIRCLES;
use super::plot::objects::Objects;
use super::plot::{MapCircle, MapStyle, map_svg, masses_svg};
use super::ranks::RankReport;
use super::summary::grouped;
use super::units::DisplayUnits;
use costs::ShownCosts;
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
    /// The mapped density.
    pub quantity: String,
    /// The box of the maps.
    pub space: MapBox,
    /// Maps of the box, or of a part of it.
    pub maps: Vec<DensityMap>,
    /// Maps of the largest objects.
    pub zooms: Vec<Zoom>,
    /// Attributes, and the tables `clumps` and `haloes`, or `Groups`.
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
    let colours = colour_axis(data.maps.iter());
    let style = MapStyle { space: &data.space, units: &data.units, quantity: &data.quantity, colours };
    text += &maps(data, style)?;
    text += &objects::section(data, style)?;
    let ReportData { stages, things, peak_memory, .. } = *data;
    text += &costs::sections(&ShownCosts { stages, things, ranks: Some(data.ranks), peak_memory });
    text += &frame::attributes(&data.catalogue.attributes);
    Ok(frame::page(&data.title, &text))
}

/// The lists that are drawn: haloes below clumps, or groups.
const LISTS: [(&str, &str, [&str; 2], bool); 3] = [
    ("haloes", "haloes", ["peak_position", "mass"], false),
    ("clumps", "clumps", ["peak_position", "mass"], true),
    ("Groups", "groups", ["Centres", "Masses"], false),
];

fn maps(data: &ReportData<'_>, style: MapStyle<'_>) -> Result<String, String> {
    let mut text = "<h2 id=\"maps\">Maps and mass functions</h2>\n<div class=\"maps\">\n".to_string();
    let (mut circles, mut drawn, mut masses) = (Vec::new(), Vec::new(), Vec::new());
    for (table, name, [position, mass], is_inner) in LISTS {
        if data.catalogue.table(table).is_none() {
            continue;
        }
        let objects = Objects::new(data.catalogue, table, position, mass);
        let large = objects.with_circles(data.catalogue.table(table), data.least, MOST_CIRCLES);
        let n = grouped(large.n_large as i64);
        drawn.push(match large.n_large > MOST_CIRCLES {
            true => format!("the {MOST_CIRCLES} most massive of {n} {name}"),
            false => format!("{n} {name}"),
        });
        circles.extend(large.places.into_iter().map(|i| MapCircle {
            position: objects.positions[i],
            radius: objects.radii.as_ref().map_or(f64::NAN, |radii| radii[i]),
            is_inner,
            label: String::new(),
        }));
        masses.push((name, objects.masses));
    }
    let least = match data.least.words() {
        words if words.is_empty() => words,
        words => format!(" of {words}"),
    };
    for map in &data.maps {
        let axis = ["x", "y", "z"][map.view.along];
        let caption = format!("{} along {axis}, with {}{least}", data.quantity, drawn.join(" and "));
        text += &figure(&format!("map-{axis}"), "map", &map_svg(map, style, &circles)?, &caption);
    }
    masses.reverse();
    let lists: Vec<(&str, &[f64])> = masses.iter().map(|(name, masses)| (*name, masses.as_slice())).collect();
    let drawn = masses_svg(&lists, &data.units)?;
    text += &figure("mass-function", "masses", &drawn, "Cumulative mass functions of all objects");
    Ok(text + "</div>\n")
}
