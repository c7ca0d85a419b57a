//! What an observer needs beside the pixels: sizes of pixels, channels and the beam, the unit of values, the
//! noise and the distance. All of it follows from the attributes of a catalogue.

use super::array::axes_of;
use super::brightness::Brightness;
use super::cards::{AttributeCards, ImageSky};
use super::flat::is_flat;
use super::has_axes;
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::units::{NOISE_MEDIAN, value_unit};

/// The attribute with the noise of an image.
pub const NOISE: &str = "noise";
/// Msun per K km/s pc2 of the CO line from J = 1 to 0, with helium.
pub(super) const ALPHA_CO: f64 = 4.35;

/// The beam: full widths at half maximum in arcseconds, and the angle of the major axis from north to east in
/// degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    pub major: f64,
    pub minor: f64,
    pub angle: f64,
}

impl std::str::FromStr for Beam {
    type Err = ();

    /// From `MAJORxMINOR@ANGLE`; without the minor axis the beam is round, without the angle it is 0.
    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or(());
        let (axes, angle) = text.split_once('@').unwrap_or((text, "0"));
        let (major, minor) = axes.split_once('x').unwrap_or((axes, axes));
        let (major, minor, angle) = (number(major)?, number(minor)?, number(angle)?);
        if minor > 0.0 && major >= minor { Ok(Self { major, minor, angle }) } else { Err(()) }
    }
}

impl std::fmt::Display for Beam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}@{}", self.major, self.minor, self.angle)
    }
}

impl Beam {
    /// Its area in square arcseconds.
    pub fn area(&self) -> f64 {
        std::f64::consts::PI / (4.0 * std::f64::consts::LN_2) * self.major * self.minor
    }
}

/// What may be missing in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFact {
    /// Coordinates on the sky.
    Coordinates,
    /// The beam.
    Beam,
    /// A unit of values that is a brightness.
    Unit,
    /// The frequency.
    Frequency,
}

/// What is known of the observation that gave an image or cube.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Code length of a pixel.
    pub side: f64,
    /// Pixels along each axis of the box.
    pub size: [u32; 3],
    /// The axes of the box that are longitude and latitude.
    pub sky_axes: [usize; 2],
    /// The axis of the box that is left; `None` of an image.
    pub channel_axis: Option<usize>,
    /// Side of a pixel in arcseconds: the root of its area. `None` without coordinates.
    pub pixel: Option<f64>,
    /// From pixels to degrees towards east and north.
    pub block: [[f64; 2]; 2],
    /// Width of a channel in km/s.
    pub channel: Option<f64>,
    /// The beam.
    pub beam: Option<Beam>,
    /// What values are.
    pub brightness: Option<Brightness>,
    /// The frequency in Hz.
    pub frequency: Option<f64>,
    /// Standard deviation of the noise, in the unit of values.
    pub noise: Option<f64>,
    /// The same in the unit of densities.
    pub noise_of_density: Option<f64>,
    /// Distance in parsecs.
    pub distance: Option<f64>,
    /// Msun per K km/s pc2.
    pub alpha_co: f64,
}

impl Observation {
    /// From the attributes of a catalogue; `None` if it is not of a FITS image whose axes have types.
    pub fn from_attributes(attributes: &[(String, Attribute)]) -> Option<Self> {
        has_axes(attributes).then_some(())?;
        let cards = AttributeCards(attributes);
        let (shape, axes) = (axes_of(attributes, "shape")?, axes_of(attributes, "axes")?);
        let n = if is_flat(attributes) { 2 } else { 3 };
        let size_of = |a: usize| axes.get(a).and_then(|axis| shape.get(axis.checked_sub(1)?)).copied();
        let sizes: Vec<usize> = (0..n).map(size_of).collect::<Option<_>>()?;
        let size = std::array::from_fn(|a| sizes.get(a).copied().unwrap_or(1) as u32);
        let coarse = cards.reals("coarse_cells")?;
        let side = cards.number("boxlen")? * coarse.first()? / f64::from(size[0]);
        let sky = ImageSky::from_attributes(attributes).and_then(Result::ok).map(|sky| sky.grid);
        let known = |axes_on_sky: [usize; 2]| {
            let place = |axis: usize| axes.iter().position(|of_file| *of_file == axis + 1);
            Some([place(axes_on_sky[0])?, place(axes_on_sky[1])?])
        };
        let celestial = sky.as_ref().and_then(|sky| known(sky.celestial_axes()?));
        let block = sky.as_ref().and_then(|sky| sky.sky_block()).filter(|_| celestial.is_some());
        let sky_axes = celestial.unwrap_or([0, 1]);
        let channel_axis = (0..n).find(|axis| !sky_axes.contains(axis));
        let det = |[[a, b], [c, d]]: [[f64; 2]; 2]| (a * d - b * c).abs();
        Some(Self {
            side,
            size,
            sky_axes,
            channel_axis,
            pixel: block.map(|block| det(block).sqrt() * 3600.0),
            block: block.unwrap_or([[1.0, 0.0], [0.0, 1.0]]),
            channel: sky.as_ref().and_then(|sky| sky.channel_width()).filter(|_| channel_axis.is_some()),
            beam: beam(&cards),
            brightness: value_unit(attributes).and_then(Brightness::new),
            frequency: sky.as_ref().and_then(|sky| sky.frequency()),
            noise: cards.number(NOISE_MEDIAN).or(cards.number(NOISE)),
            noise_of_density: cards.number(NOISE),
            distance: cards.number("distance"),
            alpha_co: cards.number("alpha_co").unwrap_or(ALPHA_CO),
        })
    }

    /// Sizes of pixels, channels and the beam, as names and texts.
    pub fn scales(&self) -> Vec<(&'static str, String)> {
        let rounded = |x: f64| (x * 1e6).round() / 1e6;
        let mut lines = Vec::new();
        if let Some(pixel) = self.pixel {
            lines.push(("pixel", format!("{} arcsec", rounded(pixel))));
        }
        if let Some(channel) = self.channel {
            lines.push(("channel", format!("{} km/s", rounded(channel))));
        }
        if let Some(n) = self.beam_in_pixels() {
            let kelvins = Brightness::PerBeam(1.0).kelvins(1.0, self.beam_in_steradians(), self.frequency);
            let kelvins = kelvins.map_or(String::new(), |x| format!("; 1 Jy/beam is {} K", rounded(x)));
            lines.push(("beam area", format!("{} pixels{kelvins}", rounded(n))));
        }
        lines
    }

    /// What the header does not say, and columns need.
    pub fn missing(&self) -> Vec<MissingFact> {
        let is_temperature = matches!(self.brightness, Some(Brightness::Temperature(_)));
        // Without a unit there are neither fluxes nor temperatures.
        let needs_frequency = self.brightness.is_some() && (is_temperature || self.beam.is_some());
        [
            (MissingFact::Coordinates, self.pixel.is_none()),
            (MissingFact::Beam, self.beam.is_none()),
            (MissingFact::Unit, self.brightness.is_none()),
            (MissingFact::Frequency, needs_frequency && self.frequency.is_none()),
        ]
        .into_iter()
        .filter_map(|(fact, is_missing)| is_missing.then_some(fact))
        .collect()
    }

    /// Pixels per beam; 1 if the beam or the pixels are not known, or the beam is smaller than a pixel.
    pub fn pixels_per_beam(&self) -> f64 {
        self.beam_in_pixels().map_or(1.0, |n| n.max(1.0))
    }

    fn beam_in_pixels(&self) -> Option<f64> {
        let pixel = self.pixel?;
        Some(self.beam?.area() / (pixel * pixel))
    }

    fn beam_in_steradians(&self) -> Option<f64> {
        self.beam.map(|beam| steradians(beam.area()))
    }

    /// Janskys, and kelvins, of one pixel with the value 1.
    pub fn units_of_values(&self) -> (Option<f64>, Option<f64>) {
        let pixel = self.pixel.map(|pixel| steradians(pixel * pixel));
        let beam = self.beam_in_steradians();
        let of = |convert: fn(Brightness, f64, Option<f64>, Option<f64>) -> Option<f64>| {
            // Fluxes per pixel, and temperatures in kelvins, need no solid angle.
            convert(self.brightness?, pixel.unwrap_or(f64::NAN), beam, self.frequency)
                .filter(|x| x.is_finite())
        };
        (of(Brightness::janskys), of(Brightness::kelvins))
    }
}

/// The solid angle of an area in square arcseconds.
fn steradians(arcsec2: f64) -> f64 {
    arcsec2 * (1.0_f64 / 3600.0).to_radians().powi(2)
}

/// The beam of the cards; round without a minor axis.
fn beam(cards: &AttributeCards) -> Option<Beam> {
    let arcsec = |keyword: &str| cards.of(keyword).map(|degrees| degrees * 3600.0).filter(|x| *x > 0.0);
    let major = arcsec("BMAJ")?;
    let (minor, angle) = (arcsec("BMIN").unwrap_or(major), cards.of("BPA").unwrap_or(0.0));
    Some(Beam { major, minor, angle })
}
