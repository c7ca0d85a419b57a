//! Scales, ticks and their labels.

use crate::report::units::raised;

/// How values lie along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisScale {
    /// Equal steps.
    Linear,
    /// Equal ratios, of positive values.
    Log,
    /// Equal steps of the root. Values below 0 have the root of their amount, with their sign.
    Sqrt,
    /// Equal ratios on both sides of 0, and about equal steps below `knee`.
    Symmetric {
        /// Where steps become ratios.
        knee: f64,
    },
}

/// A range of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotAxis {
    low: f64,
    high: f64,
    scale: AxisScale,
}

/// A mark on an axis; a minor one has no label.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its position, from 0 to 1 along the axis.
    pub place: f64,
    /// Its label.
    pub label: Option<String>,
}

/// Labels are at least this far apart, as a part of the axis.
const APART: f64 = 0.07;

impl PlotAxis {
    /// An axis without values, and so without marks.
    pub const NONE: Self = Self { low: 0.0, high: 0.0, scale: AxisScale::Linear };

    /// From `low` to `high`; an empty range, or one that the scale cannot have, is widened.
    pub fn new(low: f64, high: f64, scale: AxisScale) -> Self {
        match scale {
            AxisScale::Log => Self::log(low, high),
            _ => Self { scale, ..Self::linear(low, high) },
        }
    }

    /// Equal steps from `low` to `high`; an empty range is widened.
    pub fn linear(low: f64, high: f64) -> Self {
        let sound = low.is_finite() && high.is_finite() && high > low;
        let (low, high) = if sound { (low, high) } else { (0.0, 1.0) };
        Self { low, high, scale: AxisScale::Linear }
    }

    /// Equal ratios from `low` to `high`; an empty range is widened.
    pub fn log(low: f64, high: f64) -> Self {
        let sound = low.is_finite() && high.is_finite() && low > 0.0 && high >= low;
        let (low, high) = if sound { (low, high) } else { (0.1, 10.0) };
        let (low, high) = if high > low * 1.000_1 { (low, high) } else { (low / 2.0, high * 2.0) };
        Self { low, high, scale: AxisScale::Log }
    }

    /// The same axis, with values in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        let scale = match self.scale {
            AxisScale::Symmetric { knee } => AxisScale::Symmetric { knee: knee * factor },
            other => other,
        };
        Self { low: self.low * factor, high: self.high * factor, scale }
    }

    /// The values at its ends.
    pub fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The scale.
    #[cfg(test)]
    pub fn scale(&self) -> AxisScale {
        self.scale
    }

    /// The position of `value` along the axis: 0 at its low end, 1 at its high end.
    pub fn place(&self, value: f64) -> f64 {
        let [value, low, high] = [value, self.low, self.high].map(|x| self.scale.step(x));
        (value - low) / (high - low)
    }

    /// The marks, in rising order.
    pub fn ticks(&self) -> Vec<Tick> {
        if *self == Self::NONE {
            return Vec::new();
        }
        match self.scale {
            AxisScale::Linear | AxisScale::Sqrt => self.step_ticks(),
            AxisScale::Log => self.log_ticks(),
            AxisScale::Symmetric { knee } => self.symmetric_ticks(knee),
        }
    }

    fn step_ticks(&self) -> Vec<Tick> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(rough);
        let first = (self.low / step - 1e-6).ceil();
        let last = (self.high / step + 1e-6).floor();
        let n = (last - first).clamp(0.0, 20.0) as u32;
        let largest = self.low.abs().max(self.high.abs());
        let values = (0..=n).map(|i| (first + f64::from(i)) * step + 0.0);
        self.thinned(values.map(|value| (value, step_label(value, step, largest))))
    }

    /// Ticks of these values; labels that would touch are left out, those of greater amounts last.
    fn thinned(&self, values: impl Iterator<Item = (f64, String)>) -> Vec<Tick> {
        let mut ticks: Vec<Tick> =
            values.map(|(value, label)| Tick { place: self.place(value), label: Some(label) }).collect();
        let mut above = f64::INFINITY;
        for tick in ticks.iter_mut().rev() {
            if above - tick.place < APART {
                tick.label = None;
            } else {
                above = tick.place;
            }
        }
        ticks
    }

    fn symmetric_ticks(&self, knee: f64) -> Vec<Tick> {
        let largest = self.low.abs().max(self.high.abs());
        let (first, last) = (knee.log10().ceil() as i32, largest.log10().floor() as i32);
        let above = (first..=last).map(|exponent| (10f64.powi(exponent), log_label(1, exponent)));
        let below = above.clone().rev().map(|(value, label)| (-value, format!("−{label}")));
        let all = below.chain([(0.0, "0".to_string())]).chain(above);
        self.thinned(all.filter(|(value, _)| (self.low..=self.high).contains(value)))
    }

    fn log_ticks(&self) -> Vec<Tick> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = self.high.log10() - self.low.log10();
        let every = (decades / 6.0).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for exponent in first..=last {
            for digit in 1..10u8 {
                let place = self.place(f64::from(digit) * 10f64.powi(exponent));
                let labelled = match digit {
                    1 => exponent.rem_euclid(every) == 0,
                    2 | 5 => decades < 1.7,
                    _ => decades < 0.6,
                };
                let within = (-1e-9..=1.0 + 1e-9).contains(&place);
                if within && (labelled || (every == 1 || digit == 1)) {
                    ticks.push(Tick { place, label: labelled.then(|| log_label(digit, exponent)) });
                }
            }
        }
        ticks
    }
}

impl AxisScale {
    /// Equal differences of these numbers are equal distances on paper.
    fn step(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.log10(),
            Self::Sqrt => value.signum() * value.abs().sqrt(),
            Self::Symmetric { knee } => (value / knee).asinh(),
        }
    }
}

/// A multiple of a step, with the digits that tell it from its neighbours.
fn step_label(value: f64, step: f64, largest: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&largest) {
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        return if value == 0.0 && !(1e-3..1e5).contains(&largest) {
            "0".into()
        } else {
            format!("{value:.decimals$}").replace('-', "−")
        };
    }
    let exponent = largest.log10().floor() as i32;
    let decimals = (f64::from(exponent) - step.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{:.decimals$}{}", value / 10f64.powi(exponent), times_power(exponent)).replace('-', "−")
}

/// `0.01`, `1`, `20` near one; `5×10⁻⁴` elsewhere.
fn log_label(digit: u8, exponent: i32) -> String {
    match (exponent, digit) {
        (0..=3, _) => format!("{digit}{}", "0".repeat(exponent.unsigned_abs() as usize)),
        (-2..=-1, _) => format!("0.{}{digit}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        (_, 1) => format!("10{}", raised(exponent)),
        _ => format!("{digit}{}", times_power(exponent)),
    }
}

fn times_power(exponent: i32) -> String {
    format!("×10{}", raised(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: PlotAxis) -> Vec<String> {
        axis.ticks().into_iter().filter_map(|t| t.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(PlotAxis::linear(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(PlotAxis::linear(-3.0, 7.0)), ["−2", "0", "2", "4", "6"]);
        assert_eq!(labels(PlotAxis::log(1e-5, 1e2)), ["10⁻⁴", "0.01", "1", "100"]);
        assert_eq!(labels(PlotAxis::log(1.0, 12.0)), ["1", "2", "5", "10"]);
        assert_eq!(labels(PlotAxis::log(0.35, 0.75)), ["0.4", "0.5", "0.6", "0.7"]);
        assert_eq!(labels(PlotAxis::linear(0.0, 3e-28)), ["0", "1×10⁻²⁸", "2×10⁻²⁸", "3×10⁻²⁸"]);
        assert_eq!(labels(PlotAxis::log(2e-28, 3e-28)), ["2×10⁻²⁸", "3×10⁻²⁸"]);
    }

    #[test]
    fn scales_place_values_by_their_roots_and_ratios() {
        let root = PlotAxis::new(0.0, 100.0, AxisScale::Sqrt);
        assert!((root.place(25.0) - 0.5).abs() < 1e-12);
        assert_eq!(labels(root), ["0", "20", "40", "60", "80", "100"]);
        let both = PlotAxis::new(-100.0, 100.0, AxisScale::Symmetric { knee: 1.0 });
        assert!((both.place(0.0) - 0.5).abs() < 1e-12 && both.place(10.0) > 0.7);
        assert_eq!(labels(both), ["−100", "−10", "−1", "0", "1", "10", "100"]);
        assert_eq!(both.scaled(1e-3).place(0.01), both.place(10.0));
    }

    #[test]
    fn empty_and_wrong_stretches_still_have_ticks() {
        for axis in [
            PlotAxis::log(0.0, 1.0),
            PlotAxis::log(3.0, 3.0),
            PlotAxis::log(f64::NAN, 1.0),
            PlotAxis::linear(1.0, 1.0),
        ] {
            assert!(axis.ticks().len() > 1, "{axis:?}");
            assert!(axis.ticks().iter().all(|t| (-0.001..1.001).contains(&t.place)));
        }
    }
}
