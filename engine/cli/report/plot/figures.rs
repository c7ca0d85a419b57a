//! Figures of pages: one map, and mass functions. They are drawn like the panels of a picture.

use super::Drawing;
use super::canvas::{Canvas, Drawn, Frame, SCALE};
use super::colour::indexed;
use super::counts::draw_counts;
use super::frames::draw_kind_keys;
use super::kinds::{MapCircle, Shown};
use super::map_panel::{MapPanel, MapStyle};
use crate::report::units::DisplayUnits;
use inselberg::DensityMap;
use plotters::prelude::DrawingBackend;

/// Where a map begins, and what is left beside and below it.
const MAP: (f64, f64) = (130.0, 16.0);
const BESIDE: f64 = 190.0;
const BELOW: f64 = 80.0;
/// The mass functions, and where their keys are.
const MASSES: Frame = Frame { left: 110.0, top: 56.0, right: 830.0, bottom: 636.0 };
const KEYS: f64 = 28.0;

/// A map with circles as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn map_svg(map: &DensityMap, style: MapStyle<'_>, circles: &[MapCircle]) -> Result<String, String> {
    super::draw_svg(&MapFigure { panel: MapPanel::new(map, style, MAP.0, MAP.1), circles })
}

/// The cumulative mass functions of these kinds as SVG.
///
/// # Errors
/// When they cannot be drawn.
pub fn masses_svg(lists: &[Shown], units: &DisplayUnits) -> Result<String, String> {
    super::draw_svg(&MassFigure { lists, units })
}

struct MapFigure<'a> {
    panel: MapPanel<'a>,
    circles: &'a [MapCircle],
}

impl Drawing for MapFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let frame = self.panel.frame;
        ((frame.right + BESIDE) as u32, (frame.bottom + BELOW) as u32)
    }

    /// The pixels of the map and the colours of the bar as they are, so that the page stays small.
    fn images(&self) -> Result<String, String> {
        let (map, bar) = (self.panel.map, (0..=u8::MAX).rev().collect::<Vec<_>>());
        let pixels = indexed(map, self.panel.style.colours);
        Ok(indexed_image(self.panel.frame, map.view.pixels, &pixels)?
            + &indexed_image(self.panel.colour_bar(), [1, bar.len()], &bar)?)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        self.circles.iter().try_for_each(|circle| self.panel.draw_circle(canvas, circle))?;
        self.panel.draw_axes(canvas)?;
        self.panel.draw_scale_bar(canvas)?;
        self.panel.draw_values(canvas)
    }
}

/// Pixels of the palette, stretched over a frame.
fn indexed_image(frame: Frame, size: [usize; 2], pixels: &[u8]) -> Result<String, String> {
    let Frame { left, top, right, bottom } = frame;
    let [x, y, width, height] = [left, top, right - left, bottom - top].map(|at| at as u32 * SCALE);
    let png = super::base64(&super::encode_indexed_png(size, pixels)?);
    Ok(format!(
        "\n<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
         href=\"data:image/png;base64,{png}\"/>"
    ))
}

struct MassFigure<'a> {
    lists: &'a [Shown],
    units: &'a DisplayUnits,
}

impl Drawing for MassFigure<'_> {
    fn size(&self) -> (u32, u32) {
        ((MASSES.right + 30.0) as u32, (MASSES.bottom + BELOW) as u32)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        draw_kind_keys(canvas, (MASSES.left, KEYS), self.lists)?;
        draw_counts(canvas, MASSES, self.lists, self.units, None)
    }
}
