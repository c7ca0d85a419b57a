//! The message for an output of cells without a density threshold or a default.

use super::fault::CommandError;
use super::flags::NamesFlags;
use super::info_thresholds::ThresholdAdvice;
use super::level_counts::LevelCounts;
use crate::config::PhewJob;
use inselberg::Rules;
use inselberg::phew::image::tells_noise;
use inselberg::phew::run::check_default_thresholds;
use inselberg_io::{InputFacts, open_from};

/// Local: checks that there is a threshold or a default. Otherwise reads the density, to suggest values.
///
/// # Errors
/// When there is neither, with the suggestions of `info --thresholds`.
pub fn check(job: &PhewJob, facts: &InputFacts) -> Result<(), CommandError> {
    if job.phew.has_density() {
        return Ok(());
    }
    let (snapshot, field) = (open_from(facts), (&job.field, job.phew.rules));
    let Err(error) = check_default_thresholds(snapshot.as_ref(), field.0, field.1) else {
        return Ok(());
    };
    let is_paper = job.phew.rules == Rules::Paper;
    if is_paper && (job.phew.image.noise.is_some() || tells_noise(snapshot.as_ref())?) {
        return Ok(());
    }
    let octs = LevelCounts::from_snapshot(snapshot.as_ref())?.octs();
    let advice = ThresholdAdvice::read(&job.input, field, snapshot.as_ref(), octs, true)?;
    let suggested = advice.sentence();
    let problem = format!(
        "{}; expected --density-threshold; of `inselberg info {} --thresholds`: {suggested}",
        error.with_flags(),
        job.input.display()
    );
    Err(CommandError::about(&job.input, problem))
}
