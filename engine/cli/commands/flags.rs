//! The options that an error of the library concerns. The library itself has no options.

use inselberg::error::{ParticleMeshError, RunError};
use inselberg::fof::{FofError, FofRunError};
use inselberg::particles::BoxError;
use inselberg_io::ReadError;
use std::fmt::Display;

const MESH: &str = "--mesh-from-particles";

/// An error that options can cause or correct.
pub trait NamesFlags: Display {
    /// The options, separated by commas; empty for none.
    fn flags(&self) -> &'static str;

    /// Whether the message begins with the path of the input.
    fn names_input(&self) -> bool {
        false
    }

    /// The message with the options at its end.
    fn with_flags(&self) -> String {
        match self.flags() {
            "" => self.to_string(),
            flags => format!("{self} ({flags})"),
        }
    }
}

impl NamesFlags for ReadError {
    fn names_input(&self) -> bool {
        true
    }

    fn flags(&self) -> &'static str {
        match self {
            Self::UnusedDefault { name: "particle mass", .. } => "--particle-mass",
            Self::UnusedDefault { name: "unit length", .. } => "--unit-length",
            Self::UnusedDefault { name: "unit mass", .. } => "--unit-mass",
            Self::UnusedDefault { name: "unit velocity", .. } => "--unit-velocity",
            Self::UnusedDefault { name: "expansion factor", .. } | Self::NoExpansion { .. } => {
                "--expansion-factor"
            }
            Self::UnusedDefault { name: "w0", .. } => "--w0",
            Self::UnusedDefault { name: "wa", .. } => "--wa",
            Self::UnusedDefault { name: "omega_r", .. } => "--omega-r",
            Self::UnusedDefault { name: "omega_nu", .. } => "--omega-nu",
            Self::TwoOrders { .. } => "--gadget-blocks",
            Self::TwoAxes { .. } => "--image",
            // Differences take values below 0.
            Self::Value { value, .. } if *value < 0.0 => "--relevance-difference",
            _ => "",
        }
    }
}

impl NamesFlags for RunError {
    fn names_input(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Grow(ParticleMeshError::Box(BoxError::Read(_))))
    }

    fn flags(&self) -> &'static str {
        match self {
            Self::Read(error) => error.flags(),
            Self::Grow(error) => error.flags(),
            Self::NoParticles | Self::NoOctree => "--field",
            Self::LostMass { .. } => "--density-threshold",
            Self::RegionOutside { .. } => "--region",
            Self::UnbindingOnParticleMesh => "--potential",
            Self::SubsamplesOfCells => "--subsamples, --mesh-from-particles",
            Self::SharedId { .. } => "--duplicate-ids allow",
            Self::UnclearGas { .. } => "--hydro-names",
            Self::NoCosmology | Self::NoMagneticField { .. } | Self::NoGas | Self::GasOnParticleMesh => {
                "--properties"
            }
            _ => "",
        }
    }
}

impl NamesFlags for ParticleMeshError {
    fn flags(&self) -> &'static str {
        match self {
            Self::Box(error) => error.flags(),
            Self::TooFine { .. } => "--level-min",
            Self::Levels { .. } => "--level-min, --level-max",
            Self::TooMany { .. } => MESH,
        }
    }
}

impl NamesFlags for BoxError {
    fn names_input(&self) -> bool {
        matches!(self, Self::Read(_))
    }

    fn flags(&self) -> &'static str {
        match self {
            Self::Read(error) => error.flags(),
            Self::NoBox | Self::TwoBoxes { .. } => "--box",
            Self::NoParticles { .. } => "--particle-types",
            Self::NoMasses(_) => "--particle-mass",
            Self::NoCube { .. } => MESH,
        }
    }
}

impl NamesFlags for FofRunError {
    fn names_input(&self) -> bool {
        matches!(self, Self::Read(_))
    }

    fn flags(&self) -> &'static str {
        match self {
            Self::Read(error) => error.flags(),
            Self::Fof(FofError::SameId(_)) | Self::SharedId { .. } => "--duplicate-ids allow",
            Self::NoBox | Self::TwoBoxes { .. } => "--box, --open",
            Self::PotentialOfRamses => "--potential",
            Self::NothingLinks { .. } => "--linking-types",
            Self::NoMasses(_) => "--particle-mass",
            Self::NoSeparation { .. } => "--linking-length",
            Self::NoUnits => "--black-hole-seed-mass",
            Self::UnitsOfProperties
            | Self::NoVelocities { .. }
            | Self::NoCosmology
            | Self::GasOfGroups
            | Self::BoxShape { .. } => "--properties",
            Self::IdsClash { .. } => "--group-id-default",
            _ => "",
        }
    }
}
