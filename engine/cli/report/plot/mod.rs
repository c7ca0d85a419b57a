//! The picture of a catalogue: the projected density with its clumps, and the mass functions.
//!
//! | file | content |
//! |---|---|
//! | `layout` | the whole picture, panel by panel |
//! | `map_panel` | one of its maps |
//! | `counts`, `profile` | beside them: cumulative numbers, or the profile of one object |
//! | `figures` | a map, and mass functions, for pages |
//! | `kinds` | the kinds of objects, with one colour each, and their circles |
//! | `objects` | places, masses and sizes of objects |
//! | `frames` | axes, grids, names and keys around a frame |
//! | `colours` | the colours of marks and grounds |
//! | `axis` | scales, ticks and their labels |
//! | `distribution` | another picture: volume and mass above each density |
//! | `atlas` | other pictures: counts along thresholds and over pairs, births and deaths of peaks |
//! | `comparison` | other pictures: found objects by size, and ratios of pairs |
//! | `history` | another picture: the history of a track of a merger tree |
//! | `canvas` | lines, circles and texts in pixels, on any backend of plotters |
//! | `colour` | from density to colour, and the raster of the map |
//! | `sight` | the place on a map of a position in the box, and scale bars |
//! | `sky_axes` | sky coordinates and velocities along the edges of maps of images |
//!
//! Fonts are built in.

mod atlas;
pub(crate) mod axis;
pub(crate) mod canvas;
pub(crate) mod colour;
mod colours;
mod comparison;
mod counts;
mod distribution;
mod figures;
mod frames;
mod history;
pub(crate) mod kinds;
mod layout;
mod map_panel;
pub(crate) mod objects;
mod profile;
mod sight;
pub(crate) mod sky_axes;

use super::colour_choice::ColourChoice;
use super::least_drawn::LeastDrawn;
use super::units::DisplayUnits;
pub(crate) use atlas::{barcode_svg, mass_functions_svg, persistence_svg, plane_svg, threshold_svg};
use canvas::{Canvas, Drawn, SCALE};
use colour::Raster;
pub(crate) use comparison::{completeness_svg, ratios_svg};
pub use distribution::stage_distribution;
pub(crate) use figures::{map_svg, masses_svg};
pub(crate) use frames::{draw_axes, draw_grid, draw_names};
pub use history::{history_svg, stage_history};
use inselberg::phew::image::ImageSky;
use inselberg::{DensityMap, MapBox};
use inselberg_io::catalogue::Catalogue;
use inselberg_io::staging::mark::MARK;
use inselberg_io::staging::{Staged, WriteError, WriteResult, check_writable, stage_file};
use kinds::MapCircle;
use layout::PictureLayout;
pub(crate) use map_panel::MapStyle;
use plotters::prelude::{BitMapBackend, DrawingBackend, IntoDrawingArea, SVGBackend};
pub use profile::RadialProfile;
pub use sky_axes::ShownValues;
use std::path::Path;

/// Width of a picture of one map in pixels.
pub const WIDTH: u32 = 1620;
/// Height of the picture in pixels.
pub const HEIGHT: u32 = 826;

/// The content of a picture.
#[derive(Debug, Clone)]
pub struct PictureData<'a> {
    /// The title above the picture.
    pub title: String,
    /// A smaller line below it, cut to the width of the picture; may be empty.
    pub subtitle: String,
    /// The maps, side by side. One without values is dark, for circles alone.
    pub maps: Vec<DensityMap>,
    /// Their box. Where an axis is periodic, a circle over its edge continues on the other side.
    pub space: MapBox,
    /// The sky of an image.
    pub sky: Option<ImageSky>,
    /// What the values of the maps are.
    pub values: ShownValues,
    /// How values become colours.
    pub colours: ColourChoice,
    /// The units of positions and masses.
    pub units: DisplayUnits,
    /// Further circles, with their labels.
    pub labelled: Vec<MapCircle>,
    /// What is beside the maps.
    pub beside: Beside,
    /// Smaller objects get no circle.
    pub least: LeastDrawn,
    /// Gives the centres and masses of the table `Groups` if there is one, or centres and radii of `voids`,
    /// else the peaks (`peak_position`, `mass`) of the tables `clumps` and `haloes`, either of which may be
    /// absent or empty.
    pub catalogue: &'a Catalogue,
}

/// What is beside the maps.
#[derive(Debug, Clone, PartialEq)]
pub enum Beside {
    /// The cumulative numbers of objects.
    Counts {
        /// A mass, or a radius of voids, that is marked.
        marked: Option<f64>,
    },
    /// The profile of one object.
    Profile(RadialProfile),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PictureFormat {
    Png,
    Svg,
}

/// Whether [`plot`] could write to `path` now; checked before a long run.
///
/// # Errors
/// The name ends in neither `.png` nor `.svg`, or the place cannot be written.
pub fn check_picture(path: &Path) -> WriteResult<()> {
    format_of(path)?;
    check_writable(path)
}

/// Draws the picture into `path`, a `.png` or `.svg`, completely or not at all.
///
/// # Errors
/// Those of [`check_picture`]; `projection` does not hold `n * n` values; a full disk.
pub fn plot(path: &Path, data: &PictureData<'_>) -> WriteResult<()> {
    stage_plot(path, data)?.commit()
}

/// As [`plot`], but the caller commits the file: for files that belong together.
///
/// # Errors
/// As [`plot`].
pub fn stage_plot(path: &Path, data: &PictureData<'_>) -> WriteResult<Staged> {
    format_of(path)?;
    for DensityMap { view, values } in &data.maps {
        let [width, height] = view.pixels;
        if values.len() != width * height || values.is_empty() {
            let problem = format!("{} values", values.len());
            return Err(WriteError::content(
                path,
                "a map",
                problem,
                format!("{width} x {height} values, 1 or more"),
            ));
        }
    }
    stage_drawing(path, &PictureLayout::new(data))
}

/// A picture that can be drawn on any backend.
trait Drawing {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// The maps under everything else, each with its upper left corner.
    fn rasters(&self) -> Vec<(&Raster, (u32, u32))> {
        Vec::new()
    }

    /// The same in an SVG.
    fn images(&self) -> Result<String, String> {
        self.rasters().into_iter().map(|(raster, corner)| svg_image(raster, corner)).collect()
    }

    /// Draws lines and texts.
    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn;
}

impl Drawing for PictureLayout<'_> {
    fn size(&self) -> (u32, u32) {
        self.size()
    }

    fn rasters(&self) -> Vec<(&Raster, (u32, u32))> {
        self.rasters()
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<'_, B>) -> Drawn {
        self.draw(canvas)
    }
}

/// Draws into `path`; the caller commits the file.
fn stage_drawing(path: &Path, drawing: &impl Drawing) -> WriteResult<Staged> {
    let drawn = match format_of(path)? {
        PictureFormat::Png => draw_png(drawing),
        PictureFormat::Svg => draw_svg(drawing).map(String::into_bytes),
    };
    let bytes = drawn.map_err(|problem| {
        let place = "drawing".to_string();
        WriteError::Library { path: path.into(), place, problem }
    })?;
    stage_file(path, |out| out.write_all(&bytes))
}

fn format_of(path: &Path) -> WriteResult<PictureFormat> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("png") => Ok(PictureFormat::Png),
        Some("svg") => Ok(PictureFormat::Svg),
        _ => Err(WriteError::target(path, "not the name of a picture", "a name in .png or .svg")),
    }
}

fn draw_png(drawing: &impl Drawing) -> Result<Vec<u8>, String> {
    let (width, height) = drawing.size();
    // Everything is drawn finely, then averaged.
    let size = (width * SCALE, height * SCALE);
    let mut fine = vec![255; (size.0 * size.1 * 3) as usize];
    for (raster, corner) in drawing.rasters() {
        raster.copy_into(&mut fine, size.0, corner);
    }
    let area = BitMapBackend::with_buffer(&mut fine, size).into_drawing_area();
    drawing.draw(&Canvas::new(&area, true)?)?;
    area.present().map_err(|e| e.to_string())?;
    drop(area);
    encode_png(width, height, &averaged(&fine, width, height))
}

/// Means over squares of [`SCALE`] fine pixels a side.
fn averaged(fine: &[u8], width: u32, height: u32) -> Vec<u8> {
    let value = |x: u32, y: u32, c: u32| u32::from(fine[((y * width * SCALE + x) * 3 + c) as usize]);
    let mean = |x: u32, y: u32, c: u32| {
        let square = (0..SCALE * SCALE).map(|i| value(x * SCALE + i % SCALE, y * SCALE + i / SCALE, c));
        (square.sum::<u32>() / (SCALE * SCALE)) as u8
    };
    (0..width * height * 3).map(|i| mean(i / 3 % width, i / 3 / width, i % 3)).collect()
}

fn draw_svg(drawing: &impl Drawing) -> Result<String, String> {
    let (width, height) = drawing.size();
    let fine = (width * SCALE, height * SCALE);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, fine).into_drawing_area();
    drawing.draw(&Canvas::new(&area, false)?)?;
    area.present().map_err(|e| e.to_string())?;
    drop(area);
    // The maps lie under everything that is drawn: they follow the opening tag.
    let opening = text.find("<svg").and_then(|at| text[at..].find('>').map(|end| at + end + 1));
    let ground = "<rect x=\"0\" y=\"0\" width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>";
    let first = format!("\n<!-- {MARK} -->\n{ground}{}", drawing.images()?);
    text.insert_str(opening.ok_or("no svg tag")?, &first);
    let fine_size = format!("width=\"{}\" height=\"{}\"", fine.0, fine.1);
    Ok(text.replacen(&fine_size, &format!("width=\"{width}\" height=\"{height}\""), 1))
}

fn svg_image(raster: &Raster, (x, y): (u32, u32)) -> Result<String, String> {
    let (width, height) = (raster.width, raster.height);
    let data = base64(&encode_png(width, height, &raster.pixels)?);
    Ok(format!(
        "\n<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
         href=\"data:image/png;base64,{data}\"/>"
    ))
}

fn encode_png(width: u32, height: u32, rgb: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.add_text_chunk("Software".into(), MARK.into()).map_err(|e| e.to_string())?;
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Best);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(rgb));
    written.map_err(|e| e.to_string()).map(|()| bytes)
}

/// A PNG of indices into a palette of 256 colours.
fn encode_indexed_png([width, height]: [usize; 2], indices: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(colour::palette());
    encoder.set_compression(png::Compression::Best);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(indices));
    written.map_err(|e| e.to_string()).map(|()| bytes)
}

/// Bytes in base 64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().enumerate().fold(0u32, |w, (i, b)| w | u32::from(*b) << (16 - 8 * i));
        let digits = (0..4).map(|i| char::from(DIGITS[(word >> (18 - 6 * i) & 63) as usize]));
        text.extend(digits.take(three.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
