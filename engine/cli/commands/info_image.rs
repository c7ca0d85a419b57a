//! The description of an image or a cube of observers in `inselberg info`.

use super::attribute_json::attribute_json;
use crate::report::four_digits;
use inselberg::phew::defaults;
use inselberg::phew::image;
use inselberg::phew::image::{ImageNoise, MissingFact};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::info::attribute_text;
use serde_json::{Map, Value};

/// Its properties, as names and texts. Empty for other inputs.
pub fn lines(snapshot: &dyn Snapshot) -> Vec<(&'static str, String)> {
    let (attributes, scales) = (with_meaning(snapshot), image::scales(&of_box(snapshot)));
    let text = |name: &str| {
        let found = attributes.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| attribute_text(value))
    };
    let numbers = |name: &str| match attributes.iter().find(|(other, _)| other == name) {
        Some((_, Attribute::Reals(all))) => all.iter().map(f64::to_string).collect(),
        _ => Vec::new(),
    };
    let mut lines = Vec::new();
    if image::is_flat(&attributes) && text("fits_shape").is_none() {
        let [nx, ny, _] = snapshot.header().coarse;
        lines.push(("image", format!("{nx} x {ny} pixels; the axes are x and y")));
    }
    let shape: Vec<String> = numbers("fits_shape");
    if !shape.is_empty() {
        let axes: Vec<String> = numbers("fits_axes");
        let kind = if axes.len() == 2 { "image" } else { "cube" };
        let names = if axes.len() == 2 { "x and y" } else { "x, y and z" };
        let left = if axes.len() < shape.len() { "; axes of length 1 are left out" } else { "" };
        let shape = shape.join(" x ");
        lines.push((kind, format!("{shape} pixels; axes {} are {names}{left}", axes.join(", "))));
    }
    let beam = ["BMAJ", "BMIN", "BPA"].map(|keyword| text(&format!("fits_{keyword}")));
    if let [Some(major), Some(minor), angle] = beam {
        let angle = angle.map_or(String::new(), |angle| format!(", position angle {angle}"));
        lines.push(("beam", format!("{major} x {minor}{angle} (degrees)")));
    }
    lines.extend(scales);
    lines.extend(image::missing(&of_box(snapshot)).into_iter().map(missing));
    for (name, keyword) in [("values", "fits_BUNIT"), ("object", "fits_OBJECT"), ("sky", "sky")] {
        lines.extend(text(keyword).map(|text| (name, text)));
    }
    lines
}

/// What the header does not say, and which option says it.
fn missing(fact: MissingFact) -> (&'static str, String) {
    let text = match fact {
        MissingFact::Coordinates => "coordinates on the sky: sizes are in pixels",
        MissingFact::Beam => "beam: --beam adds n_beams and sizes without it",
        MissingFact::Unit => "unit of brightness: --bunit adds fluxes",
        MissingFact::Frequency => "frequency: --rest-frequency adds fluxes in Jy or temperatures in K",
    };
    ("missing", text.into())
}

/// The noise of an image, and thresholds that suit it, as names and texts. Empty without noise.
pub fn noise_lines(noise: Option<&ImageNoise>) -> Vec<(&'static str, String)> {
    let Some(ImageNoise { sigma, origin, .. }) = noise else { return Vec::new() };
    let [density, difference] = defaults::OF_NOISE.map(|n| (n, four_digits(n * sigma)));
    let advice = format!(
        "--density-threshold {}sigma ({}) and --relevance-difference {}sigma ({}), which are the defaults",
        density.0, density.1, difference.0, difference.1
    );
    vec![
        ("noise", format!("{} (standard deviation, by {origin})", four_digits(*sigma))),
        ("thresholds", advice),
    ]
}

/// The same as JSON; null for other inputs.
pub fn json(snapshot: &dyn Snapshot, noise: Option<&ImageNoise>) -> Value {
    let mut attributes = with_meaning(snapshot);
    attributes.extend(noise.into_iter().flat_map(ImageNoise::attributes));
    if attributes.is_empty() {
        return Value::Null;
    }
    let all = attributes.iter().map(|(name, value)| (name.clone(), attribute_json(value)));
    Value::Object(all.collect::<Map<_, _>>())
}

/// The attributes of an image, with their meaning.
fn with_meaning(snapshot: &dyn Snapshot) -> Vec<(String, Attribute)> {
    let n_own = snapshot.attributes().len();
    let mut all = of_box(snapshot);
    let n = all.len() - n_own;
    image::add_attributes(&mut all);
    all.split_off(n)
}

/// The attributes of the box, then those of an image.
fn of_box(snapshot: &dyn Snapshot) -> Vec<(String, Attribute)> {
    image::box_attributes(snapshot.header()).into_iter().chain(snapshot.attributes()).collect()
}
