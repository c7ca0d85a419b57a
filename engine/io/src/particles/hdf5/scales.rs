//! Units, cosmology and factors of h and a, of SWIFT and of Gadget and its descendants.
//!
//! SWIFT: comoving lengths without h, peculiar velocities. Gadget: comoving lengths and masses over h, and velocities over the
//! square root of a. Values stay in the units of the file; h goes into the units.

use super::header::WholeHeader;
use super::softening;
use crate::hdf5_file::Hdf5File;
use crate::particles::gadget_units::{GadgetRun, OwnUnits, UnitSystem, is_expanding};
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
        swift(source, has_gas, defaults)?
    } else {
        gadget(source, header.time, has_gas, defaults)?
    };
    let says_open = source.text("Parameters", "InitialConditions:periodic").is_some_and(|p| p == "0");
    scales.periodic = header.sides.is_some() && !says_open;
    Ok(scales)
}

fn swift(source: &Hdf5File, has_gas: bool, defaults: &InputDefaults) -> ReadResult<SnapshotUnits> {
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
    let system = internal.or(snapshot);
    let cosmology = swift_cosmology(source, a, system, defaults)?;
    let omega_cdm = of("Omega_cdm")?.unwrap_or(cosmology.omega_m - cosmology.omega_b);
    // In the internal units of the code, which may differ from those of the file.
    let change = internal.zip(snapshot).map_or(1.0, |(from, to)| from.density() / to.density());
    let stated = of("Critical density at redshift zero [internal units]")?.filter(|c| *c > 0.0);
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

/// The cosmology of a SWIFT snapshot; `system` has the internal units of the code. SWIFT writes all of these; converters leave
/// out the components that they do not have.
fn swift_cosmology(
    source: &Hdf5File,
    aexp: f64,
    system: Option<UnitSystem>,
    defaults: &InputDefaults,
) -> ReadResult<Cosmology> {
    let of = |name: &str| Ok(source.number("Cosmology", name)?.filter(|x| x.is_finite()));
    let positive = |name: &str| Ok(of(name)?.filter(|x| *x > 0.0));
    let cosmology = Cosmology {
        aexp,
        h0: 100.0 * of("h")?.unwrap_or(0.0),
        omega_m: of("Omega_m")?.unwrap_or(0.0),
        omega_l: of("Omega_lambda")?.unwrap_or(0.0),
        omega_k: of("Omega_k")?.unwrap_or(0.0),
        omega_b: of("Omega_b")?.unwrap_or(0.0),
        hubble: positive("H [internal units]")?.zip(system).map(|(rate, system)| rate / system.time),
        critical: positive("Critical density [internal units]")?
            .zip(system)
            .map(|(density, system)| density * system.density()),
        ..Cosmology::default()
    };
    let stated = ExtraCosmology {
        w0: of("w_0")?,
        wa: of("w_a")?,
        omega_r: of("Omega_r")?,
        omega_nu: of("Omega_nu_0")?,
    };
    cosmology.with_extra(source.path(), &stated, &defaults.cosmology)
}

fn gadget(
    source: &Hdf5File,
    time: f64,
    has_gas: bool,
    defaults: &InputDefaults,
) -> ReadResult<SnapshotUnits> {
    let redshift = gadget_number(source, "Redshift")?;
    let is_cosmological = match gadget_number(source, "ComovingIntegrationOn")? {
        Some(on) => on != 0.0,
        None => redshift.is_some_and(|z| is_expanding(time, z)),
    };
    let run = GadgetRun {
        time,
        h: gadget_positive(source, "HubbleParam")?.unwrap_or(1.0),
        omega_m: gadget_positive(source, "Omega0")?.filter(|_| is_cosmological),
        // Older files leave out the components that they do not have.
        omega_l: gadget_number(source, "OmegaLambda")?.unwrap_or(0.0),
        omega_b: gadget_number(source, "OmegaBaryon")?.filter(|b| *b >= 0.0),
        has_gas,
        hubble: source.number("Parameters", "Hubble")?.filter(|x| x.is_finite() && *x > 0.0),
        // 0 stands for the code's own.
        newton: source.number("Parameters", "GravityConstantInternal")?.filter(|x| x.is_finite() && *x > 0.0),
    };
    let mut units = OwnUnits::new(source.path(), defaults);
    let length = units.length(gadget_positive(source, "UnitLength_in_cm")?)?;
    let mass = units.mass(gadget_positive(source, "UnitMass_in_g")?)?;
    let velocity = units.velocity(gadget_positive(source, "UnitVelocity_in_cm_per_s")?)?;
    let scales = run.scales([length, mass, velocity], source.path(), defaults)?;
    Ok(SnapshotUnits {
        format: "Gadget",
        units: Some(scales.units),
        assumed_units: units.assumed,
        softening: softening::of_gadget(source, scales.cosmology.is_some().then_some(scales.a))?,
        cosmology: scales.cosmology,
        matter: scales.matter,
        velocity: scales.a.sqrt(),
        periodic: false,
    })
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

fn unit_system(source: &Hdf5File, group: &str) -> ReadResult<Option<UnitSystem>> {
    let of = |name: &str| Ok(source.number(group, name)?.filter(|x| x.is_finite() && *x > 0.0));
    let length = of("Unit length in cgs (U_L)")?;
    let (mass, time) = (of("Unit mass in cgs (U_M)")?, of("Unit time in cgs (U_t)")?);
    Ok(length.zip(mass).zip(time).map(|((length, mass), time)| UnitSystem { length, mass, time }))
}
