//! What do the variables of hydro files mean?
//!
//! A descriptor names them. Without one only their number is known. All builds write the density and the
//! velocities first. The fifth variable is the pressure of gas without magnetic field. With such a field,
//! nvar is 11 or more: fields at left and right faces stand before the pressure. So from 11 variables on,
//! only the caller can name them.

use super::descriptor::Descriptor;
use crate::{FieldDefaults, ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where the names of hydro variables come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum HydroNames {
    /// A descriptor in the output.
    Described,
    /// The caller.
    Given,
    /// There are too few variables for a magnetic field: names of RAMSES.
    Usual,
    /// Only density and velocities are known.
    Unclear,
}

const FIRST: [&str; 4] = ["density", "velocity_x", "velocity_y", "velocity_z"];
const NO_NAMES: &str = "there is no hydro_file_descriptor.txt";
/// The least variables of gas with a magnetic field: at the faces of both sides, and pressure.
const MAGNETIC: usize = 11;

impl HydroNames {
    /// What is assumed of `n` variables, or that nothing is.
    pub(super) fn assumption(self, n: usize) -> Option<String> {
        match self {
            Self::Described | Self::Given => None,
            Self::Usual => Some(format!(
                "{NO_NAMES}: variable 5 of {n} is taken for the pressure; --hydro-names names them"
            )),
            Self::Unclear => {
                Some(format!("{NO_NAMES}: variables 5 to {n} have numbers; --hydro-names names them"))
            }
        }
    }

    /// Why it is not known which of `n` variables is the pressure.
    pub(super) fn unclear(self, n: usize) -> Option<String> {
        let problem =
            format!("{NO_NAMES}, and {n} variables may be those of gas with a magnetic field or of scalars");
        (self == Self::Unclear).then_some(problem)
    }
}

/// The names of `n` variables of a hydro file, and where they come from.
///
/// # Errors
/// The descriptor is broken. It, or the given names, have another number. Names are given beside a
/// descriptor.
pub(super) fn names(
    descriptor: Option<&Path>,
    defaults: &FieldDefaults,
    n: usize,
    file: &Path,
) -> ReadResult<(HydroNames, Vec<String>)> {
    if let Some(path) = descriptor {
        defaults.refuse_hydro_names(path, "RAMSES with a descriptor")?;
        let described = Descriptor::read(path)?;
        described.check_count(n, &format!("the nvar of {}", file.display()))?;
        let names = described.columns().iter().map(|column| column.name.clone()).collect();
        return Ok((HydroNames::Described, names));
    }
    match &defaults.hydro_names {
        Some(names) if names.len() == n => Ok((HydroNames::Given, names.clone())),
        Some(names) => {
            let expected = format!("{} variables, as many as --hydro-names has names", names.len());
            Err(ReadError::content(file, "record 2 (nvar)", format!("{n} variables"), expected))
        }
        None if n < MAGNETIC => Ok((HydroNames::Usual, usual(n))),
        None => Ok((HydroNames::Unclear, unclear(n))),
    }
}

/// RAMSES's names of `n` variables of gas without a magnetic field.
fn usual(n: usize) -> Vec<String> {
    let known = FIRST.into_iter().chain(["pressure"]).map(String::from);
    known.chain((0..).map(|scalar| format!("scalar_{scalar:02}"))).take(n).collect()
}

/// The names of the first variables, and numbers of the others.
fn unclear(n: usize) -> Vec<String> {
    let others = (FIRST.len() + 1..).map(|number| format!("variable_{number:02}"));
    FIRST.into_iter().map(String::from).chain(others).take(n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variables_tell_what_is_known() {
        let file = Path::new("hydro");
        let none = FieldDefaults::default();
        let (origin, found) = names(None, &none, 6, file).expect("names");
        assert_eq!((origin, found[4..].join(" ").as_str()), (HydroNames::Usual, "pressure scalar_00"));
        let (origin, found) = names(None, &none, 11, file).expect("names");
        assert_eq!((origin, found[4].as_str(), found.len()), (HydroNames::Unclear, "variable_05", 11));
        let given = FieldDefaults { hydro_names: Some(found), ..none };
        assert_eq!(names(None, &given, 11, file).expect("names").0, HydroNames::Given);
        let error = names(None, &given, 12, file).expect_err("another number").to_string();
        assert!(error.contains("12 variables") && error.contains("11 variables"), "{error}");
    }
}
