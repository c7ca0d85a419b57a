//! Sky coordinates: where is a pixel of an image or cube on the sky, and at which velocity?
//!
//! Follows the papers on world coordinates in FITS (Greisen & Calabretta 2002, Calabretta & Greisen 2002,
//! Greisen et al. 2006) for linear axes, celestial axes in common projections, and spectral axes that are
//! linear:
//!
//! ```text
//!     pixel --[linear: matrix, reference pixel]--> offsets --+-- [projection] --> native --[rotation]--> longitude, latitude
//!                                                           +-- + value -----> [spectral] -----------> velocity
//!                                                           +-- + value -----------------------------> other axes
//! ```
//!
//! It does not use files or catalogues, and of headers only their numbers.

mod linear;
mod projection;
mod rotation;
mod scale;
mod spectral;

use projection::SkyProjection;
use rotation::NativePole;
use spectral::Spectral;

pub use linear::PixelMatrix;
pub use spectral::LIGHT;

/// An axis of world coordinates, by its cards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AxisCards {
    /// `CTYPE`: `RA---TAN`, `VRAD`.
    pub kind: String,
    /// `CUNIT`; empty for the unit of the standard.
    pub unit: String,
    /// `CRVAL`.
    pub value: f64,
    /// `CRPIX`.
    pub pixel: f64,
}

/// World coordinates of an image, by its cards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkyCards {
    /// The axes, as many as the matrix has rows.
    pub axes: Vec<AxisCards>,
    /// From pixels to offsets.
    pub matrix: PixelMatrix,
    /// `PVi_m` as (i, m, value), i from 1.
    pub parameters: Vec<(usize, usize, f64)>,
    /// `LONPOLE`.
    pub lon_pole: Option<f64>,
    /// `LATPOLE`.
    pub lat_pole: Option<f64>,
    /// `RESTFRQ`, in Hz.
    pub rest_frequency: Option<f64>,
    /// `RESTWAV`, in metres.
    pub rest_wavelength: Option<f64>,
}

/// Why pixels have no world coordinates.
#[derive(Debug, Clone, PartialEq)]
pub enum SkyError {
    /// No axis has a type.
    Nothing,
    /// A projection that is not known.
    Projection(String),
    /// A spectral axis that is not linear.
    Spectral(String),
    /// A unit that does not fit.
    Unit {
        /// `CTYPE`.
        kind: String,
        /// `CUNIT`.
        unit: String,
    },
    /// One of the two celestial axes is absent.
    Alone(String),
    /// Parameters that no known projection has.
    Parameter(usize, usize),
    /// The matrix or its steps are zero, or a number is not finite.
    Step(usize),
    /// The poles fit no rotation of the sphere.
    Pole,
    /// Two notations of a matrix at once.
    TwoMatrices,
}

impl std::fmt::Display for SkyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => write!(f, "the header has no coordinates"),
            Self::Projection(code) => write!(f, "the projection {code:?} is not known"),
            Self::Spectral(kind) => write!(f, "the spectral axis {kind} is not linear"),
            Self::Unit { kind, unit } => write!(f, "the unit {unit} of the axis {kind} is not known"),
            Self::Alone(kind) => write!(f, "the axis {kind} has no partner"),
            Self::Parameter(i, m) => write!(f, "the parameter PV{i}_{m} of the projection is not known"),
            Self::Step(i) => write!(f, "the axis {i} has no sound step or reference"),
            Self::TwoMatrices => write!(f, "the header has both PCi_j and CDi_j"),
            Self::Pole => write!(f, "LONPOLE and LATPOLE do not give one pole of the projection"),
        }
    }
}

/// A coordinate that pixels have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldAxis {
    /// Its name in catalogues: `ra`, `dec`, `velocity`.
    pub name: String,
    /// What it is, with its unit.
    pub description: String,
    /// Its unit as FITS writes it; empty for none.
    pub unit: String,
}

/// The celestial axes of an image.
#[derive(Debug, Clone, PartialEq)]
struct Celestial {
    /// Indices of longitude and latitude.
    axes: [usize; 2],
    /// Degrees per unit of the cards.
    degrees: [f64; 2],
    projection: SkyProjection,
    pole: NativePole,
}

/// From pixels to world coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct SkyGrid {
    cards: SkyCards,
    celestial: Option<Celestial>,
    spectral: Option<Spectral>,
    /// Why there is no spectral coordinate, though there is a spectral axis beside the celestial ones.
    unknown: Option<SkyError>,
    /// Indices of the axes that are neither.
    others: Vec<usize>,
    names: Vec<WorldAxis>,
}

impl SkyGrid {
    /// From the cards of a header.
    ///
    /// # Errors
    /// The header has no coordinates, or some that are not known. A spectral axis that is not known leaves
    /// the celestial ones.
    pub fn new(cards: SkyCards) -> Result<Self, SkyError> {
        if cards.axes.iter().all(|axis| axis.kind.is_empty()) {
            return Err(SkyError::Nothing);
        }
        cards.matrix.check(cards.axes.len())?;
        if let Some(i) = cards.axes.iter().position(|a| !a.value.is_finite() || !a.pixel.is_finite()) {
            return Err(SkyError::Step(i + 1));
        }
        let celestial = Celestial::find(&cards)?;
        let (spectral, unknown) = match Spectral::find(&cards) {
            Ok(spectral) => (spectral, None),
            Err(problem) if celestial.is_some() => (None, Some(problem)),
            Err(problem) => return Err(problem),
        };
        let is_other = |i: &usize| {
            celestial.as_ref().is_none_or(|c| !c.axes.contains(i))
                && spectral.as_ref().is_none_or(|s| s.axis != *i)
                && !(unknown.is_some() && Spectral::is_one(&cards.axes[*i].kind))
                && !cards.axes[*i].kind.is_empty()
                && cards.axes[*i].kind != "STOKES"
        };
        let others: Vec<_> = (0..cards.axes.len()).filter(is_other).collect();
        let mut grid = Self { celestial, spectral, unknown, others, names: Vec::new(), cards };
        grid.names = grid.named();
        Ok(grid)
    }

    /// The coordinates of [`Self::world`], in its order.
    pub fn axes(&self) -> &[WorldAxis] {
        &self.names
    }

    /// The indices of longitude and latitude, where the image has them.
    pub fn celestial_axes(&self) -> Option<[usize; 2]> {
        self.celestial.as_ref().map(|celestial| celestial.axes)
    }

    /// The index of the spectral axis, known or not.
    pub fn spectral_axis(&self) -> Option<usize> {
        self.cards.axes.iter().position(|axis| Spectral::is_one(&axis.kind))
    }

    /// Why there is no spectral coordinate, though there is a spectral axis.
    pub fn unknown(&self) -> Option<&SkyError> {
        self.unknown.as_ref()
    }

    /// Longitude and latitude in degrees, the velocity in km/s, and other coordinates, of a pixel: one number
    /// per axis of the image, 1 at the centre of the first. NaN where a projection has no sky.
    pub fn world(&self, pixel: &[f64], to: &mut Vec<f64>) {
        to.clear();
        let axes = &self.cards.axes;
        let offset = |i: usize| self.cards.matrix.offset(i, pixel, |j| axes[j].pixel);
        if let Some(celestial) = &self.celestial {
            to.extend(celestial.place(celestial.axes.map(offset)));
        }
        if let Some(spectral) = &self.spectral {
            to.push(spectral.value(axes[spectral.axis].value + offset(spectral.axis)));
        }
        to.extend(self.others.iter().map(|i| axes[*i].value + offset(*i)));
    }

    fn named(&self) -> Vec<WorldAxis> {
        let mut named: Vec<WorldAxis> = Vec::new();
        if let Some(celestial) = &self.celestial {
            for (axis, what) in celestial.axes.iter().zip(["longitude", "latitude"]) {
                let kind = celestial_name(&self.cards.axes[*axis].kind).expect("it was found by its name");
                let description = format!("{} in degrees", spoken(kind, what));
                named.push(WorldAxis { name: kind.to_lowercase(), description, unit: "deg".into() });
            }
        }
        named.extend(self.spectral.as_ref().map(Spectral::named));
        for i in &self.others {
            let axis = &self.cards.axes[*i];
            let is_plain = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit();
            let name: String = axis.kind.to_lowercase().chars().filter(is_plain).collect();
            let is_taken = name.is_empty() || named.iter().any(|other| other.name == name);
            let name = if is_taken { format!("axis{}", i + 1) } else { name };
            let unit = if axis.unit.is_empty() { String::new() } else { format!(" in {}", axis.unit) };
            let description = format!("coordinate {}{unit}", axis.kind);
            named.push(WorldAxis { name, description, unit: axis.unit.clone() });
        }
        named
    }
}

impl Celestial {
    fn find(cards: &SkyCards) -> Result<Option<Self>, SkyError> {
        let find = |is: fn(&str) -> bool| {
            cards.axes.iter().position(|axis| celestial_name(&axis.kind).is_some_and(is))
        };
        let axes = match (find(is_longitude), find(|name| !is_longitude(name))) {
            (None, None) => return Ok(None),
            (Some(lon), Some(lat)) => [lon, lat],
            (Some(one), None) | (None, Some(one)) => {
                return Err(SkyError::Alone(cards.axes[one].kind.clone()));
            }
        };
        let [lon, lat] = axes.map(|axis| &cards.axes[axis]);
        let codes = [lon, lat].map(|axis| axis.kind.get(5..).unwrap_or("").to_string());
        if codes[0] != codes[1] {
            return Err(SkyError::Projection(format!("{} with {}", lon.kind, lat.kind)));
        }
        let of_axis = |(i, m, value): &(usize, usize, f64)| (*i == axes[1] + 1).then_some((*m, *value));
        let parameters: Vec<_> = cards.parameters.iter().filter_map(of_axis).collect();
        let of_longitude = |wanted: usize| {
            let of =
                |(i, m, value): &(usize, usize, f64)| (*i == axes[0] + 1 && *m == wanted).then_some(*value);
            cards.parameters.iter().find_map(of)
        };
        // How astropy writes the old code GLS: the plane begins at the reference point.
        let begins_there = [0, 1, 2].map(of_longitude) == [Some(1.0), Some(0.0), Some(lat.value)];
        let is_old = codes[0] == "SFL" && begins_there;
        let code = if is_old { "GLS" } else { &codes[0] };
        if let Some((i, m, _)) =
            cards.parameters.iter().find(|(i, _, value)| !is_old && *i == axes[0] + 1 && *value != 0.0)
        {
            return Err(SkyError::Parameter(*i, *m));
        }
        let degrees = [degrees_of(lon)?, degrees_of(lat)?];
        let reference = [lon.value * degrees[0], lat.value * degrees[1]];
        let projection = SkyProjection::new(code, &parameters, reference[1]).map_err(|bad| {
            bad.map_or(SkyError::Projection(codes[0].clone()), |m| SkyError::Parameter(axes[1] + 1, m))
        })?;
        let pole =
            NativePole::new(reference, projection.reference_latitude(), cards.lon_pole, cards.lat_pole);
        Ok(Some(Self { axes, degrees, projection, pole: pole.ok_or(SkyError::Pole)? }))
    }

    fn place(&self, offsets: [f64; 2]) -> [f64; 2] {
        let [x, y] = [0, 1].map(|i| offsets[i] * self.degrees[i]);
        self.projection.native(x, y).map_or([f64::NAN; 2], |native| self.pole.celestial(native))
    }
}

/// `RA`, `DEC`, `GLON`, ... of a type; `None` for axes that are not celestial.
fn celestial_name(kind: &str) -> Option<&str> {
    let name = kind.get(..4)?.trim_end_matches('-');
    let is_pair = |name: &str| name.len() == 4 && (name.ends_with("LON") || name.ends_with("LAT"));
    let has_code = kind.as_bytes().get(4) == Some(&b'-');
    (has_code && (name == "RA" || name == "DEC" || is_pair(name))).then_some(name)
}

fn is_longitude(name: &str) -> bool {
    name == "RA" || name.ends_with("LON")
}

fn spoken(name: &str, what: &str) -> String {
    match name {
        "RA" => "right ascension".into(),
        "DEC" => "declination".into(),
        "GLON" | "GLAT" => format!("Galactic {what}"),
        "ELON" | "ELAT" => format!("ecliptic {what}"),
        _ => format!("{what} {name}"),
    }
}

fn degrees_of(axis: &AxisCards) -> Result<f64, SkyError> {
    match axis.unit.to_lowercase().as_str() {
        "" | "deg" | "degree" | "degrees" => Ok(1.0),
        "arcmin" => Ok(1.0 / 60.0),
        "arcsec" => Ok(1.0 / 3600.0),
        "mas" => Ok(1.0 / 3_600_000.0),
        "rad" => Ok(1_f64.to_degrees()),
        _ => Err(SkyError::Unit { kind: axis.kind.clone(), unit: axis.unit.clone() }),
    }
}

#[cfg(test)]
mod tests;
