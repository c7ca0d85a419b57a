//! How do C and Fortran programs call the library?
//!
//! A C interface to the crate `inselberg`, without algorithms of its own. `include/inselberg.h` describes
//! each function for its callers; it is generated from [`abi`], [`abi_results`], [`abi_trees`], [`box_of`] and
//! [`given`].
//!
//! ```text
//!   C, Fortran ── abi ── handle ── inselberg::Engine
//!                  │       ├── options   keys and values
//!                  │       ├── fields    columns by name
//!                  │       ├── turns     one call at a time
//!                  │       └── views     tables, column by column: abi_results shows them
//!                  └── given   columns and structs in the caller's memory
//!
//!   C, Fortran ── abi_trees ── tree ── inselberg::MergerTree
//! ```
//!
//! Only [`abi`], [`abi_results`], [`abi_trees`] and [`given`] read or write the caller's memory.

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]

pub mod abi;
pub mod abi_results;
pub mod abi_trees;
pub mod box_of;
mod fields;
pub mod given;
mod handle;
mod message;
mod options;
mod tree;
mod turns;
mod views;
