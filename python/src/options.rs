//! What a call asks for, from dictionaries that the Python half fills.

use inselberg::bound::PropertyWords;
use inselberg::phew::recut::NewThresholds;
use inselberg::voids::NewVoidThresholds;
use inselberg::{
    BoundRequest, CentralChoice, Cosmology, Error, ErrorKind, FieldChoice, FofParams, Geometry, Linking, LinkingTypes,
    ParticleGraphParams, ParticleMeshParams, Persistence, PhewParams, PotentialChoice, PropertyChoice, Rules,
    SofteningLengths, Units, VoidParams, source_types,
};
use pyo3::prelude::*;

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

/// Thresholds and rules of PHEW.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PhewOptions {
    density: Option<f64>,
    relevance: Option<f64>,
    difference: Option<f64>,
    significance: Option<f64>,
    saddle: Option<f64>,
    mass: f64,
    min_cells: u64,
    min_particles: u64,
    rules: String,
    with_cells: bool,
    with_particles: bool,
    unbind: Option<String>,
    properties: String,
    with_members: bool,
    central: String,
    potential_from: String,
    thermal_energy: bool,
    softening: Option<String>,
    allow_duplicate_ids: bool,
    gamma: Option<f64>,
}

impl PhewOptions {
    pub fn params(&self) -> Result<PhewParams, Error> {
        let mut params = PhewParams::default()
            .mass(self.mass)
            .min_cells(self.min_cells)
            .min_particles(self.min_particles)
            .rules(rules(&self.rules)?);
        params.persistence = persistence(self.relevance, self.difference)?;
        (params.density, params.saddle) = (self.density, self.saddle);
        params.significance = self.significance;
        let params = if self.with_cells { params.with_cells() } else { params };
        let params = if self.with_particles { params.with_particles() } else { params };
        Ok(params.bound(self.bound()?))
    }

    fn bound(&self) -> Result<BoundRequest, Error> {
        let unbind = match self.unbind.as_deref() {
            None if self.with_members => {
                return Err(refused("with_members without unbind; expected unbind beside it"));
            }
            None => None,
            Some(name) => Some(potential("unbind", name)?),
        };
        let words = property_words(&self.properties)?;
        if unbind.is_none() && words.choice != PropertyChoice::Basic {
            let expected = "unbind beside it, or gas alone";
            return Err(refused(format!("properties is {:?}; expected {expected}", self.properties)));
        }
        let types = "gas, dark-matter, stars and other, separated by commas";
        let potential_from = source_types(&self.potential_from).ok_or_else(|| {
            refused(format!("potential_from is {:?}; expected \"all\", or {types}", self.potential_from))
        })?;
        let central = CentralChoice::from_name(&self.central).ok_or_else(|| {
            refused(format!("central is {:?}; expected \"heaviest\" or \"densest\"", self.central))
        })?;
        let softening = self.softening.as_deref().map(|text| {
            let expected = "a length, 0 or more, or lengths of gas, dark-matter, stars and other";
            SofteningLengths::from_text(text)
                .ok_or_else(|| refused(format!("softening is {text:?}; expected {expected}")))
        });
        Ok(BoundRequest {
            unbind,
            properties: words.choice,
            with_members: self.with_members,
            central,
            potential_from,
            thermal_energy: self.thermal_energy,
            softening: softening.transpose()?.unwrap_or_default(),
            allow_duplicate_ids: self.allow_duplicate_ids,
            gas: words.gas,
            adiabatic_index: self.gamma,
            ..BoundRequest::default()
        })
    }
}

/// New thresholds; `None` keeps those that there are.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CutOptions {
    relevance: Option<f64>,
    difference: Option<f64>,
    significance: Option<f64>,
    saddle: Option<f64>,
    mass: Option<f64>,
    min_cells: Option<u64>,
}

impl CutOptions {
    /// For clumps that were just found.
    pub fn params(&self, old: &PhewParams) -> Result<PhewParams, Error> {
        let mut new = old.clone();
        new.persistence = persistence(self.relevance, self.difference)?.or(new.persistence);
        new.significance = self.significance.or(new.significance);
        new.saddle = self.saddle.or(new.saddle);
        new.mass = self.mass.unwrap_or(new.mass);
        new.min_cells = self.min_cells.unwrap_or(new.min_cells);
        Ok(new)
    }

    /// For a catalogue from a file.
    pub fn thresholds(&self) -> Result<NewThresholds, Error> {
        let persistence = persistence(self.relevance, self.difference)?;
        let Self { significance, saddle, mass, min_cells, .. } = *self;
        Ok(NewThresholds { persistence, significance, saddle, mass, min_cells })
    }
}

fn persistence(relevance: Option<f64>, difference: Option<f64>) -> Result<Option<Persistence>, Error> {
    match (relevance, difference) {
        (None, None) => Ok(None),
        (Some(ratio), None) => Ok(Some(Persistence::Ratio(ratio))),
        (None, Some(difference)) => Ok(Some(Persistence::Difference(difference))),
        (Some(_), Some(_)) => Err(refused("relevance and difference; expected one of the two")),
    }
}

/// How potentials are computed, by the value of the keyword `of`.
fn potential(of: &str, name: &str) -> Result<PotentialChoice, Error> {
    match name {
        "tree" => Ok(PotentialChoice::Tree),
        "spherical" => Ok(PotentialChoice::Spherical),
        "ramses" => Ok(PotentialChoice::Ramses),
        _ => Err(refused(format!("{of} is {name:?}; expected \"tree\" or \"spherical\""))),
    }
}

fn property_words(text: &str) -> Result<PropertyWords, Error> {
    text.parse().map_err(|error| refused(format!("properties is {text:?}; {error}")))
}

fn rules(name: &str) -> Result<Rules, Error> {
    match name {
        "paper" => Ok(Rules::Paper),
        "ramses" => Ok(Rules::Ramses),
        _ => Err(refused(format!("the rules are {name:?}; expected \"paper\" or \"ramses\""))),
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

/// The linking of friends-of-friends.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FofOptions {
    ratio: Option<f64>,
    length: Option<f64>,
    min_size: u64,
    properties: Option<String>,
    potential: String,
    with_members: bool,
    softening: Option<f64>,
}

impl FofOptions {
    pub fn params(&self) -> Result<FofParams, Error> {
        let linking = match (self.ratio, self.length) {
            (Some(ratio), None) => Linking::Ratio(ratio),
            (None, Some(length)) => Linking::Length(length),
            _ => return Err(refused("expected one of ratio and length")),
        };
        let params = FofParams::default().linking(linking).min_size(self.min_size).bound(self.bound()?);
        Ok(self.softening.into_iter().fold(params, FofParams::softening))
    }

    fn bound(&self) -> Result<BoundRequest, Error> {
        let method = potential("potential", &self.potential)?;
        let words = self.properties.as_deref().map(property_words).transpose()?;
        let unbind = words.filter(|words| words.needs_bound).map(|_| method);
        if unbind.is_none() && (self.with_members || self.softening.is_some()) {
            return Err(refused(
                "with_members or softening alone; expected properties of bound particles beside it",
            ));
        }
        let properties = words.map(|words| words.choice).unwrap_or_default();
        let (with_members, gas) = (self.with_members, words.is_some_and(|words| words.gas));
        Ok(BoundRequest { unbind, properties, with_members, gas, ..BoundRequest::default() })
    }
}

/// The field of an output, by the names that the command knows.
pub fn field_choice(name: &str) -> FieldChoice {
    match name {
        "auto" => FieldChoice::Auto,
        "cic" => FieldChoice::Cic,
        "cic-ramses" => FieldChoice::CicRamses,
        "matter" => FieldChoice::Matter,
        name => FieldChoice::Named(name.into()),
    }
}

/// The mesh that particles make.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct MeshOptions {
    m_refine: u64,
    level_min: Option<u8>,
    level_max: u8,
    types: Vec<u8>,
    side: Option<f64>,
}

impl MeshOptions {
    pub fn params(&self) -> ParticleMeshParams {
        let params = ParticleMeshParams::default()
            .m_refine(self.m_refine)
            .level_max(self.level_max)
            .types(&self.types);
        let params = self.level_min.into_iter().fold(params, ParticleMeshParams::level_min);
        self.side.into_iter().fold(params, ParticleMeshParams::side)
    }
}

/// The graph of particles and their nearest neighbours.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GraphOptions {
    neighbours: usize,
    given_density: bool,
    types: Vec<u8>,
    side: Option<f64>,
}

impl GraphOptions {
    pub fn params(&self) -> ParticleGraphParams {
        let mut params = ParticleGraphParams::default().neighbours(self.neighbours).types(&self.types);
        params.given_density = self.given_density;
        self.side.into_iter().fold(params, ParticleGraphParams::side)
    }
}

/// Which voids are found.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct VoidOptions {
    density: Option<f64>,
    relevance: f64,
    wall: Option<f64>,
    min_radius: f64,
    min_particles: u64,
    with_particles: bool,
}

impl VoidOptions {
    pub fn params(&self) -> VoidParams {
        let mut params = VoidParams::default()
            .relevance(self.relevance)
            .radius(self.min_radius)
            .min_particles(self.min_particles);
        (params.density, params.wall) = (self.density, self.wall);
        params.with_particles = self.with_particles;
        params
    }
}

/// New thresholds for voids.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct VoidCutOptions {
    relevance: Option<f64>,
    wall: Option<f64>,
    min_radius: Option<f64>,
    min_particles: Option<u64>,
}

impl VoidCutOptions {
    pub fn thresholds(&self) -> NewVoidThresholds {
        NewVoidThresholds {
            relevance: self.relevance,
            wall: self.wall,
            radius: self.min_radius,
            min_particles: self.min_particles,
        }
    }
}

/// What is done with each particle type of an output.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TypeOptions {
    linking: Vec<u8>,
    attaching: Vec<u8>,
    side: Option<f64>,
    is_open: bool,
}

impl TypeOptions {
    pub fn types(&self) -> LinkingTypes {
        let types = LinkingTypes::default().linking(&self.linking).attaching(&self.attaching);
        let types = self.side.into_iter().fold(types, LinkingTypes::side);
        if self.is_open { types.open() } else { types }
    }
}
