//! Which objects of two catalogues of one snapshot are the same, and how much do they differ?
//!
//! | step | file |
//! |---|---|
//! | the objects of a catalogue in common units | `scaled` |
//! | members that pairs of objects share, over ranks | `shared` |
//! | pairs by place, where members are not known | `places` |
//! | the best partner of each object | `partners` |
//! | completeness, ratios, offsets, splits and disagreements | `statistics` |
//! | the first value in which two of our catalogues differ | `difference` |
//! | pairs as tables | `tables` |
//! | parameters | `params` |
//!
//! ```text
//!   every rank:  members of both ──► by hash of identity ──► sorted lists side by side ──► counts per pair
//!   rank 0:      counts per pair of clumps, of haloes ──► scores n² / (n_A n_B) ──► partners, statistics
//! ```
//!
//! Counts are integers, so the result is the same on any number of ranks and threads. Nothing here knows
//! formats of files or draws.

mod difference;
mod params;
mod partners;
mod places;
mod scaled;
mod shared;
mod statistics;
mod tables;

pub use difference::{Difference, first_difference};
pub use params::CompareParams;
pub(crate) use partners::best;
pub use partners::{LevelComparison, ObjectPair};
pub use scaled::{ComparedCatalogue, LevelKind, LevelObjects};
pub(crate) use shared::{PairCount, summed};
pub use statistics::{CentreOffsets, Disagreement, Partition, Ratios, SizeCount};

use crate::progress::Observer;
use crate::stage::Stage;
use crate::trees::TreeError;
use inselberg_comm::Comm;
use inselberg_comm::Rank;
use inselberg_comm::agree::agree;
use std::path::Path;

/// Two catalogues beside each other.
#[derive(Debug)]
#[non_exhaustive]
pub struct CatalogueComparison {
    /// The first catalogue.
    pub a: ComparedCatalogue,
    /// The second one.
    pub b: ComparedCatalogue,
    /// Objects of each level that both have: clumps or subhaloes first, then haloes or groups.
    pub levels: Vec<LevelComparison>,
    /// For two catalogues of ours: the first value in which they differ, or that they are equal.
    pub difference: Option<Difference>,
    /// Notes for users: assumptions, and what could not be compared.
    pub notes: Vec<String>,
    /// The parameters.
    pub params: CompareParams,
}

/// Collective: compares two catalogues in files. Rank 0 gets the comparison.
///
/// # Errors
/// One cannot be read, or has no objects to compare; when a rank fails.
pub fn compare_files(
    paths: [&Path; 2],
    params: &CompareParams,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<Option<CatalogueComparison>, TreeError> {
    let is_first = comm.rank() == Rank(0);
    let headers = Stage::begin("headers", 2, comm, observer);
    let read = || -> Result<_, TreeError> {
        let mut notes = Vec::new();
        let both = scaled::read_both(paths, params, &mut notes)?;
        let difference = match both.iter().all(|of| of.is_own) {
            true => Some(first_difference(paths)?),
            false => None,
        };
        Ok((both, difference, notes))
    };
    let read = agree(comm, is_first.then(read).transpose())?;
    drop(headers);
    let have_members = read.as_ref().is_some_and(|([a, b], ..)| a.has_members && b.has_members);
    let have_members = comm.broadcast(Rank(0), &[u8::from(have_members)])?[0] != 0;
    let facts = read.as_ref().map(|(both, ..)| both.each_ref().map(|of| of.facts.clone()));
    let shared = match have_members {
        true => Some(shared::shared_members(paths, facts, comm, observer)?),
        false => None,
    };
    let _matching = Stage::begin("matching", 0, comm, observer);
    let Some(([a, b], difference, notes)) = read else { return Ok(None) };
    let levels = partners::levels([&a, &b], shared.as_ref(), params);
    let params = params.clone();
    Ok(Some(CatalogueComparison { a: a.about, b: b.about, levels, difference, notes, params }))
}
