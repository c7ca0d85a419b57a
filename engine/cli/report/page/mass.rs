//! The mass functions as a figure.

use crate::report::html::escaped;
use crate::report::plot::canvas::Frame;
use crate::report::plot::layout::{mass_axes, steps};
use crate::report::summary::grouped;
use crate::report::units::DisplayUnits;
use inselberg_io::catalogue::Dimension;
use std::fmt::Write;

const FRAME: Frame = Frame { left: 84.0, top: 12.0, right: 604.0, bottom: 412.0 };
/// Okabe and Ito's blue and vermilion, which differ in every kind of colour vision.
const COLOURS: [&str; 2] = ["#0072b2", "#d55e00"];

/// The cumulative mass functions of these lists, whose masses fall, in code units.
pub fn figure(lists: &[(&str, &[f64])], units: &DisplayUnits) -> String {
    let unit = units.unit(Dimension::MASS);
    let (x, y) = mass_axes(lists.iter().map(|(_, masses)| *masses));
    let mut text = "<figure id=\"mass-function\">\n<svg viewBox=\"0 0 720 476\" role=\"img\" \
                    aria-label=\"cumulative mass functions\">\n"
        .to_string();
    let (left, bottom) = (FRAME.left, FRAME.bottom);
    let (width, height) = (FRAME.right - left, bottom - FRAME.top);
    for tick in x.scaled(unit.factor).ticks() {
        let Some(label) = tick.label else { continue };
        let at = left + tick.place * width;
        let _ = writeln!(
            text,
            "<path class=\"grid\" d=\"M{at:.1} {bottom}V{}\"/><text font-size=\"13\" text-anchor=\"middle\" \
             x=\"{at:.1}\" y=\"{:.1}\">{label}</text>",
            FRAME.top,
            bottom + 19.0
        );
    }
    for tick in y.ticks() {
        let Some(label) = tick.label else { continue };
        let at = bottom - tick.place * height;
        let _ = writeln!(
            text,
            "<path class=\"grid\" d=\"M{left} {at:.1}H{}\"/><text font-size=\"13\" text-anchor=\"end\" x=\"{:.1}\" \
             y=\"{:.1}\">{label}</text>",
            FRAME.right,
            left - 8.0,
            at + 4.5
        );
    }
    for (i, ((name, masses), colour)) in lists.iter().zip(COLOURS).enumerate() {
        let points: Vec<String> =
            steps(masses, (x, y), FRAME).iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let key = FRAME.top + 20.0 + 20.0 * i as f64;
        let stroke = if i == 0 { 4 } else { 2 };
        let _ = writeln!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{stroke}\" points=\"{}\"/>\
             <path stroke=\"{colour}\" stroke-width=\"{stroke}\" d=\"M{:.1} {key:.1}h24\"/>\
             <text font-size=\"14\" x=\"{:.1}\" y=\"{:.1}\">{} ({})</text>",
            points.join(" "),
            FRAME.right - 190.0,
            FRAME.right - 160.0,
            key + 5.0,
            escaped(name),
            grouped(masses.len() as i64)
        );
    }
    let _ = writeln!(
        text,
        "<rect class=\"axis\" x=\"{left}\" y=\"{}\" width=\"{width}\" height=\"{height}\"/>\n\
         <text font-size=\"15\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
         <text font-size=\"15\" text-anchor=\"middle\" transform=\"translate(20 {:.1}) rotate(-90)\">number with mass ≥ m\
         </text>",
        FRAME.top,
        left + width / 2.0,
        bottom + 44.0,
        escaped(&unit.label("mass m")),
        FRAME.top + height / 2.0
    );
    text + "</svg>\n<figcaption>Cumulative mass functions of all objects</figcaption>\n</figure>\n"
}
