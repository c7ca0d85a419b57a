//! The common part of the readers of plain arrays of positions.

use super::file_offsets::FileOffsets;
use super::{Columns, DARK_MATTER, MassOf, N_KINDS, ParticleHeader, ParticleInput, Positions, Species};
use crate::ReadResult;
use std::ops::Range;
use std::path::PathBuf;

/// An array of positions.
pub trait Array: Send + Sync {
    /// Number of positions.
    fn n(&self) -> u64;

    /// Whether they are in double precision.
    fn is_double(&self) -> bool;

    /// Appends `rows` in the requested precision.
    fn read(&self, rows: Range<u64>, to: &mut Positions) -> ReadResult<()>;

    /// The file of a row and its name there, for messages.
    fn place_of(&self, row: u64) -> (PathBuf, String);
}

struct Arrays<A> {
    about: ParticleHeader,
    parts: Vec<A>,
    offsets: FileOffsets,
}

/// Consecutive arrays of positions as one input of this format.
pub fn input<A: Array + 'static>(format: &'static str, parts: Vec<A>) -> Box<dyn ParticleInput> {
    let offsets = FileOffsets::from_counts(parts.iter().map(A::n));
    let about = about(format, offsets.total(), parts.iter().any(A::is_double));
    Box::new(Arrays { about, parts, offsets })
}

impl<A: Array> ParticleInput for Arrays<A> {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        into.pad(rows.start, (rows.end - rows.start) as usize, DARK_MATTER);
        self.offsets.parts(rows).try_for_each(|(part, rows)| self.parts[part].read(rows, &mut into.position))
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        let (part, row) = self.offsets.find(row);
        self.parts[part].place_of(row)
    }
}

/// The header of `n` positions.
pub(super) fn about(format: &'static str, n: u64, is_double: bool) -> ParticleHeader {
    let species = Species {
        name: "Particles".into(),
        kind: Some(DARK_MATTER),
        n,
        mass: MassOf::Unknown,
        is_double,
        has_ids: false,
        has_velocities: false,
        has_densities: false,
        has_weights: false,
        has_wind: false,
        problem: None,
    };
    ParticleHeader {
        format,
        sides: None,
        periodic: false,
        time: 0.0,
        units: None,
        assumed_units: Vec::new(),
        boundary_is_assumed: false,
        notes: Vec::new(),
        sampled: [1.0; N_KINDS],
        cosmology: None,
        matter: None,
        softening: [None; N_KINDS],
        species: vec![species],
    }
}
