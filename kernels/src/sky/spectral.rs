//! Spectral axes that are linear: velocities, and frequencies and wavelengths with the rest of a line.

use super::{SkyCards, SkyError, WorldAxis};

/// The speed of light in metres per second.
pub const LIGHT: f64 = 299_792_458.0;

/// The spectral axis of a cube.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spectral {
    /// Its index.
    pub axis: usize,
    /// From the unit of the cards to m/s, Hz or m.
    unit: f64,
    quantity: SpectralQuantity,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum SpectralQuantity {
    /// A velocity, and which.
    Velocity(&'static str),
    /// A frequency, with that of the line at rest if it is known.
    Frequency(Option<f64>),
    /// A wavelength in vacuum, with that of the line at rest if it is known.
    Wavelength(Option<f64>),
}

impl Spectral {
    /// The spectral axis; `None` without one.
    pub fn find(cards: &SkyCards) -> Result<Option<Self>, SkyError> {
        let positive = |x: Option<f64>| x.filter(|x| x.is_finite() && *x > 0.0);
        for (axis, of) in cards.axes.iter().enumerate() {
            let Some(code) = of.kind.get(..4).map(|code| code.trim_end()) else { continue };
            let quantity = match code {
                "VRAD" => SpectralQuantity::Velocity("radio velocity"),
                "VOPT" => SpectralQuantity::Velocity("optical velocity"),
                "VELO" => SpectralQuantity::Velocity("velocity"),
                "FREQ" => SpectralQuantity::Frequency(positive(cards.rest_frequency)),
                "WAVE" => SpectralQuantity::Wavelength(positive(cards.rest_wavelength)),
                "FELO" | "ZOPT" | "AWAV" | "BETA" | "ENER" | "WAVN" => {
                    return Err(SkyError::Spectral(of.kind.clone()));
                }
                _ => continue,
            };
            // Old headers name the frame after the type: VELO-LSR.
            let is_linear =
                matches!(&of.kind[code.len()..], "" | "-LSR" | "-LSRK" | "-LSRD" | "-HEL" | "-OBS" | "CITY");
            if !is_linear {
                return Err(SkyError::Spectral(of.kind.clone()));
            }
            let unit = quantity.unit(&of.unit);
            let unknown = || SkyError::Unit { kind: of.kind.clone(), unit: of.unit.clone() };
            return Ok(Some(Self { axis, unit: unit.ok_or_else(unknown)?, quantity }));
        }
        Ok(None)
    }

    /// Whether a type is that of a spectral axis, known or not.
    pub fn is_one(kind: &str) -> bool {
        const CODES: [&str; 11] =
            ["VRAD", "VOPT", "VELO", "FREQ", "WAVE", "FELO", "ZOPT", "AWAV", "BETA", "ENER", "WAVN"];
        kind.get(..4).is_some_and(|code| CODES.contains(&code))
    }

    /// The velocity in km/s, or the frequency in Hz or wavelength in metres without a rest value.
    pub fn value(&self, cards: f64) -> f64 {
        let x = cards * self.unit;
        match self.quantity {
            SpectralQuantity::Velocity(_) => x / 1e3,
            SpectralQuantity::Frequency(Some(rest)) => LIGHT * (1.0 - x / rest) / 1e3,
            SpectralQuantity::Wavelength(Some(rest)) => LIGHT * (x / rest - 1.0) / 1e3,
            SpectralQuantity::Frequency(None) | SpectralQuantity::Wavelength(None) => x,
        }
    }

    /// The frequency in Hz of a value of the cards; `None` of velocities.
    pub fn frequency(&self, cards: f64) -> Option<f64> {
        let x = cards * self.unit;
        match self.quantity {
            SpectralQuantity::Velocity(_) => None,
            SpectralQuantity::Frequency(_) => Some(x),
            SpectralQuantity::Wavelength(_) => Some(LIGHT / x),
        }
    }

    pub fn named(&self) -> WorldAxis {
        let (name, description) = match self.quantity {
            SpectralQuantity::Velocity(which) => ("velocity", format!("{which} in km/s")),
            SpectralQuantity::Frequency(Some(_)) => {
                ("velocity", "radio velocity in km/s, from the frequency".into())
            }
            SpectralQuantity::Wavelength(Some(_)) => {
                ("velocity", "optical velocity in km/s, from the wavelength".into())
            }
            SpectralQuantity::Frequency(None) => ("frequency", "frequency in Hz".into()),
            SpectralQuantity::Wavelength(None) => ("wavelength", "wavelength in metres".into()),
        };
        let unit = match self.quantity {
            SpectralQuantity::Frequency(None) => "Hz",
            SpectralQuantity::Wavelength(None) => "m",
            _ => "km/s",
        };
        WorldAxis { name: name.into(), description, unit: unit.into() }
    }
}

/// A unit with one spelling of powers and products: `km s**-1`, `km s^-1`, `km.s-1` and `km*s-1` are `km
/// s-1`.
fn plain(unit: &str) -> String {
    let unit = unit.replace("**", "").replace('^', "").replace(['.', '*'], " ").replace(['(', ')', '+'], "");
    unit.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl SpectralQuantity {
    /// Metres, Hertz or metres per second in a unit; `None` for one that does not fit.
    fn unit(self, name: &str) -> Option<f64> {
        let name = &plain(name);
        let units: &[(&str, f64)] = match self {
            Self::Velocity(_) => &[
                ("", 1.0),
                ("m/s", 1.0),
                ("m s-1", 1.0),
                ("km/s", 1e3),
                ("km s-1", 1e3),
                ("cm/s", 1e-2),
                ("cm s-1", 1e-2),
            ],
            Self::Frequency(_) => {
                &[("", 1.0), ("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9), ("THz", 1e12)]
            }
            Self::Wavelength(_) => &[
                ("", 1.0),
                ("m", 1.0),
                ("cm", 1e-2),
                ("mm", 1e-3),
                ("um", 1e-6),
                ("micron", 1e-6),
                ("nm", 1e-9),
                ("Angstrom", 1e-10),
                ("angstrom", 1e-10),
            ],
        };
        let is = |unit: &str| {
            unit == name
                || unit.eq_ignore_ascii_case(name) && matches!(self, Self::Velocity(_) | Self::Frequency(_))
        };
        units.iter().find(|(unit, _)| is(unit)).map(|(_, factor)| *factor)
    }
}
