//! Dimensions of quantities, and cgs values of the units of astronomers.

/// Centimetres in a megaparsec (IAU 2015).
pub const MEGAPARSEC: f64 = 3.085_677_581e24;
/// Grams in a solar mass (IAU 2015 and CODATA 2018).
pub const SOLAR_MASS: f64 = 1.988_41e33;
/// Centimetres per second in a kilometre per second.
pub const KILOMETRE: f64 = 1e5;

/// Dimension of a quantity, as powers of the code units of length, mass and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Power of length.
    pub length: i8,
    /// Power of mass.
    pub mass: i8,
    /// Power of time.
    pub time: i8,
}

impl Dimension {
    /// A pure number.
    pub const NONE: Self = Self::new(0, 0, 0);
    /// A length.
    pub const LENGTH: Self = Self::new(1, 0, 0);
    /// A volume.
    pub const VOLUME: Self = Self::new(3, 0, 0);
    /// A mass.
    pub const MASS: Self = Self::new(0, 1, 0);
    /// A mass density.
    pub const DENSITY: Self = Self::new(-3, 1, 0);
    /// A velocity.
    pub const VELOCITY: Self = Self::new(1, 0, -1);

    /// Powers of length, mass and time.
    pub const fn new(length: i8, mass: i8, time: i8) -> Self {
        Self { length, mass, time }
    }
}
