//! Tracks of groups: each group is a halo with one clump, and subhaloes are clumps that history alone knows.

use crate::bound::{BoundTables, CandidateParticles, CentralChoice, HaloRows};
use crate::fof::bound::SearchedInput;
use crate::fof::run_error::FofRunError;
use crate::fof::tables::{Numbering, clumps_of_groups};
use crate::tables::in_order;
use crate::tracks::{PlacedTracks, TrackRules, TrackedOutput, add_track_columns};
use inselberg_comm::{Comm, Reduce};
use inselberg_io::catalogue::{Attribute, CataloguePart};
use inselberg_kernels::props::combine::SizedBox;

/// The column that tells the clumps of groups from those that history alone knows.
const HAS_GROUP: [&str; 2] =
    ["has_group", "1 for the clump of a group, 0 for a track that has no group of its own"];

/// Groups whose subhaloes are remembered.
pub struct TrackedGroups<'a> {
    of: &'a SearchedInput<'a>,
    output: TrackedOutput<'a>,
}

impl<'a> TrackedGroups<'a> {
    /// Of a search with tracks; `None` without them.
    pub fn new(of: &'a SearchedInput<'a>) -> Option<Self> {
        let tracks = &of.request.params.tracks;
        let (last, time) = (tracks.before.0.as_deref(), of.input.about().time);
        tracks.on.then_some(Self { of, output: TrackedOutput { last, number: None, time } })
    }

    /// The number of tracks of the last output.
    pub fn n_last(&self) -> u64 {
        self.output.last.map_or(0, |last| last.tracks.len() as u64)
    }

    /// Collective: places the tracks of the last output. They claim their particles, and those without a group
    /// get rows. Particles in no group are left out.
    ///
    /// # Errors
    /// When the last output is later than this one; when another rank fails.
    pub fn place(
        &self,
        members: &mut CandidateParticles,
        rows: &mut HaloRows,
        space: SizedBox,
        comm: &Comm,
    ) -> Result<Option<PlacedTracks>, FofRunError> {
        let rules = TrackRules {
            first_peakless: self.of.found.groups.n_total + 1,
            follows_mass: self.of.request.params.bound.central == CentralChoice::Heaviest,
            space,
            density: None,
        };
        Ok(self.output.place(members, rows, &rules, comm)?)
    }

    /// Collective: adds clumps, tracks and their sources to the catalogue.
    ///
    /// # Errors
    /// When the number for no group is that of a group; when another rank fails.
    pub fn add_to(
        &self,
        catalogue: &mut CataloguePart,
        placed: Option<&PlacedTracks>,
        found: &BoundTables,
        rows: &HaloRows,
        comm: &Comm,
    ) -> Result<(), FofRunError> {
        let after = self.output.advance(placed, found, rows, comm)?;
        let ids = Numbering::of_params(&self.of.request.params);
        let mut clumps = clumps_of_groups(&rows.clumps, self.of.found.groups.n_total, ids);
        found.add_to_clumps(&mut clumps, &rows.clumps);
        add_track_columns(&mut clumps, &rows.clumps, &after.track_of, HAS_GROUP);
        let n_clumps = comm.all_reduce_counts(&[rows.clumps.len() as u64], Reduce::Sum)?[0];
        catalogue.attributes.push(("n_clumps".into(), Attribute::Int(n_clumps.cast_signed())));
        catalogue.attributes.extend(after.attributes);
        catalogue.tables.push(in_order(clumps, comm)?);
        catalogue.tables.extend(after.tables);
        Ok(())
    }
}
