//! How do C and Fortran programs call the library?
//!
//! A door over the crate `inselberg`, without algorithms of its own. `include/inselberg.h` describes each function for its
//! callers; it is generated from [`abi`], [`box_of`] and [`given`].
//!
//! ```text
//!   C, Fortran ── abi ── handle ── inselberg::Engine
//!                  │       ├── options   keys and values
//!                  │       ├── fields    columns by name
//!                  │       └── views     tables, column by column
//!                  └── given   columns and structs in the caller's memory
//! ```
//!
//! Only [`abi`] and [`given`] read or write the caller's memory.

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]

pub mod abi;
pub mod box_of;
mod fields;
pub mod given;
mod handle;
mod message;
mod options;
mod views;
