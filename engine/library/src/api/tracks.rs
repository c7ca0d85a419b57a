//! Tracks from search to search: an engine remembers those of its last searches.

use crate::error::Error;
use crate::tracks::{TrackParams, TrackState, TracksBefore, read_tracks};
use inselberg_comm::Comm;
use inselberg_io::catalogue::CataloguePart;
use std::path::PathBuf;
use std::sync::Arc;

/// What an engine remembers. Tracks of clumps and of groups are apart, so a program may search for both at
/// each step.
#[derive(Default)]
pub(crate) struct TrackMemory {
    /// After the last search for clumps with tracks.
    pub clumps: LastTracks,
    /// After the last search for groups with tracks.
    pub groups: LastTracks,
}

/// The tracks after the last search with tracks.
#[derive(Default)]
pub(crate) struct LastTracks {
    state: Option<Arc<TrackState>>,
    /// The catalogue that was read last.
    read: Option<PathBuf>,
}

impl LastTracks {
    /// Collective: a search with tracks goes on from those of the engine. A catalogue that it names and its
    /// predecessor did not is read first.
    ///
    /// # Errors
    /// It cannot be read, or has no sound tracks; when a rank fails.
    pub fn go_on(&mut self, params: &mut TrackParams, comm: &Comm) -> Result<(), Error> {
        if !params.on {
            return Ok(());
        }
        if let Some(path) = params.last_catalogue.as_ref().filter(|path| self.read.as_ref() != Some(path)) {
            self.state = Some(Arc::new(read_tracks(path, comm)?));
            self.read = Some(path.clone());
        }
        params.before = TracksBefore(self.state.clone());
        Ok(())
    }

    /// Collective: keeps the tracks that a search found, if it has any.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn keep(&mut self, params: &TrackParams, found: &CataloguePart, comm: &Comm) -> Result<(), Error> {
        if params.on {
            self.state = TrackState::of_part(found, comm)?.map(Arc::new);
        }
        Ok(())
    }
}
