//! A folder that stands for the snapshot in it: `snapdir_099` of Gadget and AREPO.

use super::{PARTICLE_READERS, ReadError, ReadResult};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The first file of the only snapshot in a folder that no reader knows; `None` for everything else, and for
/// a folder without one.
///
/// # Errors
/// The folder holds several snapshots.
pub fn snapshot_in(path: &Path) -> ReadResult<Option<PathBuf>> {
    if !path.is_dir() || PARTICLE_READERS.iter().any(|reader| (reader.recognises)(path)) {
        return Ok(None);
    }
    let snapshots = snapshots_in(path);
    let mut names = snapshots.iter();
    match (names.next(), names.next()) {
        (None, _) => Ok(None),
        (Some((_, first)), None) => Ok(Some(first.clone())),
        (Some((one, _)), Some((other, _))) => {
            let what = format!(
                "a folder with several snapshots, as {one} and {other}; expected a file of one of them"
            );
            Err(ReadError::absent(path, what))
        }
    }
}

/// The first file of each snapshot, by name without the number of the file.
fn snapshots_in(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut first: BTreeMap<String, (u64, PathBuf)> = BTreeMap::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Some((name, number)) = file_of_set(&path) else { continue };
        let is_earlier = first.get(&name).is_none_or(|(known, _)| number < *known);
        if is_earlier && !name.starts_with('.') {
            first.insert(name, (number, path));
        }
    }
    first.retain(|_, (_, path)| is_snapshot(path));
    first.into_iter().map(|(name, (_, path))| (name, path)).collect()
}

/// The name of a file without its number in a set, and the number: `snap_099.12.hdf5` and `snapshot_099.12`
/// have 12.
fn file_of_set(path: &Path) -> Option<(String, u64)> {
    let name = path.file_name()?.to_str()?;
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.split('.').collect();
    let at = (1..parts.len()).rev().find(|i| is_number(&parts[*i]));
    let Some(at) = at.filter(|at| *at + 2 >= parts.len()) else { return Some((name.into(), 0)) };
    let number = parts[at].parse().ok()?;
    let others: Vec<&str> = [&parts[..at], &parts[at + 1..]].concat();
    Some((others.join("."), number))
}

/// Whether a file is one of a snapshot in a format whose snapshots may have several.
fn is_snapshot(path: &Path) -> bool {
    let may_be_several = |reader: &&super::ParticleReader| reader.has_several_files;
    PARTICLE_READERS.iter().filter(may_be_several).any(|reader| (reader.recognises)(path))
        && crate::foreign::of_path(path).is_none()
}
