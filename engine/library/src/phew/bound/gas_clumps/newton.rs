//! The constant of gravity in the code units of an input.

use crate::bound::gravity;
use inselberg_io::{Snapshot, Units};

/// The constant of gravity and its origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Newton {
    /// In code units.
    pub value: f64,
    /// `units`, or `code units` if it is 1 in code units.
    pub source: &'static str,
}

impl Newton {
    /// The constant of an input, from its units. Units that are all 1 are meaningless. RAMSES then computes
    /// its gravity with a constant of 1; an output without gravity has none.
    pub fn of_input(snapshot: &dyn Snapshot) -> Option<Self> {
        let (header, is_plain) = (snapshot.header(), is_plain(&snapshot.header().units));
        let has_gravity = snapshot.fields().iter().any(|field| field.family == "grav");
        match snapshot.has_units() {
            true if !is_plain => {
                let value = gravity(&header.units, header.cosmology.as_ref()).g;
                Some(Self { value, source: "units" })
            }
            true if has_gravity => Some(Self { value: 1.0, source: "code units" }),
            _ => None,
        }
    }
}

fn is_plain(units: &Units) -> bool {
    [units.length, units.density, units.time] == [1.0; 3]
}
