//! What a call asks for, from dictionaries that the Python half fills.

use inselberg::{Cosmology, Error, Geometry, Params, Units};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Values of parameters as texts, by key.
pub type GivenTexts = BTreeMap<String, String>;

/// Parameters, and which of them are given.
pub fn filled<P: Params>(mut params: P, given: &GivenTexts) -> Result<P, Error> {
    let given: Vec<(&str, &str)> = given.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    params.set_all(&given)?;
    Ok(params)
}

/// The parameters with their defaults, changed by what is given.
pub fn params<P: Params + Default>(given: &GivenTexts) -> Result<P, Error> {
    filled(P::default(), given)
}

/// The fields of the Python class `Cosmology`.
pub type CosmologyNumbers = (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64);

/// A box.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct BoxOptions {
    side: f64,
    coarse: [u32; 3],
    periodic: [bool; 3],
    time: f64,
    units: Option<(f64, f64, f64)>,
    cosmology: Option<CosmologyNumbers>,
}

impl BoxOptions {
    pub fn geometry(self) -> Geometry {
        let plain = Geometry::cube(self.side).coarse(self.coarse).periodic(self.periodic).time(self.time);
        let with_units = match self.units {
            Some((length, density, time)) => plain.units(Units { length, density, time }),
            None => plain,
        };
        match self.cosmology {
            Some((aexp, h0, omega_m, omega_l, omega_k, omega_b, omega_r, omega_nu, w0, wa)) => with_units
                .cosmology(Cosmology {
                    aexp,
                    h0,
                    omega_m,
                    omega_l,
                    omega_k,
                    omega_b,
                    omega_r,
                    omega_nu,
                    w0,
                    wa,
                    ..Cosmology::default()
                }),
            None => with_units,
        }
    }
}
