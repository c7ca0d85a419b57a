//! Speed-up, efficiency and the serial fraction of a run, compared with another one.

use serde::Serialize;

/// What a run did in which time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Cells, particles or members.
    pub items: u64,
    /// Seconds for them.
    pub seconds: f64,
    /// Threads of all ranks.
    pub cores: usize,
}

/// A run compared with a smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speed {
    /// Items per second over those of the smaller run.
    pub speed_up: f64,
    /// Speed-up over the ratio of the numbers of threads.
    pub efficiency: f64,
    /// The fraction of the work that no more threads speed up, from the speed-up (Karp and Flatt 1990; for
    /// larger inputs on more threads, Gustafson 1988). `None` without more threads.
    pub serial_fraction: Option<f64>,
}

impl Rate {
    /// Compared with `base`.
    pub fn over(&self, base: &Self) -> Speed {
        let larger = if base.items == 0 { 1.0 } else { self.items as f64 / base.items as f64 };
        let speed_up = super::sample::ratio(base.seconds, self.seconds) * larger;
        let more = self.cores as f64 / base.cores as f64;
        let serial_fraction = (more > 1.0 && speed_up > 0.0).then(|| match larger > 1.01 {
            false => (1.0 / speed_up - 1.0 / more) / (1.0 - 1.0 / more),
            true => (more - speed_up) / (more - 1.0),
        });
        Speed { speed_up, efficiency: speed_up / more, serial_fraction }
    }

    /// Seconds that this run would take if it were as efficient as `base`.
    pub fn ideal(&self, base: &Self) -> f64 {
        self.seconds * self.over(base).efficiency
    }
}

impl Speed {
    /// Of a run over itself.
    pub const NONE: Self = Self { speed_up: 1.0, efficiency: 1.0, serial_fraction: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_fraction_is_that_of_amdahl_and_gustafson() {
        let base = Rate { items: 100, seconds: 10.0, cores: 1 };
        // A tenth of the work is serial: 1 + 9/4 s.
        let of = Rate { items: 100, seconds: 3.25, cores: 4 }.over(&base);
        assert!((of.serial_fraction.expect("four threads") - 0.1).abs() < 1e-12, "{of:?}");
        assert!((of.speed_up - 10.0 / 3.25).abs() < 1e-12 && of.efficiency == of.speed_up / 4.0);
        // Four times the input in the same time is ideal.
        let of = Rate { items: 400, seconds: 10.0, cores: 4 };
        assert_eq!((of.over(&base).speed_up, of.over(&base).serial_fraction), (4.0, Some(0.0)));
        assert_eq!(of.ideal(&base), 10.0);
        let slow = Rate { items: 400, seconds: 40.0, cores: 4 }.over(&base);
        assert_eq!((slow.speed_up, slow.serial_fraction), (1.0, Some(1.0)));
        assert_eq!(base.over(&base), Speed::NONE);
    }
}
