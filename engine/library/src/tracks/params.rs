//! What searches take that remember objects: clumps and groups alike.

use crate::bound::{BoundRequest, PotentialChoice};
use crate::tracks::state::TracksBefore;
use inselberg_io::params;
use inselberg_io::params::ParamError;
use std::path::PathBuf;

params! {
    /// Whether and how objects are remembered from output to output.
    #[non_exhaustive]
    pub struct TrackParams of "tracks" {
        /// Remember the members of each object from output to output.
        ///
        /// Objects then have tracks. Inside its host, where it has no density peak or group of its own, an
        /// object is still found, by the particles that it had. Needs unbinding, by energies, and identities
        /// that are unique within a type. docs/tracks.md has the rules.
        pub on: bool = false, "tracks" = flag("false").topic(Topic::Properties);
        /// With `tracks`: the catalogue of the last output, from which the first search goes on.
        ///
        /// Each further search goes on from the one before it. Without this catalogue the first one begins new
        /// tracks. An engine reads the catalogue once, at the first search that names it.
        pub last_catalogue: Option<PathBuf> = None, "tracks_from" =
            path("the catalogue of a search with tracks").topic(Topic::Input).example("haloes_079.hdf5");
        /// The tracks that the search goes on from.
        pub(crate) before: TracksBefore = TracksBefore::default();
    }
}

impl TrackParams {
    /// Checks what tracks need of a search; `unbinding` names the parameters that unbind.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn check(
        &self,
        bound: &BoundRequest,
        allow_duplicate_ids: bool,
        unbinding: &str,
    ) -> Result<(), ParamError> {
        let missing = match (self.on, &self.last_catalogue) {
            (false, None) => return Ok(()),
            (false, Some(path)) => {
                return Err(ParamError::value("tracks_from", path.display(), "`tracks` as well"));
            }
            (true, _) if !bound.unbind => format!("{unbinding} beside it"),
            (true, _) if bound.potential == PotentialChoice::Ramses => {
                "unbinding by energies, not by RAMSES's rules".into()
            }
            (true, _) if allow_duplicate_ids => {
                "`duplicate_ids` error: particles are found again by identity".into()
            }
            (true, _) => return Ok(()),
        };
        Err(ParamError::value("tracks", true, missing))
    }
}
