//! The description of an image or a cube of observers in `inselberg info`.

use super::attribute_json::attribute_json;
use inselberg::phew::image;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::info::attribute_text;
use serde_json::{Map, Value};

/// Its properties, as names and texts. Empty for other inputs.
pub fn lines(snapshot: &dyn Snapshot) -> Vec<(&'static str, String)> {
    let attributes = with_meaning(snapshot);
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
    for (name, keyword) in [("values", "fits_BUNIT"), ("object", "fits_OBJECT"), ("sky", "sky")] {
        lines.extend(text(keyword).map(|text| (name, text)));
    }
    lines
}

/// The same as JSON; null for other inputs.
pub fn json(snapshot: &dyn Snapshot) -> Value {
    let attributes = with_meaning(snapshot);
    if attributes.is_empty() {
        return Value::Null;
    }
    let all = attributes.iter().map(|(name, value)| (name.clone(), attribute_json(value)));
    Value::Object(all.collect::<Map<_, _>>())
}

/// The attributes of an image, with their meaning.
fn with_meaning(snapshot: &dyn Snapshot) -> Vec<(String, Attribute)> {
    let own = snapshot.attributes();
    if own.is_empty() {
        return own;
    }
    let mut all = image::box_attributes(snapshot.header());
    let n = all.len();
    all.extend(own);
    image::add_attributes(&mut all);
    all.split_off(n)
}
