//! What stands around a frame: axes, grids, names and keys.

use super::axis::{PlotAxis, Tick};
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

pub const WHITE: RGBColor = RGBColor(255, 255, 255);
pub const DARK: RGBColor = RGBColor(16, 12, 40);
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Okabe and Ito's sky blue, vermilion and bluish green, which differ in every kind of colour vision.
pub const SKY: RGBColor = RGBColor(86, 180, 233);
pub const VERMILION: RGBColor = RGBColor(213, 94, 0);
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
const GREY: RGBColor = RGBColor(225, 225, 225);

/// Sizes of texts in pixels.
pub const LABEL: f64 = 20.0;
pub const TITLE: f64 = 24.0;
pub const SUBTITLE: f64 = 16.0;
/// Length of a tick with a label.
const TICK: f64 = 5.0;

/// A frame with its ticks and their labels.
pub fn draw_axes<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: PlotAxis, y: PlotAxis) -> Drawn {
    canvas.frame(frame, BLACK)?;
    for tick in x.ticks() {
        let (at, end) = (frame.left + tick.place * (frame.right - frame.left), tick_length(&tick));
        canvas.line(&[(at, frame.bottom), (at, frame.bottom + end)], BLACK, 1)?;
        if let Some(label) = tick.label {
            canvas.text(&label, (at, frame.bottom + 12.0), LABEL, Anchor::Top)?;
        }
    }
    for tick in y.ticks() {
        let (at, end) = (frame.bottom - tick.place * (frame.bottom - frame.top), tick_length(&tick));
        canvas.line(&[(frame.left, at), (frame.left - end, at)], BLACK, 1)?;
        if let Some(label) = tick.label {
            canvas.text(&label, (frame.left - 10.0, at), LABEL, Anchor::Right)?;
        }
    }
    Ok(())
}

/// Ticks without a label are shorter.
pub fn tick_length(tick: &Tick) -> f64 {
    if tick.label.is_some() { TICK } else { TICK * 0.6 }
}

/// Lines across a frame at its labels.
pub fn draw_grid<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: PlotAxis, y: PlotAxis) -> Drawn {
    for tick in x.ticks().iter().filter(|t| t.label.is_some()) {
        let at = frame.left + tick.place * (frame.right - frame.left);
        canvas.line(&[(at, frame.top), (at, frame.bottom)], GREY, 1)?;
    }
    for tick in y.ticks().iter().filter(|t| t.label.is_some()) {
        let at = frame.bottom - tick.place * (frame.bottom - frame.top);
        canvas.line(&[(frame.left, at), (frame.right, at)], GREY, 1)?;
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

/// A piece of a line and its name.
pub fn draw_key<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    (left, y): (f64, f64),
    colour: RGBColor,
    name: &str,
) -> Drawn {
    canvas.line(&[(left, y), (left + 30.0, y)], colour, 3)?;
    canvas.text(name, (left + 40.0, y), LABEL, Anchor::Left)
}
