//! The whole picture, panel by panel.

use super::axis::{PlotAxis, Tick};
use super::canvas::{Anchor, Canvas, Drawn, Frame, SCALE};
use super::colour::{Raster, colour_at, colour_axis};
use super::objects::Objects;
use super::{HEIGHT, PictureData, WIDTH};
use inselberg_io::catalogue::Dimension;
use inselberg_io::catalogue::units::unit_name;
use plotters::prelude::{BLACK, DrawingBackend, RGBColor};

const MAP_SIDE: f64 = 600.0;
const MAP_LEFT: f64 = 110.0;
const TOP: f64 = 110.0;
const BOTTOM: f64 = TOP + MAP_SIDE;
/// The positions of the title and of the keys of the panels.
const TITLE_LINE: f64 = 26.0;
const SUBTITLE_LINE: f64 = 54.0;
const KEY_LINE: f64 = TOP - 28.0;
const MASSES: Frame = Frame { left: 1010.0, top: TOP, right: 1560.0, bottom: BOTTOM };

const WHITE: RGBColor = RGBColor(255, 255, 255);
const BLUE: RGBColor = RGBColor(32, 84, 147);
const RED: RGBColor = RGBColor(255, 92, 56);
const GREY: RGBColor = RGBColor(225, 225, 225);

const LABEL: f64 = 20.0;
const TITLE: f64 = 24.0;
const SUBTITLE: f64 = 16.0;
/// Characters of a subtitle that fit, unless they are very wide.
const SUBTITLE_LENGTH: usize = 180;
const TICK: f64 = 5.0;
/// Radius of the circle of the largest mass, and the least of any.
const RADII: (f64, f64) = (30.0, 1.5);
/// More circles than this would only hide each other.
const MOST_CIRCLES: usize = 20_000;

/// How a list of objects is shown.
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
}

const PEAKS: [&str; 2] = ["peak_position", "mass"];

/// Clumps over haloes: a halo of one clump stays visible around it.
const CLUMPS: Style = Style {
    table: "clumps",
    name: "clumps",
    columns: PEAKS,
    circle: (WHITE, 1),
    wider: 0.0,
    line: (BLUE, 4),
};
const HALOES: Style =
    Style { table: "haloes", name: "haloes", circle: (RED, 2), wider: 2.0, line: (RED, 2), ..CLUMPS };
const GROUPS: Style = Style {
    table: "Groups",
    name: "groups",
    columns: ["Centres", "Masses"],
    line: (RED, 3),
    wider: 0.0,
    ..HALOES
};

/// A list and how it is shown.
struct Shown {
    style: &'static Style,
    objects: Objects,
}

/// A picture ready to be drawn.
pub struct PictureLayout<'a> {
    data: &'a PictureData<'a>,
    map: Frame,
    colours: PlotAxis,
    raster: Raster,
    lists: Vec<Shown>,
}

impl<'a> PictureLayout<'a> {
    /// Lays out `data`, whose projection is complete.
    pub fn new(data: &'a PictureData<'a>) -> Self {
        let map = map_frame(data.extent);
        let colours = colour_axis(&data.projection);
        let (width, height) = ((map.right - map.left) as u32 * SCALE, (map.bottom - map.top) as u32 * SCALE);
        let raster = Raster::new(data, colours, width, height);
        let styles: &[&Style] =
            if data.catalogue.table(GROUPS.table).is_some() { &[&GROUPS] } else { &[&CLUMPS, &HALOES] };
        let shown = |style: &&'static Style| {
            let [position, mass] = style.columns;
            Shown { style, objects: Objects::new(data.catalogue, style.table, position, mass) }
        };
        Self { data, map, colours, raster, lists: styles.iter().map(shown).collect() }
    }

    /// The map in colours, in fine pixels.
    pub fn raster(&self) -> &Raster {
        &self.raster
    }

    /// Its upper left fine pixel.
    pub fn map_corner(&self) -> (u32, u32) {
        (self.map.left as u32 * SCALE, self.map.top as u32 * SCALE)
    }

    /// Draws everything except the map itself, which lies below.
    pub fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        canvas.text(&self.data.title, (MAP_LEFT, TITLE_LINE), TITLE, Anchor::Left)?;
        canvas.text(&cut(&self.data.subtitle), (MAP_LEFT, SUBTITLE_LINE), SUBTITLE, Anchor::Left)?;
        self.draw_circles(canvas)?;
        self.draw_map_axes(canvas)?;
        self.draw_colour_bar(canvas)?;
        self.draw_mass_functions(canvas)
    }

    fn draw_circles<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let largest = self.largest();
        for Shown { style, objects } in self.lists.iter().rev() {
            for (position, mass) in objects.positions.iter().zip(&objects.masses).take(MOST_CIRCLES) {
                let centre = self.on_map(position);
                let radius = (RADII.0 * (mass / largest).max(0.0).sqrt()).max(RADII.1) + style.wider;
                if self.map.contains(centre.0, centre.1) && radius.is_finite() {
                    self.images(centre, radius)
                        .try_for_each(|c| canvas.circle(c, radius, style.circle, self.map))?;
                }
            }
        }
        Ok(())
    }

    /// Centres of a circle on the map and of its periodic images that reach into it.
    fn images(&self, centre: (f64, f64), radius: f64) -> impl Iterator<Item = (f64, f64)> {
        let f = self.map;
        let shifts = move |periodic: bool, at: f64, low: f64, high: f64| {
            let side = high - low;
            [(0.0, true), (side, at - radius < low), (-side, at + radius > high)]
                .into_iter()
                .filter_map(move |(shift, needed)| (needed && (periodic || shift == 0.0)).then_some(shift))
        };
        let [across, up] = self.data.periodic;
        shifts(across, centre.0, f.left, f.right).flat_map(move |dx| {
            shifts(up, centre.1, f.top, f.bottom).map(move |dy| (centre.0 + dx, centre.1 + dy))
        })
    }

    fn on_map(&self, position: &[f64; 3]) -> (f64, f64) {
        let [[x0, x1], [y0, y1]] = self.data.extent;
        let [across, up] = self.data.axes.map(|a| position[a]);
        let (x, y) = ((across - x0) / (x1 - x0), (up - y0) / (y1 - y0));
        let (width, height) = (self.map.right - self.map.left, self.map.bottom - self.map.top);
        (self.map.left + x * width, self.map.bottom - y * height)
    }

    fn draw_map_axes<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let [x, y] = self.data.extent.map(|[low, high]| PlotAxis::linear(low, high));
        draw_axes(canvas, self.map, x, y)?;
        let unit = unit_name(Dimension::LENGTH);
        let [across, up] = self.data.axes.map(|a| ["x", "y", "z"][a]);
        draw_names(canvas, self.map, &format!("{across} [{unit}]"), &format!("{up} [{unit}]"), 70.0)?;
        self.draw_map_legend(canvas)
    }

    fn draw_map_legend<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let y = KEY_LINE;
        let everywhere = Frame { left: 0.0, top: 0.0, right: f64::from(WIDTH), bottom: f64::from(HEIGHT) };
        let mut at = self.map.left;
        for (i, Shown { style, .. }) in self.lists.iter().enumerate() {
            // The white circle of a clump needs a dark ground.
            canvas
                .fill(Frame { left: at, top: y - 13.0, right: at + 26.0, bottom: y + 13.0 }, viridis(0.15))?;
            canvas.circle((at + 13.0, y), 8.0 + style.wider / 2.0, style.circle, everywhere)?;
            let is_last = i + 1 == self.lists.len();
            let name = if is_last {
                format!("{}   (area of a circle: mass)", style.name)
            } else {
                style.name.into()
            };
            canvas.text(&name, (at + 36.0, y), LABEL, Anchor::Left)?;
            at += 130.0;
        }
        Ok(())
    }

    fn draw_colour_bar<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let left = self.map.right + 18.0;
        let bar = Frame { left, top: self.map.top, right: left + 22.0, bottom: self.map.bottom };
        let height = (bar.bottom - bar.top) as u32;
        for row in 0..height {
            let top = bar.top + f64::from(row);
            let colour = viridis(1.0 - (f64::from(row) + 0.5) / f64::from(height));
            canvas.fill(Frame { top, bottom: top + 1.0, ..bar }, colour)?;
        }
        canvas.frame(bar, BLACK)?;
        for tick in self.colours.ticks() {
            let y = bar.bottom - tick.place * (bar.bottom - bar.top);
            let end = bar.right + if tick.label.is_some() { TICK } else { TICK * 0.6 };
            canvas.line(&[(bar.right, y), (end, y)], BLACK, 1)?;
            if let Some(label) = tick.label {
                canvas.text(&label, (bar.right + 10.0, y), LABEL, Anchor::Left)?;
            }
        }
        let name = format!("{} [{}]", self.data.quantity, self.data.units);
        canvas.text(&name, (bar.right + 88.0, (bar.top + bar.bottom) / 2.0), LABEL, Anchor::Upward)
    }

    fn draw_mass_functions<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let (x, y) = self.mass_axes();
        draw_grid(canvas, MASSES, x, y)?;
        for Shown { style, objects } in &self.lists {
            let steps = steps(&objects.masses, x, y);
            if steps.len() > 1 {
                canvas.line(&steps, style.line.0, style.line.1)?;
            }
        }
        draw_axes(canvas, MASSES, x, y)?;
        let name = format!("mass m [{}]", unit_name(Dimension::MASS));
        draw_names(canvas, MASSES, &name, "number with mass ≥ m", 76.0)?;
        let left = MASSES.left;
        for (i, Shown { style, objects }) in self.lists.iter().enumerate() {
            let key = format!("{} ({})", style.name, objects.n_rows);
            draw_key(canvas, left + 200.0 * i as f64, style.line.0, &key)?;
        }
        if self.lists.iter().all(|list| list.objects.masses.is_empty()) {
            let middle = ((MASSES.left + MASSES.right) / 2.0, (MASSES.top + MASSES.bottom) / 2.0);
            canvas.text("nothing found", middle, TITLE, Anchor::Top)?;
        }
        Ok(())
    }

    fn mass_axes(&self) -> (PlotAxis, PlotAxis) {
        let masses = || self.lists.iter().map(|list| &list.objects.masses);
        let least = masses().filter_map(|m| m.last()).copied().fold(f64::NAN, f64::min);
        let most = masses().map(|m| m.len()).max().unwrap_or(0).max(1) as f64;
        (PlotAxis::log(least / 1.3, self.largest() * 1.3), PlotAxis::log(0.8, most.max(2.0) * 1.4))
    }

    /// The largest mass of all lists.
    fn largest(&self) -> f64 {
        self.lists.iter().map(|list| list.objects.largest()).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// The beginning of a subtitle, as far as it fits.
fn cut(subtitle: &str) -> String {
    if subtitle.chars().count() <= SUBTITLE_LENGTH {
        return subtitle.into();
    }
    subtitle.chars().take(SUBTITLE_LENGTH - 4).chain(" ...".chars()).collect()
}

/// The cumulative mass function in pixels, as a staircase; steps too small to see are skipped.
fn steps(masses: &[f64], x: PlotAxis, y: PlotAxis) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (i, mass) in masses.iter().enumerate() {
        let across = MASSES.left + x.place(*mass) * (MASSES.right - MASSES.left);
        let up = MASSES.bottom - y.place(i as f64 + 1.0) * (MASSES.bottom - MASSES.top);
        let before = steps.last().copied().unwrap_or((across, MASSES.bottom));
        let seen = (before.0 - across).abs() > 0.5 || (before.1 - up).abs() > 0.5;
        if steps.is_empty() || seen || i + 1 == masses.len() {
            steps.extend([(across, before.1), (across, up)]);
        }
    }
    steps
}

fn map_frame([[x0, x1], [y0, y1]]: [[f64; 2]; 2]) -> Frame {
    let (width, height) = (x1 - x0, y1 - y0);
    let ratio = if width > 0.0 && height > 0.0 { (width / height).clamp(0.1, 10.0) } else { 1.0 };
    let (across, up) = (MAP_SIDE * ratio.min(1.0), MAP_SIDE / ratio.max(1.0));
    Frame { left: MAP_LEFT, top: TOP, right: MAP_LEFT + across.round(), bottom: TOP + up.round() }
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

fn viridis(place: f64) -> RGBColor {
    let [red, green, blue] = colour_at(place);
    RGBColor(red, green, blue)
}
