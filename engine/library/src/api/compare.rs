//! Two catalogues beside each other.

use crate::api::call::Call;
use crate::api::session::Shared;
use crate::compare::{CatalogueComparison, CompareParams, compare_files};
use crate::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Collective: compares the catalogues at these paths. Rank 0 gets the comparison.
pub(crate) fn compare(
    shared: &Arc<Shared>,
    paths: [&Path; 2],
    params: &CompareParams,
) -> Result<Option<CatalogueComparison>, Error> {
    let call = Call::new("compare").params(params).same("catalogues", &paths);
    shared.call(&call, |session| {
        inselberg_io::params::check_ranges(params)?;
        Ok(compare_files(paths, params, session.comm, session.executor.observer())?)
    })
}
