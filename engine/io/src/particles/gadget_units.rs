//! Units, cosmology and factors of h and a of Gadget, for all formats of its files.
//!
//! Gadget: comoving lengths and masses over h, and velocities over the square root of a. Values stay in the
//! units of the file; h goes into the units.

use super::{InputDefaults, Matter};
use crate::{Cosmology, ExtraCosmology, ReadError, ReadResult, Units};
use std::f64::consts::PI;
use std::path::Path;

/// Gadget-4's constant of gravity in cm³ g⁻¹ s⁻², if a run does not state its own.
const OWN_NEWTON: f64 = 6.6738e-8;
/// Gadget-4's 100 km/s/Mpc in 1/s, if a run does not state its own.
const OWN_HUBBLE: f64 = 3.240_778_9e-18;

/// The statements of a snapshot about its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GadgetRun {
    /// The expansion factor; `None` for a run that does not expand.
    pub aexp: Option<f64>,
    /// The Hubble constant over 100 km/s/Mpc.
    pub h: f64,
    /// The density of matter; `None` if it is not stated.
    pub omega_m: Option<f64>,
    /// That of the cosmological constant.
    pub omega_l: f64,
    /// That of baryons; `None` if it is not stated.
    pub omega_b: Option<f64>,
    /// That of radiation; `None` if it is not stated.
    pub omega_r: Option<f64>,
    /// Whether there is gas.
    pub has_gas: bool,
    /// The Hubble constant in units of h, of length and of velocity, if the run states it.
    pub hubble: Option<f64>,
    /// The constant of gravity in units of length, mass and velocity, if the run states it.
    pub newton: Option<f64>,
}

/// The units and the cosmology that follow.
#[derive(Debug, Clone, PartialEq)]
pub struct GadgetScales {
    /// The expansion factor; 1 without expansion. Its square root converts velocities of the file to peculiar
    /// ones.
    pub a: f64,
    /// The units at that factor.
    pub units: Units,
    /// The cosmology.
    pub cosmology: Option<Cosmology>,
    /// Mean densities.
    pub matter: Option<Matter>,
}

impl GadgetRun {
    /// With units of length, mass and velocity in cgs, with the factors of h still in them. `defaults` supply
    /// the parameters of a cosmology that no such snapshot states.
    ///
    /// # Errors
    /// The snapshot at `path` has no cosmology, and a parameter of one is given.
    pub fn scales(
        &self,
        [length, mass, velocity]: [f64; 3],
        path: &Path,
        defaults: &InputDefaults,
    ) -> ReadResult<GadgetScales> {
        let omega_m = self.omega_m.filter(|_| self.aexp.is_some());
        let a = self.aexp.unwrap_or(1.0);
        let matter = omega_m.map(|omega_m| {
            let critical = self.critical_density([length, mass, velocity]);
            let dark = self.omega_b.filter(|b| *b > 0.0 || !self.has_gas).map(|b| (omega_m - b) * critical);
            Matter { all: omega_m * critical, dark, has_gas: self.has_gas }
        });
        let stated = ExtraCosmology { omega_r: self.omega_r, ..ExtraCosmology::NONE };
        let cosmology = |omega_m| {
            let cosmology = Cosmology {
                aexp: a,
                h0: 100.0 * self.h,
                omega_m,
                omega_l: self.omega_l,
                omega_b: self.omega_b.unwrap_or(0.0),
                ..Cosmology::default()
            };
            let all = cosmology.with_extra(path, &stated, &defaults.cosmology)?;
            Ok(Cosmology { omega_k: 1.0 - omega_m - self.omega_l - all.omega_r - all.omega_nu, ..all })
        };
        let cosmology = omega_m.map(cosmology).transpose()?;
        let h = self.h;
        let system = UnitSystem { length: length / h, mass: mass / h, time: length / h / velocity };
        Ok(GadgetScales { a, units: system.at(a), cosmology, matter })
    }

    /// The critical density today in code units, as the run has it. The factors of h in H0, the masses and
    /// the lengths cancel.
    fn critical_density(&self, [length, mass, velocity]: [f64; 3]) -> f64 {
        let hubble = self.hubble.unwrap_or(OWN_HUBBLE * length / velocity);
        let newton = self.newton.unwrap_or(OWN_NEWTON * mass / length / velocity.powi(2));
        3.0 * hubble.powi(2) / (8.0 * PI * newton)
    }
}

/// The units of a snapshot: those that it states, else those of the caller, else Gadget's defaults.
pub struct OwnUnits<'a> {
    path: &'a Path,
    defaults: &'a InputDefaults,
    /// The units that neither states.
    pub assumed: Vec<String>,
}

impl<'a> OwnUnits<'a> {
    /// Of the snapshot at `path`.
    pub fn new(path: &'a Path, defaults: &'a InputDefaults) -> Self {
        Self { path, defaults, assumed: Vec::new() }
    }

    /// Centimetres.
    ///
    /// # Errors
    /// The snapshot and the caller state it.
    pub fn length(&mut self, stated: Option<f64>) -> ReadResult<f64> {
        self.unit(["unit length", "UnitLength_in_cm"], stated, self.defaults.unit_length, 3.085_678e21)
    }

    /// Grams.
    ///
    /// # Errors
    /// As for [`OwnUnits::length`].
    pub fn mass(&mut self, stated: Option<f64>) -> ReadResult<f64> {
        self.unit(["unit mass", "UnitMass_in_g"], stated, self.defaults.unit_mass, 1.989e43)
    }

    /// cm/s.
    ///
    /// # Errors
    /// As for [`OwnUnits::length`].
    pub fn velocity(&mut self, stated: Option<f64>) -> ReadResult<f64> {
        self.unit(["unit velocity", "UnitVelocity_in_cm_per_s"], stated, self.defaults.unit_velocity, 1e5)
    }

    fn unit(
        &mut self,
        [name, key]: [&'static str; 2],
        stated: Option<f64>,
        given: Option<f64>,
        own: f64,
    ) -> ReadResult<f64> {
        match (stated, given) {
            (Some(stated), Some(given)) => {
                let problem = format!("the snapshot states {key} = {stated}");
                Err(ReadError::unused_default(self.path, name, given, problem))
            }
            (stated, given) => Ok(stated.or(given).unwrap_or_else(|| {
                self.assumed.push(name.trim_start_matches("unit ").to_string());
                own
            })),
        }
    }
}

/// Comoving length, mass and time in cgs; length over time is the unit of peculiar velocities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitSystem {
    /// Centimetres.
    pub length: f64,
    /// Grams.
    pub mass: f64,
    /// Seconds.
    pub time: f64,
}

impl UnitSystem {
    /// Comoving, in g/cm3.
    pub fn density(self) -> f64 {
        self.mass / self.length.powi(3)
    }

    /// The units at expansion factor `a`.
    pub fn at(self, a: f64) -> Units {
        Units { length: self.length * a, density: self.density() / a.powi(3), time: self.time * a }
    }
}
