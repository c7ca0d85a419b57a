//! Tracks of clumps: those of the last output are placed before the unbinding, and those of this output
//! follow from it.

use crate::bound::{BoundTables, CandidateParticles, CentralChoice, HaloClump};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::MemberWork;
use crate::stage::Stage;
use crate::tracks::{
    PlacedTracks, TrackRules, TrackState, TracksAfter, add_peakless, add_track_columns, track_attributes,
};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{Attribute, CataloguePart};

impl MemberWork<'_> {
    /// Collective: places the tracks of the last output, if there is one. They claim their particles, and
    /// those without a peak get rows. Particles in no halo are left out.
    pub(super) fn place_tracks(
        &mut self,
        members: &mut CandidateParticles,
        catalogue: &mut CataloguePart,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Option<PlacedTracks>, RunError> {
        let Some(state) = self.input.tracks.filter(|_| self.request.tracks) else {
            members.in_haloes.retain(|particle| particle.halo > 0);
            return Ok(None);
        };
        let _tracks = Stage::begin("tracks", state.tracks.len() as u64, comm, executor.observer());
        let time = self.input.snapshot.header().time;
        if time < state.time {
            return Err(RunError::TracksOfLaterOutput { last: state.time, now: time });
        }
        let rules = TrackRules {
            first_peakless: self.input.structures.n_cut as u64 + 1,
            follows_mass: self.request.central == CentralChoice::Heaviest,
            space: self.space(),
            density: self.input.density_threshold,
        };
        let placed = PlacedTracks::new(state, &mut members.in_haloes, &self.rows, &rules, comm)?;
        let peakless = placed.peakless();
        add_rows(catalogue, ["clumps", "n_clumps"], &peakless.clumps, comm);
        add_rows(catalogue, ["haloes", "n_haloes"], &peakless.haloes, comm);
        // Their identifiers are above all others, and rows ascend from rank to rank.
        if comm.rank().at() + 1 == comm.n_ranks() {
            self.rows.clumps.extend(peakless.clumps);
            self.rows.haloes.extend(peakless.haloes);
        }
        Ok(Some(placed))
    }

    /// Collective: adds the tracks of this output to its catalogue.
    pub(super) fn advance_tracks(
        &self,
        catalogue: &mut CataloguePart,
        placed: Option<&PlacedTracks>,
        found: &BoundTables,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), RunError> {
        let _tracks = Stage::begin("tracks", 0, comm, executor.observer());
        let (header, none) = (self.input.snapshot.header(), TrackState::default());
        let last = self.input.tracks.unwrap_or(&none);
        let step = TrackState::next_step(self.input.tracks, header.number);
        let after = TracksAfter::new(last, placed, found, &self.rows, (step, header.time), comm)?;
        let clumps = catalogue.tables.iter_mut().find(|part| part.table.name == "clumps");
        let clumps = &mut clumps.expect("clumps have a table").table;
        add_track_columns(clumps, &self.rows.clumps, &after.track_of);
        catalogue.attributes.extend(track_attributes(self.input.tracks, placed, &after.state, comm)?);
        catalogue.tables.extend(after.state.tables(comm)?);
        Ok(())
    }
}

/// Local, on all ranks: adds clumps without a peak to a table, and to its number of rows among the attributes.
fn add_rows(catalogue: &mut CataloguePart, [table, total]: [&str; 2], peakless: &[HaloClump], comm: &Comm) {
    let part = catalogue.tables.iter_mut().find(|part| part.table.name == table);
    part.into_iter().for_each(|part| add_peakless(part, peakless, comm));
    let total = catalogue.attributes.iter_mut().find(|(name, _)| name == total);
    if let Some((_, Attribute::Int(total))) = total {
        *total += peakless.len() as i64;
    }
}
