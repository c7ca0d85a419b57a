//! What stands around a frame: axes, grids, names and keys.

use super::axis::{PlotAxis, Tick};
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::colours::{DARK, DIM, GREY, WHITE};
use super::kinds::{CircleMark, Shown};
use crate::report::summary::grouped;
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

/// Sizes of texts in pixels.
pub const LABEL: f64 = 20.0;
pub const TITLE: f64 = 24.0;
pub const SUBTITLE: f64 = 16.0;
/// Length of a tick with a label.
const TICK: f64 = 5.0;

/// A frame with its ticks and their labels.
pub fn draw_axes<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: PlotAxis, y: PlotAxis) -> Drawn {
    draw_ticks(canvas, frame, &x.ticks(), &y.ticks())
}

/// A frame with these ticks and their labels.
pub fn draw_ticks<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: &[Tick], y: &[Tick]) -> Drawn {
    canvas.frame(frame, BLACK)?;
    for tick in x {
        let (at, end) = (frame.left + tick.place * (frame.right - frame.left), tick_length(tick));
        canvas.line(&[(at, frame.bottom), (at, frame.bottom + end)], BLACK, 1)?;
        if let Some(label) = &tick.label {
            canvas.text(label, (at, frame.bottom + 12.0), LABEL, Anchor::Top)?;
        }
    }
    for tick in y {
        let (at, end) = (frame.bottom - tick.place * (frame.bottom - frame.top), tick_length(tick));
        canvas.line(&[(frame.left, at), (frame.left - end, at)], BLACK, 1)?;
        if let Some(label) = &tick.label {
            canvas.text(label, (frame.left - 10.0, at), LABEL, Anchor::Right)?;
        }
    }
    Ok(())
}

/// The width of the widest label.
pub fn labels_width<B: DrawingBackend>(canvas: &Canvas<'_, B>, ticks: &[Tick]) -> f64 {
    let labels = ticks.iter().filter_map(|tick| tick.label.as_ref());
    labels.map(|label| canvas.width(label, LABEL)).fold(0.0, f64::max)
}

/// Ticks without a label are shorter.
pub fn tick_length(tick: &Tick) -> f64 {
    if tick.label.is_some() { TICK } else { TICK * 0.6 }
}

/// Lines across a frame at its labels.
pub fn draw_grid<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: PlotAxis, y: PlotAxis) -> Drawn {
    draw_lines(canvas, frame, (x, y), GREY)
}

/// Dark ground with such lines, for the colours of maps.
pub fn draw_dark_grid<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    x: PlotAxis,
    y: PlotAxis,
) -> Drawn {
    canvas.fill(frame, DARK)?;
    draw_lines(canvas, frame, (x, y), DIM)
}

fn draw_lines<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    (x, y): (PlotAxis, PlotAxis),
    colour: RGBColor,
) -> Drawn {
    for tick in x.ticks().iter().filter(|t| t.label.is_some()) {
        let at = frame.left + tick.place * (frame.right - frame.left);
        canvas.line(&[(at, frame.top), (at, frame.bottom)], colour, 1)?;
    }
    for tick in y.ticks().iter().filter(|t| t.label.is_some()) {
        let at = frame.bottom - tick.place * (frame.bottom - frame.top);
        canvas.line(&[(frame.left, at), (frame.right, at)], colour, 1)?;
    }
    Ok(())
}

/// The names of both axes, the upright one `far` to the left of the frame.
pub fn draw_names<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    across: &str,
    up: &str,
    far: f64,
) -> Drawn {
    let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
    canvas.text(across, (middle.0, frame.bottom + 44.0), TITLE, Anchor::Top)?;
    canvas.text(up, (frame.left - far, middle.1), TITLE, Anchor::Upward)
}

/// The mark of a circle on dark ground, at the left of a line of keys, and its name. Returns where the next
/// key begins.
pub fn draw_mark_key<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    (left, y): (f64, f64),
    mark: CircleMark,
    name: &str,
) -> Result<f64, String> {
    let ground = Frame { left, top: y - 13.0, right: left + 26.0, bottom: y + 13.0 };
    canvas.fill(ground, DARK)?;
    draw_mark(canvas, (left + 13.0, y), 8.0 + mark.wider / 2.0, mark, ground)?;
    canvas.text(name, (left + 34.0, y), LABEL, Anchor::Left)?;
    Ok(left + 34.0 + canvas.width(name, LABEL) + 24.0)
}

/// A circle with its dot.
pub fn draw_mark<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    centre: (f64, f64),
    radius: f64,
    mark: CircleMark,
    clip: Frame,
) -> Drawn {
    canvas.circle(centre, radius, (mark.colour, mark.line), clip)?;
    let has_room = mark.has_dot && radius > 3.0 && clip.contains(centre.0, centre.1);
    if has_room { canvas.dot(centre, 1.5, WHITE) } else { Ok(()) }
}

/// The keys of these kinds along a line, each a circle in the colour of its kind, with their numbers.
pub fn draw_kind_keys<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    (left, y): (f64, f64),
    lists: &[Shown],
) -> Drawn {
    let mut at = left;
    for list in lists {
        let name = format!("{} ({})", list.kind.name, grouped(list.n() as i64));
        at = draw_mark_key(canvas, (at, y), list.kind.mark, &name)?;
    }
    Ok(())
}
