//! Errors of columns by the noise of pixels.
//!
//! Noise of standard deviation s, independent from beam to beam, changes a function f of the values T of a
//! fixed set of pixels by a random number with the variance B s2 sum((df/dT)2), B being pixels per beam. Of a
//! variance V along an axis, df/dT is (x2 - V) / sum(T), with x from the centre. Its square needs the sum of
//! x4, which is taken as that of an evenly filled ellipse, or ellipsoid, with the same sum of x2.
//!
//! Of a product of powers, such as R v2 / L, df/dT is the sum of those of its factors, so that errors which
//! they share count once.

use super::observer::{Beam, Observation};
use super::pixels::{ColumnList, PixelRow};
use std::f64::consts::LN_2;

/// The mean of x4 over the square of the mean of x2, of an even ellipse.
const ELLIPSE: f64 = 2.0;
/// The same of an even ellipsoid.
const ELLIPSOID: f64 = 15.0 / 7.0;

/// The axes of a structure whose variances have errors: major, minor and spectral.
const MAJOR: usize = 0;
const MINOR: usize = 1;
const SPECTRAL: usize = 2;

/// How values are spread along the major, the minor and the spectral axis, and what noise changes.
struct SpreadErrors {
    n: f64,
    /// Variances.
    variances: [f64; 3],
    /// Sums over pixels of squares of displacements.
    squares: [f64; 3],
    /// The mean of x4 over the square of the mean of x2.
    fourth: f64,
    /// B s2 / sum(T)2.
    scale: f64,
}

/// A small change of a quantity, as factors of the changes of variances, of the covariance of the major and
/// the minor axis, and of the logarithm of the sum of values.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    variances: [f64; 3],
    covariance: f64,
    sum: f64,
}

impl Change {
    /// The change of the logarithm of a product.
    fn times(self, other: Self) -> Self {
        Self {
            variances: std::array::from_fn(|a| self.variances[a] + other.variances[a]),
            covariance: self.covariance + other.covariance,
            sum: self.sum + other.sum,
        }
    }
}

impl SpreadErrors {
    /// The pixels are as long on the sky as the values are spread.
    fn new(of: &Observation, row: &PixelRow) -> Self {
        let ([major, minor], _) = row.axes();
        let whole: f64 = of.sky_axes.iter().map(|axis| row.shape.spread[*axis].max(0.0)).sum();
        let [on_major, on_minor] = [major, minor].map(|variance| whole * variance / (major + minor));
        let (along, on_spectral) =
            of.channel_axis.map_or((0.0, 0.0), |a| (row.shape.squares[a], row.shape.spread[a].max(0.0)));
        let n = row.n as f64;
        Self {
            n,
            variances: [major, minor, along],
            squares: [on_major, on_minor, on_spectral],
            fourth: if of.channel_axis.is_some() { ELLIPSOID } else { ELLIPSE },
            scale: (of.noise_of_sum(row) / row.sum).powi(2) / n,
        }
    }

    /// The mean product of the errors of two variances.
    fn of_variances(&self, a: usize, b: usize) -> f64 {
        let (v, s) = (&self.variances, &self.squares);
        self.scale * (self.products(a, b) - v[a] * s[b] - v[b] * s[a] + self.n * v[a] * v[b])
    }

    /// The sum over pixels of x2 y2. Of round bodies its mean is a third of that of x4.
    fn products(&self, a: usize, b: usize) -> f64 {
        let fourth = if a == b { self.fourth } else { self.fourth / 3.0 };
        self.squares[a] * self.squares[b] / self.n * fourth
    }

    /// The error of what changes like this.
    fn of(&self, change: &Change) -> f64 {
        let g = &change.variances;
        let mut square = self.scale * self.n * change.sum * change.sum;
        square += self.scale * self.products(MAJOR, MINOR) * change.covariance * change.covariance;
        for a in 0..3 {
            square += 2.0 * g[a] * change.sum * self.scale * (self.squares[a] - self.n * self.variances[a]);
            square += (0..3).map(|b| g[a] * g[b] * self.of_variances(a, b)).sum::<f64>();
        }
        square.sqrt()
    }

    /// The error of the standard deviation along an axis.
    fn of_sigma(&self, axis: usize) -> f64 {
        0.5 * (self.of_variances(axis, axis) / self.variances[axis]).sqrt()
    }
}

impl Observation {
    /// The noise of a sum over pixels, of which those of a beam have one noise.
    fn noise_of_sum(&self, row: &PixelRow) -> f64 {
        self.noise.unwrap_or(f64::NAN) * (row.n as f64 * self.pixels_per_beam()).sqrt()
    }

    /// The change of the logarithm of the radius, without the beam `beam` where it is given. The radius is the
    /// fourth root of the determinant of the matrix of variances less that of the beam.
    fn change_of_radius(&self, row: &PixelRow, beam: Option<&Beam>) -> Change {
        let ([major, minor], _) = row.axes();
        let [a, b, c] = beam.map_or([0.0; 3], |beam| self.beam_along_axes(row, beam));
        let (a, b, c) = (major - a, minor - b, -c);
        let det = 4.0 * (a * b - c * c);
        Change { variances: [b / det, a / det, 0.0], covariance: -2.0 * c / det, sum: 0.0 }
    }

    /// Variances of the beam along the major and the minor axis of a structure, and their covariance, in
    /// pixels.
    fn beam_along_axes(&self, row: &PixelRow, beam: &Beam) -> [f64; 3] {
        let pixel = self.pixel.unwrap_or(1.0);
        let [major, minor] = [beam.major, beam.minor].map(|width| (width / pixel).powi(2) / (8.0 * LN_2));
        let (sin, cos) = (beam.angle.to_radians() - self.angle_from_north(row)).sin_cos();
        let (sin2, cos2) = (sin * sin, cos * cos);
        [major * cos2 + minor * sin2, major * sin2 + minor * cos2, (major - minor) * sin * cos]
    }

    /// The change of the logarithm of the square of the width without that of a channel.
    fn change_of_width2(&self, row: &PixelRow) -> Change {
        let width = self.resolved_width(row) / self.channel.unwrap_or(f64::NAN);
        Change { variances: [0.0, 0.0, 1.0 / (width * width)], ..Change::default() }
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
        self.errors_of_distance();
    }

    fn errors_of_sizes(&mut self) {
        let [length, _] = self.sky_units();
        let pixel = |of: &Observation| of.pixel.unwrap_or(1.0);
        for (axis, name, text) in [
            (MAJOR, "major_sigma_error", "noise of major_sigma"),
            (MINOR, "minor_sigma_error", "noise of minor_sigma"),
        ] {
            self.add(name, length, text, move |of, row| {
                pixel(of) * SpreadErrors::new(of, row).of_sigma(axis)
            });
        }
        self.add("radius_error", length, "noise of radius", move |of, row| {
            let error = SpreadErrors::new(of, row).of(&of.change_of_radius(row, None));
            pixel(of) * row.radius() * error
        });
        if self.observed.channel_axis.is_some() {
            self.add("v_rms_error", self.channel_unit(), "noise of v_rms", move |of, row| {
                of.channel.unwrap_or(1.0) * SpreadErrors::new(of, row).of_sigma(SPECTRAL)
            });
        }
        if self.observed.channel.is_some() {
            let text = "noise of v_rms_deconvolved";
            self.add("v_rms_deconvolved_error", "km/s", text, |of, row| {
                let error = SpreadErrors::new(of, row).of(&of.change_of_width2(row));
                0.5 * of.resolved_width(row) * error
            });
        }
    }

    /// Adds the errors of what needs a distance. Those of the distance and of `alpha_co` are not in them.
    fn errors_of_distance(&mut self) {
        let Some(distance) = self.observed.distance.filter(|_| self.observed.pixel.is_some()) else { return };
        let radius = |of: &Observation, row: &PixelRow| of.change_of_radius(row, of.beam.as_ref());
        self.add("radius_pc_error", "pc", "noise of radius_pc", move |of, row| {
            of.radius(row, distance) * SpreadErrors::new(of, row).of(&radius(of, row))
        });
        if self.observed.channel.is_none() {
            return;
        }
        let has_kelvins = self.observed.units_of_values().1.is_some();
        if has_kelvins {
            self.add("luminosity_error", "K km s-1 pc2", "noise of luminosity", move |of, row| {
                of.luminosity(row, distance) * of.noise_of_sum(row) / row.sum
            });
            self.add("mass_luminous_error", "solMass", "noise of mass_luminous", move |of, row| {
                of.luminous_mass(row, distance) * of.noise_of_sum(row) / row.sum
            });
        }
        let virial = move |of: &Observation, row: &PixelRow| radius(of, row).times(of.change_of_width2(row));
        self.add("mass_virial_error", "solMass", "noise of mass_virial", move |of, row| {
            of.virial_mass(row, distance) * SpreadErrors::new(of, row).of(&virial(of, row))
        });
        if has_kelvins {
            self.add("virial_parameter_error", "", "noise of virial_parameter", move |of, row| {
                let change = virial(of, row).times(Change { sum: -1.0, ..Change::default() });
                of.virial_parameter(row, distance) * SpreadErrors::new(of, row).of(&change)
            });
        }
    }
}
