//! A map with its circles, axes, scale bar and colour bar, at a place of a picture.

use super::axis::{PlotAxis, Tick};
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::colour::colour_at;
use super::colours::WHITE;
use super::frames::{LABEL, SUBTITLE, draw_mark, draw_names, draw_ticks, labels_width, tick_length};
use super::kinds::MapCircle;
use super::sight::{Sight, round_length, scale_bar};
use super::sky_axes::{ShownValues, SkyView};
use crate::report::units::DisplayUnits;
use inselberg::phew::image::ImageSky;
use inselberg::{DensityMap, MapBox};
use inselberg_io::catalogue::Dimension;
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

/// Pixels of the longer side of a map.
pub const MAP_SIDE: f64 = 600.0;

/// What maps beside each other share.
#[derive(Debug, Clone, Copy)]
pub struct MapStyle<'a> {
    /// The box. Where an axis is periodic, a circle over its edge continues on the other side.
    pub space: &'a MapBox,
    /// The units.
    pub units: &'a DisplayUnits,
    /// The sky of an image.
    pub sky: Option<&'a ImageSky>,
    /// What the values of maps are.
    pub values: &'a ShownValues,
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

    /// Whether there are values, and so colours. A map of objects alone has none.
    pub fn has_values(&self) -> bool {
        self.map.values.iter().any(|value| value.is_finite())
    }

    /// A circle with its label, as far as the map shows it.
    pub fn draw_circle<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, circle: &MapCircle) -> Drawn {
        let (frame, sight) = (self.frame, Sight { view: &self.map.view, space: self.style.space });
        let Some([across, up]) = sight.place(&circle.position) else { return Ok(()) };
        let radius = circle.radius.pixels(self.per_length()) + circle.mark.wider;
        let (width, height) = (frame.right - frame.left, frame.bottom - frame.top);
        let centre = (frame.left + across * width, frame.bottom - up * height);
        let [along_x, along_y] = sight.periods();
        let periods = [along_x.map(|part| part * width), along_y.map(|part| part * height)];
        for (x, y) in images(periods, frame, centre, radius) {
            draw_mark(canvas, (x, y), radius, circle.mark, frame)?;
            if !circle.label.is_empty() && frame.contains(x, y) {
                let edge = (x + radius * 0.75, y - radius * 0.75);
                let at = (edge.0.min(frame.right - 46.0), edge.1.max(frame.top + 12.0));
                canvas.outlined_text(&circle.label, at, LABEL)?;
            }
        }
        Ok(())
    }

    /// The frame, with sky coordinates or lengths along it and their names.
    pub fn draw_axes<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let [(x_name, x), (y_name, y)] = [0, 1].map(|edge| self.edge(edge));
        draw_ticks(canvas, self.frame, &x, &y)?;
        draw_names(canvas, self.frame, &x_name, &y_name, labels_width(canvas, &y) + 32.0)
    }

    /// Name and marks of an edge.
    fn edge(&self, edge: usize) -> (String, Vec<Tick>) {
        let view = &self.map.view;
        if let Some(of_sky) = self.style.sky.and_then(|sky| SkyView::new(sky, view).edge(edge)) {
            return (of_sky.name, of_sky.ticks);
        }
        let (unit, axis) = (self.style.units.unit(Dimension::LENGTH), view.axes()[edge]);
        let lengths = PlotAxis::linear(view.low[axis], view.low[axis] + view.sides[axis]);
        (unit.label(["x", "y", "z"][axis]), lengths.scaled(unit.factor).ticks())
    }

    /// A round length, or angle, in the lower left corner.
    pub fn draw_scale_bar<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let frame = self.frame;
        let (width, unit) = self.width();
        if !(width > 0.0 && width.is_finite()) {
            return Ok(());
        }
        let length = scale_bar(width);
        let pixels = length / width * (frame.right - frame.left);
        let (from, y) = (frame.left + 24.0, frame.bottom - 24.0);
        canvas.line(&[(from - 1.0, y), (from + pixels + 1.0, y)], BLACK, 5)?;
        canvas.line(&[(from, y), (from + pixels, y)], WHITE, 3)?;
        let name = format!("{}{unit}", round_length(length));
        canvas.outlined_text(&name, (from, y - 18.0), SUBTITLE + 2.0)
    }

    /// The width of the map, and the unit behind a number of it.
    fn width(&self) -> (f64, String) {
        let view = &self.map.view;
        match self.style.sky.and_then(|sky| SkyView::new(sky, view).degrees()) {
            Some(degrees) if degrees > 2.0 => (degrees, "°".into()),
            Some(degrees) if degrees > 2.0 / 60.0 => (degrees * 60.0, "′".into()),
            Some(degrees) => (degrees * 3600.0, "″".into()),
            None => {
                let unit = self.style.units.unit(Dimension::LENGTH);
                (view.sides[view.axes()[0]] * unit.factor, format!(" {}", unit.shown()))
            }
        }
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
        let (bar, values) = (self.colour_bar(), self.style.values);
        canvas.frame(bar, BLACK)?;
        let ticks = self.style.colours.scaled(values.unit.factor).ticks();
        for tick in &ticks {
            let y = bar.bottom - tick.place * (bar.bottom - bar.top);
            canvas.line(&[(bar.right, y), (bar.right + tick_length(tick), y)], BLACK, 1)?;
            if let Some(label) = &tick.label {
                canvas.text(label, (bar.right + 10.0, y), LABEL, Anchor::Left)?;
            }
        }
        let name = values.unit.label(&values.quantity);
        let right = bar.right + 28.0 + labels_width(canvas, &ticks);
        canvas.text(&name, (right, (bar.top + bar.bottom) / 2.0), LABEL, Anchor::Upward)
    }
}

/// Centres of a circle on a map and of its periodic images, as far as they reach into it.
fn images(
    periods: [Option<f64>; 2],
    f: Frame,
    centre: (f64, f64),
    radius: f64,
) -> impl Iterator<Item = (f64, f64)> {
    let along = move |period: Option<f64>, at: f64, low: f64, high: f64| {
        let shifts = period.map_or([0.0; 3], |period| [0.0, period, -period]);
        let n_shifts = if period.is_some() { 3 } else { 1 };
        let reaches = move |at: &f64| at + radius > low && at - radius < high;
        shifts.into_iter().take(n_shifts).map(move |shift| at + shift).filter(reaches)
    };
    along(periods[0], centre.0, f.left, f.right)
        .flat_map(move |x| along(periods[1], centre.1, f.top, f.bottom).map(move |y| (x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 100.0, top: 0.0, right: 200.0, bottom: 100.0 };

    fn centres(periods: [Option<f64>; 2], centre: (f64, f64), radius: f64) -> Vec<(f64, f64)> {
        images(periods, FRAME, centre, radius).collect()
    }

    #[test]
    fn circles_go_on_across_periodic_walls() {
        let whole = [Some(100.0); 2];
        assert_eq!(centres(whole, (103.0, 50.0), 5.0), [(103.0, 50.0), (203.0, 50.0)]);
        assert_eq!(centres(whole, (103.0, 2.0), 5.0).len(), 4, "a corner");
        assert_eq!(centres([None; 2], (103.0, 50.0), 5.0), [(103.0, 50.0)], "open walls");
        assert_eq!(centres(whole, (150.0, 50.0), 60.0).len(), 9, "a circle larger than the box");
    }

    #[test]
    fn circles_around_places_beyond_the_map_reach_into_it() {
        assert_eq!(centres([None; 2], (90.0, 50.0), 15.0), [(90.0, 50.0)]);
        assert!(centres([None; 2], (90.0, 50.0), 5.0).is_empty());
        // The map shows a quarter of the box; the centre is folded to the other end of it.
        assert_eq!(centres([Some(400.0), None], (495.0, 50.0), 15.0), [(95.0, 50.0)]);
    }
}
