//! Figures of an atlas: counts along a threshold, mass functions, counts over two thresholds, births and
//! deaths of peaks.

use super::Drawing;
use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::colour::colour_at;
use super::colours::GREY;
use super::frames::{LABEL, draw_axes, draw_grid, draw_names};
use crate::report::units::short_number;
use inselberg::{AtlasLine, AtlasPlane, CountedObjects, CutNumbers, MassBins, PeakBar};
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

const FRAME: Frame = Frame { left: 110.0, top: 56.0, right: 830.0, bottom: 636.0 };
const SIZE: (u32, u32) = (860, 716);
/// Two of Okabe and Ito's colours: clumps and haloes.
const COLOURS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
/// The ground of plateaus.
const PLATEAU: RGBColor = RGBColor(205, 232, 222);
/// Mass functions of one threshold that are drawn.
const N_FUNCTIONS: usize = 6;
/// Bars of a barcode.
const N_BARS: usize = 120;

/// Numbers of clumps and haloes along a threshold, its plateaus, and the value of the run, as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn threshold_svg(line: &AtlasLine, name: &str) -> Result<String, String> {
    super::draw_svg(&ThresholdPlot { line, name })
}

/// Cumulative mass functions of haloes at some values of a threshold, as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn mass_functions_svg(line: &AtlasLine, bins: &MassBins) -> Result<String, String> {
    super::draw_svg(&MassFunctionPlot { line, bins })
}

/// Numbers of haloes over two thresholds, as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn plane_svg(plane: &AtlasPlane, names: [&str; 2]) -> Result<String, String> {
    super::draw_svg(&PlanePlot { plane, names })
}

/// Births and deaths of peaks, as SVG. There are some.
///
/// # Errors
/// When it cannot be drawn.
pub fn persistence_svg(bars: &[PeakBar], unit: f64) -> Result<String, String> {
    super::draw_svg(&PersistencePlot { bars, unit })
}

/// The most persistent peaks as bars from death to birth, as SVG. There are some.
///
/// # Errors
/// When it cannot be drawn.
pub fn barcode_svg(bars: &[PeakBar], unit: f64) -> Result<String, String> {
    super::draw_svg(&BarcodePlot { bars: &bars[..bars.len().min(N_BARS)], unit })
}

/// A place in the frame.
fn place(x: PlotAxis, y: PlotAxis, at: [f64; 2]) -> (f64, f64) {
    let across = FRAME.left + x.place(at[0]) * (FRAME.right - FRAME.left);
    (across, FRAME.bottom - y.place(at[1]).clamp(0.0, 1.0) * (FRAME.bottom - FRAME.top))
}

/// An axis over the values above 0.
fn log_axis(values: impl Iterator<Item = f64> + Clone, margin: f64) -> PlotAxis {
    let positive = values.filter(|value| *value > 0.0);
    let low = positive.clone().fold(f64::INFINITY, f64::min);
    PlotAxis::log(low / margin, positive.fold(0.0, f64::max) * margin)
}

fn draw_key<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    (left, y): (f64, f64),
    name: &str,
    colour: RGBColor,
) -> Drawn {
    let bar = Frame { left, top: y - 3.0, right: left + 24.0, bottom: y + 3.0 };
    canvas.fill(bar, colour)?;
    canvas.text(name, (left + 32.0, y), LABEL, Anchor::Left)
}

struct ThresholdPlot<'a> {
    line: &'a AtlasLine,
    name: &'a str,
}

impl Drawing for ThresholdPlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let line = self.line;
        let counts = [CountedObjects::Clumps, CountedObjects::Haloes].map(|of| line.counts(of));
        let x = log_axis(line.values.iter().copied(), 1.05);
        let y = log_axis(counts.iter().flatten().map(|n| *n as f64), 1.3);
        for plateau in &line.plateaus {
            let [left, right] = plateau.range.map(|value| place(x, y, [value, 1.0]).0);
            canvas.fill(Frame { left, right, ..FRAME }, PLATEAU)?;
        }
        draw_grid(canvas, FRAME, x, y)?;
        if let Some(own) = line.own.filter(|own| *own > 0.0) {
            let at = place(x, y, [own, 1.0]).0;
            canvas.line(&[(at, FRAME.top), (at, FRAME.bottom)], BLACK, 2)?;
        }
        for ((counts, colour), (i, name)) in counts.iter().zip(COLOURS).zip([(0, "clumps"), (1, "haloes")]) {
            let numbers = line.values.iter().zip(counts).filter(|(value, _)| **value > 0.0);
            let points: Vec<_> = numbers.map(|(value, n)| place(x, y, [*value, *n as f64])).collect();
            canvas.line(&points, colour, 5 - 2 * i as u32)?;
            draw_key(canvas, (FRAME.left + 8.0 + 200.0 * f64::from(i), 28.0), name, colour)?;
        }
        draw_key(canvas, (FRAME.left + 408.0, 28.0), "plateaus", PLATEAU)?;
        draw_axes(canvas, FRAME, x, y)?;
        draw_names(canvas, FRAME, self.name, "number", 76.0)
    }
}

struct MassFunctionPlot<'a> {
    line: &'a AtlasLine,
    bins: &'a MassBins,
}

impl MassFunctionPlot<'_> {
    /// Some of the cuts, from the first to the last.
    fn shown(&self) -> Vec<usize> {
        let last = self.line.cuts.len() - 1;
        let mut all: Vec<usize> = (0..N_FUNCTIONS).map(|i| i * last / (N_FUNCTIONS - 1)).collect();
        all.dedup();
        all
    }

    /// Haloes in each bin and above.
    fn cumulative(cut: &CutNumbers) -> Vec<u64> {
        let mut above: Vec<u64> = cut
            .haloes_by_mass
            .iter()
            .rev()
            .scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            })
            .collect();
        above.reverse();
        above
    }
}

impl Drawing for MassFunctionPlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let shown = self.shown();
        let functions: Vec<Vec<u64>> = shown.iter().map(|i| Self::cumulative(&self.line.cuts[*i])).collect();
        let x = log_axis(self.bins.edges.iter().copied(), 1.0);
        let y = log_axis(functions.iter().flatten().map(|n| *n as f64), 1.3);
        draw_grid(canvas, FRAME, x, y)?;
        for (k, (i, function)) in shown.iter().zip(&functions).enumerate() {
            let [r, g, b] = colour_at(0.15 + 0.7 * k as f64 / (N_FUNCTIONS - 1) as f64);
            let colour = RGBColor(r, g, b);
            let within = self.bins.edges.iter().zip(function).filter(|(_, n)| **n > 0);
            let points: Vec<_> = within.map(|(edge, n)| place(x, y, [*edge, *n as f64])).collect();
            if points.len() > 1 {
                canvas.line(&points, colour, 3)?;
            }
            let at = (FRAME.right - 150.0, FRAME.top + 24.0 + 28.0 * k as f64);
            draw_key(canvas, at, &short_number(self.line.values[*i]), colour)?;
        }
        draw_axes(canvas, FRAME, x, y)?;
        draw_names(canvas, FRAME, "mass [code units]", "haloes of this mass or more", 76.0)
    }
}

struct PlanePlot<'a> {
    plane: &'a AtlasPlane,
    names: [&'a str; 2],
}

impl Drawing for PlanePlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let axis = |values: &[f64]| {
            let half = (values[values.len() - 1] / values[0]).powf(0.5 / (values.len() - 1) as f64);
            (log_axis(values.iter().copied(), half), half)
        };
        let ((x, half_x), (y, half_y)) = (axis(&self.plane.values[0]), axis(&self.plane.values[1]));
        let numbers = self.plane.cuts.iter().map(|cut| cut.n_haloes.max(1) as f64);
        let colours = log_axis(numbers, 1.0);
        let n = self.plane.values[1].len();
        for (i, cut) in self.plane.cuts.iter().enumerate() {
            let (a, b) = (self.plane.values[0][i / n], self.plane.values[1][i % n]);
            let (left, bottom) = place(x, y, [a / half_x, b / half_y]);
            let (right, top) = place(x, y, [a * half_x, b * half_y]);
            let part = colours.place(cut.n_haloes.max(1) as f64).clamp(0.0, 1.0);
            let [red, green, blue] = colour_at(0.1 + 0.85 * part);
            canvas.fill(Frame { left, top, right, bottom }, RGBColor(red, green, blue))?;
            canvas.outlined_text(
                &cut.n_haloes.to_string(),
                ((left + right) / 2.0, (top + bottom) / 2.0),
                12.0,
            )?;
        }
        draw_axes(canvas, FRAME, x, y)?;
        canvas.text("haloes", (FRAME.left + 8.0, 28.0), LABEL, Anchor::Left)?;
        draw_names(canvas, FRAME, self.names[0], self.names[1], 76.0)
    }
}

struct PersistencePlot<'a> {
    bars: &'a [PeakBar],
    unit: f64,
}

/// The axis of densities of both figures of persistence.
fn density_axis(bars: &[PeakBar], unit: f64) -> PlotAxis {
    let all = bars.iter().flat_map(|bar| [bar.death / unit, bar.birth / unit]);
    match all.clone().all(|density| density > 0.0) {
        true => log_axis(all, 1.1),
        false => {
            let low = all.clone().fold(f64::INFINITY, f64::min);
            PlotAxis::linear(low, all.fold(f64::NEG_INFINITY, f64::max))
        }
    }
}

impl Drawing for PersistencePlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let axis = density_axis(self.bars, self.unit);
        draw_grid(canvas, FRAME, axis, axis)?;
        let [low, high] = axis.ends();
        canvas.line(&[[low, low], [high, high]].map(|at| place(axis, axis, at)), GREY, 3)?;
        for bar in self.bars.iter().rev() {
            let at = place(axis, axis, [bar.death, bar.birth].map(|density| density / self.unit));
            canvas.dot(at, 3.0, COLOURS[usize::from(!bar.dies)])?;
        }
        draw_key(canvas, (FRAME.left + 8.0, 28.0), "dies at a saddle", COLOURS[0])?;
        draw_key(canvas, (FRAME.left + 308.0, 28.0), "isolated: density threshold", COLOURS[1])?;
        draw_axes(canvas, FRAME, axis, axis)?;
        draw_names(canvas, FRAME, "density at its death", "density of the peak", 76.0)
    }
}

struct BarcodePlot<'a> {
    bars: &'a [PeakBar],
    unit: f64,
}

impl Drawing for BarcodePlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let (x, y) = (density_axis(self.bars, self.unit), PlotAxis::linear(0.0, self.bars.len() as f64));
        draw_grid(canvas, FRAME, x, y)?;
        for (i, bar) in self.bars.iter().enumerate() {
            let up = (self.bars.len() - 1 - i) as f64;
            let (left, bottom) = place(x, y, [bar.death / self.unit, up + 0.2]);
            let (right, top) = place(x, y, [bar.birth / self.unit, up + 0.8]);
            canvas.fill(Frame { left, top, right, bottom }, COLOURS[usize::from(!bar.dies)])?;
        }
        draw_axes(canvas, FRAME, x, PlotAxis::NONE)?;
        draw_names(canvas, FRAME, "density, from death to birth", "peaks, the most persistent on top", 40.0)
    }
}
