//! A map as a figure: pixels, circles, axes, a scale bar and a colour bar.

use crate::report::html::escaped;
use crate::report::plot::axis::PlotAxis;
use crate::report::plot::colour::{colour_at, indexed};
use crate::report::plot::sight::{Sight, round_length, scale_bar};
use crate::report::plot::{base64, encode_indexed_png};
use crate::report::units::DisplayUnits;
use inselberg::{DensityMap, MapBox};
use inselberg_io::catalogue::Dimension;
use std::fmt::Write;

/// Width of the map in the units of the drawing, and its margins.
const SIDE: f64 = 520.0;
const LEFT: f64 = 74.0;
const TOP: f64 = 12.0;
const WIDTH: f64 = 720.0;
const BELOW: f64 = 52.0;

/// A circle on a map.
pub struct MapCircle {
    /// Its centre in the box.
    pub position: [f64; 3],
    /// Its radius, in code lengths; NaN if it is not known.
    pub radius: f64,
    /// Its class: `clump` or `halo`.
    pub class: &'static str,
    /// A text next to it; may be empty.
    pub label: String,
}

/// The common settings of the maps of a page.
pub struct MapStyle<'a> {
    /// The box.
    pub space: &'a MapBox,
    /// The units.
    pub units: &'a DisplayUnits,
    /// The mapped density.
    pub quantity: &'a str,
}

impl MapStyle<'_> {
    /// The figure.
    pub fn figure(
        &self,
        id: &str,
        map: &DensityMap,
        colours: PlotAxis,
        circles: &[MapCircle],
        caption: &str,
    ) -> Result<String, String> {
        let [across, up] = map.view.axes();
        let height = SIDE * map.view.sides[up] / map.view.sides[across];
        let (id, caption) = (escaped(id), escaped(caption));
        let mut text = format!(
            "<figure id=\"{id}\">\n<svg viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\" aria-label=\"{caption}\">\n",
            TOP + height + BELOW
        );
        let _ = writeln!(
            text,
            "<svg x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{height:.1}\" viewBox=\"0 0 {SIDE} {height:.1}\">"
        );
        let png = base64(&encode_indexed_png(map.view.pixels, &indexed(map, colours))?);
        let _ = writeln!(
            text,
            "<image width=\"{SIDE}\" height=\"{height:.1}\" preserveAspectRatio=\"none\" \
             href=\"data:image/png;base64,{png}\"/>"
        );
        circles.iter().for_each(|circle| self.add_circle(&mut text, map, height, circle));
        self.add_scale_bar(&mut text, map, height);
        text += "</svg>\n";
        self.add_axes(&mut text, map, height);
        self.add_colour_bar(&mut text, &id, colours, height);
        Ok(text + &format!("</svg>\n<figcaption>{caption}</figcaption>\n</figure>\n"))
    }

    fn add_circle(&self, text: &mut String, map: &DensityMap, height: f64, circle: &MapCircle) {
        let sight = Sight { view: &map.view, space: self.space };
        let Some([across, up]) = sight.place(&circle.position) else { return };
        let per_length = SIDE / map.view.sides[map.view.axes()[0]];
        let radius = if circle.radius.is_finite() { (circle.radius * per_length).max(2.0) } else { 3.0 };
        let (x, y, class) = (across * SIDE, (1.0 - up) * height, circle.class);
        let _ = writeln!(text, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>");
        if !circle.label.is_empty() {
            let label = escaped(&circle.label);
            let (x, y) = ((x + radius * 0.75).min(SIDE - 40.0), (y - radius * 0.75).max(14.0));
            let _ = writeln!(
                text,
                "<text class=\"on-map\" font-size=\"13\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>"
            );
        }
    }

    fn add_scale_bar(&self, text: &mut String, map: &DensityMap, height: f64) {
        let unit = self.units.unit(Dimension::LENGTH);
        let width = map.view.sides[map.view.axes()[0]] * unit.factor;
        let length = scale_bar(width);
        let (end, y) = (12.0 + length / width * SIDE, height - 12.0);
        let _ = writeln!(
            text,
            "<path d=\"M12 {y:.1}H{end:.1}\" stroke=\"#100c28\" stroke-width=\"7\"/>\
             <path d=\"M12 {y:.1}H{end:.1}\" stroke=\"#ffffff\" stroke-width=\"3\"/>\
             <text class=\"on-map\" font-size=\"14\" x=\"12\" y=\"{:.1}\">{} {}</text>",
            y - 10.0,
            round_length(length),
            escaped(&unit.name)
        );
    }

    fn add_axes(&self, text: &mut String, map: &DensityMap, height: f64) {
        let unit = self.units.unit(Dimension::LENGTH);
        let view = &map.view;
        let axis = |a: usize| PlotAxis::linear(view.low[a], view.low[a] + view.sides[a]).scaled(unit.factor);
        let [across, up] = view.axes();
        let bottom = TOP + height;
        let _ = writeln!(
            text,
            "<rect class=\"axis\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{height:.1}\"/>"
        );
        for tick in axis(across).ticks() {
            let x = LEFT + tick.place * SIDE;
            let label = tick.label.unwrap_or_default();
            let _ = writeln!(
                text,
                "<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v5\"/><text font-size=\"13\" text-anchor=\"middle\" \
                 x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
                bottom + 19.0
            );
        }
        for tick in axis(up).ticks() {
            let y = bottom - tick.place * height;
            let label = tick.label.unwrap_or_default();
            let _ = writeln!(
                text,
                "<path class=\"axis\" d=\"M{LEFT} {y:.1}h-5\"/><text font-size=\"13\" text-anchor=\"end\" x=\"{:.1}\" \
                 y=\"{:.1}\">{label}</text>",
                LEFT - 8.0,
                y + 4.5
            );
        }
        let name = |a: usize| escaped(&unit.label(["x", "y", "z"][a]));
        let (middle, centre) = (LEFT + SIDE / 2.0, TOP + height / 2.0);
        let _ = writeln!(
            text,
            "<text font-size=\"15\" text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>\
             <text font-size=\"15\" text-anchor=\"middle\" transform=\"translate(18 {centre:.1}) rotate(-90)\">{}</text>",
            bottom + 42.0,
            name(across),
            name(up)
        );
    }

    fn add_colour_bar(&self, text: &mut String, id: &str, colours: PlotAxis, height: f64) {
        let unit = self.units.unit(Dimension::DENSITY);
        let x = LEFT + SIDE + 14.0;
        let _ = write!(text, "<linearGradient id=\"colours-{id}\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">");
        for step in 0..=20 {
            let [red, green, blue] = colour_at(f64::from(step) / 20.0);
            let offset = step * 5;
            let _ =
                write!(text, "<stop offset=\"{offset}%\" stop-color=\"#{red:02x}{green:02x}{blue:02x}\"/>");
        }
        let _ = writeln!(
            text,
            "</linearGradient>\n<rect x=\"{x}\" y=\"{TOP}\" width=\"16\" height=\"{height:.1}\" \
             fill=\"url(#colours-{id})\"/>"
        );
        for tick in colours.scaled(unit.factor).ticks() {
            let Some(label) = tick.label else { continue };
            let y = TOP + (1.0 - tick.place) * height;
            let _ = writeln!(
                text,
                "<path class=\"axis\" d=\"M{:.1} {y:.1}h5\"/><text font-size=\"13\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                x + 16.0,
                x + 24.0,
                y + 4.5
            );
        }
        let name = escaped(&unit.label(self.quantity));
        let _ = writeln!(
            text,
            "<text font-size=\"14\" text-anchor=\"middle\" transform=\"translate({:.1} {:.1}) rotate(-90)\">{name}</text>",
            WIDTH - 8.0,
            TOP + height / 2.0
        );
    }
}
