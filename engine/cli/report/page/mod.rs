//! The report: one HTML page about a run, which needs nothing beside it.
//!
//! | file | content |
//! |---|---|
//! | `zooms` | which regions are shown |
//! | `map` | a map as a figure |
//! | `mass` | the mass functions |
//! | `objects`, `tree` | the largest objects, and their substructure |
//! | `costs` | stages, load and messages |
//! | `kinds` | haloes or groups |
//! | `style.css`, `sort.js` | what the page brings along |
//!
//! Pictures are data within the page. Texts of inputs are escaped. The page stays small however many objects there are: it
//! lists only the largest, and says so.

mod costs;
mod kinds;
mod map;
mod mass;
mod objects;
mod tree;
mod zooms;

use super::StageTime;
use super::html::{HtmlCell, escaped, table};
use super::least_drawn::LeastDrawn;
use super::plot::colour::colour_axis;
use super::plot::layout::MOST_CIRCLES;
use super::plot::objects::Objects;
use super::ranks::RankReport;
use super::summary::grouped;
use super::units::DisplayUnits;
use inselberg::{DensityMap, MapBox};
use inselberg_io::catalogue::Catalogue;
use inselberg_io::catalogue::info::attribute_text;
use map::{MapCircle, MapStyle};
use std::fmt::Write;
pub use zooms::{cube_view, whole_view, zoom_views};

/// What a report shows.
#[derive(Debug)]
pub struct ReportData<'a> {
    /// Its title.
    pub title: String,
    /// What was run on what: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// What a reader should know.
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
    /// Bytes; `None` where the system does not tell.
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
    let title = escaped(&data.title);
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n",
        include_str!("style.css")
    );
    text += &warnings(data);
    text += &facts(data);
    text += &counts(data);
    let style = MapStyle { space: &data.space, units: &data.units, quantity: &data.quantity };
    text += &maps(data, &style)?;
    text += &objects::section(data, &style)?;
    text += &costs::sections(data);
    text += &attributes(data);
    Ok(text + "</main>\n<script>\n" + include_str!("sort.js") + "</script>\n</body>\n</html>\n")
}

fn warnings(data: &ReportData<'_>) -> String {
    if data.warnings.is_empty() {
        return String::new();
    }
    let items: String = data.warnings.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
    format!(
        "<div class=\"warnings\" role=\"note\"><h2 id=\"warnings\">Warnings</h2>\n<ul>\n{items}</ul></div>\n"
    )
}

fn facts(data: &ReportData<'_>) -> String {
    let mut text = "<h2 id=\"run\">The run</h2>\n<dl>\n".to_string();
    for (name, value) in &data.facts {
        let _ = writeln!(text, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }
    text += "</dl>\n";
    let _ =
        writeln!(text, "<p id=\"units\">{}</p>", escaped(&data.units.sentence(&data.catalogue.attributes)));
    text
}

fn counts(data: &ReportData<'_>) -> String {
    let row = |(name, count): &(&'static str, Option<i64>)| {
        count.map(|n| vec![HtmlCell::text(*name), HtmlCell::number(n as f64, grouped(n))])
    };
    let rows: Vec<_> = data.counts.iter().filter_map(row).collect();
    table("counts", "Counts", &["what".to_string(), "number".into()], &rows, false)
}

/// The lists that are drawn: haloes below clumps, or groups.
const LISTS: [(&str, &str, [&str; 2], &str); 3] = [
    ("haloes", "haloes", ["peak_position", "mass"], "halo"),
    ("clumps", "clumps", ["peak_position", "mass"], "clump"),
    ("Groups", "groups", ["Centres", "Masses"], "halo"),
];

fn maps(data: &ReportData<'_>, style: &MapStyle<'_>) -> Result<String, String> {
    let mut text = "<h2 id=\"maps\">Maps and mass functions</h2>\n<div class=\"maps\">\n".to_string();
    let (mut circles, mut drawn, mut masses) = (Vec::new(), Vec::new(), Vec::new());
    for (table, name, [position, mass], class) in LISTS {
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
            class,
            label: String::new(),
        }));
        masses.push((name, objects.masses));
    }
    let least = match data.least.words() {
        words if words.is_empty() => words,
        words => format!(" of {words}"),
    };
    let colours = colour_axis(data.maps.iter());
    for map in &data.maps {
        let axis = ["x", "y", "z"][map.view.along];
        let caption = format!("{} along {axis}, with {}{least}", data.quantity, drawn.join(" and "));
        text += &style.figure(&format!("map-{axis}"), map, colours, &circles, &caption)?;
    }
    masses.reverse();
    let lists: Vec<(&str, &[f64])> = masses.iter().map(|(name, masses)| (*name, masses.as_slice())).collect();
    Ok(text + &mass::figure(&lists, &data.units) + "</div>\n")
}

fn attributes(data: &ReportData<'_>) -> String {
    let row = |(name, value): &(String, _)| {
        vec![HtmlCell::text(name.clone()), HtmlCell::text(attribute_text(value))]
    };
    let rows: Vec<_> = data.catalogue.attributes.iter().map(row).collect();
    let header = ["attribute".to_string(), "value".into()];
    let table = table("attributes", "Attributes of the catalogue, in code units", &header, &rows, false);
    format!(
        "<details>\n<summary>Everything that the catalogue says of the run</summary>\n{table}</details>\n"
    )
}
