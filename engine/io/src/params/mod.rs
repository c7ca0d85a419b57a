//! What can a caller ask for, and how does every door show it?
//!
//! A parameter is declared once, as a field of a struct in [`params!`](crate::params!): its documentation,
//! its default, its range and its key. The command line and its help, configuration files, C, Fortran, Python
//! and the tables of the documentation are made from these declarations, so they have the same names, ranges
//! and words.
//!
//! ```
//! use inselberg_io::params::{ParamError, Params, Topic, check_ranges};
//!
//! inselberg_io::params! {
//!     /// How wide a net is.
//!     pub struct NetParams of "net" {
//!         /// Smallest fish that stays in the net (cm).
//!         ///
//!         /// Smaller ones swim on.
//!         pub mesh_width: f64 = 2.0, "mesh_width" = real("2", |width| *width > 0.0, "a finite width above 0");
//!         /// For tests of this example.
//!         pub is_old: bool = false;
//!     }
//! }
//!
//! let mut net = NetParams::default();
//! net.set("mesh_width", "3.5")?;
//! assert_eq!(net.mesh_width, 3.5);
//! let refused = net.set("mesh_width", "-1").unwrap_err();
//! assert_eq!(refused.to_string(), "mesh_width is -1; expected a finite width above 0");
//! assert_eq!(check_ranges(&NetParams::default().mesh_width(4.0).is_old(true)), Ok(()));
//! let about = net.parameters()[0];
//! assert_eq!((about.key, about.help().as_str(), about.topic), ("mesh_width", "Smallest fish that stays in the net (cm)", Topic::Search));
//! # Ok::<(), ParamError>(())
//! ```
//!
//! This folder knows no parameter.

mod declare;
mod quantity;
mod scale;
mod spec;
mod value;

#[doc(hidden)]
pub use declare::set_row;
pub use quantity::{NoQuantity, PhysicalUnit, Quantity, QuantityUnit};
pub use scale::{DensityScale, InputScale, Measure, Quantities, has_units};
pub use spec::{ParamSpec, any_types, assign, choice, count, flag, of_whole, path, real, text, types};
pub use value::{ParamValue, parse_count};

use crate::dimension::Dimension;

/// The kind of the values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// True or false.
    Flag,
    /// A real number.
    Real,
    /// A count, also written as 2e7.
    Count,
    /// A set of particle types: seven digits, 0 or 1.
    Types,
    /// One word of a list.
    Choice(&'static [&'static str]),
    /// A text, shown as this in the help.
    Text(&'static str),
    /// A file.
    Path,
}

/// What a parameter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// What is read, and which part of it.
    Input,
    /// What is searched for.
    Search,
    /// Properties of what is found.
    Properties,
    /// What an input of particles leaves open, and the mesh of particles.
    Particles,
    /// What an input of cells leaves open.
    Cells,
    /// What a catalogue lists.
    Results,
    /// Ranks and threads.
    Launch,
}

/// A parameter, as every door shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its key.
    pub key: &'static str,
    /// Names of other programs that are taken as well.
    pub alias: &'static str,
    /// The alternative to this parameter; may be empty. Only one of the two may be given.
    pub instead_of: &'static str,
    /// The kind of its values.
    pub kind: ParamKind,
    /// What its numbers measure, if they may have a unit.
    pub measure: Option<Measure>,
    /// What holds if it is not given, as text; empty if that depends.
    pub default: &'static str,
    /// An example where there is no default.
    pub example: &'static str,
    /// What it is about.
    pub topic: Topic,
    /// What a value must be.
    pub expected: &'static str,
    /// Its documentation: a first paragraph of one line of help, then details. Keys of other parameters stand
    /// in backticks.
    pub doc: &'static str,
}

impl Parameter {
    /// The first paragraph of the documentation as one line, without a full stop.
    pub fn help(&self) -> String {
        joined(self.doc.lines().take_while(|line| !line.trim().is_empty())).trim_end_matches('.').into()
    }

    /// The details as one paragraph; may be empty.
    pub fn details(&self) -> String {
        joined(self.doc.lines().skip_while(|line| !line.trim().is_empty()))
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A value does not suit a parameter, alone or beside others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// There is no such parameter.
    #[error("unknown option {key:?}; expected {}", .known.join(", "))]
    Unknown {
        /// The key.
        key: String,
        /// The known ones.
        known: Vec<&'static str>,
    },
    /// The value is out of range, or does not go with another one.
    #[error("{key} is {value}; expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value as text.
        value: String,
        /// What was expected.
        expected: String,
    },
}

impl ParamError {
    /// A value that does not suit.
    pub fn value(key: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Self::Value { key, value: value.to_string(), expected: expected.into() }
    }
}

/// A parameter of `P`, with the ways to set and show it.
pub struct ParamRow<P> {
    /// How doors show it.
    pub about: Parameter,
    /// Sets it from a text. Whether the text suits.
    pub set: fn(&mut P, &str) -> bool,
    /// Its value as text; `None` if it is not set.
    pub get: fn(&P) -> Option<String>,
}

/// A set of parameters: what one call takes. [`params!`](crate::params!) implements it.
pub trait Params {
    /// The table of its keys in configuration files.
    fn subject(&self) -> &'static str;

    /// Its own parameters and those of its parts, in the order of the help.
    fn parameters(&self) -> Vec<Parameter>;

    /// Sets a parameter from a text, as a line of a configuration file does.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take such a value.
    fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError>;

    /// The value of a parameter as text; `None` if it is not set.
    fn get(&self, key: &str) -> Option<String>;

    /// The values with units that wait for those of the input; `None` where no parameter takes such values.
    #[doc(hidden)]
    fn quantities(&mut self) -> Option<&mut Quantities> {
        None
    }

    /// Whether a value with a unit waits whose parameter measures `dimension`.
    #[doc(hidden)]
    fn waits_for(&self, dimension: Dimension) -> bool {
        let is_one = |about: &Parameter| about.measure.is_some_and(|measure| measure.dimension == dimension);
        let waits = |about: &Parameter| self.get(about.key).is_some_and(|text| has_units(&text));
        self.parameters().iter().any(|about| is_one(about) && waits(about))
    }

    /// Sets the values that were given with units, now that the units of the input are known.
    ///
    /// # Errors
    /// The first value that the input cannot convert, or that is out of range.
    #[doc(hidden)]
    fn convert(&mut self, scale: &InputScale) -> Result<(), ParamError> {
        let given = self.quantities().map(std::mem::take).unwrap_or_default();
        let all = self.parameters();
        given.plain(&all, scale)?.into_iter().try_for_each(|(key, text)| self.set(key, &text))
    }

    /// Sets several parameters.
    ///
    /// # Errors
    /// As [`Self::set`], and when a parameter and its alternative are both given.
    fn set_all(&mut self, given: &[(&str, &str)]) -> Result<(), ParamError> {
        let value = |key: &str| given.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        for about in self.parameters() {
            if let (Some(value), Some(_)) = (value(about.key), value(about.instead_of)) {
                let expected = format!("it or {}, not both", about.instead_of);
                return Err(ParamError::value(about.key, value, expected));
            }
        }
        given.iter().try_for_each(|(key, value)| self.set(key, value))
    }
}

/// Checks each value against the range of its parameter.
///
/// # Errors
/// The first value out of range, in the order of the parameters.
pub fn check_ranges<P: Params + Clone>(params: &P) -> Result<(), ParamError> {
    let mut copy = params.clone();
    let values =
        params.parameters().into_iter().filter_map(|about| Some((about.key, params.get(about.key)?)));
    values.into_iter().try_for_each(|(key, value)| copy.set(key, &value))
}
