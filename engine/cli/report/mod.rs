//! Output for people: progress, the summary, pictures and the report.
//!
//! Nothing here prints, except that a [`Recorder`] with progress draws bars on standard error.

mod clock;
mod colour_choice;
#[cfg_attr(not(feature = "plot"), allow(dead_code))]
pub(crate) mod history;
mod hosts;
pub(crate) mod html;
mod least_drawn;
mod memory;
#[cfg(feature = "plot")]
pub mod page;
mod places;
#[cfg(feature = "plot")]
pub mod plot;
mod progress;
mod ranks;
mod recorder;
mod summary;
mod trace;
mod units;
mod workers;

pub use clock::thread_clock;
pub use colour_choice::{ColourChoice, ColourScale};
pub use hosts::RunHost;
pub use least_drawn::LeastDrawn;
pub use memory::{node_memory, peak_memory};
pub use places::{RankPlaces, machine_json, machine_text, places_json, places_text};
pub use progress::ProgressBars;
pub use ranks::{MostTraffic, RankReport, StageLoad, StageTotals, load_table, traffic_table};
pub use recorder::{RecordedGraph, Recorder, StageEvent, StageTime};
pub use summary::{
    CatalogueTotals, Count, counts_of, group_counts, summary_json, summary_text, table_json, table_text,
};
pub use trace::trace;
pub use units::{DisplayUnit, DisplayUnits, NONE, UnitChoice, four_digits, has_units, short_number};
pub use workers::{NodeLoad, node_loads, workers_json, workers_text};
