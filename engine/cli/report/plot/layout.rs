//! The whole picture, panel by panel.

use super::axis::{PlotAxis, Tick};
use super::canvas::{Anchor, Canvas, Drawn, Frame, SCALE};
use super::colour::{Raster, colour_at, colour_axis};
use super::objects::{DrawnObjects, Objects};
use super::sight::{Sight, round_length, scale_bar};
use super::{HEIGHT, PictureData, WIDTH};
use inselberg::DensityMap;
use inselberg_io::catalogue::Dimension;
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

const MAP_SIDE: f64 = 600.0;
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

const WHITE: RGBColor = RGBColor(255, 255, 255);
const DARK: RGBColor = RGBColor(16, 12, 40);
const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Okabe and Ito's sky blue, vermilion and bluish green, which differ in every kind of colour vision.
const SKY: RGBColor = RGBColor(86, 180, 233);
const VERMILION: RGBColor = RGBColor(213, 94, 0);
const GREEN: RGBColor = RGBColor(0, 158, 115);
const GREY: RGBColor = RGBColor(225, 225, 225);

const LABEL: f64 = 20.0;
const TITLE: f64 = 24.0;
const SUBTITLE: f64 = 16.0;
/// Characters of a subtitle that fit, unless they are very wide.
const SUBTITLE_LENGTH: usize = 180;
const TICK: f64 = 5.0;
/// Radius of the circle of the largest mass if sizes are not known, and the least of any circle.
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

/// A map and its place.
pub struct MapPanel<'a> {
    map: &'a DensityMap,
    frame: Frame,
    /// The map in colours, in fine pixels.
    pub raster: Raster,
}

impl MapPanel<'_> {
    /// Its upper left fine pixel.
    pub fn corner(&self) -> (u32, u32) {
        (self.frame.left as u32 * SCALE, self.frame.top as u32 * SCALE)
    }
}

/// A picture ready to be drawn.
pub struct PictureLayout<'a> {
    data: &'a PictureData<'a>,
    panels: Vec<MapPanel<'a>>,
    masses: Frame,
    colours: PlotAxis,
    lists: Vec<Shown>,
}

impl<'a> PictureLayout<'a> {
    /// Lays out `data`, whose maps are complete.
    pub fn new(data: &'a PictureData<'a>) -> Self {
        let colours = colour_axis(data.maps.iter());
        let panel = |(i, map): (usize, &'a DensityMap)| {
            let frame = map_frame(map, MAP_LEFT + i as f64 * NEXT_MAP);
            let pixels = |from: f64, to: f64| (to - from) as u32 * SCALE;
            let (width, height) = (pixels(frame.left, frame.right), pixels(frame.top, frame.bottom));
            MapPanel { map, frame, raster: Raster::new(map, colours, width, height) }
        };
        let is_unbound =
            data.catalogue.table(BOUND.table).is_some_and(|clumps| clumps.column(BOUND.columns[1]).is_some());
        let styles: &[&Style] = match data.catalogue.table(GROUPS.table) {
            Some(_) => &[&GROUPS],
            None if data.catalogue.table(VOIDS.table).is_some() => &[&VOIDS],
            None if is_unbound => &[&CLUMPS, &HALOES, &BOUND],
            None => &[&CLUMPS, &HALOES],
        };
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
            panels: data.maps.iter().enumerate().map(panel).collect(),
            masses: Frame { left: MASSES.left + wider, right: MASSES.right + wider, ..MASSES },
            colours,
            lists: styles.iter().map(shown).collect(),
        }
    }

    /// The maps.
    pub fn panels(&self) -> &[MapPanel<'a>] {
        &self.panels
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
            self.draw_map_axes(canvas, panel)?;
            self.draw_scale_bar(canvas, panel)?;
        }
        self.draw_map_legend(canvas)?;
        self.draw_colour_bar(canvas)?;
        self.draw_mass_functions(canvas)
    }

    fn draw_circles<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, panel: &MapPanel) -> Drawn {
        let (frame, sight) = (panel.frame, Sight { view: &panel.map.view, space: &self.data.space });
        let per_length = (frame.right - frame.left) / panel.map.view.sides[panel.map.view.axes()[0]];
        let largest = self.largest();
        for Shown { style, objects, circles } in self.lists.iter().rev() {
            for &i in &circles.places {
                let radius = match &objects.radii {
                    Some(radii) => radii[i] * per_length,
                    None => RADII.0 * (objects.masses[i] / largest).max(0.0).sqrt(),
                };
                let radius = radius.max(RADII.1) + style.wider;
                if let Some([across, up]) = sight.place(&objects.positions[i])
                    && radius.is_finite()
                {
                    let x = frame.left + across * (frame.right - frame.left);
                    let y = frame.bottom - up * (frame.bottom - frame.top);
                    images(sight.repeats(), frame, (x, y), radius)
                        .try_for_each(|c| canvas.circle(c, radius, style.circle, frame))?;
                }
            }
        }
        Ok(())
    }

    fn draw_map_axes<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, panel: &MapPanel) -> Drawn {
        let unit = self.data.units.unit(Dimension::LENGTH);
        let view = &panel.map.view;
        let axis = |axis: usize| {
            PlotAxis::linear(view.low[axis], view.low[axis] + view.sides[axis]).scaled(unit.factor)
        };
        let [across, up] = view.axes();
        draw_axes(canvas, panel.frame, axis(across), axis(up))?;
        let name = |axis: usize| unit.label(["x", "y", "z"][axis]);
        draw_names(canvas, panel.frame, &name(across), &name(up), 70.0)
    }

    /// A round length in the lower left corner.
    fn draw_scale_bar<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, panel: &MapPanel) -> Drawn {
        let unit = self.data.units.unit(Dimension::LENGTH);
        let frame = panel.frame;
        let width = panel.map.view.sides[panel.map.view.axes()[0]] * unit.factor;
        if !(width > 0.0 && width.is_finite()) {
            return Ok(());
        }
        let length = scale_bar(width);
        let pixels = length / width * (frame.right - frame.left);
        let (left, bottom) = (frame.left + 12.0, frame.bottom - 12.0);
        canvas
            .fill(Frame { left, top: bottom - 42.0, right: left + pixels.max(60.0) + 24.0, bottom }, DARK)?;
        let (from, y) = (left + 12.0, bottom - 10.0);
        canvas.line(&[(from, y), (from + pixels, y)], WHITE, 3)?;
        let name = format!("{} {}", round_length(length), unit.name);
        canvas.coloured_text(&name, (from, bottom - 28.0), SUBTITLE + 2.0, Anchor::Left, WHITE)
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

    fn draw_colour_bar<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let Some(last) = self.panels.last() else { return Ok(()) };
        let unit = self.data.units.unit(Dimension::DENSITY);
        let left = last.frame.right + 18.0;
        let bar = Frame { left, top: last.frame.top, right: left + 22.0, bottom: last.frame.bottom };
        let height = (bar.bottom - bar.top) as u32;
        for row in 0..height {
            let top = bar.top + f64::from(row);
            let [red, green, blue] = colour_at(1.0 - (f64::from(row) + 0.5) / f64::from(height));
            canvas.fill(Frame { top, bottom: top + 1.0, ..bar }, RGBColor(red, green, blue))?;
        }
        canvas.frame(bar, BLACK)?;
        for tick in self.colours.scaled(unit.factor).ticks() {
            let y = bar.bottom - tick.place * (bar.bottom - bar.top);
            let end = bar.right + if tick.label.is_some() { TICK } else { TICK * 0.6 };
            canvas.line(&[(bar.right, y), (end, y)], BLACK, 1)?;
            if let Some(label) = tick.label {
                canvas.text(&label, (bar.right + 10.0, y), LABEL, Anchor::Left)?;
            }
        }
        let name = unit.label(&self.data.quantity);
        canvas.text(&name, (bar.right + 88.0, (bar.top + bar.bottom) / 2.0), LABEL, Anchor::Upward)
    }

    fn draw_mass_functions<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let counted = self.lists.first().map_or(&BY_MASS, |list| list.style.counted);
        let unit = self.data.units.unit(counted.dimension);
        let frame = self.masses;
        let (x, y) = self.mass_axes();
        let shown = x.scaled(unit.factor);
        draw_grid(canvas, frame, shown, y)?;
        for Shown { style, objects, .. } in &self.lists {
            let steps = steps(&objects.masses, (x, y), frame);
            if steps.len() > 1 {
                canvas.line(&steps, style.line.0, style.line.1)?;
            }
        }
        draw_axes(canvas, frame, shown, y)?;
        let name = unit.label(counted.across);
        draw_names(canvas, frame, &name, counted.up, 76.0)?;
        for (i, Shown { style, objects, .. }) in self.lists.iter().enumerate() {
            let n = if style.radius.is_some() { objects.masses.len() } else { objects.n_rows };
            let key = format!("{} ({n})", style.name);
            draw_key(canvas, frame.left + 200.0 * i as f64, style.line.0, &key)?;
        }
        if self.lists.iter().all(|list| list.objects.masses.is_empty()) {
            let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
            canvas.text("nothing found", middle, TITLE, Anchor::Top)?;
        }
        Ok(())
    }

    fn mass_axes(&self) -> (PlotAxis, PlotAxis) {
        mass_axes(self.lists.iter().map(|list| list.objects.masses.as_slice()))
    }

    /// The largest mass of all lists.
    fn largest(&self) -> f64 {
        self.lists.iter().map(|list| list.objects.largest()).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// Masses and numbers of mass functions, whose masses fall.
pub fn mass_axes<'a>(lists: impl Iterator<Item = &'a [f64]> + Clone) -> (PlotAxis, PlotAxis) {
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

/// Centres of a circle on a map and of its periodic images that reach into it.
fn images(repeats: [bool; 2], f: Frame, centre: (f64, f64), radius: f64) -> impl Iterator<Item = (f64, f64)> {
    let shifts = move |repeats: bool, at: f64, low: f64, high: f64| {
        let side = high - low;
        [(0.0, true), (side, at - radius < low), (-side, at + radius > high)]
            .into_iter()
            .filter_map(move |(shift, needed)| (needed && (repeats || shift == 0.0)).then_some(shift))
    };
    shifts(repeats[0], centre.0, f.left, f.right).flat_map(move |dx| {
        shifts(repeats[1], centre.1, f.top, f.bottom).map(move |dy| (centre.0 + dx, centre.1 + dy))
    })
}

/// A cumulative mass function in pixels, as a staircase; steps too small to see are skipped. The masses fall.
pub fn steps(masses: &[f64], (x, y): (PlotAxis, PlotAxis), frame: Frame) -> Vec<(f64, f64)> {
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

fn map_frame(map: &DensityMap, left: f64) -> Frame {
    let [width, height] = map.view.axes().map(|axis| map.view.sides[axis]);
    let ratio = if width > 0.0 && height > 0.0 { (width / height).clamp(0.1, 10.0) } else { 1.0 };
    let (across, up) = (MAP_SIDE * ratio.min(1.0), MAP_SIDE / ratio.max(1.0));
    Frame { left, top: TOP, right: left + across.round(), bottom: TOP + up.round() }
}

/// A frame with its ticks and their labels.
pub fn draw_axes<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: PlotAxis, y: PlotAxis) -> Drawn {
    canvas.frame(frame, BLACK)?;
    for tick in x.ticks() {
        let (at, end) = (frame.left + tick.place * (frame.right - frame.left), tick_length(&tick));
        canvas.line(&[(at, frame.bottom), (at, frame.bottom + end)], BLACK, 1)?;
        if let Some(label) = tick.label {
            canvas.text(&label, (at, frame.bottom + 12.0), LABEL, Anchor::Top)?;
        }
    }
    for tick in y.ticks() {
        let (at, end) = (frame.bottom - tick.place * (frame.bottom - frame.top), tick_length(&tick));
        canvas.line(&[(frame.left, at), (frame.left - end, at)], BLACK, 1)?;
        if let Some(label) = tick.label {
            canvas.text(&label, (frame.left - 10.0, at), LABEL, Anchor::Right)?;
        }
    }
    Ok(())
}

fn tick_length(tick: &Tick) -> f64 {
    if tick.label.is_some() { TICK } else { TICK * 0.6 }
}

/// Lines across a frame at its labels.
pub fn draw_grid<B: DrawingBackend>(canvas: &Canvas<'_, B>, frame: Frame, x: PlotAxis, y: PlotAxis) -> Drawn {
    for tick in x.ticks().iter().filter(|t| t.label.is_some()) {
        let at = frame.left + tick.place * (frame.right - frame.left);
        canvas.line(&[(at, frame.top), (at, frame.bottom)], GREY, 1)?;
    }
    for tick in y.ticks().iter().filter(|t| t.label.is_some()) {
        let at = frame.bottom - tick.place * (frame.bottom - frame.top);
        canvas.line(&[(frame.left, at), (frame.right, at)], GREY, 1)?;
    }
    Ok(())
}

/// The names of both axes, the upright one `far` to the left of the frame.
pub fn draw_names<B: DrawingBackend>(
    canvas: &Canvas<'_, B>,
    frame: Frame,
    across: &str,
    up: &str,
    far: f64,
) -> Drawn {
    let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
    canvas.text(across, (middle.0, frame.bottom + 44.0), TITLE, Anchor::Top)?;
    canvas.text(up, (frame.left - far, middle.1), TITLE, Anchor::Upward)
}

fn draw_key<B: DrawingBackend>(canvas: &Canvas<'_, B>, left: f64, colour: RGBColor, name: &str) -> Drawn {
    let y = KEY_LINE;
    canvas.line(&[(left, y), (left + 30.0, y)], colour, 3)?;
    canvas.text(name, (left + 40.0, y), LABEL, Anchor::Left)
}
