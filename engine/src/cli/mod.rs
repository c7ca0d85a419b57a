//! What a user types and sees. The only place of the crate that prints or decides an exit code.

mod child;
mod fault;
mod fof;
mod group_joints;
mod info;
mod info_particles;
mod interrupt;
mod joints;
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
use parse::Parsed;
use std::process::ExitCode;

/// Parses, runs and reports.
pub fn main() -> ExitCode {
    signals::make_file_limit_an_error();
    fault::caught(|| match parse::parse(std::env::args_os()) {
        // All processes of a launcher read the same words; one answers.
        Err(_) if !ranks::is_first() => Err(Failure::Said),
        Ok(Parsed::Text(_)) if !ranks::is_first() => Ok(()),
        Ok(Parsed::Text(text)) => out::print(&text),
        Ok(Parsed::Job(job)) => run(&job),
        Err(failure) => Err(failure),
    })
}

fn run(job: &Job) -> Result<(), Failure> {
    match &job.work {
        Work::Phew(work) => return phew::phew(work, job.common),
        Work::Fof(work) => return fof::fof(work, job.common),
        Work::Topology(work) => return topology::topology(*work, job.common),
        Work::SynthParticles(work) => return synth::particles(work, job.common),
        Work::Study(work) => return scaling::scaling(work, job.common),
        // What is not divided is done by one of the processes that a launcher started.
        _ if !ranks::is_first() => return Ok(()),
        _ => seating::start_threads(job.common)?,
    }
    match &job.work {
        Work::Phew(_) | Work::Fof(_) | Work::Topology(_) | Work::SynthParticles(_) | Work::Study(_) => Ok(()),
        Work::Recut(work) => phew::recut(work, job.common),
        Work::Info(work) => info::info(work, job.common),
        Work::SynthField(work) => synth::field(work, job.common),
    }
}
