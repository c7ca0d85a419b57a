//! Figures of a comparison: found objects by size, and ratios of masses.

use super::Drawing;
use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::frames::{LABEL, draw_axes, draw_grid, draw_names};
use inselberg::compare::SizeCount;
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

const FRAME: Frame = Frame { left: 110.0, top: 56.0, right: 830.0, bottom: 636.0 };
const SIZE: (u32, u32) = (860, 716);
/// Two of Okabe and Ito's colours.
const COLOURS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
/// Ratios are shown up to this one, and down to 1 over it. Others stand at the edge.
const MOST: f64 = 4.0;

/// Found objects by size, of both catalogues, as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn completeness_svg(
    size_word: &'static str,
    of_a: &[SizeCount],
    of_b: &[SizeCount],
) -> Result<String, String> {
    super::draw_svg(&CompletenessPlot { size_word, lists: [of_b, of_a] })
}

/// Ratios of masses of pairs, as SVG. All masses are finite and above 0, and there are some.
///
/// # Errors
/// When it cannot be drawn.
pub fn ratios_svg(masses: &[[f64; 2]]) -> Result<String, String> {
    super::draw_svg(&RatioPlot { masses })
}

/// A place in the frame.
fn place(x: PlotAxis, y: PlotAxis, at: [f64; 2]) -> (f64, f64) {
    let across = FRAME.left + x.place(at[0]) * (FRAME.right - FRAME.left);
    (across, FRAME.bottom - y.place(at[1]) * (FRAME.bottom - FRAME.top))
}

struct CompletenessPlot<'a> {
    size_word: &'static str,
    lists: [&'a [SizeCount]; 2],
}

impl Drawing for CompletenessPlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let first = self.lists[0].first().map_or(1, |count| count.from).max(1) as f64;
        let last = self.lists[0].last().map_or(10, |count| count.from) as f64 * 4.0;
        let (x, y) = (PlotAxis::log(first, last), PlotAxis::linear(0.0, 1.05));
        draw_grid(canvas, FRAME, x, y)?;
        let names = ["second, found in the first", "first, found in the second"];
        for (i, (list, name)) in self.lists.iter().zip(names).enumerate() {
            for count in list.iter().filter(|count| count.n > 0) {
                let part = count.n_found as f64 / count.n as f64;
                let end = count.below.map_or(last, |below| below as f64);
                let line = [[count.from as f64, part], [end, part]].map(|at| place(x, y, at));
                canvas.line(&line, COLOURS[i], 5 - 2 * i as u32)?;
            }
            let at = (FRAME.left + 8.0 + 360.0 * i as f64, 28.0);
            canvas.fill(
                Frame { left: at.0, top: at.1 - 3.0, right: at.0 + 24.0, bottom: at.1 + 3.0 },
                COLOURS[i],
            )?;
            canvas.text(name, (at.0 + 32.0, at.1), LABEL, Anchor::Left)?;
        }
        draw_axes(canvas, FRAME, x, y)?;
        draw_names(canvas, FRAME, self.size_word, "part that is found", 76.0)
    }
}

struct RatioPlot<'a> {
    masses: &'a [[f64; 2]],
}

impl Drawing for RatioPlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let masses = || self.masses.iter().map(|pair| pair[1]);
        let (least, most) = (masses().fold(f64::MAX, f64::min), masses().fold(0.0, f64::max));
        let (x, y) = (PlotAxis::log(least / 1.3, most * 1.3), PlotAxis::log(1.0 / MOST, MOST));
        draw_grid(canvas, FRAME, x, y)?;
        canvas.line(&[[least / 1.3, 1.0], [most * 1.3, 1.0]].map(|at| place(x, y, at)), BLACK, 1)?;
        for [a, b] in self.masses {
            let ratio = (a / b).clamp(1.0 / MOST, MOST);
            canvas.dot(place(x, y, [*b, ratio]), 2.5, COLOURS[0])?;
        }
        draw_axes(canvas, FRAME, x, y)?;
        draw_names(canvas, FRAME, "mass in the second catalogue", "first / second", 76.0)
    }
}
