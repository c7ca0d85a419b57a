//! From density to colour, and the raster of a map.

use super::axis::{AxisScale, PlotAxis};
use crate::report::colour_choice::{ColourChoice, ColourScale};
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

/// The parts of the values below and above which all share the first and the last colour.
const ENDS: [f64; 2] = [0.01, 0.999];
/// Half of the values of a symmetric scale lie in its nearly linear middle, which is at least this part of
/// its end.
const LEAST_KNEE: f64 = 1e-3;

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

/// The values that the colours span: between quantiles of the maps, so that a few pixels do not darken all
/// others, or the chosen ones. One map value is `factor` shown ones, which limits are given in. With values
/// below 0, steps are equal unless another scale is chosen.
pub fn colour_axis<'a>(
    maps: impl Iterator<Item = &'a DensityMap>,
    choice: ColourChoice,
    factor: f64,
) -> PlotAxis {
    let values = maps.flat_map(|map| map.values.iter().copied());
    let mut values: Vec<f32> = values.filter(|value| value.is_finite()).collect();
    let has_negative = values.iter().any(|value| *value < 0.0);
    let scale = match choice.scale {
        ColourScale::Auto if has_negative => ColourScale::Linear,
        ColourScale::Auto => ColourScale::Log,
        chosen => chosen,
    };
    if scale == ColourScale::Log {
        values.retain(|value| *value > 0.0);
    }
    let [low, high] = match choice.limits {
        Some(limits) => limits.map(|limit| limit / factor),
        None => quantiles(&mut values, scale),
    };
    let scale = match scale {
        ColourScale::Linear | ColourScale::Auto => AxisScale::Linear,
        ColourScale::Log => AxisScale::Log,
        ColourScale::Sqrt => AxisScale::Sqrt,
        ColourScale::Symmetric => AxisScale::Symmetric { knee: knee(&mut values, low.abs().max(high.abs())) },
    };
    PlotAxis::new(low, high, scale)
}

/// The quantiles at [`ENDS`]; a symmetric scale has 0 in its middle.
fn quantiles(values: &mut [f32], scale: ColourScale) -> [f64; 2] {
    if values.is_empty() {
        return [f64::NAN; 2];
    }
    let [low, high] = ENDS.map(|part| f64::from(quantile(values, part)));
    match scale {
        ColourScale::Symmetric => [-low.abs().max(high.abs()), low.abs().max(high.abs())],
        _ => [low, high],
    }
}

fn quantile(values: &mut [f32], part: f64) -> f32 {
    let at = ((values.len() - 1) as f64 * part).round() as usize;
    *values.select_nth_unstable_by(at, f32::total_cmp).1
}

/// The median amount.
fn knee(values: &mut [f32], end: f64) -> f64 {
    values.iter_mut().for_each(|value| *value = value.abs());
    let median = if values.is_empty() { 0.0 } else { f64::from(quantile(values, 0.5)) };
    median.max(LEAST_KNEE * end).max(f64::MIN_POSITIVE)
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

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg::View;

    fn map(values: Vec<f32>) -> DensityMap {
        let view = View { low: [0.0; 3], sides: [1.0; 3], along: 2, pixels: [values.len(), 1] };
        DensityMap { view, values }
    }

    fn axis(values: Vec<f32>, scale: ColourScale, limits: Option<[f64; 2]>) -> PlotAxis {
        colour_axis([map(values)].iter(), ColourChoice { scale, limits }, 2.0)
    }

    #[test]
    fn a_few_pixels_do_not_set_the_range_of_colours() {
        let mut values: Vec<f32> = (1..=10_000).map(|i| 1.0 + i as f32 / 10_000.0).collect();
        values.extend([1e6, 1e-6]);
        let [low, high] = axis(values, ColourScale::Auto, None).ends();
        assert!((1.0..1.01).contains(&low) && (1.99..=2.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn values_below_0_have_equal_steps_and_chosen_scales_are_kept() {
        let values: Vec<f32> = (-50..=100).map(|i| i as f32).collect();
        let auto = axis(values.clone(), ColourScale::Auto, None);
        assert_eq!((auto.scale(), auto.ends()), (AxisScale::Linear, [-48.0, 100.0]));
        let log = axis(values.clone(), ColourScale::Log, None);
        assert!(log.scale() == AxisScale::Log && log.ends()[0] > 0.0);
        let both = axis(values.clone(), ColourScale::Symmetric, None);
        assert_eq!(both.ends(), [-100.0, 100.0]);
        // Limits are in shown units.
        assert_eq!(axis(values, ColourScale::Sqrt, Some([0.0, 8.0])).ends(), [0.0, 4.0]);
    }
}
