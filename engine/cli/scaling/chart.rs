//! Charts of lines and of stacked bars, as SVG. What they show is up to [`super::plots`].

use super::Plot;
use crate::report::plot::axis::PlotAxis;
use crate::report::plot::canvas::{Anchor, Canvas, Drawn, Frame, SCALE};
use crate::report::plot::{draw_axes, draw_grid, draw_names};
use plotters::prelude::{BLACK, DrawingBackend, IntoDrawingArea, RGBColor, SVGBackend};

const SIZE: (u32, u32) = (1000, 560);
const FRAME: Frame = Frame { left: 100.0, top: 60.0, right: 700.0, bottom: 470.0 };
const KEYS: f64 = 730.0;
const LABEL: f64 = 18.0;

/// The number of lines that differ in their colours.
pub const N_COLOURS: usize = 7;

/// Colours that colour-blind people can distinguish (Okabe and Ito).
const COLOURS: [RGBColor; N_COLOURS] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];
const GRID: RGBColor = RGBColor(225, 225, 225);
const IDEAL: RGBColor = RGBColor(150, 150, 150);

/// Points joined by a line.
pub struct Curve {
    /// Its name in the key.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// A plot of lines.
pub struct LinePlot {
    /// Its title.
    pub title: String,
    /// The name of the horizontal axis, which is logarithmic.
    pub across: &'static str,
    /// The name of the vertical axis.
    pub up: &'static str,
    /// The lines.
    pub lines: Vec<Curve>,
    /// The line of ideal scaling.
    pub ideal: Option<Vec<(f64, f64)>>,
    /// Whether the vertical axis is logarithmic.
    pub is_log: bool,
}

/// Values that stand one upon the other.
pub struct Bar<'a> {
    /// Its name.
    pub name: String,
    /// Its parts from below, with their names in the key.
    pub parts: Vec<(&'a str, f64)>,
}

/// A plot of lines.
///
/// # Errors
/// Those of the drawing library.
pub fn plot(name: &'static str, lines: &LinePlot) -> Result<Plot, String> {
    let (x, y) = axes(lines);
    draw(name, &lines.title, |canvas| {
        draw_grid(canvas, FRAME, PlotAxis::NONE, y)?;
        marks(lines).into_iter().try_for_each(|at| mark(canvas, x, at))?;
        let place = |&(a, b): &(f64, f64)| {
            (
                FRAME.left + x.place(a) * (FRAME.right - FRAME.left),
                FRAME.bottom - y.place(b) * (FRAME.bottom - FRAME.top),
            )
        };
        if let Some(ideal) = &lines.ideal {
            canvas.line(&ideal.iter().map(place).collect::<Vec<_>>(), IDEAL, 2)?;
            key(canvas, lines.lines.len(), IDEAL, "ideal")?;
        }
        for (i, line) in lines.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let points: Vec<_> = line.points.iter().map(place).collect();
            if points.len() > 1 {
                canvas.line(&points, colour, 2)?;
            }
            points.iter().try_for_each(|point| marker(canvas, *point, i, colour))?;
            key(canvas, i, colour, &line.name)?;
            marker(canvas, (KEYS + 14.0, key_line(i)), i, colour)?;
        }
        draw_axes(canvas, FRAME, PlotAxis::NONE, y)?;
        draw_names(canvas, FRAME, lines.across, lines.up, 74.0)
    })
}

/// Ticks at the points themselves: these are few and rarely round numbers.
fn marks(lines: &LinePlot) -> Vec<f64> {
    let mut all: Vec<f64> = lines.lines.iter().flat_map(|line| &line.points).map(|point| point.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn mark<B: DrawingBackend>(canvas: &Canvas<'_, B>, x: PlotAxis, at: f64) -> Drawn {
    let across = FRAME.left + x.place(at) * (FRAME.right - FRAME.left);
    canvas.line(&[(across, FRAME.top), (across, FRAME.bottom + 5.0)], GRID, 1)?;
    canvas.text(&at.to_string(), (across, FRAME.bottom + 12.0), LABEL, Anchor::Top)
}

fn axes(lines: &LinePlot) -> (PlotAxis, PlotAxis) {
    let points = || lines.lines.iter().flat_map(|line| &line.points).chain(lines.ideal.iter().flatten());
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = points().map(of).filter(|v| v.is_finite());
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max))
    };
    let (x, y) = (ends(|p| p.0), ends(|p| p.1));
    let up = match lines.is_log {
        true => PlotAxis::log(y.0 / 1.3, y.1 * 1.3),
        // A ratio without an ideal line has 1 in its range.
        false => PlotAxis::linear(0.0, if lines.ideal.is_some() { y.1 } else { y.1.max(1.0) } * 1.1),
    };
    (PlotAxis::log(x.0 / 1.2, x.1 * 1.2), up)
}

/// Markers differ like the colours.
fn marker<B: DrawingBackend>(canvas: &Canvas<'_, B>, at: (f64, f64), i: usize, colour: RGBColor) -> Drawn {
    let around = Frame { left: at.0 - 5.0, top: at.1 - 5.0, right: at.0 + 5.0, bottom: at.1 + 5.0 };
    let everywhere = Frame { left: 0.0, top: 0.0, right: f64::from(SIZE.0), bottom: f64::from(SIZE.1) };
    match i % 3 {
        0 => canvas.fill(around, colour),
        1 => canvas.circle(at, 6.0, (colour, 2), everywhere),
        _ => canvas.line(
            &[
                (at.0 - 6.0, at.1),
                (at.0, at.1 - 6.0),
                (at.0 + 6.0, at.1),
                (at.0, at.1 + 6.0),
                (at.0 - 6.0, at.1),
            ],
            colour,
            2,
        ),
    }
}

/// A plot of bars.
///
/// # Errors
/// Those of the drawing library.
pub fn bars(name: &'static str, title: &str, up: &str, all: &[Bar<'_>]) -> Result<Plot, String> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in all.iter().flat_map(|bar| &bar.parts) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let sum = |bar: &Bar<'_>| bar.parts.iter().map(|part| part.1).sum::<f64>();
    let y = PlotAxis::linear(0.0, all.iter().map(sum).fold(0.0, f64::max) * 1.05);
    let width = (FRAME.right - FRAME.left) / all.len() as f64;
    draw(name, title, |canvas| {
        draw_grid(canvas, FRAME, PlotAxis::NONE, y)?;
        for (i, bar) in all.iter().enumerate() {
            let (left, right) =
                (FRAME.left + width * (i as f64 + 0.15), FRAME.left + width * (i as f64 + 0.85));
            let mut below = 0.0;
            for (stage, value) in &bar.parts {
                let above = below + value;
                let at = |v: f64| FRAME.bottom - y.place(v) * (FRAME.bottom - FRAME.top);
                let colour = shade(names.iter().position(|name| name == stage).expect("listed above"));
                canvas.fill(Frame { left, top: at(above), right, bottom: at(below) }, colour)?;
                below = above;
            }
            canvas.text(&bar.name, ((left + right) / 2.0, FRAME.bottom + 12.0), LABEL, Anchor::Top)?;
        }
        names.iter().enumerate().try_for_each(|(i, name)| key(canvas, i, shade(i), name))?;
        draw_axes(canvas, FRAME, PlotAxis::NONE, y)?;
        draw_names(canvas, FRAME, "ranks x threads", up, 74.0)
    })
}

/// A colour for each stage: those of the lines, then lighter ones, then darker ones.
fn shade(i: usize) -> RGBColor {
    let RGBColor(r, g, b) = COLOURS[i % COLOURS.len()];
    match i / COLOURS.len() {
        0 => RGBColor(r, g, b),
        1 => RGBColor(128 + r / 2, 128 + g / 2, 128 + b / 2),
        _ => RGBColor(r / 2, g / 2, b / 2),
    }
}

fn key_line(i: usize) -> f64 {
    FRAME.top + 12.0 + 28.0 * i as f64
}

fn key<B: DrawingBackend>(canvas: &Canvas<'_, B>, i: usize, colour: RGBColor, name: &str) -> Drawn {
    let y = key_line(i);
    canvas.fill(Frame { left: KEYS, top: y - 2.0, right: KEYS + 28.0, bottom: y + 2.0 }, colour)?;
    canvas.text(name, (KEYS + 38.0, y), LABEL, Anchor::Left)
}

fn draw(
    name: &'static str,
    title: &str,
    paint: impl FnOnce(&Canvas<'_, SVGBackend<'_>>) -> Drawn,
) -> Result<Plot, String> {
    let fine = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, fine).into_drawing_area();
    {
        let canvas = Canvas::new(&area, false)?;
        let paper = Frame { left: 0.0, top: 0.0, right: f64::from(SIZE.0), bottom: f64::from(SIZE.1) };
        canvas.fill(paper, RGBColor(255, 255, 255))?;
        canvas.text(title, (20.0, 26.0), LABEL, Anchor::Left)?;
        canvas.line(&[(FRAME.left, FRAME.bottom), (FRAME.right, FRAME.bottom)], BLACK, 1)?;
        paint(&canvas)?;
    }
    area.present().map_err(|e| e.to_string())?;
    drop(area);
    let size = |(w, h): (u32, u32)| format!("width=\"{w}\" height=\"{h}\"");
    Ok(Plot { name, title: title.into(), svg: svg.replacen(&size(fine), &size(SIZE), 1) })
}
