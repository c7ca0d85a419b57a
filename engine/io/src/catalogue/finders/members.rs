//! The members of objects in a snapshot whose particles of each type are sorted by object.
//!
//! ```text
//!     PartType1   [ object 0 | object 1 | rest of the group | object 2 | ... ]
//!     PartType4   [ object 0 | object 2 | ... ]
//!     members, by object and type     0: 1 4 | 1: 1 | 2: 1 4 | ...
//! ```

use super::{FinderMemberRows, FinderMembers};
use crate::particles::{Columns, ParticleInput};
use crate::{ReadError, ReadResult};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// Types of particles in Gadget's files.
pub const N_TYPES: usize = 6;
/// Their order within an object: collisionless types first.
const ORDER: [usize; N_TYPES] = [1, 4, 2, 3, 0, 5];
/// Their numbers among members.
const MEMBER_TYPES: [u8; N_TYPES] = [0, 1, 5, 5, 4, 5];

/// The particles of an object: the first one of each type, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeSpans {
    /// The first row of each type.
    pub first: [u64; N_TYPES],
    /// The number of rows of each type.
    pub n: [u64; N_TYPES],
}

/// Members in a snapshot.
pub struct SnapshotMembers {
    /// The file of the snapshot that was opened, for messages.
    path: PathBuf,
    input: Box<dyn ParticleInput>,
    /// The species of each type.
    species: [Option<usize>; N_TYPES],
    ids: Vec<u64>,
    spans: Vec<TypeSpans>,
    /// The first row of each object in the table of members, and the number of all.
    starts: Vec<u64>,
}

impl fmt::Debug for SnapshotMembers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotMembers").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A part of the rows of a table: consecutive rows of one type of one object.
struct Run {
    object: usize,
    kind: usize,
    rows: Range<u64>,
}

impl SnapshotMembers {
    /// The members of objects with these identifiers in a snapshot.
    ///
    /// # Errors
    /// An object has particles that the snapshot lacks, or particles without identities.
    pub fn new(
        path: PathBuf,
        input: Box<dyn ParticleInput>,
        ids: Vec<u64>,
        spans: Vec<TypeSpans>,
    ) -> ReadResult<Self> {
        let found = &input.about().species;
        let species: [_; N_TYPES] =
            std::array::from_fn(|kind| found.iter().position(|s| s.kind == Some(kind as u8)));
        let n_of = |kind: usize| species[kind].map_or(0, |place| found[place].n);
        for (id, span) in ids.iter().zip(&spans) {
            for kind in (0..N_TYPES).filter(|kind| span.n[*kind] > 0) {
                let end = span.first[kind].checked_add(span.n[kind]);
                if end.is_none_or(|end| end > n_of(kind)) {
                    let (first, n) = (span.first[kind], span.n[kind]);
                    let place = format!("PartType{kind}");
                    let expected = format!("{n} particles from {first} on, as object {id} has");
                    let problem = format!("{} particles", n_of(kind));
                    return Err(ReadError::content(&path, place, problem, expected));
                }
                if species[kind].is_none_or(|place| !found[place].has_ids) {
                    let place = format!("PartType{kind}/ParticleIDs");
                    return Err(ReadError::content(&path, place, "no such dataset", "identities of members"));
                }
            }
        }
        let mut starts = vec![0];
        for span in &spans {
            starts.push(starts[starts.len() - 1] + span.n.iter().sum::<u64>());
        }
        Ok(Self { path, input, species, ids, spans, starts })
    }

    /// The first row of each object in the table of members.
    pub fn offsets(&self) -> &[u64] {
        &self.starts[..self.spans.len()]
    }

    /// The rows of the table as runs.
    fn runs(&self, rows: Range<u64>) -> Vec<Run> {
        let mut runs = Vec::new();
        let first = self.starts.partition_point(|start| *start <= rows.start).saturating_sub(1);
        for object in first..self.spans.len() {
            let mut at = self.starts[object];
            if at >= rows.end {
                break;
            }
            for kind in ORDER {
                let (first, n) = (self.spans[object].first[kind], self.spans[object].n[kind]);
                let own = at.max(rows.start)..(at + n).min(rows.end);
                if own.start < own.end {
                    runs.push(Run { object, kind, rows: own.start - at + first..own.end - at + first });
                }
                at += n;
            }
        }
        runs
    }

    /// Identities of the rows from the first to the last that runs of a type have, and that first row. One
    /// read is much faster than one per object.
    fn hull(&self, runs: &[Run], kind: usize) -> ReadResult<(u64, Vec<u64>)> {
        let own = || runs.iter().filter(|run| run.kind == kind);
        let first = own().map(|run| run.rows.start).min();
        let end = own().map(|run| run.rows.end).max();
        let (Some(first), Some(end)) = (first, end) else { return Ok((0, Vec::new())) };
        let species = self.species[kind].expect("it was checked");
        Ok((first, Columns::ids_of(&*self.input, species, first..end)?))
    }
}

impl FinderMemberRows for SnapshotMembers {
    fn n_rows(&self) -> u64 {
        self.starts[self.spans.len()]
    }

    fn read(&self, rows: Range<u64>) -> ReadResult<FinderMembers> {
        let runs = self.runs(rows);
        let hulls = (0..N_TYPES).map(|kind| self.hull(&runs, kind)).collect::<ReadResult<Vec<_>>>()?;
        let mut columns = FinderMembers::default();
        for run in &runs {
            let (first, ids) = &hulls[run.kind];
            let own = (run.rows.start - first) as usize..(run.rows.end - first) as usize;
            let n = own.len();
            columns.id.extend_from_slice(&ids[own]);
            columns.member_type.extend(std::iter::repeat_n(MEMBER_TYPES[run.kind], n));
            columns.clump.extend(std::iter::repeat_n(self.ids[run.object], n));
        }
        Ok(columns)
    }
}
