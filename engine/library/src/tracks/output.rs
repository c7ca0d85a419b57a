//! One output of a series: from the tracks of the last one to those of the next.

use crate::bound::{BoundTables, CandidateParticles, HaloRows};
use crate::error::TrackError;
use crate::tracks::after::TracksAfter;
use crate::tracks::before::{PlacedTracks, TrackRules};
use crate::tracks::state::TrackState;
use crate::tracks::tables::track_attributes;
use inselberg_comm::{Comm, CommError};
use inselberg_io::catalogue::{Attribute, PartTable};
use std::collections::BTreeMap;

/// An output whose objects are remembered.
pub struct TrackedOutput<'a> {
    /// The tracks of the last output; `None` for the first one.
    pub last: Option<&'a TrackState>,
    /// The number of the output, if its input states one.
    pub number: Option<u32>,
    /// Its time in code units.
    pub time: f64,
}

/// What an output adds to its catalogue.
pub struct TrackCatalogue {
    /// Tracks and sources.
    pub tables: [PartTable; 2],
    /// Attributes.
    pub attributes: Vec<(String, Attribute)>,
    /// The number of the track of each bound clump, by identifier of the clump.
    pub track_of: BTreeMap<u64, u64>,
}

impl TrackedOutput<'_> {
    /// Collective: places the tracks of the last output among the clumps of `rows`. They claim their particles,
    /// and those without a peak get rows. `members` are all particles; those in no halo are left out. `None` in
    /// the first output.
    ///
    /// # Errors
    /// When the last output is later than this one; when another rank fails.
    pub fn place(
        &self,
        members: &mut CandidateParticles,
        rows: &mut HaloRows,
        rules: &TrackRules,
        comm: &Comm,
    ) -> Result<Option<PlacedTracks>, TrackError> {
        let Some(state) = self.last else {
            members.in_haloes.retain(|particle| particle.halo > 0);
            return Ok(None);
        };
        if self.time < state.time {
            return Err(TrackError::LaterOutput { last: state.time, now: self.time });
        }
        let placed = PlacedTracks::new(state, &mut members.in_haloes, rows, rules, comm)?;
        // Their identifiers are above all others, and rows ascend from rank to rank.
        if comm.rank().at() + 1 == comm.n_ranks() {
            let HaloRows { clumps, haloes } = placed.peakless();
            rows.clumps.extend(clumps);
            rows.haloes.extend(haloes);
        }
        Ok(Some(placed))
    }

    /// Collective: the tracks after the unbinding of `rows`.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn advance(
        &self,
        placed: Option<&PlacedTracks>,
        found: &BoundTables,
        rows: &HaloRows,
        comm: &Comm,
    ) -> Result<TrackCatalogue, CommError> {
        let step = TrackState::next_step(self.last, self.number);
        let none = TrackState::default();
        let after =
            TracksAfter::new(self.last.unwrap_or(&none), placed, found, rows, (step, self.time), comm)?;
        let attributes = track_attributes(self.last, placed, &after.state, comm)?;
        Ok(TrackCatalogue { tables: after.state.tables(comm)?, attributes, track_of: after.track_of })
    }
}
