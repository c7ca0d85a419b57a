//! The commands. Only this module prints, exits and reads the environment.
//!
//! The way of a search (`phew`, `fof`, `voids`) from its options to the call of the library:
//!
//! ```text
//!     parse ─▶ launcher ─▶ run ─▶ series ────▶ driver ─────▶ search ─▶ the engine of the library
//!              one job            snapshot     ranks and     one rank
//!              for all ranks      by snapshot  threads
//! ```
//!
//! From `series` on, the job is behind two traits: `SnapshotJob` opens the input, `Search` finds and writes.
//! The file of the command implements both.
#![allow(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)]

mod aligned;
pub mod allocator;
mod atlas;
mod attribute_json;
mod catalogue_run;
mod child;
mod compare;
mod compare_json;
mod completeness;
mod default_threads;
mod dendrogram;
mod driver;
mod dry_run;
mod escape;
mod estimate;
mod fault;
mod flags;
mod fof;
mod fof_run;
mod glob;
mod grouped;
mod host_clock;
mod info;
mod info_image;
mod info_particles;
mod info_thresholds;
mod interrupt;
mod launcher;
mod level_counts;
mod log;
mod log_file;
mod machine;
mod manual;
mod memory;
mod missing_threshold;
mod observer_files;
mod out;
mod parse;
mod particle_summary;
mod phew;
mod phew_run;
#[cfg(feature = "plot")]
mod picture_title;
#[cfg(feature = "plot")]
mod pictures;
mod preflight;
mod program;
mod ranks;
#[cfg(feature = "plot")]
mod recut_picture;
mod results;
mod scaling;
mod search;
mod seating;
mod series;
mod signals;
#[cfg(feature = "plot")]
mod stored_maps;
mod study_inputs;
mod study_runs;
mod survey;
mod synth;
mod topology;
mod tracked;
mod tree;
#[cfg(feature = "plot")]
mod tree_report;
mod version;
mod view;
#[cfg(feature = "plot")]
mod view_picture;
mod view_track;
mod viewed;
mod viewers;
mod voids;

use crate::config::{CommandJob, Job};
use fault::CommandError;
use inselberg_comm::{Comm, Rank};
use parse::Parsed;
use std::process::ExitCode;

/// Parses, runs and reports.
pub fn main() -> ExitCode {
    memory::keep_reserve();
    fault::caught(|| {
        signals::make_file_limit_an_error();
        signals::report_crashes();
        let typed = match parse::parse(std::env::args_os()) {
            Ok(Parsed::Text(text)) => return out::print(&text),
            Ok(Parsed::Manual(folder)) => return manual::write_pages(&folder),
            Ok(Parsed::Typed(typed)) => Ok(*typed),
            Err(failure) => Err(failure),
        };
        let (job, world) = launcher::start(typed)?;
        run(&job, world)
    })
}

/// Does the job of the ranks in `world`.
fn run(job: &Job, world: Comm) -> Result<(), CommandError> {
    match &job.work {
        CommandJob::Phew(work) => return series::search(work, job.common, world),
        CommandJob::Fof(work) => return series::search(work, job.common, world),
        CommandJob::Voids(work) => return series::search(work, job.common, world),
        CommandJob::Tree(work) => return tree::tree(work, job.common, world),
        CommandJob::Atlas(work) => return atlas::atlas(work, job.common, world),
        CommandJob::Compare(work) => return compare::compare(work, job.common, world),
        CommandJob::Topology(work) => return topology::topology(*work, job.common, world),
        CommandJob::SynthParticles(work) => return synth::particles(work, job.common, world),
        CommandJob::Study(work) => return scaling::scaling(work, job.common, &world),
        // What is not divided is done by one rank.
        _ if world.rank() != Rank(0) => return Ok(()),
        _ => seating::start_threads(job.common)?,
    }
    match &job.work {
        CommandJob::Phew(_)
        | CommandJob::Fof(_)
        | CommandJob::Voids(_)
        | CommandJob::Tree(_)
        | CommandJob::Compare(_)
        | CommandJob::Atlas(_)
        | CommandJob::Topology(_)
        | CommandJob::SynthParticles(_)
        | CommandJob::Study(_) => Ok(()),
        CommandJob::Recut(work) => phew::recut(work, job.common),
        CommandJob::Convert(work) => viewers::convert(work, job.common),
        CommandJob::View(work) => view::view(work, job.common),
        CommandJob::Info(work) => info::info(work, job.common),
        CommandJob::SynthField(work) => synth::field(work, job.common),
        CommandJob::SynthSeries(work) => synth::series(work, job.common),
    }
}
