//! The radial profile of an object: its density, and the circular velocity of what is within.

use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::colours::{GREEN, WHITE};
use super::frames::{SUBTITLE, draw_dark_grid, draw_names, draw_ticks, labels_width};
use crate::report::units::{DisplayUnit, DisplayUnits};
use inselberg_io::catalogue::Dimension;
use plotters::prelude::{DrawingBackend, RGBColor};

/// A profile, in code units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RadialProfile {
    /// Mean radii of shells, rising.
    pub radius: Vec<f64>,
    /// The mean density in each.
    pub density: Vec<f64>,
    /// The outer edge of each shell, and the circular velocity there; `None` where gravity or units are not
    /// known.
    pub velocity: Option<Vec<[f64; 2]>>,
    /// The radius and the value of the greatest circular velocity of the bound part.
    pub greatest: Option<[f64; 2]>,
    /// Radii with names.
    pub marks: Vec<(f64, &'static str)>,
    /// The name of what is within the shells.
    pub quantity: String,
}

/// Colour of marked radii.
const MARK: RGBColor = RGBColor(150, 146, 176);
/// Room between the panels of density and velocity.
const BETWEEN: f64 = 24.0;

/// Draws the profile with its axes.
pub fn draw_profile<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    profile: &RadialProfile,
    units: &DisplayUnits,
) -> Drawn {
    let length = units.unit(Dimension::LENGTH);
    let (first, last) = (profile.radius.first(), profile.radius.last());
    let edge = profile.velocity.as_ref().and_then(|velocity| velocity.last()).map_or(0.0, |[edge, _]| *edge);
    let (low, high) = (first.map_or(f64::NAN, |r| r / 1.2), last.map_or(f64::NAN, |r| edge.max(r * 1.2)));
    let across = PlotAxis::log(low, high).scaled(length.factor);
    let middle = match profile.velocity {
        Some(_) => frame.top + 0.58 * (frame.bottom - frame.top),
        None => frame.bottom,
    };
    let x_name = length.label("radius r");
    let upper = ProfilePanel {
        frame: Frame { bottom: middle, ..frame },
        across,
        up: up_axis(&profile.density),
        x_name: if profile.velocity.is_some() { "" } else { &x_name },
        unit: units.unit(Dimension::DENSITY),
        name: &profile.quantity,
    };
    let radii: Vec<f64> = profile.radius.iter().map(|radius| radius * length.factor).collect();
    let marks: Vec<(f64, &str)> = profile.marks.iter().map(|(r, name)| (r * length.factor, *name)).collect();
    upper.draw(canvas, (&radii, &profile.density), &marks, true)?;
    let Some(velocity) = &profile.velocity else { return Ok(()) };
    let greatest = profile.greatest.map_or(0.0, |[_, value]| value);
    let edges: Vec<f64> = velocity.iter().map(|[edge, _]| edge * length.factor).collect();
    let velocity: Vec<f64> = velocity.iter().map(|[_, value]| *value).collect();
    let top = velocity.iter().copied().fold(greatest, f64::max);
    let lower = ProfilePanel {
        frame: Frame { top: middle + BETWEEN, ..frame },
        across,
        up: PlotAxis::linear(0.0, top * 1.15),
        x_name: &x_name,
        unit: units.unit(Dimension::VELOCITY),
        name: "circular velocity",
    };
    lower.draw(canvas, (&edges, &velocity), &marks, false)?;
    let Some([radius, value]) = profile.greatest else { return Ok(()) };
    let at = lower.place(radius * length.factor, value);
    canvas.dot(at, 5.0, GREEN)?;
    canvas.coloured_text("bound: greatest", (at.0 + 10.0, at.1 - 12.0), SUBTITLE, Anchor::Left, GREEN)
}

/// Ratios of densities, or differences where some are not positive.
fn up_axis(values: &[f64]) -> PlotAxis {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match low > 0.0 {
        true => PlotAxis::log(low / 1.5, high * 1.5),
        false => PlotAxis::linear(low - 0.05 * (high - low), high + 0.05 * (high - low)),
    }
}

/// One quantity by radius. The radii and their axis are in shown units.
struct ProfilePanel<'a> {
    frame: Frame,
    across: PlotAxis,
    up: PlotAxis,
    x_name: &'a str,
    unit: DisplayUnit,
    name: &'a str,
}

impl ProfilePanel<'_> {
    fn place(&self, radius: f64, value: f64) -> (f64, f64) {
        let Frame { left, top, right, bottom } = self.frame;
        (
            left + self.across.place(radius).clamp(0.0, 1.0) * (right - left),
            bottom - self.up.place(value) * (bottom - top),
        )
    }

    fn draw<B: DrawingBackend>(
        &self,
        canvas: &Canvas<'_, B>,
        (radii, values): (&[f64], &[f64]),
        marks: &[(f64, &str)],
        are_named: bool,
    ) -> Drawn {
        let shown = self.up.scaled(self.unit.factor);
        draw_dark_grid(canvas, self.frame, self.across, shown)?;
        let ends = self.across.ends();
        let within = marks.iter().filter(|(radius, _)| (ends[0]..=ends[1]).contains(radius));
        for (i, (radius, name)) in within.enumerate() {
            let (x, _) = self.place(*radius, 0.0);
            canvas.line(&[(x, self.frame.top), (x, self.frame.bottom)], MARK, 1)?;
            if are_named {
                let y = self.frame.top + 14.0 + 20.0 * i as f64;
                canvas.coloured_text(name, (x - 6.0, y), SUBTITLE, Anchor::Right, WHITE)?;
            }
        }
        let points: Vec<_> = radii.iter().zip(values).map(|(r, value)| self.place(*r, *value)).collect();
        if points.len() > 1 {
            canvas.line(&points, WHITE, 2)?;
        }
        points.iter().try_for_each(|point| canvas.dot(*point, 3.0, WHITE))?;
        let mut x = self.across.ticks();
        if self.x_name.is_empty() {
            x.iter_mut().for_each(|tick| tick.label = None);
        }
        draw_ticks(canvas, self.frame, &x, &shown.ticks())?;
        let far = labels_width(canvas, &shown.ticks()) + 32.0;
        draw_names(canvas, self.frame, self.x_name, &self.unit.label(self.name), far)
    }
}
