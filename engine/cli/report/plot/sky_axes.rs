//! Sky coordinates and velocities along the edges of a map, and what its values are.
//!
//! A map of an image shows each world coordinate on the edge along which it changes most. A map of a cube
//! along its spectral axis is its integral over velocity, the moment 0.

use super::axis::{PlotAxis, Tick};
use crate::report::units::{DisplayUnit, DisplayUnits};
use inselberg::View;
use inselberg::phew::image::ImageSky;
use inselberg_io::catalogue::Dimension;

/// Points along an edge.
const N_POINTS: usize = 129;
/// About so many marks along an edge.
const N_MARKS: f64 = 5.0;
/// Steps of seconds and minutes, in seconds.
const STEPS: [f64; 16] =
    [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1200.0, 1800.0, 3600.0, 7200.0];

/// The name and the marks of an edge.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeAxis {
    pub name: String,
    pub ticks: Vec<Tick>,
}

/// The values of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownValues {
    /// Their name.
    pub quantity: String,
    /// Their unit, and the number of units in a value of the map.
    pub unit: DisplayUnit,
}

/// A map of an image.
#[derive(Clone, Copy)]
pub struct SkyView<'a> {
    sky: &'a ImageSky,
    view: &'a View,
}

impl<'a> SkyView<'a> {
    /// A view of an image.
    pub fn new(sky: &'a ImageSky, view: &'a View) -> Self {
        Self { sky, view }
    }

    /// The world coordinates at parts of the width, the height and the depth of the map.
    fn world(&self, [across, up, deep]: [f64; 3]) -> Vec<f64> {
        let View { low, sides, along, .. } = self.view;
        let [x, y] = self.view.axes();
        let mut position = *low;
        for (axis, part) in [(x, across), (y, up), (*along, deep)] {
            position[axis] += part * sides[axis];
        }
        let mut world = Vec::new();
        self.sky.world(position, &mut world);
        world
    }

    /// How much each coordinate changes along the width, the height or the depth; longitudes as on the sky.
    fn changes(&self, edge: usize) -> Vec<f64> {
        let at = |part: f64| {
            let mut parts = [0.5; 3];
            parts[edge] = part;
            self.world(parts)
        };
        let (from, to, middle) = (at(0.0), at(1.0), at(0.5));
        let latitude = self.latitude().map_or(0.0, |axis| middle[axis]);
        let change = |axis: usize| {
            let change = (to[axis] - from[axis]).abs();
            match self.is_longitude(axis) {
                true => change.min(360.0 - change) * latitude.to_radians().cos(),
                false => change,
            }
        };
        (0..from.len()).map(change).collect()
    }

    fn is_longitude(&self, axis: usize) -> bool {
        self.is_celestial(axis) && self.latitude() != Some(axis)
    }

    /// Longitude and latitude come first, and are in degrees.
    fn is_celestial(&self, axis: usize) -> bool {
        axis < 2 && self.latitude().is_some()
    }

    fn latitude(&self) -> Option<usize> {
        let axes = self.sky.axes();
        (axes.len() > 1 && axes[0].unit == "deg" && axes[1].unit == "deg").then_some(1)
    }

    /// The coordinate of an edge, 0 along the width and 1 along the height: the celestial one that changes
    /// most, or another that changes.
    fn axis_of(&self, edge: usize) -> Option<usize> {
        let [own, other] = [edge, 1 - edge].map(|edge| self.changes(edge));
        let most = |axes: &mut dyn Iterator<Item = usize>| {
            axes.filter(|axis| own[*axis] > 0.0 && own[*axis] >= 1e-9 * other[*axis])
                .max_by(|a, b| own[*a].total_cmp(&own[*b]))
        };
        let n = own.len();
        let further = most(&mut (0..n).filter(|axis| !self.is_celestial(*axis) && own[*axis] > other[*axis]));
        let celestial = || most(&mut (0..n).filter(|axis| self.is_celestial(*axis)));
        further.or_else(|| match (edge, celestial()) {
            // Both edges of a turned image may change one coordinate most; then the height has the other.
            (1, Some(axis)) if self.axis_of(0) == Some(axis) && self.is_celestial(axis) => Some(1 - axis),
            (_, axis) => axis,
        })
    }

    /// Names and marks of an edge; `None` where the sky ends or has no such coordinate.
    pub fn edge(&self, edge: usize) -> Option<EdgeAxis> {
        let axis = self.axis_of(edge)?;
        let value = |i: usize| {
            let mut parts = [0.0, 0.0, 0.5];
            parts[edge] = i as f64 / (N_POINTS - 1) as f64;
            self.world(parts)[axis]
        };
        let mut values: Vec<f64> = (0..N_POINTS).map(value).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        if self.is_longitude(axis) {
            unwrap(&mut values);
        }
        let world = &self.sky.axes()[axis];
        let ticks = match (world.name.as_str(), world.unit.as_str()) {
            ("ra", _) => {
                values.iter_mut().for_each(|value| *value *= 240.0);
                let step = sexagesimal_step(&values);
                marks(&values, step, |x| sexagesimal(x.rem_euclid(86_400.0), step, ["h", "m", "s"]))
            }
            ("dec", _) => {
                values.iter_mut().for_each(|value| *value *= 3600.0);
                let step = sexagesimal_step(&values);
                marks(&values, step, |x| sexagesimal(x, step, ["°", "′", "″"]))
            }
            _ => {
                let factor = shown_unit(&world.unit).1;
                values.iter_mut().for_each(|value| *value *= factor);
                plain_marks(&values)
            }
        };
        let unit = match world.name.as_str() {
            "ra" | "dec" => "",
            _ => shown_unit(&world.unit).0,
        };
        let name = world.description.split(" in ").next().unwrap_or(&world.name);
        Some(EdgeAxis { name: DisplayUnit::named(unit).label(name), ticks })
    }

    /// Degrees on the sky per width of the map; `None` if the width is not on the sky.
    pub fn degrees(&self) -> Option<f64> {
        let axis = self.axis_of(0).filter(|axis| self.is_celestial(*axis))?;
        let changes = self.changes(0);
        Some(changes[axis].hypot(changes[1 - axis])).filter(|degrees| degrees.is_finite() && *degrees > 0.0)
    }

    /// Velocities through which the line of sight passes, in km/s; `None` along other axes.
    pub fn depth(&self) -> Option<f64> {
        let axis = self.sky.axes().iter().position(|axis| axis.name == "velocity")?;
        let [across, up, deep] = [0, 1, 2].map(|edge| self.changes(edge)[axis]);
        (deep > 0.0 && across <= 1e-9 * deep && up <= 1e-9 * deep).then_some(deep)
    }
}

/// What the values of a map are: means of a density along the line of sight, integrals over velocity, or the
/// values of an image.
pub fn shown_values(units: &DisplayUnits, sky: Option<&ImageSky>, view: &View, is_flat: bool) -> ShownValues {
    let unit = units.unit(Dimension::DENSITY);
    let mean = |quantity: &str| ShownValues { quantity: quantity.into(), unit: unit.clone() };
    match sky.and_then(|sky| SkyView::new(sky, view).depth()) {
        Some(depth) => {
            let name = format!("{} km/s", unit.name).trim_start().to_string();
            let unit = DisplayUnit { name, factor: unit.factor * depth };
            ShownValues { quantity: "integrated value".into(), unit }
        }
        None if is_flat => mean("value"),
        None if units.are_of_image() => mean("mean value"),
        None => mean(units.mean_density()),
    }
}

/// The unit in which an axis is marked, and the number of these in its own.
fn shown_unit(unit: &str) -> (&'static str, f64) {
    match unit {
        "deg" => ("°", 1.0),
        "km/s" => ("km s⁻¹", 1.0),
        "Hz" => ("GHz", 1e-9),
        "m" => ("μm", 1e6),
        _ => ("", 1.0),
    }
}

/// Longitudes without steps of 360 degrees.
fn unwrap(values: &mut [f64]) {
    for i in 1..values.len() {
        values[i] -= 360.0 * ((values[i] - values[i - 1]) / 360.0).round();
    }
}

fn range(values: &[f64]) -> [f64; 2] {
    let fold = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of).expect("an edge has points");
    [fold(f64::min), fold(f64::max)]
}

fn plain_marks(values: &[f64]) -> Vec<Tick> {
    let [low, high] = range(values);
    let axis = PlotAxis::linear(low, high);
    let at = |tick: Tick| {
        let value = low + tick.place * (high - low);
        Some(Tick { place: place(values, value)?, ..tick })
    };
    axis.ticks().into_iter().filter_map(at).collect()
}

/// Marks at the multiples of a step.
fn marks(values: &[f64], step: f64, label: impl Fn(f64) -> String) -> Vec<Tick> {
    let [low, high] = range(values);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    let tick = |n: i64| {
        let value = n as f64 * step;
        Some(Tick { place: place(values, value)?, label: Some(label(value)) })
    };
    (first..=last.min(first + 20)).filter_map(tick).collect()
}

/// Where along an edge a value is.
fn place(values: &[f64], value: f64) -> Option<f64> {
    let crosses = |pair: &[f64]| (pair[0] - value) * (pair[1] - value) <= 0.0 && pair[0] != pair[1];
    let i = values.windows(2).position(crosses)?;
    let part = (value - values[i]) / (values[i + 1] - values[i]);
    Some((i as f64 + part) / (values.len() - 1) as f64)
}

/// A step in seconds that gives a few marks.
fn sexagesimal_step(values: &[f64]) -> f64 {
    let [low, high] = range(values);
    let rough = ((high - low) / N_MARKS).max(f64::MIN_POSITIVE);
    let fine = rough < STEPS[0];
    let coarse = rough > STEPS[STEPS.len() - 1];
    if fine || coarse {
        let unit = if fine { 1.0 } else { 3600.0 };
        let power = 10f64.powf((rough / unit).log10().floor()) * unit;
        return [1.0, 2.0, 5.0, 10.0]
            .map(|digit| digit * power)
            .into_iter()
            .find(|s| *s >= rough)
            .unwrap_or(rough);
    }
    STEPS.into_iter().find(|step| *step >= rough).expect("the last one is coarser")
}

/// Seconds as `12h30m15s`, down to the unit of the step.
fn sexagesimal(seconds: f64, step: f64, [whole, minute, second]: [&str; 3]) -> String {
    let decimals = if step < 1.0 { (-step.log10()).ceil().clamp(0.0, 9.0) as usize } else { 0 };
    let parts = 10_i64.pow(decimals as u32);
    let n = (seconds.abs() * parts as f64).round() as i64;
    let sign = if seconds < 0.0 && n > 0 { "−" } else { "" };
    let (hours, minutes) = (n / (3600 * parts), n / (60 * parts) % 60);
    let rest = n % (60 * parts);
    let mut text = format!("{sign}{hours}{whole}");
    if step < 3600.0 {
        text += &format!("{minutes:02}{minute}");
    }
    if step < 60.0 {
        text += &format!("{:02}", rest / parts);
        if decimals > 0 {
            text += &format!(".{:0decimals$}", rest % parts);
        }
        text += second;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_io::catalogue::Attribute;

    /// A cube of 40 x 30 pixels of 6 arcsec around 12h, +41 deg, and 10 channels of 2 km/s.
    fn cube() -> ImageSky {
        let real = |name: &str, x: f64| (format!("fits_{name}"), Attribute::Real(x));
        let text = |name: &str, x: &str| (format!("fits_{name}"), Attribute::Text(x.into()));
        let reals = |name: &str, x: &[f64]| (name.to_string(), Attribute::Reals(x.to_vec()));
        let step = 6.0 / 3600.0;
        let attributes = vec![
            reals("fits_shape", &[40.0, 30.0, 10.0]),
            reals("fits_axes", &[1.0, 2.0, 3.0]),
            reals("coarse_cells", &[4.0, 3.0, 1.0]),
            ("boxlen".into(), Attribute::Real(10.0)),
            text("CTYPE1", "RA---TAN"),
            text("CTYPE2", "DEC--TAN"),
            text("CTYPE3", "VRAD"),
            text("CUNIT3", "km/s"),
            real("CRVAL1", 180.0),
            real("CRVAL2", 41.0),
            real("CRVAL3", -10.0),
            real("CRPIX1", 20.5),
            real("CRPIX2", 15.5),
            real("CRPIX3", 1.0),
            real("CDELT1", -step),
            real("CDELT2", step),
            real("CDELT3", 2.0),
        ];
        ImageSky::from_attributes(&attributes).expect("an image").expect("coordinates")
    }

    fn view(along: usize) -> View {
        View { low: [0.0; 3], sides: [40.0, 30.0, 10.0], along, pixels: [40, 30] }
    }

    #[test]
    fn edges_have_the_coordinate_that_changes_along_them() {
        let sky = cube();
        let front = view(2);
        let [x, y] = [0, 1].map(|edge| SkyView::new(&sky, &front).edge(edge).expect("an edge"));
        assert_eq!((x.name.as_str(), y.name.as_str()), ("right ascension", "declination"));
        // East is on the left, and the reference is in the middle.
        let twelve = x.ticks.iter().find(|tick| tick.label.as_deref() == Some("12h00m00s"));
        assert!((twelve.expect("a mark").place - 0.5).abs() < 1e-3, "{x:?}");
        let equal = y.ticks.iter().find(|tick| tick.label.as_deref() == Some("41°00′"));
        assert!((equal.expect("a mark").place - 0.5).abs() < 1e-2, "{y:?}");
        assert!((SkyView::new(&sky, &front).degrees().expect("on the sky") - 240.0 / 3600.0).abs() < 1e-6);
        let side = view(1);
        let [x, y] = [0, 1].map(|edge| SkyView::new(&sky, &side).edge(edge).expect("an edge").name);
        assert_eq!((x.as_str(), y.as_str()), ("right ascension", "radio velocity [km s⁻¹]"));
    }

    #[test]
    fn a_map_along_velocities_is_their_integral() {
        let (sky, units) = (cube(), DisplayUnits::CODE);
        let along = |axis: usize| shown_values(&units, Some(&sky), &view(axis), false);
        let moment = along(2);
        assert_eq!((moment.quantity.as_str(), moment.unit.factor), ("integrated value", 20.0));
        assert!(moment.unit.name.ends_with("km/s") && along(1).unit.factor == 1.0);
    }

    #[test]
    fn angles_have_no_more_digits_than_their_steps() {
        let hours = ["h", "m", "s"];
        assert_eq!(sexagesimal(43_200.0, 3600.0, hours), "12h");
        assert_eq!(sexagesimal(45_015.0, 5.0, hours), "12h30m15s");
        assert_eq!(sexagesimal(-59.999_6, 0.05, ["°", "′", "″"]), "−0°01′00.00″");
        assert_eq!(sexagesimal_step(&[0.0, 250.0]), 60.0);
    }
}
