//! The groups and attributes that programs for SWIFT's group catalogues need.
//!
//! A catalogue with the attribute `output_type` gets the groups `Header`, `Cosmology`, `Units`,
//! `InternalCodeUnits`, `Parameters` and `Code`, made from its own attributes, and SWIFT's attributes on each
//! dataset. As in SWIFT's files, texts have a fixed length and numbers are arrays of one. A value that the
//! input of the search does not have is 0, or 1 if it is a factor: readers need all of them.

use crate::Cosmology;
use crate::catalogue::{Attribute, Dimension, Table};
use ::hdf5::types::FixedAscii;
use ::hdf5::{Dataset, File, Group, H5Type, Location, Result};
use ndarray::ArrayView1;

/// Length of texts; longer ones are cut.
const TEXT: usize = 256;
/// The dataset of plain arrays, which is also linked at the root.
const AT_ROOT: (&str, &str) = ("Particles", "GroupIDs");
/// The groups without datasets.
const GROUPS: [&str; 6] = ["Header", "Cosmology", "Units", "InternalCodeUnits", "Parameters", "Code"];

/// Parameters of the search: SWIFT's name and the attribute.
const PARAMETERS: [(&str, &str); 9] = [
    ("FOF:min_group_size", "min_group_size"),
    ("FOF:linking_types", "linking_types"),
    ("FOF:attaching_types", "attaching_types"),
    ("FOF:linking_length_ratio", "linking_length_ratio"),
    ("FOF:absolute_linking_length", "absolute_linking_length"),
    ("FOF:group_id_default", "group_id_default"),
    ("FOF:group_id_offset", "group_id_offset"),
    ("FOF:seed_black_holes_enabled", "seed_black_holes_enabled"),
    ("FOF:black_hole_seed_halo_mass_Msun", "black_hole_seed_halo_mass_Msun"),
];

/// Density parameters: SWIFT's name and the attribute.
const OMEGAS: [(&str, &str); 4] =
    [("Omega_m", "omega_m"), ("Omega_lambda", "omega_l"), ("Omega_k", "omega_k"), ("Omega_b", "omega_b")];

/// Whether a member of the root comes from [`dress`] and is not a table.
pub fn is_dress(file: &File, name: &str) -> bool {
    let is_bare = |name: &str| file.group(name).is_ok_and(|group| group.is_empty());
    name == AT_ROOT.1 || GROUPS.contains(&name) && is_bare(name)
}

/// Adds SWIFT's groups and attributes to a file with complete datasets.
pub fn dress(file: &File, attributes: &[(String, Attribute)], tables: &[(&Table, u64)]) -> Result<()> {
    let values = SwiftAttributes(attributes);
    let Some(output_type) = values.text("output_type") else { return Ok(()) };
    let scales = SwiftUnits::from_attributes(&values);
    common_groups(file, &values, &output_type, &scales, tables)?;
    for (table, _) in tables {
        for column in &table.columns {
            let dataset = file.group(&table.name)?.dataset(&column.name)?;
            let is_number = column.dimension == Dimension::NONE;
            let form = StoredForm { is_physical: is_number, can_be_comoving: !is_number };
            scales.describe(&dataset, column.dimension, &column.description, form)?;
        }
        if table.name == AT_ROOT.0 && table.column(AT_ROOT.1).is_some() {
            file.link_soft(&format!("/{}/{}", AT_ROOT.0, AT_ROOT.1), AT_ROOT.1)?;
        }
    }
    Ok(())
}

/// The groups without datasets.
pub fn common_groups(
    file: &File,
    values: &SwiftAttributes,
    output_type: &str,
    scales: &SwiftUnits,
    tables: &[(&Table, u64)],
) -> Result<()> {
    header(file, values, output_type, scales, tables)?;
    cosmology(file, values, scales)?;
    scales.write(&group(file, "Units")?)?;
    scales.write(&group(file, "InternalCodeUnits")?)?;
    let parameters = group(file, "Parameters")?;
    for (name, of) in PARAMETERS {
        if let Some(text) = values.shown(of) {
            put_text(&parameters, name, &text)?;
        }
    }
    let code = group(file, "Code")?;
    put_text(&code, "Code", "Inselberg")?;
    put_text(&code, "Code Version", &values.text("version").unwrap_or_default())
}

fn header(
    file: &File,
    values: &SwiftAttributes,
    output_type: &str,
    scales: &SwiftUnits,
    tables: &[(&Table, u64)],
) -> Result<()> {
    let header = group(file, "Header")?;
    put(&header, "BoxSize", &values.sides().unwrap_or([0.0; 3]))?;
    put(&header, "Dimension", &[3.0])?;
    put(&header, "Time", &[values.real("time").unwrap_or(0.0)])?;
    put(&header, "Scale-factor", &[scales.a])?;
    put(&header, "Redshift", &[1.0 / scales.a - 1.0])?;
    put_text(&header, "OutputType", output_type)?;
    for name in ["Code", "RunName", "System", "SelectOutput"] {
        put_text(&header, name, if name == "SelectOutput" { "Default" } else { "Inselberg" })?;
    }
    if let Some((_, n)) = tables.iter().find(|(table, _)| table.name == "Groups") {
        put(&header, "NumGroups_Total", &[*n as i64])?;
        put(&header, "NumGroups_ThisFile", &[*n as i64])?;
    }
    for (name, value) in [("NumFilesPerSnapshot", 1), ("ThisFile", 0), ("Virtual", 0), ("NumPartTypes", 7)] {
        put::<i32>(&header, name, &[value])?;
    }
    for name in ["NumPart_ThisFile", "TotalNumberOfParticles"] {
        put(&header, name, &[0i64; 7])?;
    }
    for name in ["NumPart_Total", "NumPart_Total_HighWord", "Flag_Entropy_ICs"] {
        put(&header, name, &[0u32; 7])?;
    }
    for name in ["MassTable", "InitialMassTable"] {
        put(&header, name, &[0.0; 7])?;
    }
    put(&header, "CanHaveTypes", &[0i32; 7])
}

fn cosmology(file: &File, values: &SwiftAttributes, scales: &SwiftUnits) -> Result<()> {
    let cosmology = group(file, "Cosmology")?;
    let h0 = values.real("h0");
    put::<i32>(&cosmology, "Cosmological run", &[h0.is_some().into()])?;
    put(&cosmology, "Scale-factor", &[scales.a])?;
    put(&cosmology, "Redshift", &[1.0 / scales.a - 1.0])?;
    put(&cosmology, "h", &[h0.map_or(1.0, |h0| h0 / 100.0)])?;
    let expansion = values.cosmology();
    let of = |value: fn(&Cosmology) -> f64| expansion.as_ref().map_or(0.0, value);
    put(&cosmology, "H0 [internal units]", &[of(|c| c.hubble_rate_at(1.0)) * scales.time])?;
    put(&cosmology, "H [internal units]", &[of(Cosmology::hubble_rate) * scales.time])?;
    let density = scales.mass / scales.length.powi(3);
    for (name, value) in [
        ("Critical density [internal units]", of(Cosmology::critical_density)),
        ("Critical density at redshift zero [internal units]", of(Cosmology::critical_density_today)),
    ] {
        put(&cosmology, name, &[value / density])?;
    }
    for (name, of) in OMEGAS {
        put(&cosmology, name, &[values.real(of).unwrap_or(0.0)])?;
    }
    let cdm = values.real("omega_m").zip(values.real("omega_b")).map_or(0.0, |(m, b)| m - b);
    put(&cosmology, "Omega_cdm", &[cdm])?;
    for (name, value) in [
        ("Omega_r", of(|c| c.omega_r)),
        ("Omega_nu", of(|c| c.neutrino_part() * c.matter_parameter())),
        ("Omega_nu_0", of(|c| c.omega_nu)),
        ("N_eff", 0.0),
        // Readers require both of these or none.
        ("N_ur", 0.0),
        ("w_0", of(|c| c.w0)),
        ("w_a", of(|c| c.wa)),
        ("w", expansion.as_ref().map_or(-1.0, |c| c.w0 + c.wa * (1.0 - c.aexp))),
    ] {
        put(&cosmology, name, &[value])?;
    }
    Ok(())
}

/// Attributes of a catalogue by name.
pub struct SwiftAttributes<'a>(pub &'a [(String, Attribute)]);

impl SwiftAttributes<'_> {
    fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Attribute::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A real.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Attribute::Real(value)) => Some(*value),
            _ => None,
        }
    }

    /// The cosmology; `None` where the catalogue has none.
    pub fn cosmology(&self) -> Option<Cosmology> {
        Cosmology::from_attributes(|name| self.real(name))
    }

    fn reals(&self, name: &str) -> Option<Vec<f64>> {
        match self.get(name) {
            Some(Attribute::Reals(values)) => Some(values.clone()),
            _ => None,
        }
    }

    /// The sides of the box, given directly or by coarse cells.
    pub fn sides(&self) -> Option<[f64; 3]> {
        let triple = |name| self.reals(name).and_then(|list| <[f64; 3]>::try_from(list).ok());
        triple("sides")
            .or_else(|| Some(triple("coarse_cells")?.map(|n| n * self.real("boxlen").unwrap_or(1.0))))
    }

    /// The lower corner of the box; 0 if the catalogue does not state it.
    pub fn origin(&self) -> [f64; 3] {
        self.reals("origin").and_then(|list| <[f64; 3]>::try_from(list).ok()).unwrap_or([0.0; 3])
    }

    /// Root cells along each axis, at least one.
    pub fn root_cells(&self) -> Option<[u32; 3]> {
        let list = <[f64; 3]>::try_from(self.reals("coarse_cells")?).ok()?;
        let is_count = |n: &f64| *n >= 1.0 && *n <= f64::from(u32::MAX) && n.fract() == 0.0;
        list.iter().all(is_count).then(|| list.map(|n| n as u32))
    }

    /// Whether all boundaries are periodic.
    pub fn is_periodic(&self) -> bool {
        self.reals("periodic").is_some_and(|flags| flags.iter().all(|flag| *flag == 1.0))
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.get(name) {
            Some(Attribute::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// As text, like SWIFT's parameters.
    fn shown(&self, name: &str) -> Option<String> {
        Some(match self.get(name)? {
            Attribute::Int(value) => value.to_string(),
            Attribute::Real(value) => value.to_string(),
            Attribute::Reals(values) => format!("{values:?}"),
            Attribute::Text(text) => text.clone(),
        })
    }
}

/// How values of a dataset are stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredForm {
    /// Whether they are physical, else comoving.
    pub is_physical: bool,
    /// Whether they have a comoving form.
    pub can_be_comoving: bool,
}

/// The expansion factor, and comoving code units in cgs; 1 if the catalogue has no units.
pub struct SwiftUnits {
    /// The expansion factor.
    pub a: f64,
    length: f64,
    mass: f64,
    time: f64,
}

impl SwiftUnits {
    /// The units of a catalogue are those at the time of the output.
    pub fn from_attributes(values: &SwiftAttributes) -> Self {
        let a = values.real("aexp").filter(|a| *a > 0.0).unwrap_or(1.0);
        let unit = |name: &str| values.real(name).unwrap_or(1.0);
        let length = unit("unit_length");
        Self {
            a,
            length: length / a,
            mass: unit("unit_density") * length.powi(3),
            time: unit("unit_time") / a,
        }
    }

    fn write(&self, group: &Group) -> Result<()> {
        for (name, value) in [
            ("Unit length in cgs (U_L)", self.length),
            ("Unit mass in cgs (U_M)", self.mass),
            ("Unit time in cgs (U_t)", self.time),
            ("Unit temperature in cgs (U_T)", 1.0),
            ("Unit current in cgs (U_I)", 1.0),
        ] {
            put(group, name, &[value])?;
        }
        Ok(())
    }

    /// SWIFT's attributes of a dataset. Lengths are comoving and velocities peculiar; derived quantities
    /// follow.
    pub fn describe(
        &self,
        dataset: &Dataset,
        dimension: Dimension,
        description: &str,
        form: StoredForm,
    ) -> Result<()> {
        let powers = [dimension.length, dimension.mass, dimension.time].map(f32::from);
        // The units of length and time have one factor of a each.
        let a_power = powers[0] + powers[2];
        let [l, m, t] = [dimension.length, dimension.mass, dimension.time].map(i32::from);
        let cgs = self.length.powi(l) * self.mass.powi(m) * self.time.powi(t);
        let [u_l, u_m, u_t] = powers;
        for (name, power) in [("L", u_l), ("M", u_m), ("t", u_t), ("T", 0.0), ("I", 0.0)] {
            put(dataset, &format!("U_{name} exponent"), &[power])?;
        }
        put(dataset, "a-scale exponent", &[a_power])?;
        put(dataset, "h-scale exponent", &[0.0f32])?;
        put(dataset, "Conversion factor to CGS (not including cosmological corrections)", &[cgs])?;
        let physical = if form.is_physical { cgs } else { cgs * self.a.powi(a_power as i32) };
        put(dataset, "Conversion factor to physical CGS (including cosmological corrections)", &[physical])?;
        put(dataset, "Value stored as physical", &[u8::from(form.is_physical)])?;
        put(dataset, "Property can be converted to comoving", &[u8::from(form.can_be_comoving)])?;
        put_text(dataset, "Description", description)?;
        put_text(dataset, "Lossy compression filter", "None")
    }
}

/// A new group.
pub fn group(file: &File, name: &str) -> Result<Group> {
    file.create_group_builder().obj_track_times(false).create(name)
}

/// A new attribute: an array.
pub fn put<T: H5Type>(at: &Location, name: &str, values: &[T]) -> Result<()> {
    at.new_attr::<T>().shape([values.len()]).create(name)?.write(ArrayView1::from(values))
}

/// A new attribute: a text of fixed length.
pub fn put_text(at: &Location, name: &str, text: &str) -> Result<()> {
    let plain: Vec<u8> =
        text.bytes().map(|b| if b.is_ascii() && b != 0 { b } else { b'?' }).take(TEXT).collect();
    let fixed = FixedAscii::<TEXT>::from_ascii(&plain).expect("ASCII of at most that length");
    at.new_attr::<FixedAscii<TEXT>>().create(name)?.write_scalar(&fixed)
}
