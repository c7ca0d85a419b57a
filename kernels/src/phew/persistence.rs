//! Persistence: how far must a peak stand above the saddle at which it dies, so that it is not noise?
//!
//! Place in the flow: [`super::hierarchy`] and [`super::ties`] use it for each peak. It uses two densities,
//! no tree.
//!
//! Both kinds grow with the density of the peak and fall with that of the saddle. The tree is equivalent to
//! the rounds of the paper for any such measure.

/// How persistence is measured, with its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Persistence {
    /// Peak density over saddle density.
    Ratio(f64),
    /// Peak density minus saddle density.
    Difference(f64),
}

impl Persistence {
    /// The persistence of a peak of density `rho` above a saddle.
    #[inline]
    pub fn value(self, rho: f64, saddle: f64) -> f64 {
        match self {
            Self::Ratio(_) => rho / saddle,
            Self::Difference(_) => rho - saddle,
        }
    }

    /// The threshold. Peaks of lower persistence are noise.
    #[inline]
    pub fn threshold(self) -> f64 {
        match self {
            Self::Ratio(threshold) | Self::Difference(threshold) => threshold,
        }
    }

    /// The same kind of persistence with another threshold.
    pub fn with(self, threshold: f64) -> Self {
        match self {
            Self::Ratio(_) => Self::Ratio(threshold),
            Self::Difference(_) => Self::Difference(threshold),
        }
    }

    /// Whether a peak of density `rho` that dies at `saddle` is noise.
    #[inline]
    pub fn is_noise(self, rho: f64, saddle: f64) -> bool {
        self.value(rho, saddle) < self.threshold()
    }

    /// A threshold that was given in units of the density `unit`, in code units. A ratio has no unit.
    pub fn times(self, unit: f64) -> Self {
        match self {
            Self::Ratio(_) => self,
            Self::Difference(difference) => Self::Difference(difference * unit),
        }
    }

    /// Whether this is a difference of densities.
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Difference(_))
    }
}

#[cfg(test)]
mod tests {
    use super::Persistence::{Difference, Ratio};

    #[test]
    fn a_peak_at_the_threshold_is_not_noise() {
        for (persistence, expected) in
            [(Ratio(2.0), [true, false, false]), (Difference(2.0), [true, true, false])]
        {
            assert_eq!(
                [1.5, 2.0, 3.0].map(|rho| persistence.is_noise(rho, 1.0)),
                expected,
                "{persistence:?}"
            );
        }
        assert_eq!([Ratio(2.0), Difference(2.0)].map(|p| p.value(3.0, 1.5)), [2.0, 1.5]);
        assert_eq!([Ratio(2.0), Difference(2.0)].map(|p| p.times(4.0)), [Ratio(2.0), Difference(8.0)]);
    }
}
