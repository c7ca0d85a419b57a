//! Tracks of clumps: those of the last output are placed before the unbinding, and those of this output
//! follow from it.

use crate::bound::{BoundTables, CandidateParticles, CentralChoice, HaloClump};
use crate::error::RunError;
use crate::executor::Executor;
use crate::phew::bound::{BoundInput, MemberWork};
use crate::stage::Stage;
use crate::tracks::{PlacedTracks, TrackRules, TrackedOutput, add_peakless, add_track_columns};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{Attribute, CataloguePart};

/// The column that tells the clumps of peaks from those that history alone knows.
const HAS_PEAK: [&str; 2] =
    ["has_peak", "1 for a clump of a density peak, 0 for a track that has none: it has no patch"];

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
        let Some(output) = tracked(self.input) else { return Ok(None) };
        let n_tracks = output.last.map_or(0, |last| last.tracks.len() as u64);
        let _tracks = Stage::begin("tracks", n_tracks, comm, executor.observer());
        let rules = TrackRules {
            first_peakless: self.input.structures.n_cut as u64 + 1,
            follows_mass: self.request.central == CentralChoice::Heaviest,
            space: self.space(),
            density: Some(self.input.density_threshold),
        };
        let placed = output.place(members, &mut self.rows, &rules, comm)?;
        if let Some(placed) = &placed {
            let peakless = placed.peakless();
            add_rows(catalogue, ["clumps", "n_clumps"], &peakless.clumps, comm);
            add_rows(catalogue, ["haloes", "n_haloes"], &peakless.haloes, comm);
        }
        Ok(placed)
    }

    /// Collective: adds the tracks of this output to its catalogue, if they are wanted.
    pub(super) fn advance_tracks(
        &self,
        catalogue: &mut CataloguePart,
        placed: Option<&PlacedTracks>,
        found: &BoundTables,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(), RunError> {
        let Some(output) = tracked(self.input) else { return Ok(()) };
        let _tracks = Stage::begin("tracks", 0, comm, executor.observer());
        let after = output.advance(placed, found, &self.rows, comm)?;
        let clumps = catalogue.tables.iter_mut().find(|part| part.table.name == "clumps");
        let clumps = &mut clumps.expect("clumps have a table").table;
        add_track_columns(clumps, &self.rows.clumps, &after.track_of, HAS_PEAK);
        catalogue.attributes.extend(after.attributes);
        catalogue.tables.extend(after.tables);
        Ok(())
    }
}

/// The output as one whose objects are remembered, if they are.
fn tracked<'a>(input: &BoundInput<'a>) -> Option<TrackedOutput<'a>> {
    let (header, last) = (input.snapshot.header(), input.tracks.before.0.as_deref());
    input.tracks.on.then_some(TrackedOutput { last, number: header.number, time: header.time })
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
