//! Where the command line meets the engine: one thin function a meeting.

use super::fault::Failure;
use inselberg::catalogue::Catalogue;
use inselberg::config::RecutThresholds;
use inselberg::io::Snapshot;
use inselberg::phew::PhewConfig;
use std::path::Path;

/// What a PHEW run leaves.
pub struct Outcome {
    /// The catalogue.
    pub catalogue: Catalogue,
}

/// Runs PHEW; a bar a stage on stderr if `progress`.
pub fn segment(_: &dyn Snapshot, _: &PhewConfig, _progress: bool) -> Result<Outcome, Failure> {
    Err(absent("phew"))
}

/// New thresholds on the tree of `catalogue`.
pub fn recut(_catalogue: &Catalogue, _: &RecutThresholds) -> Result<Catalogue, Failure> {
    Err(absent("recut"))
}

/// That a catalogue can be written at `path`, its ending included.
pub fn check_catalogue(path: &Path) -> Result<(), Failure> {
    super::preflight::file(path)
}

/// Writes a catalogue in the format of its ending.
pub fn write_catalogue(_path: &Path, _: &Catalogue) -> Result<(), Failure> {
    Err(absent("writing catalogues"))
}

/// Reads a catalogue.
pub fn read_catalogue(path: &Path) -> Result<Catalogue, Failure> {
    std::fs::metadata(path).map_err(|e| Failure::user(format!("{}: opening: {e}", path.display())))?;
    Err(absent("reading catalogues"))
}

/// Writes RAMSES's clump and halo files for output `number`.
pub fn write_ramses_text(_folder: &Path, _: &Catalogue, _number: u32) -> Result<(), Failure> {
    Err(absent("RAMSES text"))
}

/// Draws the picture.
pub fn draw(_path: &Path, _: &dyn Snapshot, _: &Outcome) -> Result<(), Failure> {
    Err(absent("plots"))
}

/// The table at the end of a run.
pub fn summary_text(_: &Outcome) -> String {
    String::new()
}

/// The same for machines.
pub fn summary_json(_: &Outcome) -> serde_json::Value {
    serde_json::Value::Null
}

/// What is in a catalogue, for a person.
pub fn describe(catalogue: &Catalogue) -> String {
    let rows = catalogue.tables.iter().map(|t| format!("{}: {} rows", t.name, t.n_rows()));
    rows.collect::<Vec<_>>().join("\n")
}

/// The same for machines.
pub fn describe_json(catalogue: &Catalogue) -> serde_json::Value {
    let rows = catalogue.tables.iter().map(|t| (t.name.clone(), t.n_rows().into()));
    serde_json::Value::Object(rows.collect())
}

/// Writes `snapshot` as a RAMSES output into `folder`.
pub fn write_ramses_output(_folder: &Path, _: &dyn Snapshot) -> Result<(), Failure> {
    Err(absent("writing RAMSES outputs"))
}

fn absent(what: &str) -> Failure {
    Failure::user(format!("{what}: not in this build"))
}
