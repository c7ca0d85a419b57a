//! What a user types and sees. The only place of the crate that prints or decides an exit code.

pub mod allocator;
mod child;
mod fault;
mod fof;
mod group_joints;
mod info;
mod info_particles;
mod interrupt;
mod joints;
mod launcher;
mod memory;
mod out;
mod parse;
mod phew;
mod preflight;
mod ranks;
mod scaling;
mod seating;
mod signals;
mod survey;
mod synth;
mod topology;

use fault::Failure;
use inselberg::config::{Job, Work};
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
            Ok(Parsed::Typed(typed)) => Ok(*typed),
            Err(failure) => Err(failure),
        };
        let (job, world) = launcher::start(typed)?;
        run(&job, world)
    })
}

/// Does the job of the ranks in `world`.
fn run(job: &Job, world: Comm) -> Result<(), Failure> {
    match &job.work {
        Work::Phew(work) => return phew::phew(work, job.common, world),
        Work::Fof(work) => return fof::fof(work, job.common, world),
        Work::Topology(work) => return topology::topology(*work, job.common, world),
        Work::SynthParticles(work) => return synth::particles(work, job.common, world),
        Work::Study(work) => return scaling::scaling(work, job.common, &world),
        // What is not divided is done by one rank.
        _ if world.rank() != Rank(0) => return Ok(()),
        _ => seating::start_threads(job.common)?,
    }
    match &job.work {
        Work::Phew(_) | Work::Fof(_) | Work::Topology(_) | Work::SynthParticles(_) | Work::Study(_) => Ok(()),
        Work::Recut(work) => phew::recut(work, job.common),
        Work::Info(work) => info::info(work, job.common),
        Work::SynthField(work) => synth::field(work, job.common),
    }
}
