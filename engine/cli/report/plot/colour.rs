//! From density to colour, and the raster of a map.

use super::axis::PlotAxis;
use inselberg::DensityMap;

/// Eleven evenly spaced colours of matplotlib's map inferno, dark to light. Its lightness rises evenly, so it
/// reads the same without colours and with every kind of colour vision.
const INFERNO: [[u8; 3]; 11] = [
    [0, 0, 4],
    [22, 11, 57],
    [66, 10, 104],
    [106, 23, 110],
    [147, 38, 103],
    [188, 55, 84],
    [221, 81, 58],
    [243, 120, 25],
    [252, 165, 10],
    [246, 215, 70],
    [252, 255, 164],
];

/// The part of the darkest pixels that share the darkest colour.
const DARK_PART: f64 = 0.01;

/// RGB pixels, three bytes each, the top row first.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    pub width: u32,
    pub height: u32,
    pub pixels: Vec<u8>,
}

/// The colour at `place`, from 0 to 1.
pub fn colour_at(place: f64) -> [u8; 3] {
    let last = INFERNO.len() - 1;
    let at = if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) } * last as f64;
    let below = (at as usize).min(last - 1);
    let part = at - below as f64;
    let mix =
        |c: usize| f64::from(INFERNO[below][c]) * (1.0 - part) + f64::from(INFERNO[below + 1][c]) * part;
    [0, 1, 2].map(|c| mix(c).round() as u8)
}

/// The range of values that the colours span.
pub fn colour_axis<'a>(maps: impl Iterator<Item = &'a DensityMap>) -> PlotAxis {
    let values = maps.flat_map(|map| map.values.iter().copied());
    let mut values: Vec<f32> = values.filter(|v| v.is_finite() && *v > 0.0).collect();
    if values.is_empty() {
        return PlotAxis::log(f64::NAN, f64::NAN);
    }
    let dark = ((values.len() - 1) as f64 * DARK_PART) as usize;
    let low = *values.select_nth_unstable_by(dark, f32::total_cmp).1;
    let high = values.iter().copied().fold(low, f32::max);
    PlotAxis::log(low.into(), high.into())
}

/// The colours of an indexed picture.
pub fn palette() -> Vec<u8> {
    (0..=255).flat_map(|index| colour_at(f64::from(index) / 255.0)).collect()
}

/// The pixels of a map as indices into [`palette`], the top row first.
pub fn indexed(map: &DensityMap, axis: PlotAxis) -> Vec<u8> {
    let index = |value: &f32| {
        let place = axis.place(f64::from(*value));
        if place.is_nan() { 0 } else { (place.clamp(0.0, 1.0) * 255.0).round() as u8 }
    };
    map.values.chunks(map.view.pixels[0]).rev().flatten().map(index).collect()
}

impl Raster {
    /// A map in colours at the given size, with means of pixels if it shrinks.
    pub fn new(map: &DensityMap, axis: PlotAxis, width: u32, height: u32) -> Self {
        let [n_columns, n_rows] = map.view.pixels;
        let mut pixels = Vec::with_capacity((width * height * 3) as usize);
        for row in (0..height).rev() {
            let rows = covered(row, height, n_rows);
            for column in 0..width {
                let columns = covered(column, width, n_columns);
                let value = mean(map, columns, rows.clone());
                pixels.extend(colour_at(axis.place(value)));
            }
        }
        Self { width, height, pixels }
    }

    /// Copies the raster, with its upper left corner at `corner`, into a picture `width` pixels wide.
    pub fn copy_into(&self, picture: &mut [u8], width: u32, corner: (u32, u32)) {
        let row_bytes = (self.width * 3) as usize;
        if row_bytes == 0 {
            return;
        }
        for (y, row) in self.pixels.chunks(row_bytes).enumerate() {
            let start = ((corner.1 as usize + y) * width as usize + corner.0 as usize) * 3;
            picture[start..start + row_bytes].copy_from_slice(row);
        }
    }
}

/// The pixels of `n` under pixel `at` of `size`: at least one.
fn covered(at: u32, size: u32, n: usize) -> std::ops::Range<usize> {
    let start = at as usize * n / size as usize;
    let end = (at as usize + 1) * n / size as usize;
    start..end.max(start + 1).min(n)
}

fn mean(map: &DensityMap, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> f64 {
    let n_pixels = (columns.len() * rows.len()).max(1) as f64;
    let row_sum = |row: usize| {
        let row = &map.values[row * map.view.pixels[0]..][columns.clone()];
        row.iter().map(|v| f64::from(*v)).sum::<f64>()
    };
    rows.map(row_sum).sum::<f64>() / n_pixels
}
