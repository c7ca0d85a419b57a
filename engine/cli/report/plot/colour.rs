//! From density to colour, and the raster of the map.

use super::PictureData;
use super::axis::PlotAxis;

/// Ten evenly spaced colours of the map viridis, dark to light.
const VIRIDIS: [[u8; 3]; 10] = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 73, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
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
    let last = VIRIDIS.len() - 1;
    let at = if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) } * last as f64;
    let below = (at as usize).min(last - 1);
    let part = at - below as f64;
    let mix =
        |c: usize| f64::from(VIRIDIS[below][c]) * (1.0 - part) + f64::from(VIRIDIS[below + 1][c]) * part;
    [0, 1, 2].map(|c| mix(c).round() as u8)
}

/// The range of values that the colours span.
pub fn colour_axis(projection: &[f32]) -> PlotAxis {
    let mut values: Vec<f32> = projection.iter().copied().filter(|v| v.is_finite() && *v > 0.0).collect();
    if values.is_empty() {
        return PlotAxis::log(f64::NAN, f64::NAN);
    }
    let dark = ((values.len() - 1) as f64 * DARK_PART) as usize;
    let low = *values.select_nth_unstable_by(dark, f32::total_cmp).1;
    let high = values.iter().copied().fold(low, f32::max);
    PlotAxis::log(low.into(), high.into())
}

impl Raster {
    /// The projection in colours at the given size: means of pixels where it must shrink.
    pub fn new(data: &PictureData<'_>, axis: PlotAxis, width: u32, height: u32) -> Self {
        let mut pixels = Vec::with_capacity((width * height * 3) as usize);
        for row in (0..height).rev() {
            let rows = covered(row, height, data.n);
            for column in 0..width {
                let columns = covered(column, width, data.n);
                let value = mean(data, columns, rows.clone());
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

/// The pixels of `n` under pixel `at` of `size`: at least one if there are any.
fn covered(at: u32, size: u32, n: usize) -> std::ops::Range<usize> {
    let start = at as usize * n / size as usize;
    let end = (at as usize + 1) * n / size as usize;
    start..end.max(start + 1).min(n)
}

fn mean(data: &PictureData<'_>, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> f64 {
    let n_pixels = (columns.len() * rows.len()).max(1) as f64;
    let row_sum = |row: usize| {
        let row = &data.projection[row * data.n..][columns.clone()];
        row.iter().map(|v| f64::from(*v)).sum::<f64>()
    };
    rows.map(row_sum).sum::<f64>() / n_pixels
}
