//! Are the results of a snapshot complete, and of the same input and options?

use super::driver::SnapshotJob;
use inselberg_io::catalogue::{Attribute, RUN_ATTRIBUTES, attributes_if_whole};
use inselberg_io::input_identity;
use std::path::Path;

/// The identity of the input, to find out whether it has changed; `None` if it cannot be read.
pub fn identity<J: SnapshotJob>(job: &J) -> Option<String> {
    input_identity(job.inputs()).ok()
}

/// The attributes with the origin of the catalogue.
pub fn attributes<J: SnapshotJob>(
    job: &J,
    identity: Option<String>,
    options: &str,
) -> Vec<(&'static str, String)> {
    let [input, of_options, outputs] = RUN_ATTRIBUTES;
    let results = results(job);
    let mut all: Vec<_> = identity.map(|line| (input, line)).into_iter().collect();
    all.push((of_options, options.to_string()));
    if !results.is_empty() {
        all.push((outputs, results.join("; ")));
    }
    all
}

/// The results other than the catalogue, each with the name of its option.
fn results<J: SnapshotJob>(job: &J) -> Vec<String> {
    let line = |(name, path): (&str, &Path)| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        format!("{name} {}", path.display())
    };
    job.other_results().into_iter().map(line).collect()
}

/// Whether all results of `job` are there, of this input and these options.
pub fn is_complete<J: SnapshotJob>(job: &J, identity: Option<&str>, options: &str) -> bool {
    let (Some(path), Some(identity)) = (job.catalogue(), identity) else { return false };
    let Ok(attributes) = attributes_if_whole(path) else { return false };
    let text = |wanted: &str| {
        attributes.iter().find_map(|(name, value)| match value {
            Attribute::Text(text) if name == wanted => Some(text.as_str()),
            _ => None,
        })
    };
    if !job.follows(&attributes) {
        return false;
    }
    let [of_input, of_options, of_outputs] = RUN_ATTRIBUTES.map(text);
    let written: Vec<&str> = of_outputs.map_or(Vec::new(), |line| line.split("; ").collect());
    of_input == Some(identity)
        && of_options == Some(options)
        && results(job).iter().all(|result| written.contains(&result.as_str()))
        && job.other_results().iter().all(|(_, path)| path.exists())
}
