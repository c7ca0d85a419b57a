//! The properties of the gas of clumps: each is one entry here, and then columns of the tables of clumps and
//! haloes. Columns that need facts which the input does not state are masked as in SOAP: they exist, but are
//! 0.

use inselberg_io::catalogue::{Dimension, TableColumn, Values};
use inselberg_kernels::gas::GasProperties;

/// A property of gas.
pub struct GasColumn {
    pub name: &'static str,
    /// Powers of length, mass and time.
    dimension: [i8; 3],
    description: &'static str,
    needs: Needs,
    value: GasValue,
}

/// How a value follows from the properties.
#[derive(Clone, Copy)]
enum GasValue {
    Count(fn(&GasProperties) -> u64),
    Real(fn(&GasProperties) -> f64),
    Vector(fn(&GasProperties) -> [f64; 3]),
}

/// What an input must state in addition to density and velocity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Pressure,
    MagneticField,
    Gravity,
    GravityAndPressure,
}

/// The facts that an input does not state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Missing {
    /// A pressure.
    pub pressure: bool,
    /// A magnetic field.
    pub magnetic_field: bool,
    /// The constant of gravity.
    pub gravity: bool,
}

impl Missing {
    /// Why a column is not computed, for its description.
    fn reason(self, needs: Needs) -> Option<&'static str> {
        let (pressure, gravity) =
            ("the input states no pressure", "the input states no gravity and no units");
        match needs {
            Needs::Pressure | Needs::GravityAndPressure if self.pressure => Some(pressure),
            Needs::Gravity | Needs::GravityAndPressure if self.gravity => Some(gravity),
            Needs::MagneticField if self.magnetic_field => Some("the input states no magnetic field"),
            _ => None,
        }
    }
}

/// The cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellChoice {
    /// Those of the clump's own patches.
    Own,
    /// Those of the clump and of all clumps in it, in the table of clumps.
    Inclusive,
    /// All cells of a halo.
    OfHalo,
}

impl CellChoice {
    fn name_of(self, column: &GasColumn) -> String {
        match self {
            Self::Own | Self::OfHalo => column.name.into(),
            Self::Inclusive => format!("{}_inclusive", column.name),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Own => "gas cells of the clump itself",
            Self::Inclusive => "gas cells of the clump and of all clumps in it",
            Self::OfHalo => "gas cells of the halo",
        }
    }
}

impl GasColumn {
    /// The columns that an input cannot give.
    pub fn masked(missing: Missing) -> impl Iterator<Item = &'static Self> {
        ALL.iter().filter(move |column| missing.reason(column.needs).is_some())
    }

    /// All columns of these rows.
    pub fn columns(rows: &[GasProperties], of: CellChoice, missing: Missing) -> Vec<TableColumn> {
        ALL.iter().map(|column| column.column(rows, of, missing)).collect()
    }

    fn column(&self, rows: &[GasProperties], of: CellChoice, missing: Missing) -> TableColumn {
        let reason = missing.reason(self.needs);
        let is_known = reason.is_none();
        let known = |x: f64| if is_known { x } else { 0.0 };
        let values = match self.value {
            GasValue::Count(value) => Values::U64(rows.iter().map(value).collect()),
            GasValue::Real(value) => Values::F64(rows.iter().map(|row| known(value(row))).collect()),
            GasValue::Vector(value) => Values::F64x3(rows.iter().map(value).collect()),
        };
        let [length, mass, time] = self.dimension;
        let not_computed = reason.map_or(String::new(), |reason| format!("; masked (0): {reason}"));
        let description = format!("{}, of the {}{not_computed}", self.description, of.text());
        crate::tables::column(&of.name_of(self), Dimension::new(length, mass, time), &description, values)
    }
}

const fn real(
    name: &'static str,
    dimension: [i8; 3],
    needs: Needs,
    description: &'static str,
    value: fn(&GasProperties) -> f64,
) -> GasColumn {
    GasColumn { name, dimension, description, needs, value: GasValue::Real(value) }
}

const fn vector(
    name: &'static str,
    dimension: [i8; 3],
    description: &'static str,
    value: fn(&GasProperties) -> [f64; 3],
) -> GasColumn {
    GasColumn { name, dimension, description, needs: Needs::Nothing, value: GasValue::Vector(value) }
}

const LENGTH: [i8; 3] = [1, 0, 0];
const VOLUME: [i8; 3] = [3, 0, 0];
const MASS: [i8; 3] = [0, 1, 0];
const TIME: [i8; 3] = [0, 0, 1];
const VELOCITY: [i8; 3] = [1, 0, -1];
const ENERGY: [i8; 3] = [2, 1, -2];
const NUMBER: [i8; 3] = [0; 3];

const ALL: &[GasColumn] = &[
    GasColumn {
        name: "gas_n_cells",
        dimension: NUMBER,
        description: "number",
        needs: Needs::Nothing,
        value: GasValue::Count(|p| p.number),
    },
    real("gas_mass", MASS, Needs::Nothing, "mass", |p| p.mass),
    real("gas_volume", VOLUME, Needs::Nothing, "volume V", |p| p.volume),
    real("gas_radius", LENGTH, Needs::Nothing, "equivalent radius R = (3 V / 4 pi)^(1/3)", |p| p.radius),
    real(
        "gas_half_mass_radius",
        LENGTH,
        Needs::Nothing,
        "radius about the centre of mass with half of the mass",
        |p| p.half_mass_radius,
    ),
    vector("gas_centre_of_mass", LENGTH, "centre of mass", |p| p.centre_of_mass),
    vector("gas_velocity", VELOCITY, "velocity of the centre of mass", |p| p.velocity),
    real(
        "gas_velocity_dispersion",
        VELOCITY,
        Needs::Nothing,
        "one-dimensional velocity dispersion sigma = sqrt(sum m |v - mean v|^2 / 3 M)",
        |p| p.velocity_dispersion,
    ),
    real("gas_sound_speed", VELOCITY, Needs::Pressure, "isothermal sound speed sqrt(sum P dV / M)", |p| {
        p.sound_speed
    }),
    real(
        "gas_turbulent_energy",
        ENERGY,
        Needs::Nothing,
        "turbulent energy K = sum m |v - mean v|^2 / 2",
        |p| p.turbulent_energy,
    ),
    real("gas_thermal_energy", ENERGY, Needs::Pressure, "thermal energy sum P dV / (gamma - 1)", |p| {
        p.thermal_energy
    }),
    real(
        "gas_magnetic_energy",
        ENERGY,
        Needs::MagneticField,
        "magnetic energy sum B^2 dV / 2, with the mean of two faces as the field at the centre of a cell",
        |p| p.magnetic_energy,
    ),
    real(
        "gas_potential_energy",
        ENERGY,
        Needs::Gravity,
        "potential energy W of their own gravity, with that of each cell in its own field",
        |p| p.potential_energy,
    ),
    real("gas_virial_parameter", NUMBER, Needs::Gravity, "virial parameter 5 sigma^2 R / (G M)", |p| {
        p.virial_parameter
    }),
    real("gas_virial_ratio", NUMBER, Needs::Gravity, "virial ratio 2 K / |W|", |p| p.virial_ratio),
    real(
        "gas_total_virial_ratio",
        NUMBER,
        Needs::GravityAndPressure,
        "virial ratio (2 K + 3 sum P dV + sum B^2 dV / 2) / |W|, without terms of the surface",
        |p| p.total_virial_ratio,
    ),
    real("gas_free_fall_time", TIME, Needs::Gravity, "free-fall time sqrt(3 pi V / (32 G M))", |p| {
        p.free_fall_time
    }),
    real(
        "gas_axis_ratio_b_a",
        NUMBER,
        Needs::Nothing,
        "ratio b / a of the axes of the second moments of mass",
        |p| p.b_over_a,
    ),
    real(
        "gas_axis_ratio_c_a",
        NUMBER,
        Needs::Nothing,
        "ratio c / a of the axes of the second moments of mass",
        |p| p.c_over_a,
    ),
];
