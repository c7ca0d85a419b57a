//! The unit of the values of pixels, and what a sum of values is in janskys and kelvins.

use inselberg_kernels::sky::LIGHT;

/// What values of pixels are, with the factor of their prefix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Brightness {
    /// A flux density per pixel, in Jy.
    PerPixel(f64),
    /// A flux density per beam, in Jy.
    PerBeam(f64),
    /// A flux density per steradian, in Jy.
    PerSteradian(f64),
    /// A brightness temperature, in K.
    Temperature(f64),
}

/// Boltzmann's constant in J/K.
const BOLTZMANN: f64 = 1.380_649e-23;
/// Joules per second, square metre and hertz in a jansky.
const JANSKY: f64 = 1e-26;
/// Prefixes of janskys and kelvins.
const PREFIXES: [(&str, f64); 6] = [("", 1.0), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9), ("k", 1e3), ("M", 1e6)];

impl Brightness {
    /// From the text of `BUNIT`; `None` of units that are none of these, such as integrated ones.
    pub fn new(unit: &str) -> Option<Self> {
        // K (Tmb) says which temperature it is.
        let unit = unit.split('(').next().unwrap_or("").trim();
        let plain = unit.replace("**", "").replace('^', "").replace('.', " ").replace('/', " /");
        let parts: Vec<&str> = plain.split_whitespace().collect();
        let (first, below) = parts.split_first()?;
        let factor = |name: &str| {
            let (prefix, rest) = first.split_at_checked(first.len().checked_sub(name.len())?)?;
            let known = PREFIXES.iter().find(|(known, _)| *known == prefix);
            known.filter(|_| rest.eq_ignore_ascii_case(name)).map(|(_, factor)| *factor)
        };
        if below.is_empty()
            && let Some(factor) = factor("K")
        {
            return Some(Self::Temperature(factor));
        }
        let factor = factor("Jy")?;
        match below.join(" ").to_lowercase().as_str() {
            "" | "/pixel" | "/pix" | "pixel-1" | "pix-1" => Some(Self::PerPixel(factor)),
            "/beam" | "beam-1" => Some(Self::PerBeam(factor)),
            "/sr" | "sr-1" => Some(Self::PerSteradian(factor)),
            _ => None,
        }
    }

    /// Janskys of one pixel with the value 1. `pixel` and `beam` are solid angles in steradians, `frequency`
    /// is in Hz.
    pub fn janskys(self, pixel: f64, beam: Option<f64>, frequency: Option<f64>) -> Option<f64> {
        match self {
            Self::PerPixel(factor) => Some(factor),
            Self::PerBeam(factor) => Some(factor * pixel / beam?),
            Self::PerSteradian(factor) => Some(factor * pixel),
            Self::Temperature(factor) => Some(factor * janskys_per_kelvin(frequency?) * pixel),
        }
    }

    /// Kelvins of one pixel with the value 1.
    pub fn kelvins(self, pixel: f64, beam: Option<f64>, frequency: Option<f64>) -> Option<f64> {
        match self {
            Self::Temperature(factor) => Some(factor),
            other => Some(other.janskys(pixel, beam, frequency)? / (janskys_per_kelvin(frequency?) * pixel)),
        }
    }
}

/// Janskys per steradian of 1 K, by Rayleigh and Jeans.
fn janskys_per_kelvin(frequency: f64) -> f64 {
    2.0 * BOLTZMANN * (frequency / LIGHT).powi(2) / JANSKY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_observers_write_them() {
        for (text, unit) in [
            ("K", Brightness::Temperature(1.0)),
            ("K (Tmb)", Brightness::Temperature(1.0)),
            ("mK", Brightness::Temperature(1e-3)),
            ("JY/BEAM", Brightness::PerBeam(1.0)),
            ("mJy/beam", Brightness::PerBeam(1e-3)),
            ("Jy beam-1", Brightness::PerBeam(1.0)),
            ("Jy beam**-1", Brightness::PerBeam(1.0)),
            ("MJy/sr", Brightness::PerSteradian(1e6)),
            ("MJy sr^-1", Brightness::PerSteradian(1e6)),
            ("Jy", Brightness::PerPixel(1.0)),
            ("uJy/pixel", Brightness::PerPixel(1e-6)),
        ] {
            assert_eq!(Brightness::new(text), Some(unit), "{text}");
        }
        for text in ["", "K km/s", "Jy/beam.km/s", "W/m2/sr", "count", "adu"] {
            assert_eq!(Brightness::new(text), None, "{text}");
        }
    }

    /// By hand: 1 K at 115.271 GHz in a beam of 10.8" by 7.2" is 0.842 Jy/beam.
    #[test]
    fn kelvins_and_janskys_go_both_ways() {
        let (pixel, arcsec2) = (1e-9, (1.0_f64 / 3600.0).to_radians().powi(2));
        let beam = Some(1.1331 * 10.8 * 7.2 * arcsec2);
        let frequency = Some(115.271e9);
        let of_beam = Brightness::PerBeam(1.0).kelvins(pixel, beam, frequency).expect("known");
        assert!((of_beam - 1.222e6 / (115.271_f64.powi(2) * 10.8 * 7.2)).abs() < 1e-3, "{of_beam}");
        let jansky = Brightness::Temperature(1.0).janskys(pixel, beam, frequency).expect("known");
        let back = Brightness::PerPixel(jansky).kelvins(pixel, beam, frequency).expect("known");
        assert!((back - 1.0).abs() < 1e-14);
        assert_eq!(Brightness::PerBeam(1.0).janskys(pixel, None, frequency), None);
    }
}
