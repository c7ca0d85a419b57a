//! The whole picture, panel by panel.

use super::axis::PlotAxis;
use super::canvas::{Anchor, Canvas, Drawn, Frame, SCALE};
use super::colour::{Raster, colour_axis};
use super::frames::{
    BLUE, DARK, GREEN, LABEL, SKY, SUBTITLE, TITLE, VERMILION, WHITE, draw_axes, draw_grid, draw_key,
    draw_names,
};
use super::map_panel::{MAP_SIDE, MapPanel, MapStyle};
use super::objects::{DrawnObjects, Objects};
use super::{HEIGHT, PictureData, WIDTH};
use inselberg::DensityMap;
use inselberg_io::catalogue::Dimension;
use plotters::prelude::{DrawingBackend, RGBColor};

const MAP_LEFT: f64 = 110.0;
/// From the left edge of one map to that of the next.
const NEXT_MAP: f64 = 720.0;
const TOP: f64 = 110.0;
const BOTTOM: f64 = TOP + MAP_SIDE;
/// The positions of the title and of the keys of the panels.
const TITLE_LINE: f64 = 26.0;
const SUBTITLE_LINE: f64 = 54.0;
const KEY_LINE: f64 = TOP - 28.0;
/// The mass functions beside one map.
const MASSES: Frame = Frame { left: 1010.0, top: TOP, right: 1560.0, bottom: BOTTOM };

/// Characters of a subtitle that fit, unless they are very wide.
const SUBTITLE_LENGTH: usize = 180;
/// Radius of the circle of the largest mass where sizes are not known, and the least of any circle.
const RADII: (f64, f64) = (30.0, 1.5);
/// More circles than this would hide the map.
pub const MOST_CIRCLES: usize = 400;

/// The style of a list of objects.
struct Style {
    /// Its table, and its name in the keys.
    table: &'static str,
    name: &'static str,
    /// The columns of places and masses.
    columns: [&'static str; 2],
    /// Colour and width of circles, and how much wider they are.
    circle: (RGBColor, u32),
    wider: f64,
    /// Colour and width of the mass function.
    line: (RGBColor, u32),
    /// The column of radii; `None`: true sizes.
    radius: Option<&'static str>,
    /// The quantity by which objects are counted.
    counted: &'static CountedBy,
}

/// The quantity by which objects are counted: their masses or their radii.
struct CountedBy {
    dimension: Dimension,
    across: &'static str,
    up: &'static str,
}

const BY_MASS: CountedBy =
    CountedBy { dimension: Dimension::MASS, across: "mass m", up: "number with mass ≥ m" };
const BY_RADIUS: CountedBy =
    CountedBy { dimension: Dimension::LENGTH, across: "radius r", up: "number with radius ≥ r" };

const PEAKS: [&str; 2] = ["peak_position", "mass"];

/// Clumps over haloes: a halo of one clump stays visible around it.
const CLUMPS: Style = Style {
    table: "clumps",
    name: "clumps",
    columns: PEAKS,
    circle: (WHITE, 1),
    wider: 0.0,
    line: (BLUE, 4),
    radius: None,
    counted: &BY_MASS,
};
const HALOES: Style =
    Style { table: "haloes", name: "haloes", circle: (SKY, 2), wider: 2.0, line: (VERMILION, 2), ..CLUMPS };
/// The bound part of clumps, after unbinding.
const BOUND: Style = Style {
    name: "bound",
    columns: ["most_bound_position", "bound_mass"],
    circle: (GREEN, 3),
    line: (GREEN, 3),
    radius: Some("half_mass_radius"),
    ..CLUMPS
};
const GROUPS: Style = Style {
    table: "Groups",
    name: "groups",
    columns: ["Centres", "Masses"],
    line: (VERMILION, 3),
    wider: 0.0,
    ..HALOES
};

const VOIDS: Style =
    Style { table: "voids", name: "voids", columns: ["centre", "radius"], counted: &BY_RADIUS, ..GROUPS };

/// A list and how it is shown.
struct Shown {
    style: &'static Style,
    objects: Objects,
    circles: DrawnObjects,
}

/// A picture ready to be drawn.
pub struct PictureLayout<'a> {
    data: &'a PictureData<'a>,
    panels: Vec<MapPanel<'a>>,
    /// The maps in colours, in fine pixels.
    rasters: Vec<Raster>,
    masses: Frame,
    lists: Vec<Shown>,
}

impl<'a> PictureLayout<'a> {
    /// Lays out `data`, whose maps are complete.
    pub fn new(data: &'a PictureData<'a>) -> Self {
        let PictureData { space, units, quantity, .. } = data;
        let style = MapStyle { space, units, quantity, colours: colour_axis(data.maps.iter()) };
        let panel = |(i, map): (usize, &'a DensityMap)| {
            MapPanel::new(map, style, MAP_LEFT + i as f64 * NEXT_MAP, TOP)
        };
        let panels: Vec<MapPanel<'a>> = data.maps.iter().enumerate().map(panel).collect();
        let raster = |panel: &MapPanel<'_>| {
            let (frame, pixels) = (panel.frame, |from: f64, to: f64| (to - from) as u32 * SCALE);
            let (width, height) = (pixels(frame.left, frame.right), pixels(frame.top, frame.bottom));
            Raster::new(panel.map, style.colours, width, height)
        };
        let is_unbound =
            data.catalogue.table(BOUND.table).is_some_and(|clumps| clumps.column(BOUND.columns[1]).is_some());
        let styles: &[&'static Style] = match data.catalogue.table(GROUPS.table) {
            Some(_) => &[&GROUPS],
            None if data.catalogue.table(VOIDS.table).is_some() => &[&VOIDS],
            None if is_unbound => &[&CLUMPS, &HALOES, &BOUND],
            None => &[&CLUMPS, &HALOES],
        };
        let is_there = |style: &&&'static Style| data.catalogue.table(style.table).is_some();
        let shown = |style: &&'static Style| {
            let (table, [position, mass]) = (style.table, style.columns);
            let objects = match style.radius {
                Some(radius) => Objects::with_radius(data.catalogue, table, style.columns, radius),
                None => Objects::new(data.catalogue, table, position, mass),
            };
            let circles = objects.with_circles(data.catalogue.table(table), data.least, MOST_CIRCLES);
            Shown { style, objects, circles }
        };
        let wider = further_maps(data) * NEXT_MAP;
        Self {
            data,
            rasters: panels.iter().map(raster).collect(),
            panels,
            masses: Frame { left: MASSES.left + wider, right: MASSES.right + wider, ..MASSES },
            lists: styles.iter().filter(is_there).map(shown).collect(),
        }
    }

    /// The maps in fine pixels, each with its upper left one.
    pub fn rasters(&self) -> Vec<(&Raster, (u32, u32))> {
        let corner = |panel: &MapPanel<'_>| (panel.frame.left as u32 * SCALE, panel.frame.top as u32 * SCALE);
        self.rasters.iter().zip(self.panels.iter().map(corner)).collect()
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (WIDTH + (further_maps(self.data) * NEXT_MAP) as u32, HEIGHT)
    }

    /// Draws everything except the maps themselves, which lie below.
    pub fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        canvas.text(&self.data.title, (MAP_LEFT, TITLE_LINE), TITLE, Anchor::Left)?;
        canvas.text(&cut(&self.data.subtitle), (MAP_LEFT, SUBTITLE_LINE), SUBTITLE, Anchor::Left)?;
        for panel in &self.panels {
            self.draw_circles(canvas, panel)?;
            panel.draw_axes(canvas)?;
            panel.draw_scale_bar(canvas)?;
        }
        self.draw_map_legend(canvas)?;
        if let Some(last) = self.panels.last() {
            last.draw_colours(canvas)?;
            last.draw_values(canvas)?;
        }
        self.draw_mass_functions(canvas)
    }

    fn draw_circles<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, panel: &MapPanel) -> Drawn {
        let largest = self.largest();
        for Shown { style, objects, circles } in self.lists.iter().rev() {
            for &i in &circles.places {
                let radius = match &objects.radii {
                    Some(radii) => radii[i] * panel.per_length(),
                    None => RADII.0 * (objects.masses[i] / largest).max(0.0).sqrt(),
                };
                let radius = radius.max(RADII.1) + style.wider;
                panel.draw_circle(canvas, &objects.positions[i], radius, style.circle)?;
            }
        }
        Ok(())
    }

    fn draw_map_legend<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let y = KEY_LINE;
        let (width, height) = self.size();
        let everywhere = Frame { left: 0.0, top: 0.0, right: width.into(), bottom: height.into() };
        let mut at = MAP_LEFT;
        for (i, Shown { style, objects, circles }) in self.lists.iter().enumerate() {
            // The white circle of a clump needs a dark ground.
            canvas.fill(Frame { left: at, top: y - 13.0, right: at + 26.0, bottom: y + 13.0 }, DARK)?;
            canvas.circle((at + 13.0, y), 8.0 + style.wider / 2.0, style.circle, everywhere)?;
            let mut name = style.name.to_string();
            if circles.n_large > MOST_CIRCLES {
                name += &format!(" (largest {MOST_CIRCLES})");
            }
            if style.radius.is_some() {
                name += "   (half-mass radius)";
            }
            if i + 1 == self.lists.iter().filter(|list| list.style.radius.is_none()).count() {
                name += match objects.radii {
                    Some(_) => "   (circles: true size)",
                    None => "   (area of a circle: mass)",
                };
                let least = self.data.least.words();
                if !least.is_empty() {
                    name += &format!("   ({least})");
                }
            }
            canvas.text(&name, (at + 36.0, y), LABEL, Anchor::Left)?;
            at += 58.0 + 10.5 * name.len() as f64;
        }
        Ok(())
    }

    fn draw_mass_functions<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let counted = self.lists.first().map_or(&BY_MASS, |list| list.style.counted);
        let unit = self.data.units.unit(counted.dimension);
        let frame = self.masses;
        let lines = self.lists.iter().map(|list| (list.objects.masses.as_slice(), list.style.line));
        let lines: Vec<_> = lines.collect();
        draw_numbers(canvas, frame, &lines, unit.factor)?;
        draw_names(canvas, frame, &unit.label(counted.across), counted.up, 76.0)?;
        for (i, Shown { style, objects, .. }) in self.lists.iter().enumerate() {
            let n = if style.radius.is_some() { objects.masses.len() } else { objects.n_rows };
            let key = format!("{} ({n})", style.name);
            draw_key(canvas, (frame.left + 200.0 * i as f64, KEY_LINE), style.line.0, &key)?;
        }
        if self.lists.iter().all(|list| list.objects.masses.is_empty()) {
            let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
            canvas.text("nothing found", middle, TITLE, Anchor::Top)?;
        }
        Ok(())
    }

    /// The largest mass of all lists.
    fn largest(&self) -> f64 {
        self.lists.iter().map(|list| list.objects.largest()).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// Cumulative mass functions with their axes. Masses fall, in code units, of which one is `factor` shown
/// ones.
pub fn draw_numbers<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    lines: &[(&[f64], (RGBColor, u32))],
    factor: f64,
) -> Drawn {
    let (x, y) = mass_axes(lines.iter().map(|(masses, _)| *masses));
    let shown = x.scaled(factor);
    draw_grid(canvas, frame, shown, y)?;
    for (masses, (colour, width)) in lines {
        let steps = steps(masses, (x, y), frame);
        if steps.len() > 1 {
            canvas.line(&steps, *colour, *width)?;
        }
    }
    draw_axes(canvas, frame, shown, y)
}

/// Masses and numbers of mass functions, whose masses fall.
fn mass_axes<'a>(lists: impl Iterator<Item = &'a [f64]> + Clone) -> (PlotAxis, PlotAxis) {
    let least = lists.clone().filter_map(|m| m.last()).copied().fold(f64::NAN, f64::min);
    let largest = lists.clone().filter_map(|m| m.first()).copied().fold(f64::MIN_POSITIVE, f64::max);
    let most = lists.map(<[f64]>::len).max().unwrap_or(0).max(1) as f64;
    (PlotAxis::log(least / 1.3, largest * 1.3), PlotAxis::log(0.8, most.max(2.0) * 1.4))
}

fn further_maps(data: &PictureData<'_>) -> f64 {
    data.maps.len().max(1) as f64 - 1.0
}

/// The beginning of a subtitle, as far as it fits.
fn cut(subtitle: &str) -> String {
    if subtitle.chars().count() <= SUBTITLE_LENGTH {
        return subtitle.into();
    }
    subtitle.chars().take(SUBTITLE_LENGTH - 4).chain(" ...".chars()).collect()
}

/// A cumulative mass function in pixels, as a staircase; steps too small to see are skipped. The masses fall.
fn steps(masses: &[f64], (x, y): (PlotAxis, PlotAxis), frame: Frame) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (i, mass) in masses.iter().enumerate() {
        let across = frame.left + x.place(*mass) * (frame.right - frame.left);
        let up = frame.bottom - y.place(i as f64 + 1.0) * (frame.bottom - frame.top);
        let before = steps.last().copied().unwrap_or((across, frame.bottom));
        let seen = (before.0 - across).abs() > 0.5 || (before.1 - up).abs() > 0.5;
        if steps.is_empty() || seen || i + 1 == masses.len() {
            steps.extend([(across, before.1), (across, up)]);
        }
    }
    steps
}
