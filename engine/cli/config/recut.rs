//! `inselberg recut`, checked.

use super::ConfigError;
use super::thresholds::{CELLS, MASS, SIGNIFICANCE, is_number_of_cells, persistence};
use super::values::CheckedValues;
use super::void_options::RADIUS;
use inselberg::Persistence;
use inselberg::phew::recut::NewThresholds;
use inselberg::voids::NewVoidThresholds;
use std::path::PathBuf;

/// `inselberg recut`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RecutJob {
    /// The catalogue with the tree.
    pub input: PathBuf,
    /// The new catalogue.
    pub output: PathBuf,
    /// The new thresholds of a catalogue of clumps.
    pub thresholds: NewThresholds,
    /// The new thresholds of a catalogue of voids.
    pub of_voids: NewVoidThresholds,
    /// An option given that catalogues of clumps do not have.
    pub for_voids: Option<&'static str>,
    /// An option given that catalogues of voids do not have.
    pub for_clumps: Option<&'static str>,
}

pub(super) fn recut(raw: &CheckedValues<'_>) -> Result<RecutJob, ConfigError> {
    let saddle = "a finite number above 0, or to leave it out for the catalogue's own";
    let persistence = persistence(raw)?;
    let given = |names: &[&'static str]| names.iter().find(|name| raw.is_written(name)).copied();
    Ok(RecutJob {
        input: raw.needed_path("catalogue")?,
        output: raw.needed_path("output")?,
        thresholds: NewThresholds {
            persistence,
            significance: raw.real("significance-threshold", |x| x >= 0.0, SIGNIFICANCE)?,
            saddle: raw.real("saddle-threshold", |x| x > 0.0, saddle)?,
            mass: raw.real("mass-threshold", |x| x >= 0.0, MASS)?,
            min_cells: raw.count("min-cells", is_number_of_cells, CELLS)?,
        },
        of_voids: NewVoidThresholds {
            relevance: persistence.filter(|of| !of.is_difference()).map(Persistence::threshold),
            wall: raw.real("wall-threshold", |x| x > 0.0, saddle)?,
            radius: raw.real("min-radius", |x| x >= 0.0, RADIUS)?,
            min_particles: raw.count("min-particles", |_| true, "a number of particles")?,
        },
        for_voids: given(&["wall-threshold", "min-radius", "min-particles"]),
        for_clumps: given(&[
            "relevance-difference",
            "significance-threshold",
            "saddle-threshold",
            "mass-threshold",
            "min-cells",
        ]),
    })
}
