//! The particles that one rank reads.

use crate::fof::plan::{ParticleCounts, ReadPlan};
use crate::fof::run_error::FofRunError;
use crate::fof::types::{Particles, Role};
use crate::particles::{Ids, Masses, Positions, RowRange, check, n_rows, read_rows, rows_of_rank};
use crate::progress::Observer;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::particles::{BLACK_HOLE, Columns, DARK_MATTER, ParticleInput};
use rayon::prelude::*;

/// The particles that a rank read.
#[derive(Debug)]
pub struct LoadedParticles {
    /// The particles, range after range.
    pub particles: Particles,
    /// Their rows in the input.
    pub ranges: Vec<RowRange>,
    /// The kind of each particle, unless all are of one kind.
    pub kind: Option<Vec<u8>>,
}

/// Local: reads the rows of this rank and checks each particle.
///
/// # Errors
/// When the input cannot be read, a value is not valid, or memory does not suffice.
pub fn load(
    input: &dyn ParticleInput,
    plan: &ReadPlan,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<LoadedParticles, FofRunError> {
    let ranges = rows_of_rank(input, &plan.taken.list, comm);
    let stage = Stage::begin("reading", n_rows(&ranges), comm, observer);
    let mut columns = wanted(plan);
    read_rows(input, &ranges, &mut columns, observer)?;
    check::check(input, &columns, &ranges, &check::MASSES, plan.sides)?;
    if let Some(sides) = plan.sides {
        check::wrap(&mut columns.position, sides);
    }
    stage.count(n_rows(&ranges));
    drop(stage);
    Ok(LoadedParticles { particles: particles(&mut columns, &ranges, plan), ranges, kind: columns.kind })
}

fn wanted(plan: &ReadPlan) -> Columns {
    let wants = plan.wants;
    Columns {
        position: Positions::with_capacity(plan.taken.is_double, 0),
        mass: wants.masses.is_none().then(Vec::new),
        id: wants.ids.then(Vec::new),
        kind: wants.kinds.then(Vec::new),
        velocity: wants.velocities.then(Vec::new),
        density: wants.densities.then(Vec::new),
    }
}

/// The columns as the search takes them; the kinds remain in `columns`.
fn particles(columns: &mut Columns, ranges: &[RowRange], plan: &ReadPlan) -> Particles {
    let roles = |kinds: &Vec<u8>| kinds.par_iter().map(|kind| plan.role_of(*kind)).collect::<Vec<Role>>();
    let holes = |kinds: &Vec<u8>| kinds.par_iter().map(|kind| *kind == BLACK_HOLE).collect();
    Particles {
        position: std::mem::replace(&mut columns.position, Positions::with_capacity(false, 0)),
        mass: match columns.mass.take() {
            Some(masses) => Masses::Each(masses),
            None => Masses::Same(plan.wants.masses.expect("masses are read unless they are all equal")),
        },
        id: match columns.id.take() {
            Some(ids) => Ids::Each(ids),
            None => plan.taken.places(ranges),
        },
        role: columns.kind.as_ref().filter(|_| plan.wants.roles).map(roles),
        velocity: columns.velocity.take(),
        gas_density: columns.density.take(),
        is_black_hole: columns.kind.as_ref().filter(|_| plan.wants.black_holes).map(holes),
    }
}

impl LoadedParticles {
    /// Number of particles of this rank.
    pub fn n(&self) -> u64 {
        n_rows(&self.ranges)
    }

    /// Collective: the numbers of particles on all ranks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn census(&self, plan: &ReadPlan, comm: &Comm) -> Result<ParticleCounts, CommError> {
        let n = self.n();
        let role = |role: Role| match &self.particles.role {
            Some(roles) => roles.iter().filter(|r| **r == role).count() as u64,
            None if role == Role::Linkable => n,
            None => 0,
        };
        let dark = self.dark(plan).count() as u64;
        let counts = [n, role(Role::Linkable), role(Role::Attachable), dark];
        let sums = comm.all_reduce_counts(&counts, Reduce::Sum)?;
        Ok(ParticleCounts { all: sums[0], linkable: sums[1], attachable: sums[2], dark: sums[3] })
    }

    /// The indices of dark-matter particles.
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
    use crate::fof::{FofParams, FofRequest, Linking};
    use crate::progress::Silent;
    use inselberg_comm::run_threads;
    use inselberg_io::ReadResult;
    use inselberg_io::particles::{MassOf, N_KINDS, ParticleHeader, Species};
    use std::ops::Range;
    use std::path::PathBuf;

    /// Two kinds, read seven rows per block; the x coordinate is the row.
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
                has_weights: false,
                has_wind: false,
                problem: None,
            };
            Self(ParticleHeader {
                format: "rows",
                sides: Some([1000.0; 3]),
                periodic: true,
                time: 0.0,
                units: None,
                assumed_units: Vec::new(),
                boundary_is_assumed: false,
                notes: Vec::new(),
                sampled: [1.0; N_KINDS],
                cosmology: None,
                matter: None,
                softening: [None; N_KINDS],
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
        let request = FofRequest {
            attaching: [true, false, false, false, false, false, false],
            ..FofRequest::of_dark_matter(FofParams::default().linking(Linking::Length(1.0)).min_size(2))
        };
        let input = Rows::new([30, 100]);
        let plan = ReadPlan::new(&input.0, &request).expect("a plan");
        let read = run_threads(3, |comm| {
            let loaded = load(&input, &plan, comm, &Silent).expect("loaded");
            (loaded.ranges, loaded.particles)
        });
        let mut seen = [Vec::new(), Vec::new()];
        for (ranges, particles) in read.expect("ranks") {
            let mut i = 0;
            for range in ranges {
                for row in range.rows {
                    let Positions::Double(position) = &particles.position else { panic!("one is double") };
                    assert_eq!(position[i], [row as f64, 999.5, 0.5], "wrapped");
                    let (role, before) = match range.species {
                        0 => (Role::Attachable, 0),
                        _ => (Role::Linkable, 30),
                    };
                    assert_eq!(particles.role.as_ref().map(|r| r[i]), Some(role));
                    assert_eq!(
                        (particles.id.get(i), particles.mass.get(i)),
                        (before + row, range.species as f64 + 1.0)
                    );
                    seen[range.species].push(row);
                    i += 1;
                }
            }
            assert_eq!(i, particles.len());
        }
        assert_eq!(seen, [(0..30).collect::<Vec<u64>>(), (0..100).collect()]);
        assert!(ReadPlan::new(&input.0, &FofRequest { linking: none, ..request }).is_err());
    }
}
