//! The particles of a program: columns in its memory.

use crate::api::cells::Geometry;
use crate::column::{Column, NumberType, VectorColumn};
use crate::error::{Error, ErrorKind};
use crate::fof::{Particles, Role};
use crate::particles::check::{is_around_box, wrap};
use crate::particles::{Ids, Masses, Positions};
use inselberg_comm::Comm;
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
}

impl<'a> ParticleColumns<'a> {
    /// Particles at these positions, in a box that is periodic along all axes or along none. The box starts
    /// at 0. Positions in single precision stay so.
    pub fn new(geometry: Geometry, positions: impl Into<VectorColumn<'a>>) -> Self {
        let position = positions.into();
        Self { geometry, position, id: None, mass: None, velocity: None, attached: None }
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

    /// Number of particles on this rank.
    pub fn len(&self) -> usize {
        self.position.0[0].len()
    }

    /// Whether there are none on this rank.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether IDs and velocities are given, the same on all ranks.
    pub(crate) fn kinds(&self) -> [bool; 2] {
        [self.has_ids(), self.has_velocities()]
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
        let n = self.position.len("positions")?;
        let lengths = [
            ("IDs", self.id.map(|id| id.len())),
            ("masses", self.mass.map(|mass| mass.len())),
            ("velocities", self.velocity.map(|velocity| velocity.len("velocities")).transpose()?),
            ("flags of attached particles", self.attached.map(|flags| flags.len())),
        ];
        if let Some((what, Some(found))) =
            lengths.into_iter().find(|(_, len)| len.is_some_and(|len| len != n))
        {
            let message = format!("{found} {what} for {n} particles; expected one per particle");
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
        let velocity = |velocity: VectorColumn| -> Vec<[f32; 3]> {
            velocity.to_reals().into_par_iter().map(|v| v.map(|v| v as f32)).collect()
        };
        Ok(Particles {
            position,
            mass: mass.unified(comm)?,
            id,
            role: self.attached.map(|flags| flags.to_reals().into_iter().map(role).collect()),
            velocity: self.velocity.map(velocity),
            gas_density: None,
            is_black_hole: None,
        })
    }

    fn positions(&self) -> Positions {
        let is_single = self.position.0.iter().all(|axis| axis.number_type() == NumberType::F32);
        let doubles = self.position.to_reals();
        match is_single {
            true => Positions::Single(doubles.into_par_iter().map(|x| x.map(|x| x as f32)).collect()),
            false => Positions::Double(doubles),
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
