//! The particles that one rank reads.

use crate::fof::FofRunError;
use crate::fof::plan::ReadPlan;
use crate::fof::sound;
use crate::fof::{Ids, Masses, Particles, Positions, Role};
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::agree::share_of_rank;
use inselberg_comm::{Comm, CommError};
use inselberg_io::ReadResult;
use inselberg_io::particles::{BLACK_HOLE, Columns, DARK_MATTER, ParticleInput};
use rayon::prelude::*;
use std::ops::Range;

/// Consecutive rows of a species, consecutive among the particles of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRange {
    /// Its place in [`inselberg_io::particles::ParticleHeader::species`].
    pub species: usize,
    /// The rows.
    pub rows: Range<u64>,
}

/// What a rank holds of an input.
#[derive(Debug)]
pub struct LoadedParticles {
    /// The particles, stretch after stretch.
    pub particles: Particles,
    /// Which ones they are.
    pub stretches: Vec<RowRange>,
    /// The kind of each, where they are of several.
    pub kind: Option<Vec<u8>>,
}

/// Local: reads the stretches of this rank and looks at each particle.
pub fn load(
    input: &dyn ParticleInput,
    plan: &ReadPlan,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<LoadedParticles, FofRunError> {
    let all = &input.about().species;
    let stretch =
        |s: &usize| RowRange { species: *s, rows: share_of_rank(all[*s].n, comm.rank(), comm.n_ranks()) };
    let stretches: Vec<RowRange> = plan.species.iter().map(stretch).collect();
    let n = stretches.iter().map(|s| s.rows.end - s.rows.start).sum::<u64>();
    let stage = Stage::begin("read", n, comm, observer);
    let mut columns = wanted(plan);
    make_room(input, &stretches, &mut columns)?;
    for stretch in &stretches {
        read(input, stretch, &mut columns, observer)?;
    }
    sound::check(input, &columns, &stretches, plan.sides)?;
    if let Some(sides) = plan.sides {
        sound::wrap(&mut columns.position, sides);
    }
    stage.count(n);
    drop(stage);
    Ok(LoadedParticles {
        particles: particles(&mut columns, &stretches, plan),
        stretches,
        kind: columns.kind,
    })
}

fn wanted(plan: &ReadPlan) -> Columns {
    let wants = plan.wants;
    Columns {
        position: Positions::with_capacity(wants.double, 0),
        mass: wants.masses.is_none().then(Vec::new),
        id: wants.ids.then(Vec::new),
        kind: wants.kinds.then(Vec::new),
        velocity: wants.velocities.then(Vec::new),
        density: wants.densities.then(Vec::new),
    }
}

/// Makes room for the rows of all stretches.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn make_room(
    input: &dyn ParticleInput,
    stretches: &[RowRange],
    columns: &mut Columns,
) -> ReadResult<()> {
    let n: u64 = stretches.iter().map(|s| s.rows.end - s.rows.start).sum();
    match stretches.iter().find(|s| !s.rows.is_empty()) {
        Some(first) => columns.reserve(n as usize, &input.place_of(first.species, first.rows.start).0),
        None => Ok(()),
    }
}

/// Appends the rows of a stretch, as many at a time as the input likes.
pub(crate) fn read(
    input: &dyn ParticleInput,
    stretch: &RowRange,
    columns: &mut Columns,
    observer: &dyn Observer,
) -> ReadResult<()> {
    let (mut first, block) = (stretch.rows.start, input.rows_at_a_time());
    while first < stretch.rows.end {
        let end = stretch.rows.end.min(first.saturating_add(block));
        input.read(stretch.species, first..end, columns)?;
        observer.advance(end - first);
        first = end;
    }
    Ok(())
}

/// The columns as the search takes them; kinds stay behind.
fn particles(columns: &mut Columns, stretches: &[RowRange], plan: &ReadPlan) -> Particles {
    let roles = |kinds: &Vec<u8>| kinds.par_iter().map(|kind| plan.role_of(*kind)).collect::<Vec<Role>>();
    let holes = |kinds: &Vec<u8>| kinds.par_iter().map(|kind| *kind == BLACK_HOLE).collect();
    Particles {
        position: std::mem::replace(&mut columns.position, Positions::with_capacity(false, 0)),
        mass: columns.mass.take().map_or(Masses::Same(plan.wants.masses.unwrap_or(1.0)), Masses::Each),
        id: match columns.id.take() {
            Some(ids) => Ids::Each(ids),
            None => rows_as_ids(stretches, plan),
        },
        role: columns.kind.as_ref().filter(|_| plan.wants.roles).map(roles),
        velocity: columns.velocity.take(),
        gas_density: columns.density.take(),
        is_black_hole: columns.kind.as_ref().filter(|_| plan.wants.black_holes).map(holes),
    }
}

/// Identities of particles that have none: their places in the input, species after species.
fn rows_as_ids(stretches: &[RowRange], plan: &ReadPlan) -> Ids {
    match stretches {
        [one] => Ids::From(one.rows.start),
        several => {
            let ids = several
                .iter()
                .zip(&plan.firsts)
                .flat_map(|(s, first)| s.rows.clone().map(move |r| first + r));
            Ids::Each(ids.collect())
        }
    }
}

impl LoadedParticles {
    /// How many particles this rank holds.
    pub fn n(&self) -> u64 {
        self.stretches.iter().map(|s| s.rows.end - s.rows.start).sum()
    }

    /// Collective: one mass for all, if it is one.
    pub fn settle_masses(&mut self, comm: &Comm) -> Result<(), CommError> {
        let Masses::Each(masses) = &self.particles.mass else { return Ok(()) };
        let largest = masses.par_iter().copied().reduce(|| f64::NEG_INFINITY, f64::max);
        let least = masses.par_iter().copied().reduce(|| f64::INFINITY, f64::min);
        let bounds = comm.all_max(&[largest, -least])?;
        if bounds[0] == -bounds[1] {
            self.particles.mass = Masses::Same(bounds[0]);
        }
        Ok(())
    }

    /// The dark matter among them.
    pub fn dark<'a>(&'a self, plan: &'a ReadPlan) -> impl ParallelIterator<Item = usize> + 'a {
        let is_dark = move |i: &usize| {
            self.kind.as_ref().map_or(plan.only == Some(DARK_MATTER), |k| k[*i] == DARK_MATTER)
        };
        (0..self.n() as usize).into_par_iter().filter(is_dark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fof::{FofConfig, LinkingLength};
    use crate::progress::Silent;
    use inselberg_comm::run_threads;
    use inselberg_io::particles::{MassOf, N_KINDS, ParticleHeader, Species};
    use std::path::PathBuf;

    /// Two kinds, read seven rows at a time; a coordinate is the row.
    struct Rows(ParticleHeader);

    impl Rows {
        fn new(counts: [u64; 2]) -> Self {
            let species = |(kind, n): (u8, u64)| Species {
                name: format!("PartType{kind}"),
                kind: Some(kind),
                n,
                mass: MassOf::Each,
                is_double: kind == 0,
                has_ids: false,
                has_velocities: false,
                has_densities: false,
            };
            Self(ParticleHeader {
                format: "rows",
                sides: Some([1000.0; 3]),
                periodic: true,
                time: 0.0,
                units: None,
                assumed_units: Vec::new(),
                cosmology: None,
                matter: None,
                species: (0..2).zip(counts).map(species).collect(),
            })
        }
    }

    impl ParticleInput for Rows {
        fn about(&self) -> &ParticleHeader {
            &self.0
        }

        fn rows_at_a_time(&self) -> u64 {
            7
        }

        fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
            assert!(rows.end - rows.start <= 7);
            for row in rows {
                into.position.extend_from_doubles(&[[row as f64, -0.5, 1000.5]]);
                into.mass.as_mut().expect("masses").push(species as f64 + 1.0);
                into.kind.as_mut().expect("kinds").push(species as u8);
            }
            Ok(())
        }

        fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
            (species.to_string().into(), row.to_string())
        }
    }

    #[test]
    fn ranks_read_every_row_once_block_by_block() {
        let none = [false; N_KINDS];
        let config = FofConfig {
            length: LinkingLength::Absolute(1.0),
            min_size: 2,
            linking: [false, true, false, false, false, false, false],
            attaching: [true, false, false, false, false, false, false],
            seed_mass: None,
            id_default: 0,
            id_offset: 1,
            side: None,
            open: false,
            allow_duplicate_ids: false,
            with_picture: false,
            with_ids: false,
        };
        let input = Rows::new([30, 100]);
        let plan = ReadPlan::new(&input.0, &config).expect("a plan");
        let read = run_threads(3, |comm| {
            let loaded = load(&input, &plan, comm, &Silent).expect("loaded");
            (loaded.stretches, loaded.particles)
        });
        let mut seen = [Vec::new(), Vec::new()];
        for (stretches, particles) in read.expect("ranks") {
            let mut i = 0;
            for stretch in stretches {
                for row in stretch.rows {
                    let Positions::Double(position) = &particles.position else { panic!("one is double") };
                    assert_eq!(position[i], [row as f64, 999.5, 0.5], "wrapped");
                    let (role, before) = match stretch.species {
                        0 => (Role::Attachable, 0),
                        _ => (Role::Linkable, 30),
                    };
                    assert_eq!(particles.role.as_ref().map(|r| r[i]), Some(role));
                    assert_eq!(
                        (particles.id.get(i), particles.mass.get(i)),
                        (before + row, stretch.species as f64 + 1.0)
                    );
                    seen[stretch.species].push(row);
                    i += 1;
                }
            }
            assert_eq!(i, particles.len());
        }
        assert_eq!(seen, [(0..30).collect::<Vec<u64>>(), (0..100).collect()]);
        assert!(ReadPlan::new(&input.0, &FofConfig { linking: none, ..config }).is_err());
    }
}
