//! The whole picture, panel by panel.

use super::canvas::{Anchor, Canvas, Drawn, Frame, SCALE};
use super::colour::{Raster, colour_axis};
use super::counts::draw_counts;
use super::frames::{LABEL, SUBTITLE, TITLE, draw_kind_keys, draw_mark_key};
use super::kinds::{CircleMark, MOST_CIRCLES, MapCircle, Shown, circles, shown};
use super::map_panel::{MAP_SIDE, MapPanel, MapStyle};
use super::profile::draw_profile;
use super::{Beside, HEIGHT, PictureData, WIDTH};
use inselberg::DensityMap;
use plotters::prelude::DrawingBackend;

const MAP_LEFT: f64 = 130.0;
/// From the left edge of one map to that of the next.
const NEXT_MAP: f64 = 760.0;
const TOP: f64 = 136.0;
const BOTTOM: f64 = TOP + MAP_SIDE;
/// The positions of the title and of the keys of the panels.
const TITLE_LINE: f64 = 26.0;
const SUBTITLE_LINE: f64 = 54.0;
const KEY_LINES: [f64; 2] = [86.0, 114.0];
/// What is beside one map.
const BESIDE: Frame = Frame { left: 1070.0, top: TOP, right: 1590.0, bottom: BOTTOM };

/// A picture ready to be drawn.
pub struct PictureLayout<'a> {
    data: &'a PictureData<'a>,
    panels: Vec<MapPanel<'a>>,
    /// The maps in colours, in fine pixels.
    rasters: Vec<Raster>,
    beside: Frame,
    lists: Vec<Shown>,
    circles: Vec<MapCircle>,
}

impl<'a> PictureLayout<'a> {
    /// Lays out `data`, whose maps are complete.
    pub fn new(data: &'a PictureData<'a>) -> Self {
        let PictureData { space, units, values, sky, .. } = data;
        let colours = colour_axis(data.maps.iter(), data.colours, values.unit.factor);
        let style = MapStyle { space, units, sky: sky.as_ref(), values, colours };
        let panel = |(i, map): (usize, &'a DensityMap)| {
            MapPanel::new(map, style, MAP_LEFT + i as f64 * NEXT_MAP, TOP)
        };
        let panels: Vec<MapPanel<'a>> = data.maps.iter().enumerate().map(panel).collect();
        let raster = |panel: &MapPanel<'_>| {
            let (frame, pixels) = (panel.frame, |from: f64, to: f64| (to - from) as u32 * SCALE);
            let (width, height) = (pixels(frame.left, frame.right), pixels(frame.top, frame.bottom));
            Raster::new(panel.map, style.colours, width, height)
        };
        let lists = shown(data.catalogue, data.least);
        let mut circles = circles(&lists);
        circles.extend(data.labelled.clone());
        let wider = further_maps(data) * NEXT_MAP;
        Self {
            data,
            rasters: panels.iter().map(raster).collect(),
            panels,
            beside: Frame { left: BESIDE.left + wider, right: BESIDE.right + wider, ..BESIDE },
            lists,
            circles,
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
        let room = self.beside.right - MAP_LEFT;
        let title = cut(canvas, &self.data.title, TITLE, room);
        let subtitle = cut(canvas, &self.data.subtitle, SUBTITLE, room);
        canvas.text(&title, (MAP_LEFT, TITLE_LINE), TITLE, Anchor::Left)?;
        canvas.text(&subtitle, (MAP_LEFT, SUBTITLE_LINE), SUBTITLE, Anchor::Left)?;
        for panel in &self.panels {
            self.circles.iter().try_for_each(|circle| panel.draw_circle(canvas, circle))?;
            panel.draw_axes(canvas)?;
            panel.draw_scale_bar(canvas)?;
        }
        self.draw_map_keys(canvas)?;
        if let Some(last) = self.panels.last().filter(|panel| panel.has_values()) {
            last.draw_colours(canvas)?;
            last.draw_values(canvas)?;
        }
        match &self.data.beside {
            Beside::Counts { marked } => self.draw_counts(canvas, *marked),
            Beside::Profile(profile) => draw_profile(canvas, self.beside, profile, &self.data.units),
        }
    }

    /// The keys of the circles, in two lines if one has no room.
    fn draw_map_keys<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        let keys = self.map_keys();
        let width = |name: &String| 58.0 + canvas.width(name, LABEL);
        let room = self.beside.left - 40.0 - MAP_LEFT;
        let all: f64 = keys.iter().map(|(_, name)| width(name)).sum();
        let mut line = if all > room { 0 } else { 1 };
        let mut at = MAP_LEFT;
        for (mark, name) in &keys {
            if at + width(name) > MAP_LEFT + room && line == 0 {
                (line, at) = (1, MAP_LEFT);
            }
            at = match mark {
                Some(mark) => draw_mark_key(canvas, (at, KEY_LINES[line]), *mark, name)?,
                None => {
                    canvas.text(name, (at, KEY_LINES[line]), LABEL, Anchor::Left)?;
                    at + width(name) - 34.0
                }
            };
        }
        Ok(())
    }

    /// The names of the circles, and what their sizes mean.
    fn map_keys(&self) -> Vec<(Option<CircleMark>, String)> {
        let mut keys = Vec::new();
        for list in &self.lists {
            let mut name = list.kind.name.to_string();
            if list.drawn.n_large > MOST_CIRCLES {
                name += &format!(" (largest {MOST_CIRCLES})");
            }
            if list.is_bound() {
                name += " (half-mass radius)";
            }
            keys.push((Some(list.kind.mark), name));
            if list.has_singles() {
                let mark = CircleMark { has_dot: true, ..list.kind.mark };
                keys.push((Some(mark), "halo of one clump".into()));
            }
        }
        let is_sized = |list: &&Shown| !list.is_bound();
        let mut notes = Vec::new();
        if let Some(list) = self.lists.iter().find(is_sized) {
            notes.push(match list.objects.radii {
                Some(_) => "circles: true size".to_string(),
                None => "area of a circle: mass".into(),
            });
        }
        let least = self.data.least.words();
        notes.extend((!least.is_empty()).then_some(least));
        keys.extend((!notes.is_empty()).then(|| (None, notes.join(", "))));
        keys
    }

    fn draw_counts<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>, marked: Option<f64>) -> Drawn {
        draw_kind_keys(canvas, (self.beside.left, KEY_LINES[1]), &self.lists)?;
        draw_counts(canvas, self.beside, &self.lists, &self.data.units, marked)
    }
}

fn further_maps(data: &PictureData<'_>) -> f64 {
    data.maps.len().max(1) as f64 - 1.0
}

/// The beginning of a text, as far as it fits.
fn cut<B: DrawingBackend>(canvas: &Canvas<'_, B>, text: &str, size: f64, room: f64) -> String {
    if canvas.width(text, size) <= room {
        return text.into();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() && canvas.width(&(kept.iter().collect::<String>() + " ..."), size) > room {
        kept.pop();
    }
    kept.into_iter().collect::<String>() + " ..."
}
