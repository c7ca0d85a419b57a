//! Units, cosmology and factors of h and a, of SWIFT and of Gadget and its descendants.
//!
//! SWIFT: comoving lengths without h, peculiar velocities. Gadget: comoving lengths and masses over h, and
//! velocities over the square root of a. Values stay in the units of the file; h goes into the units.

use super::header::WholeHeader;
use super::names::{HeaderNumber, SnapshotDialect, are_alike, stated};
use super::sampling;
use super::simulation_box::SimulationBox;
use super::softening;
use crate::hdf5_file::Hdf5File;
use crate::particles::expansion::ExpansionStatements;
use crate::particles::gadget_units::{GadgetRun, OwnUnits, UnitSystem};
use crate::particles::{GAS, InputDefaults, Matter, N_KINDS, STAR};
use crate::{Cosmology, ExtraCosmology, ReadResult, Units};

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
    /// Whether the run expands.
    pub is_expanding: bool,
    /// The box.
    pub simulation_box: SimulationBox,
    /// As [`crate::particles::ParticleHeader::notes`].
    pub notes: Vec<String>,
    /// As [`crate::particles::ParticleHeader::sampled`].
    pub sampled: [f64; N_KINDS],
}

/// The family of the names in a file.
///
/// # Errors
/// Its mark of a cosmological run is not a number.
pub fn dialect_of(source: &Hdf5File) -> ReadResult<SnapshotDialect> {
    let is_swift = source.text("Header", "Code").is_some_and(|code| code == "SWIFT")
        || source.number("Cosmology", "Cosmological run")?.is_some();
    Ok(if is_swift { SnapshotDialect::Swift } else { SnapshotDialect::Gadget })
}

/// Reads them from the first file.
pub fn scales(
    source: &Hdf5File,
    header: &WholeHeader,
    dialect: SnapshotDialect,
    has: impl Fn(u8) -> bool,
    defaults: &InputDefaults,
) -> ReadResult<SnapshotUnits> {
    let has_gas = has(GAS) || has(STAR);
    defaults.refuse_block_order(source.path())?;
    let mut scales = match dialect {
        SnapshotDialect::Swift => {
            defaults.refuse_units(source.path())?;
            swift(source, has_gas, defaults)?
        }
        SnapshotDialect::Gadget => gadget(source, header.time, has_gas, defaults)?,
    };
    scales.simulation_box = SimulationBox::read(source, header, dialect, scales.is_expanding)?;
    scales.sampled = sampling::fractions(source)?;
    scales.notes.extend(sampling::notes(source, &scales.sampled, has));
    Ok(scales)
}

fn swift(source: &Hdf5File, has_gas: bool, defaults: &InputDefaults) -> ReadResult<SnapshotUnits> {
    let of = |quantity| stated(source, SnapshotDialect::Swift, quantity);
    let is_cosmological = of(HeaderNumber::Comoving)? == Some(1.0);
    if let (Some(z), Some(omega_m), false) =
        (of(HeaderNumber::Redshift)?, of(HeaderNumber::OmegaM)?, is_cosmological)
        && z > 0.0
    {
        let expected = format!("1 as of the redshift {z} and Omega_m = {omega_m}");
        return Err(source.bad("Cosmology/Cosmological run", "0", expected));
    }
    let a = if is_cosmological { swift_factor(source)? } else { 1.0 };
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
        simulation_box: SimulationBox::default(),
        is_expanding: is_cosmological,
        notes: Vec::new(),
        sampled: [1.0; N_KINDS],
    };
    let to_file = internal.zip(snapshot).map_or(1.0, |(from, to)| from.length / to.length);
    scales.softening = softening::of_swift(source, is_cosmological.then_some(a))?.map(|x| Some(x? * to_file));
    if !is_cosmological {
        return Ok(scales);
    }
    let system = internal.or(snapshot);
    let cosmology = swift_cosmology(source, a, system, defaults)?;
    let omega_cdm = of(HeaderNumber::OmegaCdm)?.unwrap_or(cosmology.omega_m - cosmology.omega_b);
    // In the internal units of the code, which may differ from those of the file.
    let change = internal.zip(snapshot).map_or(1.0, |(from, to)| from.density() / to.density());
    let stated = swift_rate(source, "Critical density at redshift zero [internal units]")?;
    let by_rate = || {
        let critical = Some(cosmology.critical_density_today()).filter(|c| *c > 0.0)?;
        Some(critical / snapshot?.density())
    };
    scales.matter = stated.map(|critical| critical * change).or_else(by_rate).map(|critical| Matter {
        all: (omega_cdm + cosmology.omega_b) * critical,
        dark: Some(omega_cdm * critical),
        has_gas,
    });
    scales.cosmology = Some(cosmology);
    Ok(scales)
}

/// The cosmology of a SWIFT snapshot; `system` has the internal units of the code. SWIFT writes all of these;
/// converters leave out the components that they do not have.
fn swift_cosmology(
    source: &Hdf5File,
    aexp: f64,
    system: Option<UnitSystem>,
    defaults: &InputDefaults,
) -> ReadResult<Cosmology> {
    let of = |quantity| stated(source, SnapshotDialect::Swift, quantity);
    let cosmology = Cosmology {
        aexp,
        h0: 100.0 * of(HeaderNumber::LittleH)?.unwrap_or(0.0),
        omega_m: of(HeaderNumber::OmegaM)?.unwrap_or(0.0),
        omega_l: of(HeaderNumber::OmegaL)?.unwrap_or(0.0),
        omega_k: of(HeaderNumber::OmegaK)?.unwrap_or(0.0),
        omega_b: of(HeaderNumber::OmegaB)?.unwrap_or(0.0),
        hubble: swift_rate(source, "H [internal units]")?
            .zip(system)
            .map(|(rate, system)| rate / system.time),
        critical: swift_rate(source, "Critical density [internal units]")?
            .zip(system)
            .map(|(density, system)| density * system.density()),
        ..Cosmology::default()
    };
    let stated = ExtraCosmology {
        w0: of(HeaderNumber::W0)?,
        wa: of(HeaderNumber::Wa)?,
        omega_r: of(HeaderNumber::OmegaR)?,
        omega_nu: of(HeaderNumber::OmegaNu)?,
    };
    cosmology.with_extra(source.path(), &stated, &defaults.cosmology)
}

/// A number of SWIFT's in its internal units, if it is above 0.
fn swift_rate(source: &Hdf5File, name: &str) -> ReadResult<Option<f64>> {
    Ok(source.number("Cosmology", name)?.filter(|x| x.is_finite() && *x > 0.0))
}

/// The expansion factor of a SWIFT snapshot, with which its redshift must agree.
fn swift_factor(source: &Hdf5File) -> ReadResult<f64> {
    let of = |quantity| stated(source, SnapshotDialect::Swift, quantity);
    let by_redshift = of(HeaderNumber::Redshift)?.map(|z| 1.0 / (1.0 + z));
    match (of(HeaderNumber::ExpansionFactor)?, by_redshift) {
        (Some(a), Some(other)) if !are_alike(a, other) => {
            let expected = format!("{other} as of Cosmology/Redshift");
            Err(source.bad("Cosmology/Scale-factor", a.to_string(), expected))
        }
        (Some(a), _) | (None, Some(a)) => Ok(a),
        (None, None) => Ok(1.0),
    }
}

fn gadget(
    source: &Hdf5File,
    time: f64,
    has_gas: bool,
    defaults: &InputDefaults,
) -> ReadResult<SnapshotUnits> {
    let of = |quantity| stated(source, SnapshotDialect::Gadget, quantity);
    let omega_m = of(HeaderNumber::OmegaM)?;
    let expansion = ExpansionStatements {
        time,
        redshift: of(HeaderNumber::Redshift)?,
        factor: of(HeaderNumber::ExpansionFactor)?,
        comoving: of(HeaderNumber::Comoving)?.map(|on| on != 0.0),
        omega_m,
    }
    .resolve(source.path(), defaults)?;
    let h = of(HeaderNumber::LittleH)?.unwrap_or(1.0);
    let run = GadgetRun {
        aexp: expansion.factor,
        h,
        omega_m,
        // Older files leave out the components that they do not have.
        omega_l: of(HeaderNumber::OmegaL)?.unwrap_or(0.0),
        omega_b: of(HeaderNumber::OmegaB)?.filter(|b| *b >= 0.0),
        omega_r: of(HeaderNumber::OmegaR)?,
        has_gas,
        hubble: of(HeaderNumber::HubbleInternal)?,
        newton: of(HeaderNumber::Newton)?,
    };
    let mut units = OwnUnits::new(source.path(), defaults);
    let length =
        units.length(over_h(source, [HeaderNumber::UnitLength, HeaderNumber::UnitLengthOverH], h)?)?;
    let mass = units.mass(over_h(source, [HeaderNumber::UnitMass, HeaderNumber::UnitMassOverH], h)?)?;
    let velocity = units.velocity(of(HeaderNumber::UnitVelocity)?)?;
    let scales = run.scales([length, mass, velocity], source.path(), defaults)?;
    Ok(SnapshotUnits {
        format: "Gadget",
        units: Some(scales.units),
        assumed_units: units.assumed,
        softening: softening::of_gadget(source, expansion.factor)?,
        cosmology: scales.cosmology,
        matter: scales.matter,
        velocity: scales.a.sqrt(),
        simulation_box: SimulationBox::default(),
        is_expanding: expansion.factor.is_some(),
        notes: expansion.note.into_iter().collect(),
        sampled: [1.0; N_KINDS],
    })
}

/// A unit as Gadget means it, with h still in it. GIZMO has divided its own by h.
fn over_h(source: &Hdf5File, [plain, divided]: [HeaderNumber; 2], h: f64) -> ReadResult<Option<f64>> {
    let of = |quantity| stated(source, SnapshotDialect::Gadget, quantity);
    match (of(plain)?, of(divided)?.map(|unit| unit * h)) {
        (Some(plain), Some(other)) if !are_alike(plain, other) => {
            let expected = format!("{plain} as the other unit says, without its factor 1/h");
            Err(source.bad("header, units", other.to_string(), expected))
        }
        (plain, other) => Ok(plain.or(other)),
    }
}

fn unit_system(source: &Hdf5File, group: &str) -> ReadResult<Option<UnitSystem>> {
    let of = |name: &str| Ok(source.number(group, name)?.filter(|x| x.is_finite() && *x > 0.0));
    let length = of("Unit length in cgs (U_L)")?;
    let (mass, time) = (of("Unit mass in cgs (U_M)")?, of("Unit time in cgs (U_t)")?);
    Ok(length.zip(mass).zip(time).map(|((length, mass), time)| UnitSystem { length, mass, time }))
}
