//! `inselberg phew` and `inselberg recut`.

use super::fault::Failure;
use super::{interrupt, joints, out, preflight};
use inselberg::catalogue;
use inselberg::config::{Common, PhewJob, RecutJob};
use std::io::IsTerminal;
use std::path::Path;

/// Segments a snapshot and writes what was asked for.
pub fn phew(job: &PhewJob, common: Common) -> Result<(), Failure> {
    let snapshot = inselberg::io::open(&job.input)?;
    check_outputs(job)?;
    let files: Vec<&Path> = [&job.output, &job.plot].into_iter().flatten().map(AsRef::as_ref).collect();
    interrupt::guard(&files, &job.ramses_text.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let progress = !common.quiet && !common.json && std::io::stderr().is_terminal();
    let (outcome, stages) = joints::segment(&job.input, snapshot.as_ref(), &job.phew, progress)?;
    if let Some(path) = &job.output {
        catalogue::write(path, &outcome.catalogue)?;
    }
    if let Some(folder) = &job.ramses_text {
        joints::write_ramses_text(folder, &outcome.catalogue, snapshot.as_ref())?;
    }
    if let Some(path) = &job.plot {
        joints::draw(path, snapshot.as_ref(), &outcome)?;
    }
    out::report(common, || joints::text(&outcome, &stages), || joints::json(&outcome, &stages))
}

fn check_outputs(job: &PhewJob) -> Result<(), Failure> {
    let named = [("catalogue", &job.output), ("RAMSES text", &job.ramses_text), ("plot", &job.plot)];
    // An input given by its info file is the folder around it, whose files must not be replaced.
    let input = if job.input.is_file() { preflight::parent(&job.input) } else { &job.input };
    let mut places = vec![("input", job.input.as_path()), ("input", input)];
    places.dedup();
    places.extend(named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))));
    preflight::distinct(&places)?;
    if let Some(path) = &job.output {
        catalogue::check_output(path)?;
    }
    job.ramses_text.as_deref().map_or(Ok(()), preflight::folder)?;
    job.plot.as_deref().map_or(Ok(()), joints::check_picture)
}

/// Applies new thresholds to a stored tree.
pub fn recut(job: &RecutJob, common: Common) -> Result<(), Failure> {
    preflight::distinct(&[("input", &job.input), ("output", &job.output)])?;
    let stored = catalogue::read(&job.input)?;
    catalogue::check_output(&job.output)?;
    interrupt::guard(&[&job.output], &[]);
    let cut = inselberg::recut::recut(&stored, &job.thresholds)
        .map_err(|error| Failure::about(&job.input, error))?;
    catalogue::write(&job.output, &cut)?;
    out::report(common, || catalogue::info::describe(&cut), || joints::describe_json(&cut))
}
