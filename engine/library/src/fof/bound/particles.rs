//! The particles of groups, with the columns that the search does not keep, and those around them.

use super::SearchedInput;
use super::space;
use crate::bound::{CandidateParticles, ClumpParticle, PointMass};
use crate::chunks::{append, filter_map};
use crate::fof::run_error::FofRunError;
use crate::fof::types::GroupIds;
use crate::particles::check::{self, FINITE, MASSES};
use crate::particles::{Bounds, Positions, RowRange, TakenSpecies, read_rows, rows_of_rank};
use crate::progress::Observer;
use inselberg_comm::Comm;
use inselberg_io::ReadResult;
use inselberg_io::particles::{Columns, N_KINDS};
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// Particles of this rank, and the box.
pub struct GroupParticles {
    /// The particles of groups, with tracks all others that took part, and all that have a mass if spheres are
    /// wanted.
    pub candidates: CandidateParticles,
    /// The box.
    pub space: SizedBox,
}

/// Rows that this rank reads.
struct RowsToRead {
    range: RowRange,
    /// What is added to the identities that the input gives.
    first_id: u64,
    /// The place of the first row in the groups of particles; `None` for a species that took no part.
    first_label: Option<usize>,
}

/// Collective: reads the particles of this rank again; species that took no part only `with_all`.
///
/// # Errors
/// When they cannot be read, or another rank fails.
pub fn read(
    of: &SearchedInput,
    with_all: bool,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<GroupParticles, FofRunError> {
    let mut candidates = CandidateParticles::default();
    let mut bounds = Bounds::NONE;
    for rows in rows_to_read(of, with_all, comm) {
        let columns = columns(of, &rows, observer)?;
        bounds = bounds.join(Bounds::from_positions(&columns.position));
        let block = ParticleRows { columns: &columns, rows: &rows, of };
        append(&mut candidates.in_haloes, &block.in_groups(&of.found.group_of));
        if with_all {
            append(&mut candidates.all, &block.points());
        }
    }
    let space = match of.rules.sides {
        Some(sides) => space::periodic(sides).ok_or(FofRunError::BoxShape { sides })?,
        None => space::open(bounds.over_ranks(comm)?.widest()),
    };
    let scaled = |x: [f64; 3]| x.map(|x| x / space.side);
    candidates.all.par_iter_mut().for_each(|point| point.position = scaled(point.position));
    Ok(GroupParticles { candidates, space })
}

/// The ranges of the search, and with them those of all other species.
fn rows_to_read(of: &SearchedInput, with_all: bool, comm: &Comm) -> Vec<RowsToRead> {
    let (about, taken) = (of.input.about(), &of.plan.taken);
    let (mut label, mut list) = (0, Vec::new());
    for (range, first_id) in of.ranges.iter().zip(&taken.first_ids) {
        list.push(RowsToRead { range: range.clone(), first_id: *first_id, first_label: Some(label) });
        label += range.n() as usize;
    }
    let others = (0..about.species.len()).filter(|s| with_all && !taken.list.contains(s)).collect();
    let others = TakenSpecies::new(about, others, taken.n(about));
    let of_others = rows_of_rank(of.input, &others.list, comm).into_iter().zip(others.first_ids);
    list.extend(of_others.map(|(range, first_id)| RowsToRead { range, first_id, first_label: None }));
    list
}

/// Local: reads the rows of a range, checked and brought into the box as for the search.
fn columns(of: &SearchedInput, rows: &RowsToRead, observer: &dyn Observer) -> ReadResult<Columns> {
    let (input, range) = (of.input, &rows.range);
    let has_velocities = of.request.params.bound.unbind && rows.first_label.is_some();
    let mut columns = Columns {
        position: Positions::with_capacity(of.plan.taken.is_double, 0),
        mass: Some(Vec::new()),
        id: Some(Vec::new()),
        kind: input.about().species[range.species].is_mixed().then(Vec::new),
        velocity: has_velocities.then(Vec::new),
        density: None,
    };
    let ranges = std::slice::from_ref(range);
    read_rows(input, ranges, &mut columns, observer)?;
    // Weighted neutrinos are points of spheres alone.
    let is_weighted = rows.first_label.is_none() && input.about().species[range.species].has_weights;
    let masses = if is_weighted { FINITE } else { MASSES };
    check::check(input, &columns, ranges, &masses, of.rules.sides)?;
    if !is_weighted {
        check::check_have_mass(input, &columns, ranges, |kind| usize::from(kind) < N_KINDS)?;
    }
    if let Some(sides) = of.rules.sides {
        check::wrap(&mut columns.position, sides);
    }
    Ok(columns)
}

/// The particles of a range, in its order.
struct ParticleRows<'a> {
    columns: &'a Columns,
    rows: &'a RowsToRead,
    of: &'a SearchedInput<'a>,
}

impl ParticleRows<'_> {
    fn kind(&self, i: usize) -> u8 {
        let of_species = self.of.input.about().species[self.rows.range.species].kind;
        let of_row = self.columns.kind.as_ref().map(|kinds| kinds[i]);
        of_row.or(of_species).expect("kinds are read unless the species has one")
    }

    fn id(&self, i: usize) -> u64 {
        self.rows.first_id + self.columns.id.as_ref().expect("IDs are read")[i]
    }

    fn mass(&self, i: usize) -> f64 {
        self.columns.mass.as_ref().expect("masses are read")[i]
    }

    /// Those in a group, and with tracks also all others, whose group is 0; none where nothing is unbound.
    fn in_groups(&self, group_of: &GroupIds) -> Vec<ClumpParticle> {
        let softening =
            self.of.request.params.softening_of(self.of.input.about(), self.of.rules.linking_length);
        let with_all = self.of.request.params.tracks.on;
        let particle = move |i: usize| {
            let velocity = self.columns.velocity.as_ref()?;
            let group = group_of.get(self.rows.first_label? + i);
            let kind = self.kind(i);
            (group > 0 || with_all).then(|| ClumpParticle {
                halo: group,
                clump: group,
                id: self.id(i),
                position: self.columns.position.get(i),
                velocity: velocity[i].map(f64::from),
                mass: self.mass(i),
                internal_energy: 0.0,
                softening: softening[usize::from(kind)].0 as f32,
                particle_type: kind.into(),
                patch: group,
                ..ClumpParticle::default()
            })
        };
        filter_map(self.columns.position.len(), particle)
    }

    /// All that have a mass of their own, in code units. Tracers have a number beyond all kinds; clouds of
    /// sinks may have a mass of 0.
    fn points(&self) -> Vec<PointMass> {
        let point = |i| {
            let has_mass = usize::from(self.kind(i)) < N_KINDS && self.mass(i) > 0.0;
            has_mass.then(|| PointMass {
                position: self.columns.position.get(i),
                mass: self.mass(i),
                particle_type: self.kind(i).into(),
            })
        };
        filter_map(self.columns.position.len(), point)
    }
}
