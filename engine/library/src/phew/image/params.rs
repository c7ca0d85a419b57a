//! What a FITS image or cube leaves open for fluxes, masses and errors.

use super::noise::{GivenNoise, ImageNoise};
use super::observer::ALPHA_CO;
use inselberg_io::catalogue::Attribute;
use inselberg_io::catalogue::units::MEGAPARSEC;
use inselberg_io::params;

/// Centimetres in a parsec.
const PARSEC: f64 = MEGAPARSEC / 1e6;

params! {
    /// What a FITS image or cube leaves open: the distance and what light weighs. Of other inputs they change
    /// nothing.
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
