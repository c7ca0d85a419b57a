//! The particles of a program: columns in its memory.

use crate::api::cells::Geometry;
use crate::column::{Column, NumberType, VectorColumn};
use crate::error::{Error, ErrorKind};
use crate::fof::{Particles, Role};
use crate::particles::check::{is_around_box, wrap};
use crate::particles::{Ids, Masses, Positions};
use inselberg_comm::{Comm, Reduce};
use inselberg_io::particles::{
    Columns, DARK_MATTER, GAS, HeldParticles, MassOf, Matter, N_KINDS, ParticleHeader, Species,
};
use rayon::prelude::*;

/// Particles, borrowed from the caller. Columns have one entry per particle, in any order and any
/// decomposition over ranks.
///
/// ```
/// use inselberg::{Geometry, ParticleColumns};
///
/// let (positions, ids) = (vec![[0.1_f32, 0.2, 0.3]; 4], vec![7_u64, 8, 9, 10]);
/// let particles = ParticleColumns::new(Geometry::cube(1.0), &positions).ids(&ids);
/// # let _ = particles;
/// ```
#[derive(Debug, Clone)]
pub struct ParticleColumns<'a> {
    pub(crate) geometry: Geometry,
    position: VectorColumn<'a>,
    id: Option<Column<'a>>,
    mass: Option<Column<'a>>,
    velocity: Option<VectorColumn<'a>>,
    attached: Option<Column<'a>>,
    types: Option<Column<'a>>,
    density: Option<Column<'a>>,
}

impl<'a> ParticleColumns<'a> {
    /// Particles at these positions, in a box that is periodic along all axes or along none. The box starts
    /// at 0. Positions in single precision stay so.
    pub fn new(geometry: Geometry, positions: impl Into<VectorColumn<'a>>) -> Self {
        let position = positions.into();
        Self {
            geometry,
            position,
            id: None,
            mass: None,
            velocity: None,
            attached: None,
            types: None,
            density: None,
        }
    }

    /// Sets IDs: integers from 0, without duplicates. By default particles are numbered over all ranks.
    #[must_use]
    pub fn ids(self, ids: impl Into<Column<'a>>) -> Self {
        Self { id: Some(ids.into()), ..self }
    }

    /// Sets masses; by default all are 1.
    #[must_use]
    pub fn masses(self, masses: impl Into<Column<'a>>) -> Self {
        Self { mass: Some(masses.into()), ..self }
    }

    /// Sets velocities: groups then have mean velocities and dispersions.
    #[must_use]
    pub fn velocities(self, velocities: impl Into<VectorColumn<'a>>) -> Self {
        Self { velocity: Some(velocities.into()), ..self }
    }

    /// Sets a flag per particle: particles with a flag other than 0 do not link, but join the group of the
    /// nearest linking particle. So gas and stars join groups of dark matter.
    #[must_use]
    pub fn attached(self, flags: impl Into<Column<'a>>) -> Self {
        Self { attached: Some(flags.into()), ..self }
    }

    /// Sets types, by the numbers of Gadget: 0 gas, 1 dark matter, 2 and 3 other dark matter, 4 stars, 5
    /// black holes, 6 neutrinos. By default all are dark matter. Only for
    /// [`Engine::hold_particles`](crate::Engine::hold_particles).
    #[must_use]
    pub fn types(self, types: impl Into<Column<'a>>) -> Self {
        Self { types: Some(types.into()), ..self }
    }

    /// Sets densities, as SPH codes have them of gas; those of other types are not used. Only for
    /// [`Engine::hold_particles`](crate::Engine::hold_particles).
    #[must_use]
    pub fn gas_densities(self, densities: impl Into<Column<'a>>) -> Self {
        Self { density: Some(densities.into()), ..self }
    }

    /// Number of particles on this rank.
    pub fn len(&self) -> usize {
        self.position.0[0].len()
    }

    /// Whether there are none on this rank.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which columns are given, the same on all ranks.
    pub(crate) fn kinds(&self) -> ([bool; 5], bool) {
        let Self { id, mass, velocity, attached, types, density, .. } = self;
        let of_numbers = [id, mass, attached, types, density].map(Option::is_some);
        (of_numbers, velocity.is_some())
    }

    pub(crate) fn has_velocities(&self) -> bool {
        self.velocity.is_some()
    }

    pub(crate) fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// The sides of the periodic box; `None` where boundaries are open.
    pub(crate) fn sides(&self) -> Result<Option<[f64; 3]>, Error> {
        self.geometry.check()?;
        match self.geometry.periodic {
            [true, true, true] => Ok(Some(self.geometry.sides())),
            [false, false, false] => Ok(None),
            mixed => {
                let message =
                    format!("periodic axes {mixed:?}; friends-of-friends expects all or none of them");
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
        }
    }

    /// Collective: checked copies for the search.
    pub(crate) fn to_search(&self, comm: &Comm) -> Result<Particles, Error> {
        let sides = self.sides()?;
        let n = self.checked_len()?;
        if self.types.is_some() || self.density.is_some() {
            let message = "types or densities of particles in memory; expected held ones";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let mut position = self.positions();
        check_positions(&position, &self.position, sides)?;
        if let Some(sides) = sides {
            wrap(&mut position, sides);
        }
        let id = match self.id {
            Some(ids) => Ids::Each(ids.to_integers("ID")?),
            None => Ids::From(comm.sum_before(n as u64)?),
        };
        let mass = match self.mass {
            Some(masses) => Masses::Each(checked_masses(&masses)?),
            None => Masses::Same(1.0),
        };
        let role = |flag: f64| if flag == 0.0 { Role::Linkable } else { Role::Attachable };
        Ok(Particles {
            position,
            mass: mass.unified(comm)?,
            id,
            role: self.attached.map(|flags| flags.to_reals().into_iter().map(role).collect()),
            velocity: self.velocity.map(singles),
            gas_density: None,
            is_black_hole: None,
        })
    }

    /// The number of particles on this rank, if all columns have it.
    fn checked_len(&self) -> Result<usize, Error> {
        let n = self.position.len("positions")?;
        let lengths = [
            ("IDs", self.id.map(|id| id.len())),
            ("masses", self.mass.map(|mass| mass.len())),
            ("velocities", self.velocity.map(|velocity| velocity.len("velocities")).transpose()?),
            ("flags of attached particles", self.attached.map(|flags| flags.len())),
            ("types", self.types.map(|types| types.len())),
            ("densities", self.density.map(|densities| densities.len())),
        ];
        match lengths.into_iter().find(|(_, len)| len.is_some_and(|len| len != n)) {
            Some((what, Some(found))) => {
                let message = format!("{found} {what} for {n} particles; expected one per particle");
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
            _ => Ok(n),
        }
    }

    /// Collective: copies, as an input.
    pub(crate) fn to_input(&self, comm: &Comm) -> Result<HeldParticles, Error> {
        let sides = self.sides()?;
        let n = self.checked_len()? as u64;
        if self.attached.is_some() {
            let message =
                "flags of attached particles in held particles; expected types, some of which attach";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let columns = Columns {
            position: self.positions(),
            mass: self.mass.map(|masses| masses.to_reals()),
            id: self.id.map(|ids| ids.to_integers("ID")).transpose()?,
            kind: self.types.as_ref().map(checked_types).transpose()?,
            velocity: self.velocity.map(singles),
            density: self.density.map(|list| list.to_reals().into_iter().map(|rho| rho as f32).collect()),
        };
        let mut first_rows = vec![0];
        for n in comm.all_gather(&[n])? {
            first_rows.push(first_rows[first_rows.len() - 1] + n);
        }
        let has_gas = columns.kind.iter().flatten().any(|kind| *kind == GAS);
        let has_gas = comm.all_reduce_counts(&[u64::from(has_gas)], Reduce::Max)?[0] > 0;
        let about = ParticleHeader {
            sides: Some(self.geometry.sides()),
            matter: Matter::of(&self.geometry.header(), has_gas).filter(|_| self.geometry.units.is_some()),
            ..self.header(sides, first_rows[comm.n_ranks()])
        };
        Ok(HeldParticles::new(about, first_rows, comm.rank().at(), columns))
    }

    /// As the header of an input of `n` particles.
    pub(crate) fn header(&self, sides: Option<[f64; 3]>, n: u64) -> ParticleHeader {
        let species = Species {
            name: "particles".into(),
            kind: self.types.is_none().then_some(DARK_MATTER),
            n,
            mass: if self.mass.is_some() { MassOf::Each } else { MassOf::Unknown },
            is_double: !self.is_single(),
            has_ids: self.has_ids(),
            has_velocities: self.has_velocities(),
            has_densities: self.density.is_some(),
            has_weights: false,
            has_wind: false,
            problem: None,
        };
        let geometry = &self.geometry;
        ParticleHeader {
            format: "memory",
            sides,
            periodic: sides.is_some(),
            time: geometry.time,
            units: geometry.units,
            assumed_units: Vec::new(),
            boundary_is_assumed: false,
            notes: Vec::new(),
            sampled: [1.0; N_KINDS],
            cosmology: geometry.cosmology.clone(),
            matter: None,
            softening: [None; N_KINDS],
            species: vec![species],
        }
    }

    fn is_single(&self) -> bool {
        self.position.0.iter().all(|axis| axis.number_type() == NumberType::F32)
    }

    fn positions(&self) -> Positions {
        let doubles = self.position.to_reals();
        match self.is_single() {
            true => Positions::Single(doubles.into_par_iter().map(|x| x.map(|x| x as f32)).collect()),
            false => Positions::Double(doubles),
        }
    }
}

/// Velocities as inputs have them.
fn singles(velocity: VectorColumn) -> Vec<[f32; 3]> {
    velocity.to_reals().into_par_iter().map(|v| v.map(|v| v as f32)).collect()
}

fn checked_types(given: &Column) -> Result<Vec<u8>, Error> {
    let types = given.to_integers("type")?;
    match types.par_iter().position_first(|of: &u64| *of >= N_KINDS as u64) {
        None => Ok(types.into_iter().map(|of| of as u8).collect()),
        Some(i) => {
            let (place, found) = (given.index_of(i), types[i]);
            let message = format!("the type of particle {place} is {found}; expected 0 to {}", N_KINDS - 1);
            Err(Error::new(ErrorKind::InvalidValue, message))
        }
    }
}

/// Positions must be finite, and in a periodic box at most one side outside.
fn check_positions(
    positions: &Positions,
    given: &VectorColumn,
    sides: Option<[f64; 3]>,
) -> Result<(), Error> {
    let is_bad = |i: &usize| {
        let at = positions.get(*i);
        !at.iter().all(|x| x.is_finite()) || sides.is_some_and(|sides| !is_around_box(at, sides))
    };
    match (0..positions.len()).into_par_iter().find_first(is_bad) {
        None => Ok(()),
        Some(i) => {
            let message = format!(
                "the position of particle {} is {:?}; expected a place in the box",
                given.0[0].index_of(i),
                positions.get(i)
            );
            Err(Error::new(ErrorKind::InvalidValue, message))
        }
    }
}

fn checked_masses(given: &Column) -> Result<Vec<f64>, Error> {
    let masses = given.to_reals();
    match masses.par_iter().position_first(|mass| !(mass.is_finite() && *mass >= 0.0)) {
        None => Ok(masses),
        Some(i) => {
            let message = format!(
                "the mass of particle {} is {}; expected a finite mass, 0 or more",
                given.index_of(i),
                masses[i]
            );
            Err(Error::new(ErrorKind::InvalidValue, message))
        }
    }
}
