//! Figures of pages: one map, and mass functions. They are drawn like the panels of a picture.

use super::Drawing;
use super::canvas::{Canvas, Drawn, Frame, SCALE};
use super::colour::indexed;
use super::frames::{BLUE, LABEL, SKY, VERMILION, WHITE, draw_key, draw_names};
use super::layout::draw_numbers;
use super::map_panel::{MapPanel, MapStyle};
use crate::report::summary::grouped;
use crate::report::units::DisplayUnits;
use inselberg::DensityMap;
use inselberg_io::catalogue::Dimension;
use plotters::prelude::{DrawingBackend, RGBColor};

/// Where a map begins, and what is left beside and below it.
const MAP: (f64, f64) = (100.0, 16.0);
const BESIDE: f64 = 150.0;
const BELOW: f64 = 80.0;
/// The mass functions, and where their keys are.
const MASSES: Frame = Frame { left: 100.0, top: 56.0, right: 820.0, bottom: 636.0 };
const KEYS: f64 = 28.0;
/// Radius of a circle whose size is not known, and the least of any.
const RADII: (f64, f64) = (3.0, 2.0);
/// Colours and widths of mass functions, the first one below.
const LINES: [(RGBColor, u32); 2] = [(BLUE, 4), (VERMILION, 2)];

/// A circle on a map.
#[derive(Debug, Clone)]
pub struct MapCircle {
    /// Its centre in the box.
    pub position: [f64; 3],
    /// Its radius, in code lengths; NaN where it is not known.
    pub radius: f64,
    /// Whether it is a clump in what other circles show.
    pub is_inner: bool,
    /// A text beside it; may be empty.
    pub label: String,
}

/// A map with circles as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn map_svg(map: &DensityMap, style: MapStyle<'_>, circles: &[MapCircle]) -> Result<String, String> {
    super::draw_svg(&MapFigure { panel: MapPanel::new(map, style, MAP.0, MAP.1), circles })
}

/// The cumulative mass functions of these lists as SVG. Masses fall, in code units.
///
/// # Errors
/// When they cannot be drawn.
pub fn masses_svg(lists: &[(&str, &[f64])], units: &DisplayUnits) -> Result<String, String> {
    super::draw_svg(&MassFigure { lists, units })
}

struct MapFigure<'a> {
    panel: MapPanel<'a>,
    circles: &'a [MapCircle],
}

impl MapFigure<'_> {
    fn draw_circle<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, circle: &MapCircle) -> Drawn {
        let radius = match circle.radius.is_finite() {
            true => (circle.radius * self.panel.per_length()).max(RADII.1),
            false => RADII.0,
        };
        let style = if circle.is_inner { (WHITE, 1) } else { (SKY, 2) };
        let centre = self.panel.draw_circle(canvas, &circle.position, radius, style)?;
        let Some((x, y)) = centre.filter(|_| !circle.label.is_empty()) else { return Ok(()) };
        let frame = self.panel.frame;
        let at = ((x + radius * 0.75).min(frame.right - 46.0), (y - radius * 0.75).max(frame.top + 12.0));
        canvas.outlined_text(&circle.label, at, LABEL)
    }
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
        self.circles.iter().try_for_each(|circle| self.draw_circle(canvas, circle))?;
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
    lists: &'a [(&'a str, &'a [f64])],
    units: &'a DisplayUnits,
}

impl Drawing for MassFigure<'_> {
    fn size(&self) -> (u32, u32) {
        ((MASSES.right + 30.0) as u32, (MASSES.bottom + BELOW) as u32)
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let unit = self.units.unit(Dimension::MASS);
        let lines: Vec<_> = self.lists.iter().zip(LINES).map(|((_, masses), line)| (*masses, line)).collect();
        draw_numbers(canvas, MASSES, &lines, unit.factor)?;
        draw_names(canvas, MASSES, &unit.label("mass m"), "number with mass ≥ m", 76.0)?;
        let keys = self.lists.iter().zip(LINES).enumerate();
        keys.into_iter().try_for_each(|(i, ((name, masses), (colour, _)))| {
            let key = format!("{name} ({})", grouped(masses.len() as i64));
            draw_key(canvas, (MASSES.left + 300.0 * i as f64, KEYS), colour, &key)
        })
    }
}
