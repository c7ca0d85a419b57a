//! Suggests the known name for a mistyped one, and the file for a mistyped path.

use std::fs;
use std::path::{Path, PathBuf};

/// Names of a folder that are compared.
const MOST_NAMES: usize = 10_000;

/// Why there is nothing at `path`, which should be `wanted`: with the nearest name that is there.
pub fn absent(path: &Path, wanted: &str) -> String {
    match nearest_path(path) {
        Some(near) => format!("there is no such file or folder; did you mean {}?", near.display()),
        None => format!("there is no such file or folder; expected {wanted}"),
    }
}

/// The path with the first part that is not there replaced by the nearest name that is.
fn nearest_path(path: &Path) -> Option<PathBuf> {
    let mut there = PathBuf::new();
    let mut parts = path.components();
    let missing = parts.find(|part| {
        let next = there.join(part);
        let exists = next.exists();
        if exists {
            there = next;
        }
        !exists
    })?;
    let folder = if there.as_os_str().is_empty() { Path::new(".") } else { &there };
    let names = fs::read_dir(folder).ok()?.flatten().take(MOST_NAMES);
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let wanted = missing.as_os_str().to_str()?;
    let name = nearest(wanted, names.iter().map(String::as_str))?;
    let (near, rest) = (there.join(name), parts.as_path());
    let found = if rest.as_os_str().is_empty() { near.clone() } else { near.join(rest) };
    Some(if found.exists() { found } else { near })
}

/// The candidate at the smallest edit distance from `name`, if that is at most a third of its length, or 2
/// where a letter of the name then remains; the first of equals.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let n = name.chars().count();
    let limit = (n / 3).max(2).min(n.saturating_sub(1));
    candidates
        .into_iter()
        .map(|c| (distance(name, c), c))
        .min_by_key(|&(d, _)| d)
        .filter(|&(d, _)| d <= limit)
        .map(|(_, c)| c)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_path_is_corrected_where_it_goes_wrong() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("run_1/output_00002");
        fs::create_dir_all(&output).expect("folders");
        let wrong = |path: &str| absent(&folder.path().join(path), "a snapshot");
        let right = format!("did you mean {}?", output.display());
        assert!(wrong("run_1/output_00003").ends_with(&right), "{}", wrong("run_1/output_00003"));
        assert!(wrong("rum_1/output_00002").ends_with(&right), "{}", wrong("rum_1/output_00002"));
        assert!(wrong("elsewhere").ends_with("expected a snapshot"));
    }

    #[test]
    fn the_nearest_name_is_offered_only_if_near() {
        let known = ["density_threshold", "saddle_threshold", "output"];
        assert_eq!(nearest("densty_threshold", known), Some("density_threshold"));
        assert_eq!(nearest("ouput", known), Some("output"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("no", ["mnt", "usr"]), None);
    }
}
