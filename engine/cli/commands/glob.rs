//! Patterns of file names that no shell has expanded, such as a quoted `clumps_*.hdf5` or one in a
//! configuration file.

use super::fault::CommandError;
use std::path::{Path, PathBuf};

/// The files of these paths, in their order. A name that is not a file and contains `*` or `?` stands for all
/// matching names, the shorter ones first.
pub fn expanded(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.exists() || !name.contains(['*', '?']) {
            files.push(path.clone());
            continue;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let listed = std::fs::read_dir(folder.unwrap_or(Path::new(".")))
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>, _>>())
            .map_err(|error| CommandError::about(path, format!("listing the folder: {error}")))?;
        let mut fitting: Vec<_> =
            listed.into_iter().filter(|file| fits(&name, &file.to_string_lossy())).collect();
        fitting.sort_by_key(|file| (file.len(), file.clone()));
        if fitting.is_empty() {
            return Err(CommandError::about(path, "no file has such a name; expected catalogues"));
        }
        files.extend(fitting.into_iter().map(|file| path.with_file_name(file)));
    }
    Ok(files)
}

/// Whether `name` fits `pattern`: `*` stands for any text, `?` for one character. A name that begins with a
/// dot needs the dot.
fn fits(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star is, and up to which character of the name it stands for.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match (pattern.get(p), star) {
            (Some('*'), _) => {
                star = Some((p, n));
                p += 1;
            }
            (Some(c), _) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            (_, Some((at, taken))) => {
                star = Some((at, taken + 1));
                (p, n) = (at + 1, taken + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let fitting = [("*.hdf5", "a.hdf5"), ("a*b*c", "axxbbxc"), ("a?c", "abc"), ("*", "x"), ("a*", "a")];
        assert!(fitting.iter().all(|(pattern, name)| fits(pattern, name)));
        let others = [("*.hdf5", "a.h5"), ("a?c", "ac"), ("*", ".x"), ("a*b", "ac"), ("", "a")];
        assert!(!others.iter().any(|(pattern, name)| fits(pattern, name)));
    }
}
