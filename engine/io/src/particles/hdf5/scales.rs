//! Units, cosmology and factors of h and a, of SWIFT and of Gadget and its descendants.
//!
//! SWIFT: comoving lengths without h, peculiar velocities. Gadget: comoving lengths and masses over h, and velocities over the
//! square root of a. Values stay in the units of the file; h goes into the units.

use super::header::WholeHeader;
use super::softening;
use crate::hdf5_file::Hdf5File;
use crate::particles::{GAS, InputDefaults, Matter, N_KINDS, STAR};
use crate::{Cosmology, HUBBLE_100, NEWTON, ReadError, ReadResult, Units};

/// The conventions of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotUnits {
    /// Name of the dialect.
    pub format: &'static str,
    /// As [`crate::particles::ParticleHeader::units`].
    pub units: Option<Units>,
    /// As [`crate::particles::ParticleHeader::assumed_units`].
    pub assumed_units: Vec<String>,
    /// Cosmology.
    pub cosmology: Option<Cosmology>,
    /// Mean densities.
    pub matter: Option<Matter>,
    /// As [`crate::particles::ParticleHeader::softening`].
    pub softening: [Option<f64>; N_KINDS],
    /// Factor from velocities in the file to peculiar velocities.
    pub velocity: f64,
    /// Whether the snapshot is of a periodic box.
    pub periodic: bool,
}

/// Reads them from the first file.
pub fn scales(
    source: &Hdf5File,
    header: &WholeHeader,
    has: impl Fn(u8) -> bool,
    defaults: &InputDefaults,
) -> ReadResult<SnapshotUnits> {
    let has_gas = has(GAS) || has(STAR);
    let is_swift = source.text("Header", "Code").is_some_and(|code| code == "SWIFT")
        || source.number("Cosmology", "Cosmological run")?.is_some();
    let mut scales = if is_swift {
        defaults.refuse_units(source.path())?;
        swift(source, has_gas)?
    } else {
        gadget(source, header.time, has_gas, defaults)?
    };
    let says_open = source.text("Parameters", "InitialConditions:periodic").is_some_and(|p| p == "0");
    scales.periodic = header.sides.is_some() && !says_open;
    Ok(scales)
}

fn swift(source: &Hdf5File, has_gas: bool) -> ReadResult<SnapshotUnits> {
    let of = |name: &str| Ok(source.number("Cosmology", name)?.filter(|x| x.is_finite()));
    let is_cosmological = source.number("Cosmology", "Cosmological run")? == Some(1.0);
    let a = if is_cosmological { of("Scale-factor")?.filter(|a| *a > 0.0).unwrap_or(1.0) } else { 1.0 };
    let [snapshot, internal] = ["Units", "InternalCodeUnits"].map(|group| unit_system(source, group));
    let (snapshot, internal) = (snapshot?, internal?);
    let mut scales = SnapshotUnits {
        format: "SWIFT",
        units: snapshot.map(|s| s.at(a)),
        assumed_units: Vec::new(),
        cosmology: None,
        matter: None,
        softening: [None; N_KINDS],
        velocity: 1.0,
        periodic: false,
    };
    let to_file = internal.zip(snapshot).map_or(1.0, |(from, to)| from.length / to.length);
    scales.softening = softening::of_swift(source, is_cosmological.then_some(a))?.map(|x| Some(x? * to_file));
    if !is_cosmological {
        return Ok(scales);
    }
    // SWIFT writes all of these; converters leave out the components that they do not have.
    let (omega_m, omega_b) = (of("Omega_m")?.unwrap_or(0.0), of("Omega_b")?.unwrap_or(0.0));
    let omega_cdm = of("Omega_cdm")?.unwrap_or(omega_m - omega_b);
    scales.cosmology = Some(Cosmology {
        aexp: a,
        h0: 100.0 * of("h")?.unwrap_or(0.0),
        omega_m,
        omega_l: of("Omega_lambda")?.unwrap_or(0.0),
        omega_k: of("Omega_k")?.unwrap_or(0.0),
        omega_b,
    });
    // In the internal units of the code, which may differ from those of the file.
    let change = internal.zip(snapshot).map_or(1.0, |(from, to)| from.density() / to.density());
    let critical = of("Critical density at redshift zero [internal units]")?;
    scales.matter = critical.filter(|c| *c > 0.0).map(|critical| {
        let critical = critical * change;
        Matter { all: (omega_cdm + omega_b) * critical, dark: Some(omega_cdm * critical), has_gas }
    });
    Ok(scales)
}

fn gadget(
    source: &Hdf5File,
    time: f64,
    has_gas: bool,
    defaults: &InputDefaults,
) -> ReadResult<SnapshotUnits> {
    let h = gadget_positive(source, "HubbleParam")?.unwrap_or(1.0);
    let units = gadget_units(source, defaults)?;
    let redshift = gadget_number(source, "Redshift")?;
    let is_cosmological = match gadget_number(source, "ComovingIntegrationOn")? {
        Some(on) => on != 0.0,
        None => redshift.is_some_and(|z| (time * (1.0 + z) - 1.0).abs() < 1e-5),
    };
    let omega_m = gadget_positive(source, "Omega0")?.filter(|_| is_cosmological && time > 0.0);
    let a = if omega_m.is_some() { time } else { 1.0 };
    let omega_b = gadget_number(source, "OmegaBaryon")?.filter(|b| *b >= 0.0);
    let matter = omega_m.map(|omega_m| {
        // The factors of h in H0, the masses and the lengths cancel.
        let critical = 3.0 * HUBBLE_100.powi(2) / (8.0 * std::f64::consts::PI * NEWTON)
            * units.length.powi(3)
            / units.mass;
        let dark = omega_b.filter(|b| *b > 0.0 || !has_gas).map(|b| (omega_m - b) * critical);
        Matter { all: omega_m * critical, dark, has_gas }
    });
    // Older files leave out the components that they do not have.
    let omega_l = gadget_number(source, "OmegaLambda")?.unwrap_or(0.0);
    let cosmology = omega_m.map(|omega_m| Cosmology {
        aexp: a,
        h0: 100.0 * h,
        omega_m,
        omega_l,
        omega_k: 1.0 - omega_m - omega_l,
        omega_b: omega_b.unwrap_or(0.0),
    });
    let system = UnitSystem {
        length: units.length / h,
        mass: units.mass / h,
        time: units.length / h / units.velocity,
    };
    Ok(SnapshotUnits {
        format: "Gadget",
        units: Some(system.at(a)),
        assumed_units: units.assumed,
        cosmology,
        matter,
        softening: softening::of_gadget(source, omega_m.is_some().then_some(a))?,
        velocity: a.sqrt(),
        periodic: false,
    })
}

/// In cgs, with the factors of h still in them.
struct GadgetUnits {
    length: f64,
    mass: f64,
    velocity: f64,
    /// Those that neither the file nor the caller states; they are Gadget's own.
    assumed: Vec<String>,
}

fn gadget_units(source: &Hdf5File, defaults: &InputDefaults) -> ReadResult<GadgetUnits> {
    let mut assumed = Vec::new();
    let mut unit =
        |name: &'static str, key, given: Option<f64>, own| match (gadget_positive(source, key)?, given) {
            (Some(stated), Some(given)) => {
                let problem = format!("the snapshot states {key} = {stated}");
                Err(ReadError::unused_default(source.path(), name, given, problem))
            }
            (stated, given) => Ok(stated.or(given).unwrap_or_else(|| {
                assumed.push(name.trim_start_matches("unit ").to_string());
                own
            })),
        };
    let length = unit("unit length", "UnitLength_in_cm", defaults.unit_length, 3.085_678e21)?;
    let mass = unit("unit mass", "UnitMass_in_g", defaults.unit_mass, 1.989e43)?;
    let velocity = unit("unit velocity", "UnitVelocity_in_cm_per_s", defaults.unit_velocity, 1e5)?;
    Ok(GadgetUnits { length, mass, velocity, assumed })
}

fn gadget_number(source: &Hdf5File, name: &str) -> ReadResult<Option<f64>> {
    for place in ["Header", "Parameters", "Units"] {
        if let Some(value) = source.number(place, name)?.filter(|x| x.is_finite()) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn gadget_positive(source: &Hdf5File, name: &str) -> ReadResult<Option<f64>> {
    Ok(gadget_number(source, name)?.filter(|x| *x > 0.0))
}

/// Comoving length, mass and time in cgs; length over time is the unit of peculiar velocities.
#[derive(Debug, Clone, Copy, PartialEq)]
struct UnitSystem {
    length: f64,
    mass: f64,
    time: f64,
}

impl UnitSystem {
    fn density(self) -> f64 {
        self.mass / self.length.powi(3)
    }

    /// The units at expansion factor `a`.
    fn at(self, a: f64) -> Units {
        Units { length: self.length * a, density: self.density() / a.powi(3), time: self.time * a }
    }
}

fn unit_system(source: &Hdf5File, group: &str) -> ReadResult<Option<UnitSystem>> {
    let of = |name: &str| Ok(source.number(group, name)?.filter(|x| x.is_finite() && *x > 0.0));
    let length = of("Unit length in cgs (U_L)")?;
    let (mass, time) = (of("Unit mass in cgs (U_M)")?, of("Unit time in cgs (U_t)")?);
    Ok(length.zip(mass).zip(time).map(|((length, mass), time)| UnitSystem { length, mass, time }))
}
