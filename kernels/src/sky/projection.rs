//! From the plane of a projection to native coordinates on the sphere, in degrees.

/// A projection by its code in `CTYPE`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SkyProjection {
    /// `TAN`, gnomonic.
    Tangent,
    /// `SIN`, orthographic or slanted.
    Sine {
        /// `PV_1` and `PV_2`.
        slant: [f64; 2],
    },
    /// `ARC`, zenithal equidistant.
    Arc,
    /// `STG`, stereographic.
    Stereographic,
    /// `ZEA`, zenithal of equal area.
    EqualArea,
    /// `CAR`, plate carrée.
    Cartesian,
    /// `SFL`, Sanson and Flamsteed. The old code `GLS` has the latitude of its reference point in the plane,
    /// and no turned sphere.
    Sinusoidal {
        /// The latitude of the reference point in degrees; 0 for `SFL`.
        latitude: f64,
    },
}

impl SkyProjection {
    /// From a code, the parameters `PV_m` of the latitude, and the latitude of the reference point in
    /// degrees, which old codes need.
    ///
    /// # Errors
    /// `Some(m)`: a parameter that it does not have. `None`: an unknown code.
    pub fn new(code: &str, parameters: &[(usize, f64)], latitude: f64) -> Result<Self, Option<usize>> {
        let mut slant = [0.0; 2];
        for (m, value) in parameters {
            match m {
                1 | 2 if code == "SIN" && value.is_finite() => slant[m - 1] = *value,
                _ if *value == 0.0 => {}
                _ => return Err(Some(*m)),
            }
        }
        match code {
            "TAN" => Ok(Self::Tangent),
            "SIN" => Ok(Self::Sine { slant }),
            "ARC" => Ok(Self::Arc),
            "STG" => Ok(Self::Stereographic),
            "ZEA" => Ok(Self::EqualArea),
            "CAR" => Ok(Self::Cartesian),
            "SFL" => Ok(Self::Sinusoidal { latitude: 0.0 }),
            "GLS" => Ok(Self::Sinusoidal { latitude }),
            // Towards a pole: no projection at the equator.
            "NCP" if latitude != 0.0 => Ok(Self::Sine { slant: [0.0, 1.0 / latitude.to_radians().tan()] }),
            _ => Err(None),
        }
    }

    /// The native latitude of the reference point: the pole of zenithal projections, or the equator.
    pub fn reference_latitude(self) -> f64 {
        match self {
            Self::Cartesian => 0.0,
            Self::Sinusoidal { latitude } => latitude,
            _ => 90.0,
        }
    }

    /// Native longitude and latitude; `None` outside the sphere.
    pub fn native(self, x: f64, y: f64) -> Option<[f64; 2]> {
        let radius = x.hypot(y);
        let around = if radius == 0.0 { 0.0 } else { x.atan2(-y).to_degrees() };
        let native = match self {
            Self::Tangent => [around, 1_f64.to_degrees().atan2(radius).to_degrees()],
            Self::Sine { slant } => slanted(x.to_radians(), y.to_radians(), slant)?,
            Self::Arc => [around, 90.0 - radius],
            Self::Stereographic => [around, 90.0 - 2.0 * (radius.to_radians() / 2.0).atan().to_degrees()],
            Self::EqualArea => [around, 90.0 - 2.0 * (radius.to_radians() / 2.0).asin().to_degrees()],
            Self::Cartesian => [x, y],
            Self::Sinusoidal { latitude } => [x / (latitude + y).to_radians().cos(), latitude + y],
        };
        let is_on_sphere = native[1].abs() <= 90.0 && native[0].abs() <= 360.0;
        is_on_sphere.then_some(native)
    }
}

/// The orthographic projection onto a plane that may be slanted. Of the two points on the line of sight, the
/// nearer one.
fn slanted(x: f64, y: f64, [xi, eta]: [f64; 2]) -> Option<[f64; 2]> {
    if xi == 0.0 && eta == 0.0 {
        // The general solution loses digits near the centre.
        let radius = x.hypot(y);
        let around = if radius == 0.0 { 0.0 } else { x.atan2(-y).to_degrees() };
        return (radius <= 1.0).then(|| [around, (1.0 - radius * radius).sqrt().atan2(radius).to_degrees()]);
    }
    let a = xi * xi + eta * eta + 1.0;
    let b = xi * (x - xi) + eta * (y - eta);
    let c = (x - xi).powi(2) + (y - eta).powi(2) - 1.0;
    let root = (b * b - a * c).sqrt();
    let sin = (-b + root) / a;
    let (east, north) = (x - xi * (1.0 - sin), -(y - eta * (1.0 - sin)));
    (sin.abs() <= 1.0).then(|| [east.atan2(north).to_degrees(), sin.atan2(east.hypot(north)).to_degrees()])
}
