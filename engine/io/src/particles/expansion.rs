//! Does the run of a snapshot expand, and what is its expansion factor?
//!
//! Gadget writes the expansion factor as the time of a cosmological run, and another time otherwise. Other
//! codes of its kind write the age or a time of their own. So the time alone is not enough: a second
//! statement must agree with it.

use super::InputDefaults;
use crate::{ReadError, ReadResult};
use std::path::Path;

/// How much an expansion factor and that of a redshift may differ: single precision.
const ROUNDING: f64 = 1e-4;

/// The statements of a header about the expansion.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExpansionStatements {
    /// Its time.
    pub time: f64,
    /// Its redshift.
    pub redshift: Option<f64>,
    /// Its expansion factor, if it has its own name.
    pub factor: Option<f64>,
    /// Whether it states that the run is comoving.
    pub comoving: Option<bool>,
    /// Its density parameter of matter, if above 0.
    pub omega_m: Option<f64>,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expansion {
    /// The expansion factor; `None` for a run that does not expand.
    pub factor: Option<f64>,
    /// A note for users, in one line.
    pub note: Option<String>,
}

fn are_alike(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < ROUNDING
}

impl ExpansionStatements {
    /// The expansion factor that a second statement supports and none contradicts, else the one in
    /// `defaults`.
    ///
    /// # Errors
    /// Two statements of the snapshot at `path` contradict each other, or it states what `defaults` have as
    /// well.
    pub fn resolve(&self, path: &Path, defaults: &InputDefaults) -> ReadResult<Expansion> {
        let by_redshift = self.redshift.filter(|z| *z > -1.0).map(|z| 1.0 / (1.0 + z));
        if let (Some(factor), Some(other)) = (self.factor, by_redshift)
            && !are_alike(factor, other)
        {
            let expected = format!("{other} as of the redshift {}", self.shown_redshift());
            return Err(ReadError::content(path, "header, expansion factor", factor.to_string(), expected));
        }
        let stated = self.factor.or(by_redshift);
        let time_agrees = stated.is_some_and(|a| are_alike(self.time, a));
        let is_before_today = stated.is_some_and(|a| !are_alike(a, 1.0));
        // A factor with its own name proves expansion; a redshift is also written by runs without expansion.
        let is_named = self.factor.is_some() && (by_redshift.is_some() || self.omega_m.is_some());
        let decided = match (self.comoving, stated) {
            (Some(false), _) if is_before_today && self.omega_m.is_some() => {
                let expected = format!("a comoving run as of the redshift {}", self.shown_redshift());
                return Err(ReadError::content(path, "header, comoving integration", "off", expected));
            }
            (Some(false), _) => None,
            (Some(true), None) => Some(self.time).filter(|time| *time > 0.0),
            (_, Some(_)) if time_agrees && (is_before_today || self.omega_m.is_some()) => Some(self.time),
            (_, Some(factor)) if is_named && (is_before_today || self.omega_m.is_some()) => Some(factor),
            (Some(true), Some(_)) => return self.undecided(path, defaults),
            (None, Some(_)) if is_before_today && self.omega_m.is_some() => {
                return self.undecided(path, defaults);
            }
            (None, _) => None,
        };
        if let Some(given) = defaults.expansion_factor {
            let problem = match decided {
                Some(factor) => format!("the snapshot states {factor}"),
                None => "the snapshot states no expansion".into(),
            };
            return Err(ReadError::unused_default(path, "expansion factor", given, problem));
        }
        Ok(Expansion { factor: decided, note: self.note(decided) })
    }

    /// A redshift above 0 that nothing supports.
    fn undecided(&self, path: &Path, defaults: &InputDefaults) -> ReadResult<Expansion> {
        let (time, redshift) = (self.time, self.shown_redshift());
        match defaults.expansion_factor {
            Some(given) => Ok(Expansion {
                factor: Some(given),
                note: Some(format!(
                    "the expansion factor {given} was given; the input has the time {time} and the redshift {redshift}"
                )),
            }),
            None => Err(ReadError::NoExpansion { path: path.into(), time, redshift }),
        }
    }

    fn shown_redshift(&self) -> f64 {
        self.redshift.or(self.factor.map(|a| 1.0 / a - 1.0)).unwrap_or(0.0) // asked only where one is stated
    }

    fn note(&self, decided: Option<f64>) -> Option<String> {
        match (decided, self.omega_m) {
            (Some(a), None) => Some(format!(
                "the run expands, at the factor {a}, and the input states no density of matter: no cosmology is taken"
            )),
            (None, Some(omega_m)) => Some(format!(
                "no cosmology: the input states Omega0 = {omega_m}, and no redshift or expansion factor agrees with its \
                 time {}",
                self.time
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "snapshot";

    fn found(of: &ExpansionStatements) -> Result<Option<f64>, String> {
        let resolved = of.resolve(Path::new(PATH), &InputDefaults::default());
        resolved.map(|expansion| expansion.factor).map_err(|error| error.to_string())
    }

    #[test]
    fn a_second_statement_decides() {
        let none = ExpansionStatements { time: 0.3, ..ExpansionStatements::default() };
        assert_eq!(found(&none), Ok(None));
        let isolated = ExpansionStatements { redshift: Some(0.0), ..none };
        assert_eq!(found(&isolated), Ok(None));
        assert_eq!(found(&ExpansionStatements { omega_m: Some(0.3), ..isolated }), Ok(None));
        let half = ExpansionStatements { time: 0.5, redshift: Some(1.0), omega_m: Some(0.3), ..none };
        assert_eq!(found(&half), Ok(Some(0.5)));
        assert_eq!(found(&ExpansionStatements { omega_m: None, ..half }), Ok(Some(0.5)));
        assert_eq!(
            found(&ExpansionStatements { comoving: Some(true), redshift: None, ..half }),
            Ok(Some(0.5))
        );
        // EAGLE's time is an age.
        let eagle = ExpansionStatements { time: 0.0042, factor: Some(0.5), ..half };
        assert_eq!(found(&eagle), Ok(Some(0.5)));
        assert_eq!(found(&ExpansionStatements { redshift: None, ..eagle }), Ok(Some(0.5)));
        let today = ExpansionStatements { factor: Some(1.0), redshift: Some(0.0), ..eagle };
        assert_eq!(found(&today), Ok(Some(1.0)));
    }

    #[test]
    fn contradictions_name_both_statements() {
        let half = ExpansionStatements {
            time: 0.5,
            redshift: Some(1.0),
            omega_m: Some(0.3),
            ..ExpansionStatements::default()
        };
        let error = |of: ExpansionStatements| found(&of).expect_err("a contradiction");
        let factor = error(ExpansionStatements { factor: Some(0.25), ..half });
        assert!(factor.contains("0.25; expected 0.5 as of the redshift 1"), "{factor}");
        let off = error(ExpansionStatements { comoving: Some(false), ..half });
        assert!(off.contains("off; expected a comoving run as of the redshift 1"), "{off}");
        for comoving in [None, Some(true)] {
            let age = error(ExpansionStatements { time: 0.0042, comoving, ..half });
            assert!(age.contains("redshift 1") && age.contains("time 0.0042"), "{age}");
        }
    }

    #[test]
    fn a_given_factor_decides_only_what_is_open() {
        let age = ExpansionStatements {
            time: 0.0042,
            redshift: Some(1.0),
            omega_m: Some(0.3),
            ..ExpansionStatements::default()
        };
        let defaults = InputDefaults { expansion_factor: Some(0.5), ..InputDefaults::default() };
        let resolve = |of: ExpansionStatements| of.resolve(Path::new(PATH), &defaults);
        assert_eq!(resolve(age).expect("decided").factor, Some(0.5));
        for stated in
            [ExpansionStatements { time: 0.5, ..age }, ExpansionStatements { redshift: None, ..age }]
        {
            let error = resolve(stated).expect_err("the input decides").to_string();
            assert!(error.contains("expansion factor 0.5: the snapshot states"), "{error}");
        }
    }
}
