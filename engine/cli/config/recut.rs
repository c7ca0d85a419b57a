//! `inselberg recut`, checked.

use super::ConfigError;
use super::library::only_in;
use super::observer_options::{ObserverFiles, observer_files};
use super::report_options::{ShownResults, shown_results};
use super::values::CheckedValues;
use inselberg::{NewThresholds, NewVoidThresholds};
use std::path::PathBuf;

/// `inselberg recut`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RecutJob {
    /// The catalogue with the tree.
    pub input: PathBuf,
    /// The new catalogue.
    pub output: PathBuf,
    /// Files for observers.
    pub observers: ObserverFiles,
    /// The new thresholds of a catalogue of clumps.
    pub thresholds: NewThresholds,
    /// The new thresholds of a catalogue of voids.
    pub of_voids: NewVoidThresholds,
    /// The picture.
    pub shown: ShownResults,
    /// An option given that catalogues of clumps do not have.
    pub for_voids: Option<&'static str>,
    /// An option given that catalogues of voids do not have.
    pub for_clumps: Option<&'static str>,
}

pub(super) fn recut(raw: &CheckedValues<'_>) -> Result<RecutJob, ConfigError> {
    let (thresholds, of_voids) = (raw.params::<NewThresholds>()?, raw.params::<NewVoidThresholds>()?);
    let given = |names: Vec<&'static str>| names.into_iter().find(|name| raw.is_written(name));
    Ok(RecutJob {
        input: raw.needed_path("catalogue")?,
        output: raw.needed_path("output")?,
        observers: observer_files(raw)?,
        shown: shown_results(raw)?,
        for_voids: given(only_in(&of_voids, &thresholds)),
        for_clumps: given(only_in(&thresholds, &of_voids)),
        thresholds,
        of_voids,
    })
}
