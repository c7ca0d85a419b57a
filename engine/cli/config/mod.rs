//! Options and their checks: how is an option added, and where does a bad value become an error?
//!
//! [`OPTIONS`] is one ordered table. The command line, the keys of the configuration file, `--help` and
//! `configs/reference.toml` all come from it. Given values are a [`RawConfig`]; checked ones are a [`Job`],
//! which only [`check`] makes.
//!
//! The library declares its parameters (`inselberg::Params`); `library` makes options from them. To add an
//! option of the program, such as a file to write: a row in a table (`*_options.rs`), a field of the checked
//! type and the line in the file of its command that fills it. Then `inselberg options --reference >
//! configs/reference.toml`; `--markdown` prints docs/parameters.md, and `--python`
//! python/inselberg/_parameters.py.
//!
//! Only [`config_text`] reads a file, and nothing here uses the command-line parser.

mod atlas_options;
mod checked;
mod command;
mod compare_options;
mod error;
mod fof;
mod fof_options;
mod from_particles;
mod heading;
mod input_options;
mod launch;
mod library;
mod observer_options;
mod opt;
mod options;
mod origin;
mod phew;
mod phew_options;
mod printed;
mod raw;
mod recut;
mod reference;
mod report_options;
mod run_options;
mod series;
mod study;
mod study_options;
mod synth;
mod synth_options;
mod tracked;
mod tree_options;
mod values;
mod view_options;
mod viewer_options;
mod void_options;
mod voids;

pub use atlas_options::AtlasJob;
pub use checked::{CommandJob, Common, InfoJob, Job, TopologyJob, check};
pub use command::{COMMANDS, Command, CommandInfo, MadeInput};
pub use compare_options::CompareJob;
pub use error::ConfigError;
pub use fof::FofJob;
pub use from_particles::{FromParticles, ParticleUse};
pub use heading::Heading;
pub use launch::Launch;
pub use observer_options::ObserverFiles;
pub use opt::{Opt, OptionKind};
pub use options::{OPTIONS, options_of, passed_on};
pub use origin::Origin;
pub use phew::PhewJob;
pub use printed::{parameters_markdown, parameters_python};
pub use raw::{RawConfig, RawValue, config_text};
pub use recut::RecutJob;
pub use reference::reference_toml;
pub use report_options::{CubeRegion, MapChoices, MapRegion, ShownResults};
pub use series::Series;
pub use study::{Launcher, Passed, StudyInput, StudyJob};
pub use synth::{FieldJob, ParticleJob, SeriesJob};
pub use tree_options::TreeJob;
pub use view_options::{ViewJob, ViewedKind, no_object};
pub use viewer_options::{ConvertFormat, ConvertJob, DendrogramRequest};
pub use voids::VoidsJob;
