//! Columns of observers: sizes, widths, fluxes and errors of the structures of an image or cube.
//!
//! Sizes and widths are those of astrodendro, under its names: second moments of the values above 0, about
//! their mean.

use super::observer::{Beam, Observation};
use crate::tables::column;
use inselberg_io::catalogue::{Dimension, Table, TableColumn, Values};
use inselberg_kernels::props::pixels::PixelShape;
use std::f64::consts::{LN_2, PI};

/// Full width at half maximum per standard deviation, with astrodendro's digits.
const FWHM: f64 = 2.3548;

/// Radius per standard deviation, of the clouds of Solomon et al. (1987).
const RADIUS: f64 = 1.91;
/// Arcseconds per radian.
const ARCSECONDS: f64 = 206_264.806_247_096_36;
/// The constant of gravity in pc (km/s)2 / Msun.
const GRAVITY: f64 = 4.300_917_27e-3;
/// Virial mass per pc (km/s)2 of a sphere whose density falls with the radius (MacLaren et al. 1988).
const VIRIAL: f64 = 1040.0;

/// A column of an observer.
pub struct ObserverColumn {
    pub name: &'static str,
    /// As FITS writes it; empty for none.
    pub unit: &'static str,
    description: &'static str,
    value: Box<ValueOfRow>,
}

/// The value of a column in a row.
type ValueOfRow = dyn Fn(&Observation, &PixelRow) -> f64;

/// A structure, in units of pixels and of values.
#[derive(Debug, Clone, Copy)]
pub struct PixelRow {
    /// Number of pixels.
    pub n: u64,
    /// Number of distinct places on the sky; `None` if that is not known.
    n_sky: Option<u64>,
    /// The sum of values.
    pub sum: f64,
    /// The greatest value.
    pub peak: f64,
    /// Its shape.
    pub shape: PixelShape,
    /// Mean squares along longitude and latitude, and their mean product.
    sky: [f64; 3],
}

impl PixelRow {
    /// The variances along the major and the minor axis, and the angle of the major axis from +x to +y.
    pub fn axes(&self) -> ([f64; 2], f64) {
        let [xx, yy, xy] = self.sky;
        let half = (0.25 * (xx - yy) * (xx - yy) + xy * xy).sqrt();
        let middle = 0.5 * (xx + yy);
        ([middle + half, (middle - half).max(0.0)], 0.5 * (2.0 * xy).atan2(xx - yy))
    }

    fn sigma(&self) -> [f64; 2] {
        self.axes().0.map(f64::sqrt)
    }

    /// The geometric mean of both standard deviations.
    pub fn radius(&self) -> f64 {
        let [major, minor] = self.sigma();
        (major * minor).sqrt()
    }
}

/// A structure without the beam: standard deviations in arcseconds; `None` if it is not larger.
fn deconvolved([major, minor]: [f64; 2], angle: f64, beam: &Beam) -> Option<[f64; 2]> {
    let sigma = (8.0 * LN_2).sqrt();
    let terms = |major: f64, minor: f64, angle: f64| {
        let (sin, cos) = angle.sin_cos();
        let (a, b) =
            ((major * cos).powi(2) + (minor * sin).powi(2), (major * sin).powi(2) + (minor * cos).powi(2));
        (a, b, 2.0 * (minor * minor - major * major) * sin * cos)
    };
    let own = terms(major, minor, angle);
    let of_beam = terms(beam.major / sigma, beam.minor / sigma, beam.angle.to_radians());
    let (a, b, g) = (own.0 - of_beam.0, own.1 - of_beam.1, own.2 - of_beam.2);
    let (s, t) = (a + b, ((a - b) * (a - b) + g * g).sqrt());
    (a > 0.0 && b > 0.0 && s > t).then(|| [(0.5 * (s + t)).sqrt(), (0.5 * (s - t)).sqrt()])
}

/// An angle in degrees from 0 to 180.
fn half_turn(radians: f64) -> f64 {
    let angle = radians.to_degrees().rem_euclid(180.0);
    if angle < 180.0 { angle } else { 0.0 }
}

impl Observation {
    /// The angle of the major axis from north to east, in radians.
    pub fn angle_from_north(&self, row: &PixelRow) -> f64 {
        let (sin, cos) = row.axes().1.sin_cos();
        let [east, north] = self.block.map(|[x, y]| x * cos + y * sin);
        east.atan2(north)
    }

    /// Standard deviations without the beam, in the unit of pixels; NaN if the structure is not resolved. As
    /// they are where the beam is not known.
    fn resolved(&self, row: &PixelRow) -> [f64; 2] {
        let pixel = self.pixel.unwrap_or(1.0);
        let raw = row.sigma().map(|sigma| sigma * pixel);
        match &self.beam {
            None => raw,
            Some(beam) => deconvolved(raw, self.angle_from_north(row), beam).unwrap_or([f64::NAN; 2]),
        }
    }

    /// The velocity dispersion without the width of a channel, in km/s.
    pub fn resolved_width(&self, row: &PixelRow) -> f64 {
        let (Some(axis), Some(channel)) = (self.channel_axis, self.channel) else { return f64::NAN };
        let own = row.shape.squares[axis] - 1.0 / (2.0 * PI);
        if own > 0.0 { channel * own.sqrt() } else { f64::NAN }
    }

    /// Radius in parsecs.
    pub fn radius(&self, row: &PixelRow, distance: f64) -> f64 {
        let [major, minor] = self.resolved(row);
        RADIUS * (major * minor).sqrt() / ARCSECONDS * distance
    }

    /// K km/s pc2.
    pub fn luminosity(&self, row: &PixelRow, distance: f64) -> f64 {
        let (pixel, channel) = (self.pixel.unwrap_or(f64::NAN), self.channel.unwrap_or(f64::NAN));
        let kelvins = self.units_of_values().1.unwrap_or(f64::NAN);
        kelvins * row.sum * channel * (pixel / ARCSECONDS * distance).powi(2)
    }

    /// Solar masses.
    pub fn luminous_mass(&self, row: &PixelRow, distance: f64) -> f64 {
        self.luminosity(row, distance) * self.alpha_co
    }

    /// Solar masses.
    pub fn virial_mass(&self, row: &PixelRow, distance: f64) -> f64 {
        VIRIAL * self.radius(row, distance) * self.resolved_width(row).powi(2)
    }

    /// Twice the kinetic energy over the potential energy of an even sphere.
    pub fn virial_parameter(&self, row: &PixelRow, distance: f64) -> f64 {
        let of_motion = 5.0 * self.resolved_width(row).powi(2) * self.radius(row, distance);
        of_motion / (GRAVITY * self.luminous_mass(row, distance))
    }

    /// The columns that this image has, each with its unit.
    pub fn columns(&self, knows_sky_pixels: bool) -> Vec<ObserverColumn> {
        let mut list = ColumnList { observed: self, columns: Vec::new() };
        list.shape();
        if knows_sky_pixels {
            list.area();
        }
        list.resolved();
        list.fluxes();
        list.of_distance();
        list.errors();
        list.columns
    }

    /// Adds the columns to the table of clumps or haloes of these shapes. `sky_pixels` has the number of
    /// distinct places on the sky of each, where it is known.
    pub fn add_columns(&self, table: &mut Table, shapes: &[PixelShape], sky_pixels: Option<&[u64]>) {
        let columns = self.columns(sky_pixels.is_some() || self.channel_axis.is_none());
        let rows = self.rows(table, shapes, sky_pixels);
        let of = |own: ObserverColumn| {
            let values = Values::F64(rows.iter().map(|row| (own.value)(self, row)).collect());
            column(own.name, Dimension::NONE, own.description, values)
        };
        table.columns.extend(columns.into_iter().map(of));
        if let Some(axis) = self.channel_axis {
            let n = |row: &PixelRow| u64::from(row.shape.high[axis]) + 1 - u64::from(row.shape.low[axis]);
            let values = Values::U64(rows.iter().map(n).collect());
            table.columns.push(column("n_channels", Dimension::NONE, "number of channels", values));
        }
        let flag = |name: &str, text: &str, of: &dyn Fn(&PixelRow) -> bool| -> TableColumn {
            let values = rows.iter().map(|row| u8::from(of(row))).collect();
            column(name, Dimension::NONE, text, Values::U8(values))
        };
        let is_at_edge = |row: &PixelRow| {
            let PixelShape { low, high, .. } = row.shape;
            (0..3).any(|a| self.size[a] > 1 && (low[a] == 0 || high[a] + 1 == self.size[a]))
        };
        let mut flags = vec![
            flag("touches_edge", "1 if a pixel is at the border of the image", &is_at_edge),
            flag("touches_blank", "1 if a pixel shares a face with one without a value", &|row| {
                row.shape.touches_blank
            }),
        ];
        if self.beam.is_some() {
            let is_resolved = |row: &PixelRow| self.resolved(row)[0].is_finite();
            flags.push(flag("is_resolved", "1 if it is larger than the beam along both axes", &is_resolved));
        }
        table.columns.extend(flags);
    }

    /// The structures in units of pixels and values.
    fn rows(&self, table: &Table, shapes: &[PixelShape], sky_pixels: Option<&[u64]>) -> Vec<PixelRow> {
        let reals = |name: &str| table.reals(name).expect("clumps and haloes have it");
        let n = table.counts("n_cells").expect("clumps and haloes have it");
        let (mass, peak) = (reals("mass"), reals("density_peak"));
        let [x, y] = self.sky_axes;
        // The product of axes a and b stands at the place of the third one.
        let third = 3 - x - y;
        let row = |i: usize| {
            let shape = shapes[i].in_pixels(self.side);
            let volume = self.side.powi(3);
            PixelRow {
                n: n[i],
                n_sky: match sky_pixels {
                    Some(list) => Some(list[i]),
                    // Each pixel of an image has its own place.
                    None => self.channel_axis.is_none().then_some(n[i]),
                },
                sum: mass[i] / volume,
                peak: peak[i],
                sky: [shape.squares[x], shape.squares[y], shape.products[third]],
                shape,
            }
        };
        (0..shapes.len()).map(row).collect()
    }
}

/// Columns as they are added.
pub struct ColumnList<'a> {
    /// The image.
    pub observed: &'a Observation,
    columns: Vec<ObserverColumn>,
}

impl ColumnList<'_> {
    /// Adds a column.
    pub fn add(
        &mut self,
        name: &'static str,
        unit: &'static str,
        description: &'static str,
        value: impl Fn(&Observation, &PixelRow) -> f64 + 'static,
    ) {
        self.columns.push(ObserverColumn { name, unit, description, value: Box::new(value) });
    }

    /// The unit of lengths on the sky, and of areas.
    pub fn sky_units(&self) -> [&'static str; 2] {
        if self.observed.pixel.is_some() { ["arcsec", "arcsec2"] } else { ["pix", "pix2"] }
    }

    /// The unit of widths of the spectral axis.
    pub fn channel_unit(&self) -> &'static str {
        if self.observed.channel.is_some() { "km/s" } else { "pix" }
    }

    fn shape(&mut self) {
        let ([length, area], width) = (self.sky_units(), self.channel_unit());
        let pixel = |of: &Observation| of.pixel.unwrap_or(1.0);
        self.add(
            "major_sigma",
            length,
            "standard deviation along the major axis on the sky",
            move |of, row| pixel(of) * row.sigma()[0],
        );
        self.add(
            "minor_sigma",
            length,
            "standard deviation along the minor axis on the sky",
            move |of, row| pixel(of) * row.sigma()[1],
        );
        self.add("radius", length, "root of major_sigma times minor_sigma", move |of, row| {
            pixel(of) * row.radius()
        });
        self.add(
            "position_angle",
            "deg",
            "angle of the major axis from +x to +y in pixels, 0 to 180",
            |_, row| half_turn(row.axes().1),
        );
        if self.observed.pixel.is_some() {
            self.add(
                "position_angle_sky",
                "deg",
                "angle of the major axis from north to east, 0 to 180",
                |of, row| half_turn(of.angle_from_north(row)),
            );
        }
        self.add("area_ellipse", area, "area of the ellipse at half maximum", move |of, row| {
            let [major, minor] = row.sigma();
            PI * major * minor * (0.5 * FWHM * pixel(of)).powi(2)
        });
        if let Some(axis) = self.observed.channel_axis {
            self.add("v_rms", width, "standard deviation along the spectral axis", move |of, row| {
                of.channel.unwrap_or(1.0) * row.shape.squares[axis].max(0.0).sqrt()
            });
        }
    }

    fn area(&mut self) {
        let [_, area] = self.sky_units();
        let n_sky = |row: &PixelRow| row.n_sky.map_or(f64::NAN, |n| n as f64);
        self.add("area_exact", area, "area of its places on the sky", move |of, row| {
            n_sky(row) * of.pixel.unwrap_or(1.0).powi(2)
        });
        if let (Some(beam), Some(pixel)) = (self.observed.beam, self.observed.pixel) {
            self.add("n_beams", "", "its area on the sky over that of the beam", move |_, row| {
                n_sky(row) * pixel * pixel / beam.area()
            });
        }
    }

    fn resolved(&mut self) {
        if self.observed.beam.is_some() && self.observed.pixel.is_some() {
            self.add(
                "major_deconvolved",
                "arcsec",
                "major_sigma without the beam; NaN if it is not resolved",
                |of, row| of.resolved(row)[0],
            );
            self.add(
                "minor_deconvolved",
                "arcsec",
                "minor_sigma without the beam; NaN if it is not resolved",
                |of, row| of.resolved(row)[1],
            );
        }
        if self.observed.channel.is_some() {
            self.add(
                "v_rms_deconvolved",
                "km/s",
                "v_rms without the width of a channel; NaN if it is smaller",
                Observation::resolved_width,
            );
        }
    }

    fn fluxes(&mut self) {
        let (janskys, kelvins) = self.observed.units_of_values();
        let channel = self.observed.channel;
        if let Some(janskys) = janskys {
            self.add("flux", "Jy", "sum of its values as a flux density", move |_, row| janskys * row.sum);
            if let Some(channel) = channel {
                self.add("flux_integrated", "Jy km/s", "flux times the width of a channel", move |_, row| {
                    janskys * row.sum * channel
                });
            }
        }
        if let (Some(kelvins), Some(pixel)) = (kelvins, self.observed.pixel) {
            let width = channel.unwrap_or(1.0);
            let unit = if channel.is_some() { "K km s-1 arcsec2" } else { "K arcsec2" };
            self.add(
                "brightness_integrated",
                unit,
                "sum of its brightness over sky and velocity",
                move |_, row| kelvins * row.sum * pixel * pixel * width,
            );
        }
    }

    fn of_distance(&mut self) {
        let Some(distance) = self.observed.distance.filter(|_| self.observed.pixel.is_some()) else { return };
        self.add(
            "radius_pc",
            "pc",
            "1.91 times the geometric mean of its standard deviations without the beam",
            move |of, row| of.radius(row, distance),
        );
        if self.observed.channel.is_none() {
            return;
        }
        let has_kelvins = self.observed.units_of_values().1.is_some();
        if has_kelvins {
            self.add("luminosity", "K km s-1 pc2", "luminosity of the line", move |of, row| {
                of.luminosity(row, distance)
            });
            self.add("mass_luminous", "solMass", "luminosity times alpha_co", move |of, row| {
                of.luminous_mass(row, distance)
            });
        }
        self.add("mass_virial", "solMass", "1040 radius_pc v_rms_deconvolved^2", move |of, row| {
            of.virial_mass(row, distance)
        });
        if has_kelvins {
            self.add(
                "virial_parameter",
                "",
                "5 v_rms_deconvolved^2 radius_pc over G mass_luminous",
                move |of, row| of.virial_parameter(row, distance),
            );
        }
    }
}
