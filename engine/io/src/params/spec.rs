//! What is declared of a parameter beside its name and documentation.

use super::{Measure, ParamKind, ParamValue, Parameter, Topic};
use std::path::PathBuf;

/// Sets a value from a text, if the text is one and that fits. Whether it does.
pub type SetFromText<T> = fn(&mut T, &str, fn(&T) -> bool) -> bool;

/// The declaration of a parameter of type `T`.
#[derive(Clone, Copy)]
pub struct ParamSpec<T: 'static> {
    about: Parameter,
    /// Sets a value from a text, if that suits.
    pub set: SetFromText<T>,
    /// The value as a text.
    pub get: fn(&T) -> Option<String>,
    /// Whether a value is in range.
    pub fits: fn(&T) -> bool,
}

impl<T: ParamValue> ParamSpec<T> {
    const fn new(
        kind: ParamKind,
        default: &'static str,
        fits: fn(&T) -> bool,
        expected: &'static str,
    ) -> Self {
        Self { about: about(kind, default, expected), set: assign_text, get: T::to_text, fits }
    }
}

const fn about(kind: ParamKind, default: &'static str, expected: &'static str) -> Parameter {
    let (key, alias, instead_of, example, doc) = ("", "", "", "", "");
    let (measure, topic) = (None, Topic::Search);
    Parameter { key, alias, instead_of, kind, measure, default, example, topic, expected, doc }
}

impl<T> ParamSpec<T> {
    /// With this example.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { about: Parameter { example, ..self.about }, ..self }
    }

    /// With numbers that may have a unit.
    #[must_use]
    pub const fn measured(self, measure: Measure) -> Self {
        Self { about: Parameter { measure: Some(measure), ..self.about }, ..self }
    }

    /// With a topic.
    #[must_use]
    pub const fn topic(self, topic: Topic) -> Self {
        Self { about: Parameter { topic, ..self.about }, ..self }
    }

    /// With the name that another program has for it.
    #[must_use]
    pub const fn alias(self, alias: &'static str) -> Self {
        Self { about: Parameter { alias, ..self.about }, ..self }
    }

    /// An alternative to the parameter `key`.
    #[must_use]
    pub const fn instead_of(self, key: &'static str) -> Self {
        Self { about: Parameter { instead_of: key, ..self.about }, ..self }
    }

    /// The parameter with its key and its documentation.
    pub const fn about(self, key: &'static str, doc: &'static str) -> Parameter {
        Parameter { key, doc, ..self.about }
    }
}

/// Sets `slot`, if `text` is a value that fits.
fn assign_text<T: ParamValue>(slot: &mut T, text: &str, fits: fn(&T) -> bool) -> bool {
    assign(slot, T::from_text(text).filter(fits))
}

/// Sets `slot` to a value, if there is one. Whether there is.
pub fn assign<T>(slot: &mut T, value: Option<T>) -> bool {
    let is_given = value.is_some();
    value.into_iter().for_each(|value| *slot = value);
    is_given
}

/// A switch. One that is on by default is switched off on the command line, by `--no-KEY`.
pub const fn flag(default: &'static str) -> ParamSpec<bool> {
    ParamSpec::new(ParamKind::Flag, default, |_| true, "true or false")
}

/// A real number, or an optional one.
pub const fn real<T: ParamValue>(
    default: &'static str,
    fits: fn(&T) -> bool,
    expected: &'static str,
) -> ParamSpec<T> {
    ParamSpec::new(ParamKind::Real, default, fits, expected)
}

/// A count.
pub const fn count<T: ParamValue>(
    default: &'static str,
    fits: fn(&T) -> bool,
    expected: &'static str,
) -> ParamSpec<T> {
    ParamSpec::new(ParamKind::Count, default, fits, expected)
}

/// One of these words.
pub const fn choice<T: ParamValue>(
    default: &'static str,
    words: &'static [&'static str],
    expected: &'static str,
) -> ParamSpec<T> {
    ParamSpec::new(ParamKind::Choice(words), default, |_| true, expected)
}

/// A text, shown as `shown` in the help.
pub const fn text<T: ParamValue>(
    default: &'static str,
    shown: &'static str,
    expected: &'static str,
) -> ParamSpec<T> {
    ParamSpec::new(ParamKind::Text(shown), default, |_| true, expected)
}

/// A file; unset by default.
pub const fn path(expected: &'static str) -> ParamSpec<Option<PathBuf>> {
    ParamSpec::new(ParamKind::Path, "", |_| true, expected)
}

/// Particle types, at least one of them.
pub const fn types(default: &'static str) -> ParamSpec<Vec<u8>> {
    ParamSpec::new(ParamKind::Types, default, |types| !types.is_empty(), "at least one kind of particles")
}

/// Particle types, or none; unset by default.
pub const fn any_types(default: &'static str) -> ParamSpec<Option<Vec<u8>>> {
    ParamSpec::new(ParamKind::Types, default, |_| true, "7 times 0 or 1, as in 0,1,0,0,0,0,0")
}

/// A parameter that several fields make together, or one of several of a field. `set` says whether a text
/// suits.
pub const fn of_whole<T>(
    kind: ParamKind,
    default: &'static str,
    set: SetFromText<T>,
    get: fn(&T) -> Option<String>,
    expected: &'static str,
) -> ParamSpec<T> {
    ParamSpec { about: about(kind, default, expected), set, get, fits: |_| true }
}
