//! Series whose objects are remembered, each snapshot from the catalogue of the one before it.

use super::ConfigError;
use super::series::Series;
use super::values::CheckedValues;
use inselberg::TrackParams;
use std::path::PathBuf;

/// Checks that there is a catalogue for tracks.
pub(super) fn check_catalogue(
    raw: &CheckedValues<'_>,
    tracks: &TrackParams,
    catalogue: Option<&PathBuf>,
) -> Result<(), ConfigError> {
    match tracks.on && catalogue.is_none() {
        true => Err(raw.missing("output")),
        false => Ok(()),
    }
}

/// With tracks, each snapshot goes on from the catalogue of the one before it. `of` has the parameters and the
/// catalogue of a job.
pub(super) fn following<J>(
    mut series: Series<J>,
    of: impl Fn(&mut J) -> (&mut TrackParams, Option<&PathBuf>),
) -> Series<J> {
    let mut last: Option<PathBuf> = None;
    for job in &mut series.jobs {
        let (tracks, catalogue) = of(job);
        if tracks.on && last.is_some() {
            tracks.last_catalogue = last;
        }
        last = catalogue.cloned();
    }
    series
}
