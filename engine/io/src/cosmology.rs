//! The expansion and the mean densities of the universe of a run.
//!
//! If a run states its Hubble rate and its critical density, these are used. Otherwise both follow from the
//! density parameters:
//!
//! ```text
//!     H² / H0² = (Ω_m + Ω_ν) a⁻³ + Ω_k a⁻² + Ω_r a⁻⁴ + Ω_Λ a^(-3 (1 + w0 + wa)) exp(-3 wa (1 - a))
//! ```

use crate::params;
use crate::params::{ParamSpec, Topic, real};
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::path::Path;

/// The constant of gravity in cm³ g⁻¹ s⁻² (CODATA 2018).
pub const NEWTON: f64 = 6.6743e-8;
/// 100 km/s/Mpc in 1/s.
pub const HUBBLE_100: f64 = 3.240_779_29e-18;

/// How much a stated value may differ from the one that follows from others. Constants of codes differ by
/// less.
const ROUNDING: f64 = 0.01;

/// Expansion factor, density parameters today, and the expansion that the run states; `None` in
/// [`Header`](crate::Header) for non-cosmological outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cosmology {
    /// Expansion factor of the output.
    pub aexp: f64,
    /// Hubble constant in km/s/Mpc.
    pub h0: f64,
    /// Matter density parameter, without massive neutrinos.
    pub omega_m: f64,
    /// Dark-energy density parameter.
    pub omega_l: f64,
    /// Curvature density parameter.
    pub omega_k: f64,
    /// Baryon density parameter.
    pub omega_b: f64,
    /// Radiation density parameter.
    pub omega_r: f64,
    /// Density parameter of massive neutrinos, which counts in the mean density of matter.
    pub omega_nu: f64,
    /// Pressure over density of dark energy today: w(a) = w0 + wa (1 - a).
    pub w0: f64,
    /// The part of that which changes with the expansion.
    pub wa: f64,
    /// The Hubble rate at the expansion factor in 1/s, if the run states it.
    pub hubble: Option<f64>,
    /// The critical density at the expansion factor in g/cm³, if the run states it.
    pub critical: Option<f64>,
    /// Those of w0, wa, `omega_r` and `omega_nu` that are not stated.
    pub assumed: Vec<String>,
}

/// Only matter, today, with 100 km/s/Mpc. A cosmological constant has w0 = -1 and wa = 0.
impl Default for Cosmology {
    fn default() -> Self {
        Self {
            aexp: 1.0,
            h0: 100.0,
            omega_m: 1.0,
            omega_l: 0.0,
            omega_k: 0.0,
            omega_b: 0.0,
            omega_r: 0.0,
            omega_nu: 0.0,
            w0: -1.0,
            wa: 0.0,
            hubble: None,
            critical: None,
            assumed: Vec::new(),
        }
    }
}

impl Cosmology {
    /// The cosmology in the attributes of a catalogue; `None` without one. Catalogues of older versions state
    /// fewer parameters; the others have their usual values.
    pub fn from_attributes(real: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        let usual = Self::default();
        let or_usual = |name: &str, usual: f64| real(name).unwrap_or(usual);
        Some(Self {
            aexp: real("aexp")?,
            h0: real("h0")?,
            omega_m: real("omega_m")?,
            omega_l: or_usual("omega_l", usual.omega_l),
            omega_k: or_usual("omega_k", usual.omega_k),
            omega_b: or_usual("omega_b", usual.omega_b),
            omega_r: or_usual("omega_r", usual.omega_r),
            omega_nu: or_usual("omega_nu", usual.omega_nu),
            w0: or_usual("w0", usual.w0),
            wa: or_usual("wa", usual.wa),
            hubble: real("hubble_rate"),
            critical: real("critical_density"),
            assumed: Vec::new(),
        })
    }

    /// The Hubble rate at the expansion factor, in 1/s: the stated one, else that of the density parameters.
    pub fn hubble_rate(&self) -> f64 {
        self.hubble.unwrap_or_else(|| self.hubble_rate_at(self.aexp))
    }

    /// The Hubble rate at any expansion factor in 1/s, by the density parameters.
    pub fn hubble_rate_at(&self, aexp: f64) -> f64 {
        self.hubble_constant() * self.densities(aexp).iter().sum::<f64>().sqrt()
    }

    /// The Hubble constant in 1/s.
    fn hubble_constant(&self) -> f64 {
        HUBBLE_100 * (self.h0 / 100.0)
    }

    /// The critical density at the expansion factor in g/cm³: the stated one, else that of the Hubble rate.
    pub fn critical_density(&self) -> f64 {
        self.critical.unwrap_or_else(|| critical_density(self.hubble_rate()))
    }

    /// The critical density today in g/cm³.
    pub fn critical_density_today(&self) -> f64 {
        critical_density(self.hubble_constant())
    }

    /// The density of matter and massive neutrinos at the expansion factor over the critical one there.
    pub fn matter_parameter(&self) -> f64 {
        let densities = self.densities(self.aexp);
        let all = match self.hubble {
            Some(rate) => (rate / self.hubble_constant()).powi(2),
            None => densities.iter().sum(),
        };
        densities[0] / all
    }

    /// The part of massive neutrinos in the mean density of matter.
    pub fn neutrino_part(&self) -> f64 {
        self.omega_nu / (self.omega_m + self.omega_nu)
    }

    /// Matter with neutrinos, curvature, dark energy and radiation at an expansion factor, over the critical
    /// density today.
    fn densities(&self, a: f64) -> [f64; 4] {
        [
            (self.omega_m + self.omega_nu) / (a * a * a),
            self.omega_k / (a * a),
            self.omega_l * self.dark_energy(a),
            self.omega_r / (a * a * a * a),
        ]
    }

    /// The density of dark energy at an expansion factor over that today.
    fn dark_energy(&self, a: f64) -> f64 {
        match (self.w0, self.wa) {
            (-1.0, 0.0) => 1.0, // no function of the system's library, whose bits differ
            (w0, wa) => a.powf(-3.0 * (1.0 + w0 + wa)) * (-3.0 * wa * (1.0 - a)).exp(),
        }
    }

    /// The contradictions among stated values beyond rounding, in one line. The stated values are used.
    pub fn contradiction(&self) -> Option<String> {
        let by_omegas = self.hubble_rate_at(self.aexp);
        if let Some(stated) = self.hubble.filter(|stated| !is_rounding(*stated, by_omegas)) {
            let both = format!(
                "the Hubble rate of the input is {stated:.6e} 1/s, its density parameters give {by_omegas:.6e}"
            );
            return Some(format!("{both}; the stated rate counts"));
        }
        let by_rate = critical_density(self.hubble_rate());
        let stated = self.critical.filter(|stated| !is_rounding(*stated, by_rate))?;
        let both = format!(
            "the critical density of the input is {stated:.6e} g/cm3, its Hubble rate gives {by_rate:.6e}"
        );
        Some(format!("{both}; the stated density counts for spheres, the rate for energies"))
    }

    /// The assumed parameters, in one line; `None` without any.
    pub fn assumption(&self) -> Option<String> {
        let of = |name: &String| format!("{name} = {}", self.extra(name));
        let all: Vec<String> = self.assumed.iter().map(of).collect();
        (!all.is_empty()).then(|| format!("{} assumed", all.join(", ")))
    }

    /// A parameter of [`ExtraCosmology`] by its name.
    fn extra(&self, name: &str) -> f64 {
        match name {
            "w0" => self.w0,
            "wa" => self.wa,
            "omega_r" => self.omega_r,
            "omega_nu" => self.omega_nu,
            _ => unreachable!("{name} is never assumed"),
        }
    }

    /// Adds the extra parameters: those that the input states, else those that the caller gives, else those
    /// of [`Cosmology::default`], which are then assumed. `self` has the other parameters.
    ///
    /// # Errors
    /// The input at `path` states a value that the caller gives.
    pub(crate) fn with_extra(
        self,
        path: &Path,
        stated: &ExtraCosmology,
        given: &ExtraCosmology,
    ) -> ReadResult<Self> {
        let mut assumed = Vec::new();
        let mut value = |of: fn(&ExtraCosmology) -> Option<f64>, name: &'static str, default: f64| match (
            of(stated),
            of(given),
        ) {
            (Some(stated), Some(given)) => {
                Err(ReadError::unused_default(path, name, given, format!("the snapshot states {stated}")))
            }
            (Some(value), None) | (None, Some(value)) => Ok(value),
            (None, None) => {
                assumed.push(name.to_string());
                Ok(default)
            }
        };
        let default = Self::default();
        let (w0, wa) = (value(|e| e.w0, "w0", default.w0)?, value(|e| e.wa, "wa", default.wa)?);
        let omega_r = value(|e| e.omega_r, "omega_r", default.omega_r)?;
        let omega_nu = value(|e| e.omega_nu, "omega_nu", default.omega_nu)?;
        Ok(Self { w0, wa, omega_r, omega_nu, assumed, ..self })
    }
}

params! {
    /// Parameters of a cosmology that few formats state.
    #[derive(Copy)]
    pub struct ExtraCosmology of "cosmology" {
        /// Pressure over density of dark energy today, where the snapshot does not state it.
        ///
        /// For the Hubble rate and the critical density of a cosmological snapshot: w(a) = w0 + wa (1 - a).
        /// The default is -1, a cosmological constant. `info`, the summary and the catalogue attribute
        /// assumed_cosmology name what is assumed.
        pub w0: Option<f64> = None, "w0" =
            real("", |_| true, "a finite number").topic(Topic::Properties).example("-0.9");
        /// The part of w that changes with the expansion, where the snapshot does not state it.
        ///
        /// The default is 0.
        pub wa: Option<f64> = None, "wa" =
            real("", |_| true, "a finite number").topic(Topic::Properties).example("0.2");
        /// Density parameter of radiation, where the snapshot does not state it.
        ///
        /// The default is 0. Curvature is what is left of 1.
        pub omega_r: Option<f64> = None, "omega_r" = density_parameter().example("9e-5");
        /// Density parameter of massive neutrinos, where the snapshot does not state it.
        ///
        /// SWIFT's Omega_nu_0. Omega_m does not include it; the mean density of matter does. The default is 0. Curvature is what is left of 1.
        pub omega_nu: Option<f64> = None, "omega_nu" = density_parameter().example("0.0014");
    }
}

const fn density_parameter() -> ParamSpec<Option<f64>> {
    let expected = "a finite density parameter, 0 or more";
    real("", |x: &Option<f64>| x.is_none_or(|x| x >= 0.0), expected).topic(Topic::Properties)
}

impl ExtraCosmology {
    /// None of them.
    pub const NONE: Self = Self { w0: None, wa: None, omega_r: None, omega_nu: None };

    /// Checks that nothing is given for an input without a cosmology.
    ///
    /// # Errors
    /// Something is.
    pub(crate) fn check(&self, path: &Path, cosmology: Option<&Cosmology>) -> ReadResult<()> {
        let given =
            [("w0", self.w0), ("wa", self.wa), ("omega_r", self.omega_r), ("omega_nu", self.omega_nu)];
        match given.into_iter().find_map(|(name, value)| Some((name, value?))).filter(|_| cosmology.is_none())
        {
            None => Ok(()),
            Some((name, value)) => {
                Err(ReadError::unused_default(path, name, value, "the input states no cosmology"))
            }
        }
    }
}

/// The critical density of a Hubble rate in 1/s, in g/cm³.
fn critical_density(hubble: f64) -> f64 {
    3.0 * hubble * hubble / (8.0 * PI * NEWTON)
}

fn is_rounding(stated: f64, expected: f64) -> bool {
    (stated / expected - 1.0).abs() <= ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(omega_m: f64) -> Cosmology {
        Cosmology { aexp: 0.5, h0: 70.0, omega_m, omega_l: 1.0 - omega_m, ..Cosmology::default() }
    }

    fn alike(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, expected {expected}");
    }

    #[test]
    fn each_component_dilutes_with_its_own_power() {
        let hubble_0 = 0.7 * HUBBLE_100;
        let squared = |cosmology: Cosmology| (cosmology.hubble_rate() / hubble_0).powi(2);
        alike(squared(flat(0.3)), 0.3 * 8.0 + 0.7);
        alike(squared(Cosmology { omega_r: 0.01, ..flat(0.3) }), 0.3 * 8.0 + 0.7 + 0.01 * 16.0);
        alike(squared(Cosmology { omega_nu: 0.01, ..flat(0.3) }), 0.31 * 8.0 + 0.7);
        alike(squared(Cosmology { omega_k: 0.7, omega_l: 0.0, ..flat(0.3) }), 0.3 * 8.0 + 0.7 * 4.0);
        // Dark energy as thin as matter, and one with wa alone.
        alike(squared(Cosmology { w0: 0.0, ..flat(0.3) }), 8.0);
        alike(
            squared(Cosmology { wa: 0.5, ..flat(0.3) }),
            0.3 * 8.0 + 0.7 * 0.5f64.powf(-1.5) * (-0.75f64).exp(),
        );
    }

    #[test]
    fn neutrinos_are_matter() {
        let cosmology = Cosmology { aexp: 1.0, omega_nu: 0.1, omega_l: 0.6, ..flat(0.3) };
        alike(cosmology.matter_parameter(), 0.4);
        alike(cosmology.neutrino_part(), 0.25);
    }

    #[test]
    fn stated_values_count() {
        let rate = 2.0 * flat(0.3).hubble_rate();
        let cosmology = Cosmology { hubble: Some(rate), ..flat(0.3) };
        alike(cosmology.hubble_rate(), rate);
        alike(cosmology.matter_parameter(), flat(0.3).matter_parameter() / 4.0);
        alike(cosmology.critical_density(), 4.0 * flat(0.3).critical_density());
        assert!(cosmology.contradiction().is_some_and(|line| line.contains("the stated rate counts")));
        let cosmology = Cosmology { critical: Some(1e-29), ..flat(0.3) };
        alike(cosmology.critical_density(), 1e-29);
        assert!(cosmology.contradiction().is_some_and(|line| line.contains("for spheres")));
        let rounded = Cosmology { hubble: Some(flat(0.3).hubble_rate() * 1.009), ..flat(0.3) };
        assert_eq!(rounded.contradiction(), None);
    }

    #[test]
    fn what_nobody_states_is_assumed_and_said() {
        let path = Path::new("snapshot");
        let stated = ExtraCosmology { w0: Some(-0.9), ..ExtraCosmology::default() };
        let given = ExtraCosmology { omega_r: Some(1e-4), ..ExtraCosmology::default() };
        let found = flat(0.3).with_extra(path, &stated, &given).expect("they differ");
        assert_eq!((found.w0, found.wa, found.omega_r, found.omega_nu), (-0.9, 0.0, 1e-4, 0.0));
        assert_eq!(found.assumption().as_deref(), Some("wa = 0, omega_nu = 0 assumed"));
        let error = flat(0.3).with_extra(path, &stated, &stated).expect_err("both state w0");
        assert_eq!(error.to_string(), "snapshot: w0 -0.9: the snapshot states -0.9; expected no w0");
        assert!(stated.check(path, None).is_err() && stated.check(path, Some(&found)).is_ok());
    }
}
