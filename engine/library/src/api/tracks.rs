//! Tracks from search to search: an engine remembers those of its last search.

use crate::api::params::PhewParams;
use crate::api::session::Session;
use crate::error::Error;
use crate::tracks::{TrackState, TracksBefore, read_tracks};
use inselberg_comm::Comm;
use inselberg_io::catalogue::CataloguePart;
use std::path::Path;
use std::sync::Arc;

/// Local: a search with tracks goes on from those of the engine.
pub(crate) fn go_on(session: &Session, params: &mut PhewParams) {
    let before = session.tracks.clone().filter(|_| params.bound.tracks);
    params.tracks_before = TracksBefore(before);
}

/// Collective: keeps the tracks that a search found, if it has any.
///
/// # Errors
/// When another rank fails.
pub(crate) fn keep(
    tracks: &mut Option<Arc<TrackState>>,
    params: &PhewParams,
    found: &CataloguePart,
    comm: &Comm,
) -> Result<(), Error> {
    if params.bound.tracks {
        *tracks = TrackState::of_part(found, comm)?.map(Arc::new);
    }
    Ok(())
}

/// Collective: the tracks of a catalogue.
///
/// # Errors
/// It cannot be read, or has no sound tracks; when a rank fails.
pub(crate) fn read(session: Session, path: &Path) -> Result<(), Error> {
    *session.tracks = Some(Arc::new(read_tracks(path, session.comm)?));
    Ok(())
}
