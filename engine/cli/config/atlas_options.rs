//! `inselberg atlas`: its options and their checks.

use super::Command::Atlas;
use super::ConfigError;
use super::launch::{Launch, launch};
use super::opt::{CATALOGUE, OUTPUT, Opt};
use super::values::CheckedValues;
use inselberg::AtlasParams;
use std::path::PathBuf;

/// The options of `atlas`.
pub(super) const ATLAS: &[Opt] = &[
    Opt {
        example: "clumps.hdf5",
        commands: &[Atlas],
        help: "A catalogue from `inselberg phew`; no snapshot is read",
        ..CATALOGUE
    },
    Opt {
        example: "atlas",
        commands: &[Atlas],
        help: "Also write into this folder: index.html, one page with sliders, and atlas.csv",
        doc: "The page cuts the tree again while thresholds are moved, and needs no other files. atlas.csv and the \
              files beside it have all numbers: one table per threshold and per pair, mass functions and plateaus.",
        ..OUTPUT
    },
];

/// `inselberg atlas`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct AtlasJob {
    /// The catalogue.
    pub input: PathBuf,
    /// The folder of the page and the tables.
    pub output: Option<PathBuf>,
    /// The parameters.
    pub params: AtlasParams,
    /// Ranks and threads.
    pub launch: Launch,
    /// The file of the log.
    pub log: Option<PathBuf>,
}

pub(super) fn atlas(raw: &CheckedValues<'_>) -> Result<AtlasJob, ConfigError> {
    Ok(AtlasJob {
        input: raw.needed_path("catalogue")?,
        output: raw.path("output"),
        params: raw.params()?,
        launch: launch(raw)?,
        log: raw.path("log"),
    })
}
