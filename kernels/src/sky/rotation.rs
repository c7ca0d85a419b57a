//! From native to celestial coordinates: a rotation of the sphere, given by the celestial place of the native
//! pole.

/// The native pole on the sky, and the native longitude of the celestial pole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NativePole {
    /// Longitude in degrees.
    longitude: f64,
    /// Sine and cosine of its latitude.
    sin_latitude: f64,
    cos_latitude: f64,
    /// `LONPOLE` in degrees.
    native: f64,
}

impl NativePole {
    /// The pole of a projection whose reference point has these celestial coordinates, native longitude 0 and
    /// native latitude `theta`: 90, 0, or its own latitude, where the sphere is not turned. Angles are in
    /// degrees. `None`: no pole fits.
    pub fn new(
        reference: [f64; 2],
        theta: f64,
        lon_pole: Option<f64>,
        lat_pole: Option<f64>,
    ) -> Option<Self> {
        let [lon, lat] = reference;
        let native = lon_pole.unwrap_or(if lat >= theta { 0.0 } else { 180.0 });
        let is_sound = [lon, lat, native, lat_pole.unwrap_or(90.0)].iter().all(|x| x.is_finite());
        if !is_sound || lat.abs() > 90.0 {
            return None;
        }
        let (longitude, latitude) = match theta {
            90.0 => (lon, lat),
            theta if theta == lat && theta != 0.0 => (lon + native - 180.0, 90.0),
            _ => pole_of_equator([lon, lat], native, lat_pole.unwrap_or(90.0))?,
        };
        let (sin_latitude, cos_latitude) = sin_cos(latitude);
        Some(Self { longitude, sin_latitude, cos_latitude, native })
    }

    /// Celestial longitude from 0 to 360 and latitude, in degrees.
    pub fn celestial(&self, [phi, theta]: [f64; 2]) -> [f64; 2] {
        let (sin_theta, cos_theta) = sin_cos(theta);
        let (sin_turn, cos_turn) = sin_cos(phi - self.native);
        let x = sin_theta * self.cos_latitude - cos_theta * self.sin_latitude * cos_turn;
        let y = -cos_theta * sin_turn;
        let z = sin_theta * self.sin_latitude + cos_theta * self.cos_latitude * cos_turn;
        let turn = if x == 0.0 && y == 0.0 { 0.0 } else { y.atan2(x).to_degrees() };
        // A remainder may round up to 360.
        let longitude = (self.longitude + turn).rem_euclid(360.0);
        [if longitude == 360.0 { 0.0 } else { longitude }, z.atan2(x.hypot(y)).to_degrees()]
    }
}

/// Longitude and latitude of the pole where the reference point is on the native equator, at native longitude
/// 0.
fn pole_of_equator([lon, lat]: [f64; 2], native: f64, lat_pole: f64) -> Option<(f64, f64)> {
    let (sin_native, cos_native) = sin_cos(native);
    let (sin_lat, cos_lat) = sin_cos(lat);
    // At right angles every latitude may fit. The paper takes LATPOLE then, WCSLIB a pole: so there is no
    // answer.
    let ratio = if cos_native == 0.0 { f64::NAN } else { sin_lat / cos_native.abs() };
    let (middle, arc) = (if cos_native < 0.0 { 180.0 } else { 0.0 }, checked_acos(ratio)?);
    let folded = [middle - arc, middle + arc].map(|x| (x + 180.0).rem_euclid(360.0) - 180.0);
    let fits = folded.into_iter().filter(|x| x.abs() <= 90.0 + 1e-9);
    // Of two that are as near but for rounding the first, as WCSLIB takes it.
    let off = |x: &f64| ((x - lat_pole).abs() * 1e9).round();
    let latitude = fits.min_by(|a, b| off(a).total_cmp(&off(b)))?;
    let latitude = latitude.clamp(-90.0, 90.0);
    let (sin_pole, cos_pole) = sin_cos(latitude);
    let longitude = if cos_lat.abs() < 1e-12 {
        lon
    } else if latitude >= 90.0 - 1e-9 {
        lon + native - 180.0
    } else if latitude <= -90.0 + 1e-9 {
        lon - native
    } else {
        lon - (sin_native / cos_lat).atan2(-sin_pole * sin_lat / (cos_pole * cos_lat)).to_degrees()
    };
    Some((longitude, latitude))
}

/// The arc of a cosine in degrees; `None` where it is none, by more than rounding.
fn checked_acos(cos: f64) -> Option<f64> {
    (cos.abs() <= 1.0 + 1e-12).then(|| cos.clamp(-1.0, 1.0).acos().to_degrees())
}

/// Sine and cosine of degrees, exact for right angles.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        _ => degrees.to_radians().sin_cos(),
    }
}
