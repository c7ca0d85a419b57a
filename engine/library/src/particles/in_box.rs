//! The particles in a cubic box, of which meshes and graphs are made.

use super::box_error::BoxError;
use super::check::{self, MASSES};
use super::columns::Masses;
use super::rows::{RowRange, n_rows, read_rows, rows_of_rank};
use super::taken::{TakenSpecies, contents};
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::ReadResult;
use inselberg_io::particles::{
    Columns, N_KINDS, ParticleHeader, ParticleInput, Positions, Species, check_readable,
};

/// What to read of an input.
#[derive(Debug, Clone)]
pub struct BoxPlan {
    /// The species that take part.
    pub taken: TakenSpecies,
    /// The kinds that are used.
    pub kinds: [bool; N_KINDS],
    /// Side of the box.
    pub side: f64,
    /// Whether it wraps around.
    pub periodic: bool,
    /// Whether it does although nothing in the input says so. A mesh fills a cube, and particles of a run in
    /// an open box may lie outside of it.
    pub boundary_is_assumed: bool,
    /// The mass of every particle, if they are all equal.
    pub mass: Option<f64>,
}

impl BoxPlan {
    /// Of the particles of these kinds in a box; `given` is its side, for inputs that do not give it. Local;
    /// reads no particle.
    ///
    /// # Errors
    /// When the input has no such particles, no box or no masses.
    pub fn new(
        about: &ParticleHeader,
        kinds: &[bool; N_KINDS],
        given: Option<f64>,
    ) -> Result<Self, BoxError> {
        let is_there = |s: &Species| s.n > 0 || s.problem.is_some();
        let wanted = |s: &Species| is_there(s) && s.may_be(|kind| kinds[usize::from(kind)]);
        let list: Vec<usize> = (0..about.species.len()).filter(|s| wanted(&about.species[*s])).collect();
        if list.is_empty() {
            return Err(no_particles(about));
        }
        let taken = TakenSpecies::new(about, list, 0);
        check_readable(&taken.species(about))?;
        Ok(Self {
            kinds: *kinds,
            side: side(about, given)?,
            periodic: given.is_some() || about.periodic || about.boundary_is_assumed,
            boundary_is_assumed: given.is_none() && about.boundary_is_assumed,
            mass: taken.mass(about)?,
            taken,
        })
    }

    /// Whether particles of a kind are used; not those of a kind that the caller does not know.
    pub fn takes(&self, kind: u8) -> bool {
        self.kinds.get(usize::from(kind)).is_some_and(|takes| *takes)
    }
}

/// The error for an input without any particle of the wanted kinds.
pub fn no_particles(about: &ParticleHeader) -> BoxError {
    BoxError::NoParticles { what: contents(about) }
}

fn side(about: &ParticleHeader, given: Option<f64>) -> Result<f64, BoxError> {
    match (about.sides, given) {
        (Some(sides), Some(given)) if sides == [given; 3] => Ok(given),
        (Some(sides), Some(given)) => Err(BoxError::TwoBoxes { given, sides }),
        (Some([x, y, z]), None) if x == y && y == z => Ok(x),
        (Some(sides), None) => Err(BoxError::NoCube { sides }),
        (None, Some(side)) => Ok(side),
        (None, None) => Err(BoxError::NoBox),
    }
}

/// The particles of a rank. Positions are in the box or, if it is periodic, at most one side outside.
#[derive(Debug)]
pub struct BoxParticles {
    /// Positions as the input has them.
    pub position: Positions,
    /// Masses.
    pub mass: Masses,
    /// Identities, where they were asked for: those of the input, or the number of the row over all species.
    pub id: Option<Vec<u64>>,
    /// Densities of the input in code units, where they were asked for; NaN for particles without one.
    pub density: Option<Vec<f32>>,
}

/// What is read of particles beside positions and masses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FurtherColumns {
    /// Identities.
    pub ids: bool,
    /// Densities of gas.
    pub densities: bool,
}

impl BoxParticles {
    /// Local: reads the rows of this rank, with the further columns that are wanted, and checks each.
    ///
    /// # Errors
    /// When a file contradicts its header, a value is not finite, a particle is outside the box or has no
    /// mass, or memory does not suffice.
    pub fn read(
        input: &dyn ParticleInput,
        plan: &BoxPlan,
        further: FurtherColumns,
        comm: &Comm,
        observer: &dyn Observer,
    ) -> ReadResult<Self> {
        let ranges = rows_of_rank(input, &plan.taken.list, comm);
        let stage = Stage::begin("reading", n_rows(&ranges), comm, observer);
        let mut columns = Columns {
            position: Positions::with_capacity(plan.taken.is_double, 0),
            mass: plan.mass.is_none().then(Vec::new),
            id: further.ids.then(Vec::new),
            kind: plan.taken.is_mixed.then(Vec::new),
            velocity: None,
            density: further.densities.then(Vec::new),
        };
        read_rows(input, &ranges, &mut columns, observer)?;
        if let Some(ids) = &mut columns.id {
            plan.taken.complete_ids(&ranges, ids);
        }
        check_in_box(input, &columns, &ranges, plan)?;
        check::check_have_mass(input, &columns, &ranges, |kind| plan.takes(kind))?;
        choose(&mut columns, plan);
        stage.count(n_rows(&ranges));
        let mass = match columns.mass {
            Some(masses) => Masses::Each(masses),
            None => Masses::Same(plan.mass.expect("masses are read unless they are all equal")),
        };
        Ok(Self { position: columns.position, mass, id: columns.id, density: columns.density })
    }
}

fn check_in_box(
    input: &dyn ParticleInput,
    columns: &Columns,
    ranges: &[RowRange],
    plan: &BoxPlan,
) -> ReadResult<()> {
    check::check(input, columns, ranges, &MASSES, Some([plan.side; 3]))?;
    let inside = 0.0..plan.side;
    if plan.periodic || check::are_at(&columns.position, &std::array::from_fn(|_| inside.clone())) {
        return Ok(());
    }
    check::check_each(input, ranges, |i| {
        let at = columns.position.get(i);
        let is_inside = at.iter().all(|x| inside.contains(x));
        let expected = || format!("0 to less than {} in a box that does not wrap around", plan.side);
        (!is_inside).then(|| (format!("position {at:?} is outside the box"), expected()))
    })
}

/// Keeps the particles of the wanted kinds.
fn choose(columns: &mut Columns, plan: &BoxPlan) {
    let Some(kinds) = &columns.kind else { return };
    let is_wanted = |kind: &u8| plan.takes(*kind);
    fn keep<T>(list: &mut Vec<T>, kinds: &[u8], is_wanted: impl Fn(&u8) -> bool) {
        let mut kinds = kinds.iter();
        list.retain(|_| is_wanted(kinds.next().expect("one kind per particle")));
    }
    match &mut columns.position {
        Positions::Single(list) => keep(list, kinds, is_wanted),
        Positions::Double(list) => keep(list, kinds, is_wanted),
    }
    if let Some(mass) = &mut columns.mass {
        keep(mass, kinds, is_wanted);
    }
    if let Some(id) = &mut columns.id {
        keep(id, kinds, is_wanted);
    }
    if let Some(density) = &mut columns.density {
        keep(density, kinds, is_wanted);
    }
}
