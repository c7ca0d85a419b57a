//! What the attributes of a catalogue say: its kind, its run and its time.

use crate::trees::error::TreeError;
use inselberg_io::catalogue::{Attribute, CatalogueOutline};

/// What a catalogue lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Clumps and haloes of `phew`.
    Clumps,
    /// Groups of `fof`.
    Groups,
}

/// The names of tables and columns of a kind of catalogue. Where there are several names, the first one in
/// the file counts.
#[derive(Debug)]
pub struct ObjectNames {
    /// The table of objects.
    pub table: &'static str,
    /// Identifiers.
    pub id: &'static str,
    /// The object that it is in.
    pub parent: Option<&'static str>,
    /// Masses.
    pub mass: &'static [&'static str],
    /// Positions.
    pub position: &'static [&'static str],
    /// Velocities.
    pub velocity: &'static [&'static str],
}

impl ObjectKind {
    /// Its name in attributes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clumps => "clumps",
            Self::Groups => "groups",
        }
    }

    /// Its names.
    pub fn names(self) -> &'static ObjectNames {
        match self {
            Self::Clumps => &ObjectNames {
                table: "clumps",
                id: "id",
                parent: Some("parent"),
                mass: &["bound_mass", "mass"],
                position: &["most_bound_position", "peak_position"],
                velocity: &["bound_velocity", "velocity"],
            },
            Self::Groups => &ObjectNames {
                table: "Groups",
                id: "GroupIDs",
                parent: None,
                mass: &["bound_mass", "Masses"],
                position: &["most_bound_position", "Centres"],
                velocity: &["bound_velocity", "Velocities"],
            },
        }
    }
}

/// What a catalogue says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputFacts {
    /// Its name in messages: the path of a file.
    pub name: String,
    /// What it lists.
    pub kind: ObjectKind,
    /// The number of the output.
    pub number: Option<u64>,
    /// The time of the output in code units.
    pub time: Option<f64>,
    /// The expansion factor.
    pub aexp: Option<f64>,
    /// Code units of length, mass and time in cgs.
    pub units: Option<[f64; 3]>,
    /// What is the same in all outputs of a run, by name.
    pub run: Vec<(&'static str, String)>,
    /// The side of the box: comoving in cm where units and expansion factor are known, else in code units.
    pub side: Option<f64>,
    /// h0, `omega_m` and the others.
    pub cosmology: Vec<(String, Attribute)>,
    /// Code units and the box as the catalogue has them.
    pub unit_attributes: Vec<(String, Attribute)>,
}

/// What outputs of one run share.
const OF_A_RUN: [&str; 13] = [
    "input_format",
    "coarse_cells",
    "periodic",
    "h0",
    "omega_m",
    "omega_l",
    "omega_k",
    "omega_b",
    "omega_r",
    "omega_nu",
    "w0",
    "wa",
    "compat",
];
/// Those of a cosmology that catalogues of older versions do not state.
pub const EXTRA_COSMOLOGY: [&str; 4] = ["omega_r", "omega_nu", "w0", "wa"];
/// The value of an attribute that a catalogue does not state.
pub const NOT_STATED: &str = "none";
const COSMOLOGY: [&str; 9] =
    ["h0", "omega_m", "omega_l", "omega_k", "omega_b", "omega_r", "omega_nu", "w0", "wa"];
const UNITS: [&str; 3] = ["unit_length", "unit_density", "unit_time"];
/// The box in code units, for programs that show a tree.
const BOX: [&str; 4] = ["boxlen", "coarse_cells", "sides", "periodic"];

impl OutputFacts {
    /// The facts of a catalogue; `name` is for messages. `number` is the number of the output if the
    /// catalogue does not state it.
    ///
    /// # Errors
    /// It is no catalogue of clumps or groups.
    pub fn new(name: &str, outline: &CatalogueOutline, number: Option<u64>) -> Result<Self, TreeError> {
        let kinds = [ObjectKind::Clumps, ObjectKind::Groups];
        let kind = kinds.into_iter().find(|kind| outline.table(kind.names().table).is_some());
        let kind = kind.ok_or_else(|| {
            TreeError::of(name, "neither clumps nor groups", "a catalogue of `inselberg phew` or `fof`")
        })?;
        let real = |name: &str| match outline.attribute(name) {
            Some(Attribute::Real(value)) if value.is_finite() => Some(*value),
            _ => None,
        };
        let count = |name: &str| match outline.attribute(name) {
            Some(Attribute::Int(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        // Tracks of a search are numbered by the numbers that it gave to its outputs.
        let stated = count("unbind_tracks_output").or_else(|| count("input_number"));
        let units = || {
            let [length, density, time] = UNITS.map(real);
            Some([length?, density? * length?.powi(3), time?])
        };
        let units = units();
        let of_run = |name: &&'static str| Some((*name, text_of(outline.attribute(name)?)));
        let run: Vec<_> = OF_A_RUN.iter().filter_map(of_run).collect();
        let aexp = real("aexp");
        let kept = |names: &[&str]| {
            let attributes = outline.attributes.iter();
            attributes.filter(|(name, _)| names.contains(&name.as_str())).cloned().collect()
        };
        Ok(Self {
            name: name.into(),
            kind,
            number: stated.or(number),
            time: real("time"),
            aexp,
            units,
            run,
            side: side(outline, aexp.zip(units)),
            cosmology: kept(&COSMOLOGY),
            unit_attributes: [kept(&UNITS), kept(&BOX)].concat(),
        })
    }
}

/// The side of the box: comoving in cm where that is known, because code units are physical and grow with the
/// expansion factor.
fn side(outline: &CatalogueOutline, of_units: Option<(f64, [f64; 3])>) -> Option<f64> {
    let side = match (outline.attribute("boxlen"), outline.attribute("sides")) {
        (Some(Attribute::Real(side)), _) => *side,
        (_, Some(Attribute::Reals(sides))) => *sides.first()?,
        _ => return None,
    };
    // Units of a catalogue are those at its output, whatever the format: lengths are proper and grow with the
    // expansion factor.
    let scale = of_units.map_or(1.0, |(aexp, [length, ..])| length / aexp);
    Some(side * scale).filter(|side| *side > 0.0)
}

fn text_of(value: &Attribute) -> String {
    match value {
        Attribute::Int(v) => v.to_string(),
        Attribute::Real(v) => format!("{v:?}"),
        Attribute::Reals(v) => format!("{v:?}"),
        Attribute::Text(v) => v.clone(),
    }
}
