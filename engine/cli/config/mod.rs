//! What a user asked for: how do I add an option, and where does a bad value become an error?
//!
//! [`OPTIONS`] is one ordered table. The command line, the keys of the configuration file, `--help`
//! and `configs/reference.toml` all come from it. What was written is a [`RawConfig`]; what was
//! checked is a [`Job`], and only [`check`] makes one.
//!
//! To add an option: a row in [`OPTIONS`] (`options.rs`), a field of the checked type and the line in `checked.rs`
//! that fills it; then `inselberg options --reference > configs/reference.toml`.
//!
//! Architecture invariant: nothing here touches a file except [`config_text`], and nothing
//! here knows of the command-line parser.

mod checked;
mod command;
mod error;
mod fof;
mod launch;
mod nearest;
mod opt;
mod options;
mod particle_options;
mod raw;
mod reference;
mod study;
mod study_options;
mod synth_options;

pub use checked::{
    CommandJob, Common, FieldJob, InfoJob, Job, ParticleJob, PhewJob, RecutJob, TopologyJob, check,
};
pub use command::{COMMANDS, Command, CommandInfo};
pub use error::ConfigError;
pub use fof::FofJob;
pub use launch::Launch;
pub use nearest::nearest;
pub use opt::{Opt, OptionKind};
pub use options::{OPTIONS, options_of, passed_on};
pub use raw::{Origin, RawConfig, RawValue, config_text};
pub use reference::reference_toml;
pub use study::{Passed, StudyJob};
