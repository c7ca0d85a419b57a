//! A picture of the volume and mass above each density.

use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame};
use super::frames::{draw_axes, draw_grid, draw_names};
use inselberg::phew::distribution::AboveDensity;
use inselberg_io::staging::{Staged, WriteResult};
use plotters::prelude::{DrawingBackend, RGBColor};
use std::path::Path;

const SIZE: (u32, u32) = (1000, 560);
const FRAME: Frame = Frame { left: 120.0, top: 60.0, right: 960.0, bottom: 470.0 };
const LABEL: f64 = 18.0;
/// Okabe and Ito's blue and vermilion.
const COLOURS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
/// Smaller parts are not drawn.
const LEAST: f64 = 1e-8;

/// Stages a picture of the volume and mass above each density.
///
/// # Errors
/// The name is not that of a picture, or the place cannot be written.
pub fn stage_distribution(path: &Path, title: &str, above: &[AboveDensity]) -> WriteResult<Staged> {
    super::stage_drawing(path, &DistributionPlot { title, above })
}

struct DistributionPlot<'a> {
    title: &'a str,
    above: &'a [AboveDensity],
}

impl super::Drawing for DistributionPlot<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let ends = self.above.first().zip(self.above.last());
        let (high, low) = ends.map_or((10.0, 1.0), |(first, last)| (first.density, last.density));
        let x = PlotAxis::log(low / 1.2, high * 1.2);
        let least = self.above.iter().map(|row| row.volume.min(row.mass)).fold(1.0, f64::min).max(LEAST);
        let y = PlotAxis::log(least, 1.5);
        canvas.text(self.title, (20.0, 26.0), LABEL, Anchor::Left)?;
        draw_grid(canvas, FRAME, x, y)?;
        for (i, name) in ["volume", "mass"].into_iter().enumerate() {
            let of = |row: &AboveDensity| [row.volume, row.mass][i];
            let points = self.above.iter().filter(|row| of(row) >= least).map(|row| {
                (
                    FRAME.left + x.place(row.density) * (FRAME.right - FRAME.left),
                    FRAME.bottom - y.place(of(row)) * (FRAME.bottom - FRAME.top),
                )
            });
            canvas.line(&points.collect::<Vec<_>>(), COLOURS[i], 3)?;
            let line = FRAME.bottom - 24.0 - 28.0 * i as f64;
            canvas.line(&[(FRAME.left + 20.0, line), (FRAME.left + 50.0, line)], COLOURS[i], 3)?;
            canvas.text(name, (FRAME.left + 60.0, line), LABEL, Anchor::Left)?;
        }
        draw_axes(canvas, FRAME, x, y)?;
        draw_names(canvas, FRAME, "density (code units)", "part of the box that is denser", 86.0)
    }
}
