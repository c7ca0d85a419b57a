//! Lines, circles and texts in pixels, on any backend of plotters.

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
    text_drop: f64,
}

/// Pixels of the backend per pixel of the layout: curves are drawn finely, then averaged.
pub const SCALE: u32 = 2;

const FONT: &str = "sans-serif";

impl<'a, B: DrawingBackend> Canvas<'a, B> {
    /// Draws on `area`; `text_drop` is how far the backend sets texts too high, in their sizes.
    pub fn new(area: &'a DrawingArea<B, Shift>, text_drop: f64) -> Result<Self, String> {
        register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|_| "the built-in font is damaged".to_string())?;
        Ok(Self { area, text_drop })
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

    /// The part of a circle that lies within `clip`.
    pub fn circle(&self, centre: (f64, f64), radius: f64, style: (RGBColor, u32), clip: Frame) -> Drawn {
        let n_edges = (radius * 4.0).clamp(16.0, 120.0) as u32;
        let corner = |i: u32| {
            let angle = f64::from(i) / f64::from(n_edges) * std::f64::consts::TAU;
            (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
        };
        let corners: Vec<_> = (0..=n_edges).map(corner).collect();
        let arcs = corners.split(|(x, y)| !clip.contains(*x, *y));
        arcs.filter(|arc| arc.len() > 1).try_for_each(|arc| self.line(arc, style.0, style.1))
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
        let (h, v) = match anchor {
            Anchor::Left => (HPos::Left, VPos::Center),
            Anchor::Right => (HPos::Right, VPos::Center),
            Anchor::Top => (HPos::Center, VPos::Top),
            Anchor::Upward => (HPos::Center, VPos::Center),
        };
        let font = (FONT, size * f64::from(SCALE)).into_font();
        let drop = if matches!(anchor, Anchor::Left | Anchor::Right) { self.text_drop * size } else { 0.0 };
        let turned = anchor == Anchor::Upward;
        let font = if turned { font.transform(FontTransform::Rotate270) } else { font };
        let style = font.color(&colour).pos(Pos::new(h, v));
        self.draw(&Text::new(text.to_string(), (pixel(at.0), pixel(at.1 + drop)), style))
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
}

fn pixel(at: f64) -> i32 {
    (at * f64::from(SCALE)).round() as i32
}
