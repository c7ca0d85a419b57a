//! Thresholds that several commands take.

use super::ConfigError;
use super::values::CheckedValues;
use inselberg::{FieldChoice, Persistence};

/// The ratio or difference that a peak needs, as far as options or defaults say.
pub(super) fn persistence(raw: &CheckedValues<'_>) -> Result<Option<Persistence>, ConfigError> {
    let ratio = raw.real("relevance-threshold", |x| x >= 0.0, "a finite ratio, 0 or more")?;
    let difference = raw.real("relevance-difference", |x| x >= 0.0, "a finite difference, 0 or more")?;
    match difference {
        Some(difference) if raw.is_written("relevance-threshold") => {
            let expected = "a relevance threshold or a relevance difference, not both";
            Err(raw.unfit("relevance-difference", &difference.to_string(), expected))
        }
        Some(difference) => Ok(Some(Persistence::Difference(difference))),
        None => Ok(ratio.map(Persistence::Ratio)),
    }
}

pub(super) const SIGNIFICANCE: &str = "a finite number of standard deviations, 0 or more";
pub(super) const MASS: &str = "a finite mass, 0 or more";
pub(super) const CELLS: &str = "a number of cells up to 1e18";

pub(super) fn is_number_of_cells(n: u64) -> bool {
    n <= 1_000_000_000_000_000_000
}
pub(super) const SADDLE: &str = "a finite number above 0, or to leave it out for no halo pass";

/// The density that a word of `--field` names.
pub(super) fn field_choice(text: &str) -> FieldChoice {
    match text {
        "auto" | "" => FieldChoice::Auto,
        "cic" => FieldChoice::Cic,
        "cic-ramses" => FieldChoice::CicRamses,
        "matter" => FieldChoice::Matter,
        name => FieldChoice::Named(name.into()),
    }
}
