//! The page of an atlas: sliders that cut the tree again, plateaus, and what each threshold does.

use super::frame;
use crate::report::html::{HtmlCell, escaped, figure, table};
use crate::report::plot::{
    barcode_svg, base64, mass_functions_svg, persistence_svg, plane_svg, threshold_svg,
};
use crate::report::summary::grouped;
use crate::report::units::{four_digits, short_number};
use inselberg::{
    AtlasLine, AtlasPlane, CompactTree, CountedObjects, Plateau, ThresholdAtlas, VariedThreshold,
};
use serde_json::{Value, json};

/// Larger trees are not part of the page.
pub const MOST_PEAKS: usize = 500_000;
/// Peaks in the diagram of births and deaths.
const MOST_DOTS: usize = 4000;

/// The content of the page.
#[derive(Debug)]
pub struct AtlasReport<'a> {
    /// Its title.
    pub title: String,
    /// The catalogue, as a command line names it.
    pub catalogue: String,
    /// The command and its input: names and values.
    pub facts: Vec<(&'static str, String)>,
    /// What densities are measured in, such as `mean densities`.
    pub density_unit: String,
    /// The atlas.
    pub atlas: &'a ThresholdAtlas,
}

/// The page.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn atlas_page(data: &AtlasReport<'_>) -> Result<String, String> {
    let atlas = data.atlas;
    let mut text = frame::facts(&data.facts);
    text += &sliders(data);
    text += &plateaus(data);
    for line in &atlas.lines {
        text += &line_section(line, data)?;
    }
    if !atlas.planes.is_empty() {
        text += "<h2 id=\"pairs\">Two thresholds at once</h2>\n<div class=\"maps\">\n";
        for plane in &atlas.planes {
            text += &plane_figure(plane, data)?;
        }
        text += "</div>\n";
    }
    text += &persistence(data)?;
    Ok(frame::page_with(&data.title, &text, &script(data)))
}

/// The name of a threshold with its unit.
fn name_of(varied: VariedThreshold, data: &AtlasReport<'_>) -> String {
    let unit = match varied {
        VariedThreshold::Saddle | VariedThreshold::Density => &data.density_unit,
        VariedThreshold::Relevance | VariedThreshold::HaloRelevance
            if data.atlas.persistence.is_difference() =>
        {
            &data.density_unit
        }
        VariedThreshold::Mass => "code units",
        _ => "",
    };
    let name = match varied {
        VariedThreshold::HaloRelevance => "relevance of haloes, in place of the saddle threshold".to_string(),
        _ => format!("{} threshold", varied.name()),
    };
    if unit.is_empty() { name } else { format!("{name} [{unit}]") }
}

/// The tree of the page, if it is small enough and follows the paper.
fn tree_of<'a>(data: &AtlasReport<'a>) -> Option<&'a CompactTree> {
    data.atlas.tree.as_ref().filter(|tree| tree.density.len() <= MOST_PEAKS)
}

/// The thresholds at which the tree can be cut.
fn in_tree(atlas: &ThresholdAtlas) -> impl Iterator<Item = &AtlasLine> {
    atlas.lines.iter().filter(|line| line.varied != VariedThreshold::Density)
}

/// Sliders, counts and mass functions, which the script fills.
fn sliders(data: &AtlasReport<'_>) -> String {
    let mut text = "<h2 id=\"try\">Move the thresholds</h2>\n".to_string();
    let Some(tree) = tree_of(data) else {
        let why = match &data.atlas.tree {
            None => {
                "the catalogue follows RAMSES, where equal saddles have an order of their own".to_string()
            }
            Some(tree) => format!("the tree has {} peaks", grouped(tree.density.len() as i64)),
        };
        return text + &format!("<p>No sliders: {why}. Use <code>inselberg recut</code>.</p>\n");
    };
    let peaks = grouped(tree.density.len() as i64);
    text += &format!(
        "<p>The tree of {peaks} peaks is part of this page. Each change cuts it again, as <code>recut</code> \
         does.</p>\n<div class=\"beside\">\n<div id=\"sliders\" class=\"sliders\">\n"
    );
    for line in in_tree(data.atlas) {
        let (id, name) = (line.varied.name(), escaped(&name_of(line.varied, data)));
        text += &format!(
            "<label for=\"{id}\">{name}</label>\n<span><input type=\"range\" min=\"0\" max=\"1000\" id=\"{id}-slider\" \
             aria-label=\"{name}\"> <input type=\"number\" id=\"{id}\" step=\"any\" min=\"0\"></span>\n"
        );
    }
    text += "<dl id=\"counts\">\n";
    for (id, name) in
        [("clumps", "Clumps"), ("haloes", "Haloes"), ("levels", "Levels"), ("mass", "Mass in haloes")]
    {
        text += &format!("<dt>{name}</dt><dd id=\"n-{id}\"></dd>\n");
    }
    text += "</dl>\n<p><button type=\"button\" id=\"reset\">Thresholds of the catalogue</button></p>\n\
             <p><code id=\"recut\"></code></p>\n</div>\n<figure id=\"live\">\n<svg viewBox=\"0 0 860 620\" role=\"img\" \
             aria-label=\"Cumulative mass functions at these thresholds\"></svg>\n<figcaption>Clumps (blue) and haloes \
             (red) by mass in code units, cumulative; grey: with the thresholds of the catalogue</figcaption>\n\
             </figure>\n</div>\n";
    text
}

fn real(x: f64) -> HtmlCell {
    HtmlCell::number(x, short_number(x))
}

/// The plateaus of all thresholds.
fn plateaus(data: &AtlasReport<'_>) -> String {
    let row = |line: &AtlasLine, of: &Plateau| {
        let counted = if of.counted == CountedObjects::Haloes { "haloes" } else { "clumps" };
        let [low, high] = of.count.map(|n| grouped(n as i64));
        vec![
            HtmlCell::text(format!("{} {}, {counted}", line.varied.name(), of.number)),
            real(of.range[0]),
            real(of.range[1]),
            of.recommended.map_or(HtmlCell::text("-"), real),
            HtmlCell::text(if low == high { low } else { format!("{low} to {high}") }),
            HtmlCell::number(of.slope, four_digits(of.slope)),
            HtmlCell::text(if of.is_open { "at an end of the values" } else { "" }),
        ]
    };
    let lines = data.atlas.lines.iter();
    let rows: Vec<_> = lines.flat_map(|line| line.plateaus.iter().map(move |of| row(line, of))).collect();
    let names = ["plateau", "from", "to", "recommended", "number", "d ln N / d ln threshold", ""];
    let mut text = "<h2 id=\"plateaus\">Plateaus</h2>\n".to_string();
    text += "<p>On a plateau a number changes by 10 % at most. The longest in the logarithm is the first. The \
             recommended value is its geometric middle; of one that goes on beyond the values, the catalogue's own.</p>\n";
    match rows.is_empty() {
        true => text + "<p>There is none: every number depends on its threshold.</p>\n",
        false => text + &table("table-plateaus", "Plateaus", &names.map(String::from), &rows, true),
    }
}

fn line_section(line: &AtlasLine, data: &AtlasReport<'_>) -> Result<String, String> {
    let (id, name) = (line.varied.name(), name_of(line.varied, data));
    let mut text = format!("<h2 id=\"of-{id}\">{}</h2>\n<div class=\"maps\">\n", escaped(&name));
    let own = line.own.map_or("; the catalogue has none".to_string(), |own| {
        format!("; black line: {}, as in the catalogue", short_number(own))
    });
    let caption = format!("Number of clumps and haloes by {}{own}", line.varied.name());
    text += &figure(&format!("numbers-{id}"), "masses", &threshold_svg(line, &name)?, &caption);
    if !data.atlas.bins.is_empty() {
        let caption =
            format!("Mass functions of haloes at some values of the {} threshold", line.varied.name());
        let svg = mass_functions_svg(line, &data.atlas.bins)?;
        text += &figure(&format!("functions-{id}"), "masses", &svg, &caption);
    }
    text += "</div>\n";
    let names = ["threshold", "clumps", "haloes", "levels", "mass", "fraction", "d ln clumps", "d ln haloes"];
    let slopes = [CountedObjects::Clumps, CountedObjects::Haloes].map(|of| {
        let counts: Vec<f64> = line.counts(of).into_iter().map(|n| n as f64).collect();
        inselberg::atlas::slopes(&line.values, &counts)
    });
    let row = |(i, cut): (usize, &inselberg::CutNumbers)| {
        let count = |n: u64| HtmlCell::number(n as f64, grouped(n as i64));
        let shown = |x: f64| HtmlCell::number(x, four_digits(x));
        let mut row = vec![real(line.values[i]), count(cut.n_clumps), count(cut.n_haloes)];
        row.extend([count(cut.n_levels), shown(cut.mass), shown(cut.mass / data.atlas.mass_above)]);
        row.extend([shown(slopes[0][i]), shown(slopes[1][i])]);
        row
    };
    let rows: Vec<_> = line.cuts.iter().enumerate().map(row).collect();
    text += "<details>\n<summary>Numbers</summary>\n";
    text += &table(&format!("table-{id}"), &name, &names.map(String::from), &rows, true);
    Ok(text + "</details>\n")
}

fn plane_figure(plane: &AtlasPlane, data: &AtlasReport<'_>) -> Result<String, String> {
    let names = plane.varied.map(|varied| name_of(varied, data));
    let [a, b] = plane.varied.map(VariedThreshold::name);
    let svg = plane_svg(plane, [&names[0], &names[1]])?;
    Ok(figure(&format!("plane-{a}-{b}"), "masses", &svg, &format!("Number of haloes by {a} and {b}")))
}

fn persistence(data: &AtlasReport<'_>) -> Result<String, String> {
    let (bars, unit) = (&data.atlas.bars, data.atlas.units.density);
    if bars.is_empty() {
        return Ok(String::new());
    }
    let shown = &bars[..bars.len().min(MOST_DOTS)];
    let among = match shown.len() < bars.len() {
        true => format!("the {} most persistent of {} peaks", MOST_DOTS, grouped(bars.len() as i64)),
        false => format!("all {} peaks", bars.len()),
    };
    let mut text =
        "<h2 id=\"persistence\">Births and deaths of peaks</h2>\n<div class=\"maps\">\n".to_string();
    let unit_name = &data.density_unit;
    let caption = format!("Persistence diagram of {among}, in {unit_name}. Far from the line is persistent.");
    text += &figure("diagram", "masses", &persistence_svg(shown, unit)?, &caption);
    let caption = format!("Barcode of the most persistent peaks, in {unit_name}");
    text += &figure("barcode", "masses", &barcode_svg(bars, unit)?, &caption);
    Ok(text + "</div>\n")
}

/// The tree, the thresholds and the code that cuts it.
fn script(data: &AtlasReport<'_>) -> String {
    let Some(tree) = tree_of(data) else { return String::new() };
    let line = |line: &AtlasLine| {
        let positive = || line.values.iter().copied().filter(|value| *value > 0.0);
        let ends = [positive().next(), positive().next_back()];
        let key = line.varied.key(data.atlas.persistence).replace('_', "-");
        json!({ "id": line.varied.name(), "option": key, "own": line.own, "ends": ends })
    };
    let lines: Vec<Value> = in_tree(data.atlas).map(line).collect();
    let about = json!({
        "thresholds": lines,
        "catalogue": data.catalogue,
        "isDifference": data.atlas.persistence.is_difference(),
        "relevance": data.atlas.persistence.threshold(),
        "unit": tree.density_unit,
        "massUnit": data.atlas.units.mass,
        "lift": tree.lift,
        "densityThreshold": tree.density_threshold,
        "minCells": tree.min_cells,
        "edges": data.atlas.bins.edges,
        "belowZero": tree.lift != 0.0,
    });
    // A name in the text must not end the script.
    let about = about.to_string().replace('<', "\\u003c");
    let packed = packed_tree(tree);
    format!("const about = {about};\nconst packed = {packed};\n{}", include_str!("atlas.js"))
}

/// The arrays of a tree as texts.
fn packed_tree(tree: &CompactTree) -> Value {
    let reals = |list: &[f64]| base64(&list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let words = |list: &[u32]| base64(&list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let prominence = tree
        .prominence
        .as_ref()
        .map(|(parts, elders)| json!({ "parts": reals(parts.as_flattened()), "elder": words(elders) }));
    json!({
        "density": reals(&tree.density),
        "mass": reals(&tree.mass),
        "cells": words(&tree.n_cells),
        "deaths": words(tree.deaths.as_flattened()),
        "saddle": reals(&tree.saddle),
        "prominence": prominence,
    })
}
