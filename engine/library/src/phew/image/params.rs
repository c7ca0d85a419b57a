//! What a FITS image or cube leaves open for fluxes, masses and errors.

use super::brightness::Brightness;
use super::cards::BEGINNING;
use super::noise::{GivenNoise, ImageNoise};
use super::observer::{ALPHA_CO, Beam};
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::units::MEGAPARSEC;
use inselberg_io::params;

/// Centimetres in a parsec.
const PARSEC: f64 = MEGAPARSEC / 1e6;

params! {
    /// What a FITS image or cube leaves open, or states wrongly. Of other inputs they change nothing.
    #[non_exhaustive]
    pub struct ImageParams of "phew" {
        /// The given noise of a FITS image or cube; `None`: that of its values below 0.
        pub noise: Option<GivenNoise> = None;
        /// The noise of the input, once it is known.
        pub(crate) known: Option<ImageNoise> = None;
        /// Distance of a FITS image or cube (pc), for luminosities and masses.
        ///
        /// Adds the columns radius_pc, luminosity, mass_luminous, mass_virial and virial_parameter
        /// (docs/observers.md).
        pub distance: Option<f64> = None, "distance" = real(
            "",
            |x: &Option<f64>| x.is_none_or(|x| x.is_finite() && x > 0.0),
            "a finite distance above 0",
        ).measured(Measure::LENGTH.in_cgs(PARSEC)).topic(Topic::Properties).example("414");
        /// Mass per luminosity of the line of a cube, in Msun/(K km/s pc2).
        ///
        /// The default is that of the CO line from J = 1 to 0, with helium. With `distance`.
        pub alpha_co: f64 = ALPHA_CO, "alpha_co" =
            real("4.35", |x: &f64| x.is_finite() && *x > 0.0, "a finite number above 0").topic(Topic::Properties);
        /// The beam of a FITS image or cube, instead of that of its header.
        ///
        /// Full widths at half maximum of both axes in arcseconds, and the angle of the major axis from north
        /// to east in degrees. A round beam has one width.
        pub beam: Option<Beam> = None, "beam" = of_whole(
            ParamKind::Text("MAJORxMINOR@ANGLE"),
            "",
            |of: &mut Option<Beam>, text, _| given(of, text.parse().ok()),
            |of| of.as_ref().map(ToString::to_string),
            "widths above 0 and an angle, such as 12.3x9.8@30, or the width of a round beam",
        ).topic(Topic::Properties).example("12.3x9.8@30");
        /// The unit of the values of a FITS image or cube, instead of BUNIT of its header.
        ///
        /// Jy per beam, pixel or sr, or K, with prefixes.
        pub bunit: Option<String> = None, "bunit" = of_whole(
            ParamKind::Text("UNIT"),
            "",
            |of: &mut Option<String>, text, _| {
                given(of, Some(text.to_string()).filter(|text| Brightness::new(text).is_some()))
            },
            Clone::clone,
            "a unit such as K, mJy/beam, Jy/pixel or MJy/sr",
        ).topic(Topic::Properties).example("Jy/beam");
        /// The rest frequency of a FITS image or cube, instead of that of its header.
        ///
        /// A number in Hz, or with a unit: kHz, MHz or GHz. Velocities of a frequency axis, and brightness
        /// temperatures, follow from it.
        pub rest_frequency: Option<f64> = None, "rest_frequency" = of_whole(
            ParamKind::Text("FREQUENCY"),
            "",
            |of: &mut Option<f64>, text, _| given(of, hertz(text)),
            |of| of.map(|hertz| hertz.to_string()),
            "a frequency above 0, such as 115.271GHz",
        ).topic(Topic::Properties).example("115.271GHz");
    }
    also {
        /// Noise of a FITS image or cube: a number in its unit, or a FITS file with a map or cube.
        ///
        /// Its standard deviation. The default is that of the values below 0. Thresholds may be multiples of
        /// it, as in 5sigma. With a file, values over their noise are searched: densities in the catalogue
        /// and thresholds without unit are in standard deviations.
        "noise" = of_whole(
            ParamKind::Text("SIGMA|FILE.fits"),
            "",
            |of: &mut ImageParams, text, _| of.set_noise(text),
            |of| of.noise.as_ref().map(ToString::to_string),
            "a finite number above 0, or a FITS file",
        ).topic(Topic::Properties).example("0.2");
    }
}

/// Sets a parameter to a value that could be read; whether there is one.
fn given<T>(of: &mut Option<T>, value: Option<T>) -> bool {
    let is_valid = value.is_some();
    if is_valid {
        *of = value;
    }
    is_valid
}

/// A frequency with or without its unit, in Hz; `None` unless it is above 0.
fn hertz(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 4] = [("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0)];
    let unit = UNITS.iter().find_map(|(name, factor)| Some((text.strip_suffix(name)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1.0));
    let hertz = number.trim().parse::<f64>().ok()? * factor;
    (hertz.is_finite() && hertz > 0.0).then_some(hertz)
}

impl ImageParams {
    fn set_noise(&mut self, text: &str) -> bool {
        self.noise = match text.parse::<f64>() {
            Ok(sigma) if sigma.is_finite() && sigma > 0.0 => Some(GivenNoise::Level(sigma)),
            Ok(_) => return false,
            Err(_) => Some(GivenNoise::File(text.into())),
        };
        true
    }
}

impl ImageParams {
    /// Puts what is given in place of the cards among the attributes of an image.
    pub(crate) fn replace_cards(&self, attributes: &mut Vec<(String, Attribute)>) {
        let degrees = |arcsec: f64| Attribute::Real(arcsec / 3600.0);
        let mut given = Vec::new();
        if let Some(Beam { major, minor, angle }) = self.beam {
            given.extend([
                ("BMAJ", degrees(major)),
                ("BMIN", degrees(minor)),
                ("BPA", Attribute::Real(angle)),
            ]);
        }
        given.extend(self.bunit.as_ref().map(|unit| ("BUNIT", Attribute::Text(unit.clone()))));
        given.extend(self.rest_frequency.map(|hertz| ("RESTFRQ", Attribute::Real(hertz))));
        let names: Vec<&str> = given.iter().map(|(keyword, _)| *keyword).collect();
        for (keyword, value) in given {
            let name = format!("{BEGINNING}{keyword}");
            match attributes.iter_mut().find(|(other, _)| *other == name) {
                Some((_, old)) => *old = value,
                None => attributes.push((name, value)),
            }
        }
        if !names.is_empty() {
            attributes.push(("given_cards".into(), Attribute::Text(names.join(", "))));
        }
    }

    /// What a catalogue says of them.
    pub(crate) fn attributes(&self) -> Vec<(String, Attribute)> {
        let of_distance = |distance| {
            [("distance", distance), ("alpha_co", self.alpha_co)]
                .map(|(name, value)| (name.to_string(), Attribute::Real(value)))
        };
        let of_noise = self.known.iter().flat_map(ImageNoise::attributes);
        of_noise.chain(self.distance.map(of_distance).into_iter().flatten()).collect()
    }
}
