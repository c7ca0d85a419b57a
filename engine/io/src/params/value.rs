//! Values as texts.

use std::path::PathBuf;

/// A type whose values a text can give.
pub trait ParamValue: Sized {
    /// From a text; `None` if it is not such a value.
    fn from_text(text: &str) -> Option<Self>;

    /// As a text; `None` for a value that is not set.
    fn to_text(&self) -> Option<String>;
}

impl ParamValue for bool {
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl ParamValue for f64 {
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().filter(|x: &f64| x.is_finite())
    }

    fn to_text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

macro_rules! counts {
    ($($type:ty),*) => {$(
        impl ParamValue for $type {
            fn from_text(text: &str) -> Option<Self> {
                parse_count(text)?.try_into().ok()
            }

            fn to_text(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )*};
}

counts!(u64, usize, u8);

impl ParamValue for String {
    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn to_text(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl ParamValue for PathBuf {
    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn to_text(&self) -> Option<String> {
        Some(self.display().to_string())
    }
}

/// `none` is no value.
impl<T: ParamValue> ParamValue for Option<T> {
    fn from_text(text: &str) -> Option<Self> {
        if text == "none" { Some(None) } else { T::from_text(text).map(Some) }
    }

    fn to_text(&self) -> Option<String> {
        self.as_ref().and_then(T::to_text)
    }
}

/// A whole number, plain or as 2e7; exact, so at most 2^53 in the second form.
pub fn parse_count(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| {
        let x: f64 = text.parse().ok()?;
        let whole = x >= 0.0 && x.fract() == 0.0 && x <= (1u64 << 53) as f64;
        whole.then_some(x as u64)
    })
}

/// Number of particle types in a text of digits.
const N_TYPES: usize = crate::particles::N_KINDS;

/// Particle types: their numbers, or seven digits `0,1,0,0,0,0,0` in brackets or not.
impl ParamValue for Vec<u8> {
    fn from_text(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
        let digits: Option<Vec<bool>> = inner
            .split(',')
            .map(|word| match word.trim() {
                "0" => Some(false),
                "1" => Some(true),
                _ => None,
            })
            .collect();
        let digits = digits.filter(|digits| digits.len() == N_TYPES)?;
        Some((0..).zip(digits).filter(|(_, is_in)| *is_in).map(|(number, _)| number).collect())
    }

    fn to_text(&self) -> Option<String> {
        let digit = |number: u8| if self.contains(&number) { "1" } else { "0" };
        Some((0..N_TYPES as u8).map(digit).collect::<Vec<_>>().join(","))
    }
}

/// Declares the words of an enum that is a choice: `words!(Weights { TestCells = "test-cells", .. });`
#[macro_export]
macro_rules! words {
    ($type:ty { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $type {
            /// Its words in options and attributes.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Its word in options and attributes.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }

        impl $crate::params::ParamValue for $type {
            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn to_text(&self) -> Option<String> {
                Some(self.name().into())
            }
        }
    };
}
