//! Errors of columns by the noise of pixels.
//!
//! Noise of standard deviation s, independent from beam to beam, changes a function f of the values T of a
//! fixed set of pixels by a random number with the variance B s2 sum((df/dT)2), B being pixels per beam. Of a
//! variance V along an axis, df/dT is (x2 - V) / sum(T), with x from the centre. Its square needs the sum of
//! x4, which is taken as that of an evenly filled ellipse, or ellipsoid, with the same sum of x2.

use super::observer::Observation;
use super::pixels::{ColumnList, PixelRow};

/// The mean of x4 over the square of the mean of x2, of an even ellipse.
const ELLIPSE: f64 = 2.0;
/// The same of an even ellipsoid.
const ELLIPSOID: f64 = 15.0 / 7.0;

/// How values are spread along both axes on the sky, or along the spectral axis twice: variances, sums of
/// squares over pixels, and the covariance matrix of the errors of the variances.
struct SpreadErrors {
    variances: [f64; 2],
    errors: [[f64; 2]; 2],
}

impl SpreadErrors {
    /// `squares` are sums over the pixels of squares of displacements along two axes, `fourth` is for the sum
    /// of fourth powers.
    fn new(of: &Observation, row: &PixelRow, variances: [f64; 2], squares: [f64; 2]) -> Self {
        let n = row.n as f64;
        let fourth = if of.channel_axis.is_some() { ELLIPSOID } else { ELLIPSE };
        let scale = (of.noise_of_sum(row) / row.sum).powi(2) / n;
        let error = |a: usize, b: usize| {
            // Of round bodies the mean of x2 y2 is a third of that of x4.
            let products = squares[a] * squares[b] / n * if a == b { fourth } else { fourth / 3.0 };
            let both = variances[a] * squares[b] + variances[b] * squares[a];
            scale * (products - both + n * variances[a] * variances[b])
        };
        Self { variances, errors: [[error(0, 0), error(0, 1)], [error(1, 0), error(1, 1)]] }
    }

    /// Of the axes on the sky. The pixels are as long as the values are spread.
    fn on_sky(of: &Observation, row: &PixelRow) -> Self {
        let (variances, _) = row.axes();
        let whole: f64 = of.sky_axes.iter().map(|axis| row.shape.spread[*axis].max(0.0)).sum();
        let both = variances[0] + variances[1];
        Self::new(of, row, variances, variances.map(|variance| whole * variance / both))
    }

    /// Of the spectral axis.
    fn along(of: &Observation, row: &PixelRow, axis: usize) -> Self {
        let (variance, squares) = (row.shape.squares[axis], row.shape.spread[axis].max(0.0));
        Self::new(of, row, [variance; 2], [squares; 2])
    }

    /// The error of the standard deviation along an axis.
    fn of_sigma(&self, axis: usize) -> f64 {
        0.5 * (self.errors[axis][axis] / self.variances[axis]).sqrt()
    }

    /// The error of the root of both standard deviations.
    fn of_radius(&self) -> f64 {
        let [[a, c], [_, b]] = self.errors;
        let [v, w] = self.variances;
        0.25 * (v * w).powf(0.25) * (a / (v * v) + b / (w * w) + 2.0 * c / (v * w)).sqrt()
    }
}

impl Observation {
    /// The noise of a sum over pixels, of which those of a beam have one noise.
    fn noise_of_sum(&self, row: &PixelRow) -> f64 {
        self.noise.unwrap_or(f64::NAN) * (row.n as f64 * self.pixels_per_beam()).sqrt()
    }
}

impl ColumnList<'_> {
    /// Adds significances and errors, where the noise is known.
    pub fn errors(&mut self) {
        let Some(noise) = self.observed.noise else { return };
        let of_density = self.observed.noise_of_density.unwrap_or(noise);
        self.add("peak_snr", "", "peak over the noise", move |_, row| row.peak / of_density);
        self.add("snr_integrated", "", "sum of its values over the noise of this sum", |of, row| {
            row.sum / of.noise_of_sum(row)
        });
        if let Some(janskys) = self.observed.units_of_values().0 {
            self.add("flux_error", "Jy", "noise of flux", move |of, row| janskys * of.noise_of_sum(row));
        }
        let error = move |of: &Observation, row: &PixelRow, axis: usize| {
            noise * (row.shape.spread[axis].max(0.0) * of.pixels_per_beam()).sqrt() / row.sum
        };
        let [length, _] = self.sky_units();
        let names =
            [("x_error", "noise of the centre along longitude"), ("y_error", "the same along latitude")];
        for ((name, text), axis) in names.into_iter().zip(self.observed.sky_axes) {
            self.add(name, length, text, move |of, row| of.pixel.unwrap_or(1.0) * error(of, row, axis));
        }
        if let Some(axis) = self.observed.channel_axis {
            let width = self.channel_unit();
            self.add("v_error", width, "noise of the centre along the spectral axis", move |of, row| {
                of.channel.unwrap_or(1.0) * error(of, row, axis)
            });
        }
        self.errors_of_sizes();
    }

    fn errors_of_sizes(&mut self) {
        let [length, _] = self.sky_units();
        let pixel = |of: &Observation| of.pixel.unwrap_or(1.0);
        for (axis, name, text) in [
            (0, "major_sigma_error", "noise of major_sigma"),
            (1, "minor_sigma_error", "noise of minor_sigma"),
        ] {
            self.add(name, length, text, move |of, row| {
                pixel(of) * SpreadErrors::on_sky(of, row).of_sigma(axis)
            });
        }
        self.add("radius_error", length, "noise of radius", move |of, row| {
            pixel(of) * SpreadErrors::on_sky(of, row).of_radius()
        });
        if let Some(axis) = self.observed.channel_axis {
            self.add("v_rms_error", self.channel_unit(), "noise of v_rms", move |of, row| {
                of.channel.unwrap_or(1.0) * SpreadErrors::along(of, row, axis).of_sigma(0)
            });
        }
    }
}
