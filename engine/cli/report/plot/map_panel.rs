//! A map with its circles, axes, scale bar and colour bar, at a place of a picture.

use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::colour::colour_at;
use super::frames::{DARK, LABEL, SUBTITLE, WHITE, draw_axes, draw_names, tick_length};
use super::sight::{Sight, round_length, scale_bar};
use crate::report::units::DisplayUnits;
use inselberg::{DensityMap, MapBox};
use inselberg_io::catalogue::Dimension;
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

/// Pixels of the longer side of a map.
pub const MAP_SIDE: f64 = 600.0;

/// What maps beside each other share.
#[derive(Debug, Clone, Copy)]
pub struct MapStyle<'a> {
    /// The box. Where a map shows a whole periodic axis, a circle over its edge continues on the other side.
    pub space: &'a MapBox,
    /// The units.
    pub units: &'a DisplayUnits,
    /// The mapped density.
    pub quantity: &'a str,
    /// The values that the colours span.
    pub colours: PlotAxis,
}

/// A map and its place.
pub struct MapPanel<'a> {
    pub map: &'a DensityMap,
    pub style: MapStyle<'a>,
    pub frame: Frame,
}

impl<'a> MapPanel<'a> {
    /// A map with its upper left corner here.
    pub fn new(map: &'a DensityMap, style: MapStyle<'a>, left: f64, top: f64) -> Self {
        let [width, height] = map.view.axes().map(|axis| map.view.sides[axis]);
        let ratio = if width > 0.0 && height > 0.0 { (width / height).clamp(0.1, 10.0) } else { 1.0 };
        let (across, up) = (MAP_SIDE * ratio.min(1.0), MAP_SIDE / ratio.max(1.0));
        let frame = Frame { left, top, right: left + across.round(), bottom: top + up.round() };
        Self { map, style, frame }
    }

    /// Pixels per code length.
    pub fn per_length(&self) -> f64 {
        (self.frame.right - self.frame.left) / self.map.view.sides[self.map.view.axes()[0]]
    }

    /// A circle of so many pixels around a place in the box, if the map shows that. Returns its centre.
    pub fn draw_circle<B: DrawingBackend>(
        &self,
        canvas: &Canvas<'_, B>,
        position: &[f64; 3],
        radius: f64,
        style: (RGBColor, u32),
    ) -> Result<Option<(f64, f64)>, String> {
        let (frame, sight) = (self.frame, Sight { view: &self.map.view, space: self.style.space });
        let Some([across, up]) = sight.place(position).filter(|_| radius.is_finite()) else {
            return Ok(None);
        };
        let x = frame.left + across * (frame.right - frame.left);
        let y = frame.bottom - up * (frame.bottom - frame.top);
        images(sight.repeats(), frame, (x, y), radius)
            .try_for_each(|centre| canvas.circle(centre, radius, style, frame))?;
        Ok(Some((x, y)))
    }

    /// The frame, with lengths along it and their names.
    pub fn draw_axes<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let unit = self.style.units.unit(Dimension::LENGTH);
        let view = &self.map.view;
        let axis = |axis: usize| {
            PlotAxis::linear(view.low[axis], view.low[axis] + view.sides[axis]).scaled(unit.factor)
        };
        let [across, up] = view.axes();
        draw_axes(canvas, self.frame, axis(across), axis(up))?;
        let name = |axis: usize| unit.label(["x", "y", "z"][axis]);
        draw_names(canvas, self.frame, &name(across), &name(up), 70.0)
    }

    /// A round length in the lower left corner.
    pub fn draw_scale_bar<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let unit = self.style.units.unit(Dimension::LENGTH);
        let frame = self.frame;
        let width = self.map.view.sides[self.map.view.axes()[0]] * unit.factor;
        if !(width > 0.0 && width.is_finite()) {
            return Ok(());
        }
        let length = scale_bar(width);
        let pixels = length / width * (frame.right - frame.left);
        let (left, bottom) = (frame.left + 12.0, frame.bottom - 12.0);
        canvas
            .fill(Frame { left, top: bottom - 42.0, right: left + pixels.max(60.0) + 24.0, bottom }, DARK)?;
        let (from, y) = (left + 12.0, bottom - 10.0);
        canvas.line(&[(from, y), (from + pixels, y)], WHITE, 3)?;
        let name = format!("{} {}", round_length(length), unit.name);
        canvas.coloured_text(&name, (from, bottom - 28.0), SUBTITLE + 2.0, Anchor::Left, WHITE)
    }

    /// The place of the colour bar, to the right of the map.
    pub fn colour_bar(&self) -> Frame {
        let left = self.frame.right + 18.0;
        Frame { left, top: self.frame.top, right: left + 22.0, bottom: self.frame.bottom }
    }

    /// The colours of the bar.
    pub fn draw_colours<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let bar = self.colour_bar();
        let height = (bar.bottom - bar.top) as u32;
        (0..height).try_for_each(|row| {
            let top = bar.top + f64::from(row);
            let [red, green, blue] = colour_at(1.0 - (f64::from(row) + 0.5) / f64::from(height));
            canvas.fill(Frame { top, bottom: top + 1.0, ..bar }, RGBColor(red, green, blue))
        })
    }

    /// The frame of the bar, and the values of its colours.
    pub fn draw_values<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let (bar, unit) = (self.colour_bar(), self.style.units.unit(Dimension::DENSITY));
        canvas.frame(bar, BLACK)?;
        for tick in self.style.colours.scaled(unit.factor).ticks() {
            let y = bar.bottom - tick.place * (bar.bottom - bar.top);
            canvas.line(&[(bar.right, y), (bar.right + tick_length(&tick), y)], BLACK, 1)?;
            if let Some(label) = tick.label {
                canvas.text(&label, (bar.right + 10.0, y), LABEL, Anchor::Left)?;
            }
        }
        let name = unit.label(self.style.quantity);
        canvas.text(&name, (bar.right + 88.0, (bar.top + bar.bottom) / 2.0), LABEL, Anchor::Upward)
    }
}

/// Centres of a circle on a map and of its periodic images that reach into it.
fn images(repeats: [bool; 2], f: Frame, centre: (f64, f64), radius: f64) -> impl Iterator<Item = (f64, f64)> {
    let shifts = move |repeats: bool, at: f64, low: f64, high: f64| {
        let side = high - low;
        [(0.0, true), (side, at - radius < low), (-side, at + radius > high)]
            .into_iter()
            .filter_map(move |(shift, needed)| (needed && (repeats || shift == 0.0)).then_some(shift))
    };
    shifts(repeats[0], centre.0, f.left, f.right).flat_map(move |dx| {
        shifts(repeats[1], centre.1, f.top, f.bottom).map(move |dy| (centre.0 + dx, centre.1 + dy))
    })
}
