//! The attributes of a catalogue, in the order in which they are added.

use super::Attribute;
use crate::{Cosmology, Header, Units};

/// The attribute that lists parameters of the cosmology that nobody states: the usual values are assumed.
pub const ASSUMED_COSMOLOGY: &str = "assumed_cosmology";

/// Attributes of a catalogue, in the order in which they are added.
#[derive(Debug, Default)]
pub struct AttributeList(Vec<(String, Attribute)>);

impl AttributeList {
    /// An empty list.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// The attributes, in their order.
    pub fn into_attributes(self) -> Vec<(String, Attribute)> {
        self.0
    }

    /// Adds others.
    pub fn extend(&mut self, attributes: impl IntoIterator<Item = (String, Attribute)>) {
        self.0.extend(attributes);
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), Attribute::Text(value.into())));
    }

    /// Adds an integer.
    pub fn int(&mut self, name: &str, value: i64) {
        self.0.push((name.into(), Attribute::Int(value)));
    }

    /// Adds several reals.
    pub fn reals(&mut self, name: &str, values: &[f64]) {
        self.0.push((name.into(), Attribute::Reals(values.to_vec())));
    }

    /// Adds a real.
    pub fn real(&mut self, name: &str, value: f64) {
        self.0.push((name.into(), Attribute::Real(value)));
    }

    /// Adds what the header of an input says; units only if it `has_units`.
    pub fn input(&mut self, header: &Header, has_units: bool) {
        self.text("input_format", header.format);
        if let Some(number) = header.number {
            self.int("input_number", i64::from(number));
        }
        self.real("time", header.time);
        self.real("boxlen", header.boxlen);
        if header.origin != [0.0; 3] {
            self.reals("origin", &header.origin);
        }
        self.reals("coarse_cells", &header.coarse.map(f64::from));
        self.reals("periodic", &header.periodic.map(|p| f64::from(u8::from(p))));
        if has_units {
            self.units(&header.units);
        }
        if let Some(cosmology) = &header.cosmology {
            self.cosmology(cosmology);
        }
    }

    /// Adds units in cgs at the time of the output.
    pub fn units(&mut self, units: &Units) {
        self.real("unit_length", units.length);
        self.real("unit_density", units.density);
        self.real("unit_time", units.time);
    }

    /// Adds a cosmology, its rates and what of it is assumed.
    pub fn cosmology(&mut self, c: &Cosmology) {
        for (name, value) in [
            ("aexp", c.aexp),
            ("h0", c.h0),
            ("omega_m", c.omega_m),
            ("omega_l", c.omega_l),
            ("omega_k", c.omega_k),
            ("omega_b", c.omega_b),
            ("omega_r", c.omega_r),
            ("omega_nu", c.omega_nu),
            ("w0", c.w0),
            ("wa", c.wa),
            ("hubble_rate", c.hubble_rate()),
            ("critical_density", c.critical_density()),
        ] {
            self.real(name, value);
        }
        if !c.assumed.is_empty() {
            self.text(ASSUMED_COSMOLOGY, &c.assumed.join(", "));
        }
    }
}
