//! The program `inselberg`: options, commands, progress, summaries, pictures, scaling studies, placement and
//! synthetic inputs.
//!
//! Only [`commands`] prints, exits or reads the environment. The library `inselberg` does the work.

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]

pub mod commands;
pub mod config;
pub mod huge_pages;
pub mod report;
pub mod scaling;
pub mod synth;
pub mod topology;
