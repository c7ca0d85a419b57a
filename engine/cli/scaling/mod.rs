//! Strong-scaling studies: what was measured, what is modelled beyond the machine, and the tables, plots and page that
//! show it. Everything here is plain values; `cli/scaling.rs` runs the program and hands over what it said.
//!
//! | file | what is in it |
//! |---|---|
//! | `network` | what ranks are connected by |
//! | `sample` | what one run said of itself |
//! | `measured` | medians, speed-up and imbalance of real runs |
//! | `model` | the time of ranks that nobody has, from their work and messages ([the model](README.md)) |
//! | `study` | all of it, with how far the model is off, and where it comes from |
//! | `table` | a table as Markdown, CSV and HTML |
//! | `tables` | which tables there are |
//! | `plots` | the plots (feature `plot`) |
//! | `page` | one page with everything |
//!
//! Architecture invariant: nothing here runs, reads or writes anything.

mod measured;
mod model;
mod network;
mod page;
#[cfg(feature = "plot")]
mod plots;
mod sample;
mod study;
mod table;
mod tables;

pub use measured::{Configuration, Measured, Repeats, StageTimes, configurations};
pub use model::{Modelled, StageModel, modelled};
pub use network::{NETWORK_NAMES, NETWORKS, Network};
pub use page::page;
#[cfg(feature = "plot")]
pub use plots::plots;
pub use sample::{Load, Sample, SampleError, SampleTraffic};
pub use study::{Check, Study, StudyProvenance, check};
pub use table::{Cell, StudyTable};
pub use tables::{markdown, tables};

/// A plot of a study.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The name of its file without ending.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub title: String,
    /// The picture.
    pub svg: String,
}
