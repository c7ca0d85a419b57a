//! Scales, ticks and their labels.

/// A range of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotAxis {
    low: f64,
    high: f64,
    log: bool,
}

/// A mark on an axis; a minor one has no label.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its position, from 0 to 1 along the axis.
    pub place: f64,
    /// Its label.
    pub label: Option<String>,
}

impl PlotAxis {
    /// An axis without values, and so without marks.
    pub const NONE: Self = Self { low: 0.0, high: 0.0, log: false };

    /// Equal steps from `low` to `high`; an empty range is widened.
    pub fn linear(low: f64, high: f64) -> Self {
        let sound = low.is_finite() && high.is_finite() && high > low;
        if sound { Self { low, high, log: false } } else { Self { low: 0.0, high: 1.0, log: false } }
    }

    /// Equal ratios from `low` to `high`; an empty range is widened.
    pub fn log(low: f64, high: f64) -> Self {
        let sound = low.is_finite() && high.is_finite() && low > 0.0 && high >= low;
        let (low, high) = if sound { (low, high) } else { (0.1, 10.0) };
        let (low, high) = if high > low * 1.000_1 { (low, high) } else { (low / 2.0, high * 2.0) };
        Self { low, high, log: true }
    }

    /// The same axis, with values in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor, ..self }
    }

    /// The position of `value` along the axis: 0 at its low end, 1 at its high end.
    pub fn place(&self, value: f64) -> f64 {
        if self.log {
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The marks, in rising order.
    pub fn ticks(&self) -> Vec<Tick> {
        if *self == Self::NONE {
            return Vec::new();
        }
        if self.log { self.log_ticks() } else { self.linear_ticks() }
    }

    fn linear_ticks(&self) -> Vec<Tick> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(rough);
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let first = (self.low / step - 1e-6).ceil();
        let last = (self.high / step + 1e-6).floor();
        let n = (last - first).clamp(0.0, 20.0) as u32;
        (0..=n)
            .map(|i| (first + f64::from(i)) * step)
            .map(|v| Tick { place: self.place(v), label: Some(format!("{:.decimals$}", v + 0.0)) })
            .collect()
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
                    3 => decades < 0.5,
                    _ => false,
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

/// `0.01`, `1`, `20` near one; `5e-4` elsewhere: the built-in font has no raised minus.
fn log_label(digit: u8, exponent: i32) -> String {
    match exponent {
        0..=3 => format!("{digit}{}", "0".repeat(exponent.unsigned_abs() as usize)),
        -2..=-1 => format!("0.{}{digit}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        _ => format!("{digit}e{exponent}"),
    }
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
        assert_eq!(labels(PlotAxis::linear(-3.0, 7.0)), ["-2", "0", "2", "4", "6"]);
        assert_eq!(labels(PlotAxis::log(1e-5, 1e2)), ["1e-4", "0.01", "1", "100"]);
        assert_eq!(labels(PlotAxis::log(1.0, 12.0)), ["1", "2", "5", "10"]);
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
