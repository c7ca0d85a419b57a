//! What each threshold of a catalogue does.

use crate::api::call::Call;
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

/// Collective: the atlas of the catalogue at this path. Rank 0 gets it.
pub(crate) fn atlas_of_file(
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
