//! The declaration of a struct of parameters.

/// Declares a struct, its defaults, a setter per field, and its rows of parameters.
///
/// A field has documentation, a type, a default, and, if doors have it, a key with a
/// [`ParamSpec`](crate::params::ParamSpec). `measured in` names the field for values with units that wait for
/// those of the input. `with` names fields that are structs of parameters of their own. `also` has parameters
/// that several fields make together.
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident of $subject:literal $(measured in $quantities:ident)? {
            $(
                $(#[doc = $doc:literal])*
                $(#[doc($hidden:ident)])?
                $vis:vis $field:ident: $type:ident $(<$inner:ty>)? = $default:expr $(, $key:literal = $spec:expr)?;
            )*
        }
        $(with { $($(#[doc = $part_doc:literal])* $part:ident: $part_type:ty),* $(,)? })?
        $(also { $($(#[doc = $row_doc:literal])* $row_key:literal = $row_spec:expr;)* })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])* $(#[doc($hidden)])? $vis $field: $type$(<$inner>)?,)*
            $($($(#[doc = $part_doc])* pub $part: $part_type,)*)?
            $(
                /// Values with units that wait for those of the input.
                #[doc(hidden)]
                pub $quantities: $crate::params::Quantities,
            )?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($part: Default::default(),)*)?
                    $($quantities: Default::default(),)?
                }
            }
        }

        impl $name {
            $(
                $(#[doc = $doc])*
                $(#[doc($hidden)])?
                #[must_use]
                $vis fn $field(self, $field: $crate::param_given!($type $(<$inner>)?)) -> Self {
                    Self { $field: $crate::param_value!($field: $type $(<$inner>)?), ..self }
                }
            )*
            $($(
                $(#[doc = $part_doc])*
                #[must_use]
                pub fn $part(self, $part: $part_type) -> Self {
                    Self { $part, ..self }
                }
            )*)?
        }

        impl $name {
            #[allow(unused_imports, unused_mut, clippy::vec_init_then_push)]
            fn rows() -> Vec<$crate::params::ParamRow<Self>> {
                use $crate::params::*;
                let mut rows: Vec<ParamRow<Self>> = Vec::new();
                $($crate::param_row!(rows, $field: ($type $(<$inner>)?), [$($doc)*] $(, $key = $spec)?);)*
                $($({
                    const SPEC: ParamSpec<$name> = $row_spec;
                    rows.push(ParamRow {
                        about: SPEC.about($row_key, concat!($($row_doc, "\n",)*)),
                        set: |params, text| (SPEC.set)(params, text, SPEC.fits),
                        get: |params| (SPEC.get)(params),
                    });
                })*)?
                rows
            }
        }

        impl $crate::params::Params for $name {
            fn subject(&self) -> &'static str {
                $subject
            }

            #[allow(unused_mut)]
            fn parameters(&self) -> Vec<$crate::params::Parameter> {
                let mut all: Vec<_> = Self::rows().into_iter().map(|row| row.about).collect();
                $($(all.extend(self.$part.parameters());)*)?
                all
            }

            $(
                fn quantities(&mut self) -> Option<&mut $crate::params::Quantities> {
                    Some(&mut self.$quantities)
                }
            )?

            fn set(&mut self, key: &str, value: &str) -> Result<(), $crate::params::ParamError> {
                $(
                    let all = self.parameters();
                    if self.$quantities.keep(&all, key, value)? {
                        return Ok(());
                    }
                )?
                $($(if self.$part.parameters().iter().any(|about| about.key == key) {
                    return self.$part.set(key, value);
                })*)?
                $crate::params::set_row(&Self::rows(), self, key, value)
            }

            fn get(&self, key: &str) -> Option<String> {
                $(
                    if let Some(text) = self.$quantities.get(key) {
                        return Some(text);
                    }
                )?
                let own = Self::rows().into_iter().find(|row| row.about.key == key);
                own.and_then(|row| (row.get)(self))$($(.or_else(|| self.$part.get(key)))*)?
            }
        }
    };
}

/// What the setter of a field takes: the value of an option, a slice for a list.
#[doc(hidden)]
#[macro_export]
macro_rules! param_given {
    (Option<$type:ty>) => {
        $type
    };
    (Vec<$type:ty>) => {
        &[$type]
    };
    ($type:ty) => {
        $type
    };
}

/// The value of a field from what its setter takes.
#[doc(hidden)]
#[macro_export]
macro_rules! param_value {
    ($given:ident: Option<$type:ty>) => {
        Some($given)
    };
    ($given:ident: Vec<$type:ty>) => {
        $given.to_vec()
    };
    ($given:ident: $type:ty) => {
        $given
    };
}

/// The row of a field, if it has a key.
#[doc(hidden)]
#[macro_export]
macro_rules! param_row {
    ($rows:ident, $field:ident: ($type:ty), [$($doc:literal)*]) => {};
    ($rows:ident, $field:ident: ($type:ty), [$($doc:literal)*], $key:literal = $spec:expr) => {{
        const SPEC: ParamSpec<$type> = $spec;
        $rows.push(ParamRow {
            about: SPEC.about($key, concat!($($doc, "\n",)*)),
            set: |params, text| (SPEC.set)(&mut params.$field, text, SPEC.fits),
            get: |params| (SPEC.get)(&params.$field),
        });
    }};
}

use super::scale::without_units;
use super::{ParamError, ParamRow, Params};

/// Sets the parameter of one of these rows.
///
/// # Errors
/// As [`Params::set`].
#[doc(hidden)]
pub fn set_row<P: Params>(
    rows: &[ParamRow<P>],
    params: &mut P,
    key: &str,
    value: &str,
) -> Result<(), ParamError> {
    let Some(row) = rows.iter().find(|row| row.about.key == key) else {
        let known = params.parameters().into_iter().map(|about| about.key).collect();
        return Err(ParamError::Unknown { key: key.into(), known });
    };
    match (row.set)(params, &without_units(&row.about, value)?) {
        true => Ok(()),
        false => Err(ParamError::value(row.about.key, value, row.about.expected)),
    }
}
