//! `inselberg info --thresholds`: suitable thresholds for a density, with their reasons.

use super::fault::{CommandError, warn};
use super::grouped::grouped;
use super::memory;
use crate::report::four_digits;
use inselberg::executor::Executor;
use inselberg::phew::defaults;
use inselberg::phew::distribution::{AboveDensity, DensityDistribution, distribution};
use inselberg::phew::run::ChosenField;
use inselberg::{
    Attribute, DensityUnit, Engine, FieldChoice, InputDefaults, OpenParticles, ParticleMeshParams,
    PhewParams, Rules,
};
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::particles::read_particle_headers_with;
use inselberg_kernels::geom::cell_side;
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

/// A density that all cells with particles exceed, in units of the mean.
const LOWEST: f64 = 1e-9;

fn level_of(level: i64) -> u8 {
    u8::try_from(level).expect("levels are small")
}

/// Adds what the listed cells leave of the box: empty ones.
fn add_empty(distribution: &mut DensityDistribution, levels: &[i64]) {
    // A mesh of particles has one cell of level 0.
    let volume = |level: i64| cell_side(level_of(level)).powi(3);
    let mut rest = 1.0 - levels.iter().map(|level| volume(*level)).sum::<f64>();
    let (Some(first), Some(last)) = (levels.iter().min(), levels.iter().max()) else { return };
    for level in *first..=*last {
        let n = (rest / volume(level) + 1e-6).max(0.0) as u64;
        rest -= n as f64 * volume(level);
        (0..n).for_each(|_| distribution.add(level_of(level), 0.0));
    }
}

/// The density of a snapshot and thresholds for it.
pub struct ThresholdAdvice {
    /// The density.
    pub field: ChosenField,
    /// Its distribution.
    pub distribution: DensityDistribution,
    rows: Vec<(AboveDensity, &'static str)>,
    relevance: (f64, &'static str),
    /// The unit of densities.
    unit: &'static str,
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
        let (unit, multiples) = match snapshot.header().is_in_mean_densities() {
            true => (1.0, COSMOLOGICAL),
            false => (distribution.mean(), OF_THE_MEAN),
        };
        let rows = rows(&above, unit, &multiples);
        let relevance = match field.field.family {
            "hydro" => (1.5, "the PHEW paper's for gas; RAMSES's default is 2"),
            _ => (3.0, "suits densities from particles, which are noisy; RAMSES's default is 2"),
        };
        Ok(Self { field, distribution, rows, relevance, unit: "code units" })
    }

    /// Makes the mesh of the particles in a file, as `phew` does it, and reads its density.
    pub fn of_particles(input: &Path) -> Result<Self, CommandError> {
        let failed = |error: inselberg::Error| CommandError::of_call(input, &error);
        let facts = read_particle_headers_with(&[input.to_path_buf()], &InputDefaults::default())?;
        let particles = OpenParticles::from_headers(facts);
        if particles.reader().about().sides.is_none() {
            let expected = "a snapshot that states its box for --thresholds and --plot";
            return Err(CommandError::about(input, format!("no side of the box; expected {expected}")));
        }
        let engine = Engine::builder().threads(rayon::current_num_threads());
        // Cells at or below the threshold are not listed.
        let params = PhewParams::default().density(LOWEST).with_cells(true);
        let mesh = ParticleMeshParams::default();
        let found = engine.build().and_then(|mut engine| engine.phew_particles(&particles, &mesh, &params));
        let found = found.map_err(failed)?;
        let mean = found.attributes().iter().find_map(|(name, value)| match value {
            Attribute::Real(mean) if name == "mean_density" => Some(*mean),
            _ => None,
        });
        let (mean, cells) = (
            mean.expect("a mesh of particles has a mean"),
            found.table("cells").expect("cells were asked for"),
        );
        let levels = cells.integers("level").expect("cells have levels");
        let densities = cells.reals("density").expect("cells have densities");
        let mut distribution = DensityDistribution::default();
        for (level, density) in levels.iter().zip(densities) {
            distribution.add(level_of(*level), density / mean);
        }
        add_empty(&mut distribution, &levels);
        let thresholds = found.thresholds();
        let (unit, multiples) = match thresholds.unit {
            DensityUnit::MeanMatter => ("times the mean matter density", COSMOLOGICAL),
            _ => ("times the mean density of the particles", OF_THE_MEAN),
        };
        let rows = rows(&distribution.above(), 1.0, &multiples);
        let relevance = (
            thresholds.persistence.value.threshold(),
            "the default for a mesh of particles, where the significance of peaks identifies noise",
        );
        let field = found.field().expect("a mesh has a field").clone();
        Ok(Self { field, distribution, rows, relevance, unit })
    }

    /// The suggested densities by rising density, each with its reason, in one line.
    pub fn sentence(&self) -> String {
        let row = |(row, why): &(AboveDensity, &str)| format!("{} ({why})", four_digits(row.density));
        self.rows.iter().map(row).collect::<Vec<_>>().join(", ")
    }

    /// A table, one threshold per line.
    pub fn text(&self) -> String {
        let mut text = format!("\nthresholds for {} ({})\n", self.field.field.name, self.unit);
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
            "unit": self.unit,
            "density": self.rows.iter().map(row).collect::<Value>(),
            "relevance": {"ratio": self.relevance.0, "reason": self.relevance.1},
        })
    }
}

/// By rising density.
fn rows(
    above: &[AboveDensity],
    unit: f64,
    multiples: &[(f64, &'static str)],
) -> Vec<(AboveDensity, &'static str)> {
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
