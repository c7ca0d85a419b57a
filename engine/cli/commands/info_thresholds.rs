//! `inselberg info --thresholds`: suitable thresholds for a density, with their reasons.

use super::fault::{CommandError, warn};
use super::grouped::grouped;
use super::memory;
use crate::report::four_digits;
use inselberg::executor::Executor;
use inselberg::phew::defaults;
use inselberg::phew::distribution::{AboveDensity, DensityDistribution, distribution};
use inselberg::phew::run::ChosenField;
use inselberg::{FieldChoice, Rules};
use inselberg_comm::Comm;
use inselberg_io::{Header, Snapshot};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Multiples of the mean matter density, in cosmological runs.
const COSMOLOGICAL: [(f64, &str); 2] = [
    (defaults::DENSITY.value, "the default density threshold for haloes in cosmological runs"),
    (defaults::SADDLE.value, "the default saddle threshold there, about that of virialised haloes"),
];
/// Multiples of the mean of the box, in other runs.
const OF_THE_MEAN: [(f64, &str); 2] = [
    (10.0, "10 times the mean of the box: well above the surroundings"),
    (100.0, "100 times the mean of the box"),
];
/// Parts of the mass.
const OF_MASS: [(f64, &str); 3] = [
    (0.5, "half of the mass is denser"),
    (0.1, "a tenth of the mass is denser"),
    (0.01, "a hundredth of the mass is denser"),
];
/// Parts of the volume.
const OF_VOLUME: [(f64, &str); 2] =
    [(0.01, "a hundredth of the volume is denser"), (0.001, "a thousandth of the volume is denser")];

/// The density of a snapshot and thresholds for it.
pub struct ThresholdAdvice {
    /// The density.
    pub field: ChosenField,
    /// Its distribution.
    pub distribution: DensityDistribution,
    rows: Vec<(AboveDensity, &'static str)>,
    relevance: (f64, &'static str),
}

impl ThresholdAdvice {
    /// Reads the density of an output with `octs` octs.
    pub fn read(
        input: &Path,
        field: (&FieldChoice, Rules),
        snapshot: &dyn Snapshot,
        octs: u64,
        is_quiet: bool,
    ) -> Result<Self, CommandError> {
        memory::check_octs(input.display(), octs, 1)?;
        let (field, distribution) = distribution(snapshot, field, &Comm::solo(), &Executor::default())
            .map_err(|error| CommandError::of_input(input, &error))?;
        let above = distribution.above();
        if above.is_empty() && !is_quiet {
            warn(format!("{}: no leaf of {} is denser than 0", input.display(), field.field.name));
        }
        let rows = rows(&above, snapshot.header(), distribution.mean());
        let relevance = match field.field.family {
            "hydro" => (1.5, "the PHEW paper's for gas; RAMSES's default is 2"),
            _ => (3.0, "suits densities from particles, which are noisy; RAMSES's default is 2"),
        };
        Ok(Self { field, distribution, rows, relevance })
    }

    /// The suggested densities by rising density, each with its reason, in one line.
    pub fn sentence(&self) -> String {
        let row = |(row, why): &(AboveDensity, &str)| format!("{} ({why})", four_digits(row.density));
        self.rows.iter().map(row).collect::<Vec<_>>().join(", ")
    }

    /// A table, one threshold per line.
    pub fn text(&self) -> String {
        let mut text = format!("\nthresholds for {} (code units)\n", self.field.field.name);
        let _ =
            writeln!(text, "{:>12} {:>10} {:>10} {:>16}   why", "density", "volume", "mass", "cells above");
        for (row, why) in &self.rows {
            let [volume, mass] = [row.volume, row.mass].map(|part| format!("{:.4} %", 100.0 * part));
            let cells = grouped(row.cells);
            let _ = writeln!(
                text,
                "{:>12} {volume:>10} {mass:>10} {cells:>16}   {why}",
                four_digits(row.density)
            );
        }
        let _ = writeln!(text, "relevance: {}, {}", self.relevance.0, self.relevance.1);
        text += "saddle: at least the density threshold; without it every clump is its own halo\n";
        text
    }

    /// The same with numbers.
    pub fn json(&self) -> Value {
        let row = |(row, why): &(AboveDensity, &str)| {
            json!({
                "density": row.density, "volume_above": row.volume, "mass_above": row.mass,
                "cells_above": row.cells, "reason": why,
            })
        };
        json!({
            "field": self.field.field.name,
            "family": self.field.field.family,
            "mean": self.distribution.mean(),
            "density": self.rows.iter().map(row).collect::<Value>(),
            "relevance": {"ratio": self.relevance.0, "reason": self.relevance.1},
        })
    }
}

/// By rising density.
fn rows(above: &[AboveDensity], header: &Header, mean: f64) -> Vec<(AboveDensity, &'static str)> {
    let (unit, multiples) = match header.is_in_mean_densities() {
        true => (1.0, COSMOLOGICAL),
        false => (mean, OF_THE_MEAN),
    };
    let mut rows: Vec<_> =
        multiples.iter().filter_map(|(factor, why)| Some((at(above, factor * unit)?, *why))).collect();
    // Rows fall in density, so these parts grow.
    let part = |of: fn(&AboveDensity) -> f64, part: f64| above.iter().find(|row| of(row) >= part).copied();
    rows.extend(OF_MASS.iter().filter_map(|(mass, why)| Some((part(|row| row.mass, *mass)?, *why))));
    rows.extend(OF_VOLUME.iter().filter_map(|(volume, why)| Some((part(|row| row.volume, *volume)?, *why))));
    rows.sort_by(|a, b| a.0.density.total_cmp(&b.0.density));
    rows
}

/// The leaves above a density; `None` if there are none.
fn at(above: &[AboveDensity], density: f64) -> Option<AboveDensity> {
    let row = above.iter().take_while(|row| row.density >= density).last()?;
    Some(AboveDensity { density, ..*row })
}
