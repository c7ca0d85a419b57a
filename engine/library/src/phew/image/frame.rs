//! Frames of sky coordinates, by their names in viewers.

/// A frame that DS9 and CASA know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkyFrame {
    /// The ICRS.
    Icrs,
    /// FK5 of equinox 2000.
    Fk5,
    /// FK4 of equinox 1950.
    Fk4,
    /// Galactic.
    Galactic,
}

impl SkyFrame {
    /// Its name in DS9.
    pub fn ds9(self) -> &'static str {
        match self {
            Self::Icrs => "icrs",
            Self::Fk5 => "fk5",
            Self::Fk4 => "fk4",
            Self::Galactic => "galactic",
        }
    }

    /// Its name in CASA.
    pub fn casa(self) -> &'static str {
        match self {
            Self::Icrs => "ICRS",
            Self::Fk5 => "J2000",
            Self::Fk4 => "B1950",
            Self::Galactic => "GALACTIC",
        }
    }
}
