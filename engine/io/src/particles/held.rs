//! Particles in the memory of the program: each rank has some rows, which no other rank can read.

use super::{Columns, ParticleHeader, ParticleInput, Positions};
use crate::ReadResult;
use std::ops::Range;
use std::path::PathBuf;

/// The particles of a program as an input of one species. Rows are numbered over all ranks, rank after rank.
#[derive(Debug)]
pub struct HeldParticles {
    about: ParticleHeader,
    /// The first row of each rank, and the number of all.
    first_rows: Vec<u64>,
    own: Range<u64>,
    columns: Columns,
}

impl HeldParticles {
    /// The rows of rank `rank`, in `columns`; `about` has the number of all. A column that is left out is
    /// filled as for an array: mass 1, places as identities, the kind of the species, velocity 0, no density.
    ///
    /// # Panics
    /// `about` has another number of species than one, or the columns have another number of rows than the
    /// rank.
    pub fn new(about: ParticleHeader, first_rows: Vec<u64>, rank: usize, columns: Columns) -> Self {
        let own = first_rows[rank]..first_rows[rank + 1];
        assert_eq!(about.species.len(), 1, "particles in memory are one species");
        assert_eq!(columns.position.len() as u64, own.end - own.start, "rows of rank {rank}");
        Self { about, first_rows, own, columns }
    }
}

impl ParticleInput for HeldParticles {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        assert!(
            self.own.start <= rows.start && rows.end <= self.own.end,
            "rows {rows:?} of the memory of another rank; this one has {:?}",
            self.own
        );
        let here = (rows.start - self.own.start) as usize..(rows.end - self.own.start) as usize;
        match &self.columns.position {
            Positions::Single(list) => into.position.extend_from_singles(&list[here.clone()]),
            Positions::Double(list) => into.position.extend_from_doubles(&list[here.clone()]),
        }
        let kind = self.about.species[0].kind.unwrap_or_default();
        append(&mut into.mass, &self.columns.mass, &here, |_| 1.0);
        append(&mut into.id, &self.columns.id, &here, |i| self.own.start + i as u64);
        append(&mut into.kind, &self.columns.kind, &here, |_| kind);
        append(&mut into.velocity, &self.columns.velocity, &here, |_| [0.0; 3]);
        append(&mut into.density, &self.columns.density, &here, |_| f32::NAN);
        Ok(())
    }

    fn first_rows(&self) -> Option<&[u64]> {
        Some(&self.first_rows)
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        let rank = self.first_rows.partition_point(|first| *first <= row).saturating_sub(1);
        let particle = format!("particle {}", row - self.first_rows[rank]);
        let is_alone = self.first_rows.len() <= 2;
        let place = if is_alone { particle } else { format!("{particle} of rank {rank}") };
        (PathBuf::from("particles in memory"), place)
    }
}

/// Appends the rows `here` of a column to the requested one, or what `filled` says of a row where there is
/// none.
fn append<T: Copy>(
    into: &mut Option<Vec<T>>,
    from: &Option<Vec<T>>,
    here: &Range<usize>,
    filled: impl Fn(usize) -> T,
) {
    let Some(into) = into else { return };
    match from {
        Some(from) => into.extend_from_slice(&from[here.clone()]),
        None => into.extend(here.clone().map(filled)),
    }
}
