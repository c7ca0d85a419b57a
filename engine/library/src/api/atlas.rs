//! What each threshold of a catalogue does.
//!
//! The call stands here, and not beside the others: cells are segmented again by an engine of their own.

use crate::api::call::Call;
use crate::api::engine::Engine;
use crate::api::recut_cells::{has_cells_to_cut, recut_cells};
use crate::api::session::Shared;
use crate::atlas::{AtlasParams, ThresholdAtlas, along_density, atlas};
use crate::error::{Error, ErrorKind};
use crate::phew::recut::NewThresholds;
use crate::stage::Stage;
use inselberg_comm::agree::agree;
use inselberg_io::catalogue;
use std::path::Path;
use std::sync::Arc;

impl Engine {
    /// Collective: what each threshold of a stored catalogue of clumps does, from its tree alone. Every value
    /// costs a sort of the peaks; ranks and threads divide the values, of which there are some hundred. With
    /// stored cells the density threshold varies too, at the cost of a search per value. Every rank reads the
    /// catalogue. Rank 0 gets the atlas.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Read`] if the file cannot be read, [`crate::ErrorKind::InvalidArgument`] if it has
    /// no sound tree of clumps, a parameter is out of range, or ranks differ in their arguments.
    pub fn atlas(
        &mut self,
        catalogue: impl AsRef<Path>,
        params: &AtlasParams,
    ) -> Result<Option<ThresholdAtlas>, Error> {
        atlas_of_file(&self.shared, catalogue.as_ref(), params)
    }
}

/// Collective: the atlas of the catalogue at this path. Rank 0 gets it.
fn atlas_of_file(
    shared: &Arc<Shared>,
    path: &Path,
    params: &AtlasParams,
) -> Result<Option<ThresholdAtlas>, Error> {
    let call = Call::new("atlas").params(params).same("catalogue", &path);
    shared.call(&call, |session| {
        inselberg_io::params::check_ranges(params)?;
        let stored = agree(session.comm, catalogue::read(path))?;
        if crate::voids::is_void_catalogue(&stored) {
            let problem = "a catalogue of voids; expected one of clumps, of `inselberg phew`";
            return Err(Error::new(ErrorKind::InvalidArgument, problem));
        }
        let (comm, observer) = (session.comm, session.executor.observer());
        let made = atlas(&stored, params, comm, observer)?;
        let cut = |density| recut_cells(&stored, &NewThresholds::default().density(density));
        let along = match params.density_values > 0 && has_cells_to_cut(&stored) {
            true => {
                let _cuts = Stage::begin("test cells", params.density_values, comm, observer);
                along_density(&stored, params.density_values, cut, comm)?
            }
            false => None,
        };
        Ok(made.map(|mut made| {
            made.lines.extend(along);
            made
        }))
    })
}
