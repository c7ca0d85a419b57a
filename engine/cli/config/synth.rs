//! `inselberg synth`, checked.

use super::ConfigError;
use super::launch::ranks;
use super::values::CheckedValues;
use crate::synth::{FieldKind, FieldParams, ParticleParams, SeriesParams, SeriesRules};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `inselberg synth field`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldJob {
    /// The folder of the output.
    pub output: PathBuf,
    /// Its content.
    pub params: FieldParams,
}

/// `inselberg synth particles`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticleJob {
    /// The .npy file.
    pub output: PathBuf,
    /// Its content.
    pub params: ParticleParams,
    /// Ranks as threads of this process.
    pub ranks: NonZeroUsize,
}

/// `inselberg synth series`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesJob {
    /// The folder.
    pub output: PathBuf,
    /// Its content.
    pub params: SeriesParams,
}

pub(super) fn field(raw: &CheckedValues<'_>) -> Result<FieldJob, ConfigError> {
    let output = raw.needed_path("output")?;
    let test_cells = raw.count_or_default("test-cells", |n| (1000..=1 << 40).contains(&n), "1000 to 1e12")?;
    let kind = match raw.text("kind").as_deref() {
        Some("lattice") => FieldKind::Lattice,
        Some("giant") => FieldKind::Giant,
        Some("chain") => FieldKind::Chain,
        _ => FieldKind::Clumps,
    };
    let levels = raw.text("levels").map(|text| levels(raw, &text)).transpose()?;
    let peaks = raw.count("peaks", |n| (1..=10_000_000).contains(&n), "1 to 1e7")?;
    let noise = |x| x == 0.0 || (10.0..=1e6).contains(&x);
    let cells_per_peak = raw.real_or_default("cells-per-peak", noise, "10 or more, or 0 for no noise")?;
    let params = FieldParams {
        kind,
        test_cells,
        levels,
        peaks,
        cells_per_peak,
        seed: raw.count_or_default("seed", |_| true, "")?,
    };
    Ok(FieldJob { output, params })
}

fn levels(raw: &CheckedValues<'_>, text: &str) -> Result<(u8, u8), ConfigError> {
    text.split_once(':')
        .and_then(|(min, max)| Some((min.trim().parse().ok()?, max.trim().parse().ok()?)))
        .filter(|&(min, max)| (1..=28).contains(&min) && (min..=28).contains(&max))
        .ok_or_else(|| raw.unfit("levels", text, "MIN:MAX with 1 <= MIN <= MAX <= 28"))
}

pub(super) fn particles(raw: &CheckedValues<'_>) -> Result<ParticleJob, ConfigError> {
    let output = raw.needed_path("output")?;
    if output.extension().is_none_or(|e| e != "npy") {
        return Err(raw.unfit("output", &output.display().to_string(), "a name that ends in .npy"));
    }
    let number = raw.count_or_default("number", |n| (1..=1 << 36).contains(&n), "1 to 6e10")?;
    let seed = raw.count_or_default("seed", |_| true, "")?;
    Ok(ParticleJob { output, params: ParticleParams { number, seed }, ranks: ranks(raw)? })
}

pub(super) fn series(raw: &CheckedValues<'_>) -> Result<SeriesJob, ConfigError> {
    let output = raw.needed_path("output")?;
    let outputs = raw.count_or_default("outputs", |n| (1..=9999).contains(&n), "1 to 9999")? as u32;
    let members = raw.count_or_default("members", |n| (1000..=1 << 32).contains(&n), "1000 to 4e9")?;
    let seed = raw.count_or_default("seed", |_| true, "")?;
    let rules = match raw.text("rules").as_deref() {
        Some("hard") => SeriesRules::Hard,
        _ => SeriesRules::Gentle,
    };
    Ok(SeriesJob { output, params: SeriesParams { outputs, members, seed, rules } })
}
