//! Typed access to the values of a raw configuration.

use super::{CommandInfo, ConfigError, Origin, RawConfig, RawValue};
use inselberg_io::params::{Measure, Quantity};
use std::path::PathBuf;

/// Typed access to a raw configuration, with errors that name the option.
pub(super) struct CheckedValues<'a> {
    pub(super) raw: &'a RawConfig,
}

impl CheckedValues<'_> {
    pub(super) fn switch(&self, name: &str) -> bool {
        matches!(self.raw.get(name), Some((RawValue::Flag(true), _)))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.raw.get(name)? {
            (RawValue::Text(text), _) => Some(text),
            _ => None,
        }
    }

    /// The text of an option with a default.
    pub(super) fn text_or_default(&self, name: &str) -> String {
        self.text(name).unwrap_or_else(|| panic!("the option {name} has a default"))
    }

    /// The number of an option with a default.
    pub(super) fn real_or_default(
        &self,
        name: &str,
        fits: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<f64, ConfigError> {
        Ok(self.real(name, fits, expected)?.unwrap_or_else(|| panic!("the option {name} has a default")))
    }

    /// The count of an option with a default.
    pub(super) fn count_or_default(
        &self,
        name: &str,
        fits: impl Fn(u64) -> bool,
        expected: &str,
    ) -> Result<u64, ConfigError> {
        Ok(self.count(name, fits, expected)?.unwrap_or_else(|| panic!("the option {name} has a default")))
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        match self.raw.get(name)? {
            (RawValue::Path(path), _) => Some(path),
            _ => None,
        }
    }

    pub(super) fn needed_path(&self, name: &str) -> Result<PathBuf, ConfigError> {
        self.path(name).ok_or_else(|| self.missing(name))
    }

    /// The path or paths of an option.
    pub(super) fn paths(&self, name: &str) -> Vec<PathBuf> {
        match self.raw.get(name) {
            Some((RawValue::Paths(paths), _)) => paths,
            Some((RawValue::Path(path), _)) => vec![path],
            _ => Vec::new(),
        }
    }

    /// Whether an option was given at all.
    pub(super) fn is_written(&self, name: &str) -> bool {
        matches!(self.raw.get(name), Some((_, Origin::Flag(_) | Origin::File(..))))
    }

    /// Whether an option was given on the command line.
    pub(super) fn is_flag(&self, name: &str) -> bool {
        matches!(self.raw.get(name), Some((_, Origin::Flag(_))))
    }

    /// The value of an option as it would be typed.
    pub(super) fn shown(&self, name: &str) -> String {
        match self.raw.get(name) {
            Some((RawValue::Kinds(kinds), _)) => kinds.map(|k| if k { "1" } else { "0" }).join(","),
            Some((RawValue::Count(n), _)) => n.to_string(),
            Some((RawValue::Real(x), _)) => x.to_string(),
            Some((RawValue::Text(text), _)) => text,
            Some((RawValue::Path(path), _)) => path.display().to_string(),
            _ => String::new(),
        }
    }

    pub(super) fn real(
        &self,
        name: &str,
        fits: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<Option<f64>, ConfigError> {
        match self.raw.get(name) {
            Some((RawValue::Real(x), _)) if x.is_finite() && fits(x) => Ok(Some(x)),
            Some((RawValue::Real(x), _)) => Err(self.unfit(name, &x.to_string(), expected)),
            _ => Ok(None),
        }
    }

    /// A density that may have a unit.
    pub(super) fn density(
        &self,
        name: &str,
        fits: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<Option<Quantity>, ConfigError> {
        let Some(text) = self.raw.get(name).map(|_| self.shown(name)) else { return Ok(None) };
        match text.parse() {
            Ok(of @ Quantity { value, unit }) if unit.fits(&Measure::DENSITY) && fits(value) => Ok(Some(of)),
            _ => Err(self.unfit(name, &text, expected)),
        }
    }

    pub(super) fn count(
        &self,
        name: &str,
        fits: impl Fn(u64) -> bool,
        expected: &str,
    ) -> Result<Option<u64>, ConfigError> {
        match self.raw.get(name) {
            Some((RawValue::Count(n), _)) if fits(n) => Ok(Some(n)),
            Some((RawValue::Count(n), _)) => Err(self.unfit(name, &n.to_string(), expected)),
            _ => Ok(None),
        }
    }

    /// The file of the picture, if requested.
    pub(super) fn plot(&self) -> Result<Option<PathBuf>, ConfigError> {
        let Some(path) = self.path("plot") else { return Ok(None) };
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_lowercase);
        match ending.as_deref() {
            Some("png" | "svg") => Ok(Some(path)),
            _ => Err(self.unfit("plot", &path.display().to_string(), "a name that ends in .png or .svg")),
        }
    }

    pub(super) fn unfit(&self, name: &str, value: &str, expected: &str) -> ConfigError {
        let opt = self.raw.option(name);
        let origin = self.raw.get(name).map_or(Origin::Default(opt.name), |(_, origin)| origin);
        ConfigError::Value { origin, option: opt.name, value: value.into(), expected: expected.into() }
    }

    pub(super) fn conflict(&self, name: &str, other: &str) -> ConfigError {
        let option = self.raw.option(name).name;
        let origin = self.raw.get(name).map_or(Origin::Default(option), |(_, origin)| origin);
        ConfigError::Conflict { origin, option, other: other.into() }
    }

    pub(super) fn missing(&self, name: &str) -> ConfigError {
        let opt = self.raw.option(name);
        let info = CommandInfo::of(self.raw.command());
        let (command, table) = (info.words.join(" "), info.table);
        let article = if opt.name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let what = format!("{article} {}", opt.name.replace('-', " "));
        let how = format!("{} or `{}` under [{table}] of a --config file", opt.label(), opt.key);
        ConfigError::Missing { command, what, how }
    }
}
