//! Lines, circles and texts in pixels, on any backend of plotters.
//!
//! The font of texts lacks a few signs, such as the raised minus. Bitmaps take these from another font; a
//! viewer of SVG finds them itself.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform, register_font};

/// The result of drawing, with the error of the backend.
pub type Drawn = Result<(), String>;

/// A rectangle of the picture: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// The anchor of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    /// Left edge, middle of the height.
    Left,
    /// Right edge, middle of the height.
    Right,
    /// Middle of the width, top edge.
    Top,
    /// Middle of the text, read from below.
    Upward,
}

/// An area to draw on, [`SCALE`] times finer than the pixels of its methods.
pub struct Canvas<'a, B: DrawingBackend> {
    area: &'a DrawingArea<B, Shift>,
    is_bitmap: bool,
}

/// Pixels of the backend per pixel of the layout: curves are drawn finely, then averaged.
pub const SCALE: u32 = 2;

const FONT: &str = "sans-serif";
/// The font of signs that [`FONT`] lacks.
const SIGNS: &str = "signs";
/// These signs.
const LACKING: [char; 5] = ['⁻', '☉', '′', '″', '⊙'];
/// The share of their size by which the bitmap backend sets texts too high.
const BITMAP_TEXT_DROP: f64 = 0.14;
/// How much wider the fonts of viewers may be than the built-in one.
const WIDER: f64 = 1.12;

impl<'a, B: DrawingBackend> Canvas<'a, B> {
    /// Draws on `area`, which is a bitmap or an SVG.
    pub fn new(area: &'a DrawingArea<B, Shift>, is_bitmap: bool) -> Result<Self, String> {
        let fonts = [(FONT, epaint_default_fonts::UBUNTU_LIGHT), (SIGNS, epaint_default_fonts::HACK_REGULAR)];
        for (name, bytes) in fonts {
            register_font(name, FontStyle::Normal, bytes)
                .map_err(|_| "a built-in font is damaged".to_string())?;
        }
        Ok(Self { area, is_bitmap })
    }

    /// A line through all points.
    pub fn line(&self, points: &[(f64, f64)], colour: RGBColor, width: u32) -> Drawn {
        let points: Vec<_> = points.iter().map(|(x, y)| (pixel(*x), pixel(*y))).collect();
        self.draw(&PathElement::new(points, colour.stroke_width(width * SCALE)))
    }

    /// The edge of a rectangle.
    pub fn frame(&self, f: Frame, colour: RGBColor) -> Drawn {
        let corners =
            [(f.left, f.top), (f.right, f.top), (f.right, f.bottom), (f.left, f.bottom), (f.left, f.top)];
        self.line(&corners, colour, 1)
    }

    /// A filled rectangle.
    pub fn fill(&self, f: Frame, colour: RGBColor) -> Drawn {
        let corners = [(pixel(f.left), pixel(f.top)), (pixel(f.right), pixel(f.bottom))];
        self.draw(&Rectangle::new(corners, colour.filled()))
    }

    /// A filled circle.
    pub fn dot(&self, (x, y): (f64, f64), radius: f64, colour: RGBColor) -> Drawn {
        let radius = (radius * f64::from(SCALE)).round() as i32;
        self.draw(&Circle::new((pixel(x), pixel(y)), radius, colour.filled()))
    }

    /// The part of a circle that lies within `clip`.
    pub fn circle(&self, centre: (f64, f64), radius: f64, style: (RGBColor, u32), clip: Frame) -> Drawn {
        let n_edges = (radius * 4.0).clamp(16.0, 720.0) as u32;
        let corner = |i: u32| {
            let angle = f64::from(i) / f64::from(n_edges) * std::f64::consts::TAU;
            (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
        };
        let mut arc: Vec<(f64, f64)> = Vec::new();
        for i in 0..n_edges {
            let Some((from, to)) = clip.part(corner(i), corner(i + 1)) else { continue };
            if arc.last() != Some(&from) {
                self.arc(&arc, style)?;
                arc = vec![from];
            }
            arc.push(to);
        }
        self.arc(&arc, style)
    }

    fn arc(&self, arc: &[(f64, f64)], style: (RGBColor, u32)) -> Drawn {
        if arc.len() < 2 { Ok(()) } else { self.line(arc, style.0, style.1) }
    }

    /// A text of `size` pixels.
    pub fn text(&self, text: &str, at: (f64, f64), size: f64, anchor: Anchor) -> Drawn {
        self.coloured_text(text, at, size, anchor, BLACK)
    }

    /// A text of `size` pixels in a colour.
    pub fn coloured_text(
        &self,
        text: &str,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        colour: RGBColor,
    ) -> Drawn {
        if !self.is_bitmap || !text.contains(LACKING) {
            return self.run(text, FONT, at, size, anchor, colour);
        }
        // Runs of one font, each after the one before.
        let width = self.width(text, size);
        let mut along = match anchor {
            Anchor::Left => 0.0,
            Anchor::Right => -width,
            Anchor::Top | Anchor::Upward => -width / 2.0,
        };
        for (run, font) in runs(text) {
            let (x, y) = match anchor {
                Anchor::Upward => (at.0, at.1 - along - self.run_width(&run, font, size) / 2.0),
                Anchor::Top => (at.0 + along, at.1 + size * 0.5),
                Anchor::Left | Anchor::Right => (at.0 + along, at.1),
            };
            let anchor = if anchor == Anchor::Upward { anchor } else { Anchor::Left };
            self.run(&run, font, (x, y), size, anchor, colour)?;
            along += self.run_width(&run, font, size);
        }
        Ok(())
    }

    fn run(
        &self,
        text: &str,
        font: &str,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        colour: RGBColor,
    ) -> Drawn {
        let (h, v) = match anchor {
            Anchor::Left => (HPos::Left, VPos::Center),
            Anchor::Right => (HPos::Right, VPos::Center),
            Anchor::Top => (HPos::Center, VPos::Top),
            Anchor::Upward => (HPos::Center, VPos::Center),
        };
        let font = (font, size * f64::from(SCALE)).into_font();
        let drops = self.is_bitmap && matches!(anchor, Anchor::Left | Anchor::Right);
        let drop = if drops { BITMAP_TEXT_DROP * size } else { 0.0 };
        let turned = anchor == Anchor::Upward;
        let font = if turned { font.transform(FontTransform::Rotate270) } else { font };
        let style = font.color(&colour).pos(Pos::new(h, v));
        self.draw(&Text::new(text.to_string(), (pixel(at.0), pixel(at.1 + drop)), style))
    }

    /// The width of a text of `size` pixels; in an SVG, about as much as viewers take.
    pub fn width(&self, text: &str, size: f64) -> f64 {
        let width: f64 = runs(text).iter().map(|(run, font)| self.run_width(run, font, size)).sum();
        if self.is_bitmap { width } else { width * WIDER }
    }

    fn run_width(&self, run: &str, font: &str, size: f64) -> f64 {
        let style = (font, size * f64::from(SCALE)).into_font().color(&BLACK);
        let (width, _) = self.area.estimate_text_size(run, &style).unwrap_or_default();
        let width = f64::from(width) / f64::from(SCALE);
        // All letters of that font have one width, which is too much for a raised minus.
        if run == "⁻" { 0.75 * width } else { width }
    }

    /// A white text with a dark edge, for maps.
    pub fn outlined_text(&self, text: &str, at: (f64, f64), size: f64) -> Drawn {
        let around = [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)];
        let place = |(x, y): (f64, f64)| (at.0 + x, at.1 + y);
        around
            .into_iter()
            .try_for_each(|by| self.coloured_text(text, place(by), size, Anchor::Left, BLACK))?;
        self.coloured_text(text, at, size, Anchor::Left, WHITE)
    }

    fn draw<'e, E>(&self, element: &'e E) -> Drawn
    where
        E: plotters::element::Drawable<B>,
        &'e E: plotters::element::PointCollection<'e, (i32, i32)>,
    {
        self.area.draw(element).map_err(|e| e.to_string())
    }
}

impl Frame {
    /// Whether the point lies within.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The part of a straight line that lies within.
    fn part(&self, from: (f64, f64), to: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (outwards, room) in sides {
            match outwards {
                0.0 if room < 0.0 => return None,
                0.0 => {}
                _ if outwards < 0.0 => first = first.max(room / outwards),
                _ => last = last.min(room / outwards),
            }
        }
        let at = |part: f64| match part {
            0.0 => from,
            1.0 => to,
            _ => (from.0 + part * dx, from.1 + part * dy),
        };
        (first <= last).then(|| (at(first), at(last)))
    }
}

/// The parts of a text in each font. The sign of the sun is that of a point in a circle.
fn runs(text: &str) -> Vec<(String, &'static str)> {
    let mut runs: Vec<(String, &'static str)> = Vec::new();
    for sign in text.chars() {
        let font = if LACKING.contains(&sign) { SIGNS } else { FONT };
        let sign = if sign == '☉' { '⊙' } else { sign };
        match runs.last_mut().filter(|(_, of)| *of == font) {
            Some((run, _)) => run.push(sign),
            None => runs.push((sign.to_string(), font)),
        }
    }
    runs
}

fn pixel(at: f64) -> i32 {
    (at * f64::from(SCALE)).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_frame() {
        let frame = Frame { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };
        assert_eq!(frame.part((5.0, 5.0), (15.0, 5.0)), Some(((5.0, 5.0), (10.0, 5.0))));
        assert_eq!(frame.part((-5.0, 5.0), (15.0, 5.0)), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(frame.part((-5.0, 5.0), (-1.0, 9.0)), None);
        assert_eq!(frame.part((1.0, 2.0), (3.0, 4.0)), Some(((1.0, 2.0), (3.0, 4.0))));
    }

    #[test]
    fn signs_that_the_font_lacks_are_runs_of_their_own() {
        let parts: Vec<_> = runs("10⁻²⁸ M☉").into_iter().map(|(run, _)| run).collect();
        assert_eq!(parts, ["10", "⁻", "²⁸ M", "⊙"]);
    }
}
