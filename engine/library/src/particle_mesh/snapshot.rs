//! The particles of an input as a snapshot, for later stages.

use super::plan::{ParticleMeshConfig, least_memory};
use crate::bound::BoundRequest;
use crate::error::RunError;
use crate::particles::check::{self, FINITE, MASSES};
use crate::particles::{BoxError, BoxPlan, HalfChoice, RowRange, TakenSpecies, family_of, half_of};
use crate::progress::Observer;
use crate::tables::ASSUMED_UNITS;
use inselberg_comm::Comm;
use inselberg_io::catalogue::Attribute;
use inselberg_io::particles::{
    BLACK_HOLE, Columns, DARK_MATTER, GAS, MassOf, N_KINDS, ParticleInput, Positions, STAR, Species,
};
use inselberg_io::{Every, Family, FieldInfo, Header, OctBlock, ParticleBlock, ReadResult, Snapshot, Units};
use inselberg_kernels::geom::fold;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows per block.
const BLOCK: u64 = 1 << 16;

/// An input of particles as a snapshot without cells. It has the particles from which the mesh is made,
/// brought into the box.
pub struct ParticleSnapshot {
    input: Arc<dyn ParticleInput>,
    plan: BoxPlan,
    header: Header,
    has_units: bool,
    /// Whether the mesh has checked each particle.
    is_checked: bool,
    /// Rows, and what is added to the identities that the input gives. Rows in memory: as many pieces per
    /// rank.
    pieces: Vec<(RowRange, u64)>,
}

impl ParticleSnapshot {
    /// The particles of the kinds in `config`.
    ///
    /// # Errors
    /// When `config` does not suit the input.
    pub fn new(input: Arc<dyn ParticleInput>, config: &ParticleMeshConfig) -> Result<Self, BoxError> {
        let about = input.about();
        let plan = BoxPlan::new(about, &config.kinds, config.side)?;
        let pieces = pieces(input.as_ref(), &plan.taken);
        let header = Header {
            format: about.format,
            number: None,
            time: about.time,
            boxlen: plan.side,
            origin: [0.0; 3],
            coarse: [1; 3],
            periodic: [plan.periodic; 3],
            // If the config has no coarse level, the level depends on the number of particles.
            levelmin: config.level_min.unwrap_or(0),
            levelmax: config.level_max,
            units: about.units.unwrap_or(Units { length: 1.0, density: 1.0, time: 1.0 }),
            cosmology: about.cosmology.clone(),
            n_pieces: pieces.len(),
        };
        let has_units = about.units.is_some();
        Ok(Self { input, plan, header, has_units, is_checked: true, pieces })
    }

    /// The input.
    pub fn input(&self) -> &dyn ParticleInput {
        self.input.as_ref()
    }

    /// Checks that all its species have velocities, if particles are to be unbound.
    ///
    /// # Errors
    /// With the kind of the first species that has particles but no velocities.
    pub fn check_velocities(&self, request: &BoundRequest) -> Result<(), RunError> {
        let species = self.plan.taken.species(self.input.about());
        match species.into_iter().find(|s| s.n > 0 && !s.has_velocities) {
            Some(s) if request.unbind => Err(RunError::NoVelocities { kind: s.name.clone() }),
            _ => Ok(()),
        }
    }

    /// Collective: a half of these particles with doubled masses, in memory. `None` where it has fewer than
    /// `least` particles.
    ///
    /// # Errors
    /// When the input cannot be read, or another rank fails.
    pub(crate) fn half(
        &self,
        choice: HalfChoice,
        (least, config): (u64, &ParticleMeshConfig),
        comm: &Comm,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, RunError> {
        let half = half_of(self.input(), &self.plan, choice, comm, observer)??;
        let n = half.about().species[0].n;
        if n < least {
            return Ok(None);
        }
        Ok(Some(Self::new(Arc::new(half), config)?))
    }

    /// The attribute that names units which the input does not state.
    pub fn assumed_units(&self) -> Option<(&'static str, Attribute)> {
        let assumed = &self.input.about().assumed_units;
        (!assumed.is_empty()).then(|| (ASSUMED_UNITS, Attribute::Text(assumed.join(", "))))
    }

    fn read(&self, piece: usize) -> ReadResult<ParticleBlock> {
        let (range, first_id) = &self.pieces[piece];
        let species = &self.input.about().species[range.species];
        let mut columns = Columns {
            position: Positions::with_capacity(self.plan.taken.is_double, 0),
            mass: Some(Vec::new()),
            id: Some(Vec::new()),
            kind: self.plan.taken.is_mixed.then(Vec::new),
            velocity: species.has_velocities.then(Vec::new),
            density: None,
        };
        self.input.read(range.species, range.rows.clone(), &mut columns)?;
        if !self.is_checked {
            let ranges = std::slice::from_ref(range);
            let masses = if species.has_weights { FINITE } else { MASSES };
            check::check(self.input.as_ref(), &columns, ranges, &masses, Some([self.plan.side; 3]))?;
        }
        let is_taken = |i: usize| columns.kind.as_ref().is_none_or(|kinds| self.plan.takes(kinds[i]));
        let is_inside =
            |x: [f64; 3]| self.plan.periodic || x.iter().all(|x| (0.0..self.plan.side).contains(x));
        let is_wanted = |i: &usize| is_taken(*i) && is_inside(columns.position.get(*i));
        let wanted: Vec<usize> = (0..columns.position.len()).filter(is_wanted).collect();
        let mass = columns.mass.expect("masses were asked for");
        let id = columns.id.expect("IDs were asked for");
        let velocity = |i: &usize| columns.velocity.as_ref().map_or([0.0; 3], |list| list[*i].map(f64::from));
        let kind = |i: usize| columns.kind.as_ref().map(|kinds| kinds[i]).or(species.kind);
        let family = |i: &usize| kind(*i).map_or(Family::Other, family_of);
        let position = |i: &usize| columns.position.get(*i).map(|x| fold(x, self.plan.side));
        Ok(ParticleBlock {
            first: 0,
            position: wanted.iter().map(position).collect(),
            velocity: wanted.iter().map(velocity).collect(),
            mass: wanted.iter().map(|i| mass[*i]).collect(),
            id: wanted.iter().map(|i| (first_id + id[*i]).cast_signed()).collect(),
            family: wanted.iter().map(family).collect(),
        })
    }
}

/// Pieces of the rows in the memory of a rank, so that threads and ranks share them evenly.
const PIECES_PER_RANK: u64 = 64;

/// Rows of the pieces of some species, and what is added to their identities. The pieces of rank r of n are
/// the r-th part of n equal ones, as [`crate::pieces`] deals them.
fn pieces(input: &dyn ParticleInput, taken: &TakenSpecies) -> Vec<(RowRange, u64)> {
    let mut pieces = Vec::new();
    for (species, first_id) in taken.list.iter().zip(&taken.first_ids) {
        let runs = match input.first_rows() {
            None => input.runs(*species, 0..input.about().species[*species].n),
            Some(first) => first.windows(2).flat_map(|rows| dealt(rows[0]..rows[1])).collect(),
        };
        pieces.extend(runs.into_iter().map(|rows| (RowRange { species: *species, rows }, *first_id)));
    }
    pieces
}

/// The pieces of these rows.
fn dealt(rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let n = rows.end - rows.start;
    let at = move |k: u64| rows.start + (u128::from(n) * u128::from(k) / u128::from(PIECES_PER_RANK)) as u64;
    (0..PIECES_PER_RANK).map(move |k| at(k)..at(k + 1))
}

/// The kinds that are dark matter in an input with these species: also 2, 3 and 5, where zooms have heavy
/// particles. With gas or stars kind 5 is black holes.
fn dark_kinds(species: &[Species]) -> [bool; N_KINDS] {
    let has = |kind: u8| species.iter().any(|s| s.n > 0 && s.kind == Some(kind));
    let is_dark = |kind: u8| match kind {
        BLACK_HOLE => !has(GAS) && !has(STAR),
        other => (DARK_MATTER..STAR).contains(&other),
    };
    std::array::from_fn(|kind| is_dark(kind as u8))
}

impl ParticleSnapshot {
    /// A lower bound of the bytes that one of `n_processes` processes needs for a mesh of these particles.
    pub fn least_memory(&self, config: &ParticleMeshConfig, n_processes: usize, n_workers: usize) -> u64 {
        let n = self.plan.taken.n(self.input.about());
        least_memory(config, &self.plan, n, n_processes, n_workers)
    }
}

impl Snapshot for ParticleSnapshot {
    fn header(&self) -> &Header {
        &self.header
    }

    fn fields(&self) -> &[FieldInfo] {
        &[]
    }

    fn has_particles(&self) -> bool {
        true
    }

    fn has_units(&self) -> bool {
        self.has_units
    }

    fn notes(&self) -> Vec<String> {
        let about = self.input.about();
        let boundary = about.boundary_note(true).filter(|_| self.plan.boundary_is_assumed);
        about.notes.iter().cloned().chain(boundary).collect()
    }

    /// That of all its kinds of the family, if they have one in common.
    fn softening(&self, family: Family) -> Option<f64> {
        let about = self.input.about();
        let kinds = self.plan.taken.species(about).into_iter().filter_map(|species| species.kind);
        let of_family = kinds.filter(|kind| family_of(*kind) == family);
        let mut lengths = of_family.map(|kind| about.softening[usize::from(kind)]);
        let first = lengths.next()??;
        lengths.all(|length| length == Some(first)).then_some(first)
    }

    fn left_out_dark_matter(&self) -> Option<Box<dyn Snapshot>> {
        let all = &self.input.about().species;
        let kinds = dark_kinds(all);
        let is_dark = |s: &Species| s.kind.is_some_and(|kind| kinds[usize::from(kind)]);
        let is_left_out = |s: &usize| {
            let species = &all[*s];
            is_dark(species)
                && species.n > 0
                && species.mass != MassOf::Unknown
                && !self.plan.taken.list.contains(s)
        };
        let species: Vec<usize> = (0..all.len()).filter(is_left_out).collect();
        if species.is_empty() {
            return None;
        }
        let taken = TakenSpecies::new(self.input.about(), species, 0);
        let pieces = pieces(self.input.as_ref(), &taken);
        let header = Header { n_pieces: pieces.len(), ..self.header.clone() };
        let plan = BoxPlan { taken, kinds, mass: None, ..self.plan };
        let (input, has_units) = (self.input.clone(), self.has_units);
        Some(Box::new(Self { input, plan, header, has_units, is_checked: false, pieces }))
    }

    fn place_of(&self, piece: usize, _field: Option<&str>) -> PathBuf {
        let (range, _) = &self.pieces[piece];
        self.input.place_of(range.species, range.rows.start).0
    }

    fn count_octs(&self, _piece: usize) -> ReadResult<Vec<u64>> {
        Ok(Vec::new())
    }

    fn count_particles(&self, piece: usize) -> ReadResult<u64> {
        match self.plan.taken.is_mixed {
            false => Ok(self.pieces[piece].0.n()),
            true => Ok(self.read(piece)?.id.len() as u64),
        }
    }

    fn octs(
        &self,
        _piece: usize,
        _fields: &[&str],
        _sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        Ok(())
    }

    /// The rows of a piece are read at once, by the first of its readers.
    fn particles_of(
        &self,
        piece: usize,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        if !blocks.counted().next_is_taken() {
            return Ok(());
        }
        let all = self.read(piece)?;
        let n = all.id.len();
        for start in (0..n).step_by(BLOCK as usize) {
            let rows = start..(start + BLOCK as usize).min(n);
            sink(&ParticleBlock {
                first: start as u64,
                position: all.position[rows.clone()].to_vec(),
                velocity: all.velocity[rows.clone()].to_vec(),
                mass: all.mass[rows.clone()].to_vec(),
                id: all.id[rows.clone()].to_vec(),
                family: all.family[rows].to_vec(),
            })?;
        }
        Ok(())
    }
}
