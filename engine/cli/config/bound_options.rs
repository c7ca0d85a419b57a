//! Options of bound particles that `phew` and `fof` share.

use super::ConfigError;
use super::values::CheckedValues;
use inselberg::PotentialChoice;
use inselberg::bound::PropertyWords;

/// How potentials are computed.
pub(super) fn potential(raw: &CheckedValues<'_>) -> PotentialChoice {
    match raw.text_or_default("potential").as_str() {
        "spherical" => PotentialChoice::Spherical,
        "ramses" => PotentialChoice::Ramses,
        _ => PotentialChoice::Tree,
    }
}

/// The words of `--properties`, as far as options or defaults say.
pub(super) fn property_words(raw: &CheckedValues<'_>) -> Result<Option<PropertyWords>, ConfigError> {
    let Some(text) = raw.text("properties") else { return Ok(None) };
    match text.parse() {
        Ok(words) => Ok(Some(words)),
        Err(_) => Err(raw.unfit("properties", &text, PropertyWords::EXPECTED)),
    }
}
