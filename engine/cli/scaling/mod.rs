//! Scaling studies: measured runs, a model beyond the machine, and the tables, plots and page that
//! show them. Everything here is plain values; `commands/scaling.rs` runs the program and passes on its
//! summaries.
//!
//! | file | content |
//! |---|---|
//! | `network` | the networks between ranks |
//! | `launch_line` | the command that starts ranks |
//! | `sample` | the summary of one run |
//! | `rate` | speed-up, efficiency and serial fraction |
//! | `measured` | medians, speed-up and imbalance of real runs |
//! | `counted` | runs with measured work |
//! | `thread_scaling` | how work scales with threads |
//! | `model` | the time on more ranks than the machine has, from work and messages ([the model](README.md)) |
//! | `record` | all runs of a study, and studies that join |
//! | `study` | the whole study, with the error of the model and the provenance |
//! | `limits` | what limits the scaling, in a sentence |
//! | `table` | a table as Markdown, CSV and HTML |
//! | `tables` | the tables of a study |
//! | `paper` | tables of the paper, for comparison |
//! | `chart` | charts of lines and bars (feature `plot`) |
//! | `plots` | the plots (feature `plot`) |
//! | `page` | one HTML page with everything |
//!
//! Nothing here runs, reads or writes anything.

#[cfg(feature = "plot")]
mod chart;
mod counted;
mod launch_line;
mod limits;
mod measured;
mod model;
mod network;
mod page;
mod paper;
#[cfg(feature = "plot")]
mod plots;
mod rate;
mod record;
mod sample;
mod study;
mod table;
mod tables;
mod thread_scaling;

pub use counted::{Counted, CountedKey, CountedStage, counted};
pub use launch_line::{LaunchLine, RunSize};
pub use measured::{Configuration, Measured, Repeats, StageTimes, TimeParts, in_headline};
pub use model::{Modelled, StageModel};
pub use network::{NETWORK_NAMES, NETWORKS, Network};
pub use page::page;
#[cfg(feature = "plot")]
pub use plots::plots;
pub use rate::{Rate, Speed};
pub use record::StudyRecord;
pub use sample::{HostUse, Load, Sample, SampleError, SampleTraffic};
pub use study::{Check, ModelChoice, Study, StudyProvenance};
pub use table::{StudyTable, TableCell};
pub use tables::{markdown, tables};
pub use thread_scaling::ThreadScaling;

/// A plot of a study.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The name of its file without ending.
    pub name: &'static str,
    /// Its caption.
    pub title: String,
    /// The picture.
    pub svg: String,
}
