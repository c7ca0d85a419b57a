//! The identity of an input, to find out whether it has changed: its path, and the names, sizes and times of
//! its files. Nothing is read.
//!
//! - A RAMSES output: the files of the simulation in its folder and in its I/O groups. Results in the same
//!   folder do not count.
//! - A plotfile of AMReX: its `Header`, and the files of the folders in it. Results next to `Header` do not
//!   count.
//! - A file: itself, and the numbered files of the same name, `snap_080.hdf5` with all `snap_080.*.hdf5`.

use crate::dataset_path::file_of;
use crate::ramses::output_files;
use crc32fast::Hasher;
use std::fmt::Write;
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// One line that changes when a file of the input at these paths is added, removed, replaced or written
/// again.
///
/// # Errors
/// A path does not exist, or its folder cannot be listed.
pub fn input_identity(paths: &[PathBuf]) -> Result<String> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(files_of(file_of(path))?);
    }
    files.sort_unstable();
    files.dedup();
    let (mut sum, mut bytes, mut newest) = (Hasher::new(), 0, 0);
    for file in &files {
        let data = fs::metadata(file)?;
        let time = data.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        sum.update(format!("{name} {} {time}\n", data.len()).as_bytes());
        bytes += data.len();
        newest = newest.max(time);
    }
    let mut line = String::new();
    for path in paths {
        let place = fs::canonicalize(file_of(path))?;
        let _ = write!(line, "{}{}; ", place.display(), dataset_of(path));
    }
    let _ = write!(line, "{} files, {bytes} bytes, newest {newest}, sum {:08x}", files.len(), sum.finalize());
    Ok(line)
}

/// The paths of an input, from the line of [`input_identity`].
pub fn input_paths(identity: &str) -> Vec<PathBuf> {
    let parts: Vec<&str> = identity.split("; ").collect();
    // The last part has counts.
    parts[..parts.len() - 1].iter().map(PathBuf::from).collect()
}

/// The place of a dataset in its file, as it is written in the path; empty for a path without one.
fn dataset_of(path: &Path) -> String {
    let (whole, file) = (path.to_string_lossy(), file_of(path).to_string_lossy());
    whole.strip_prefix(&*file).unwrap_or_default().to_string()
}

/// The files that belong to the input at `path`, by their full names.
fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    let path = fs::canonicalize(path)?;
    if path.join("Header").is_file() {
        return plotfile_files(&path);
    }
    if let Some(files) = output_files(&path) {
        return files;
    }
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { return Ok(vec![path]) };
    let name = name.to_string_lossy();
    let (base, ending) = base_of(&name);
    let mut files = vec![path.clone()];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let other = entry.file_name();
        let other = other.to_string_lossy();
        let (other_base, other_ending) = base_of(&other);
        if other.len() > base.len() + ending.len() && (other_base, other_ending) == (base, ending) {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// The header of a plotfile and the files of its folders.
fn plotfile_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![folder.join("Header")];
    for entry in fs::read_dir(folder)? {
        let inner = entry?.path();
        if inner.is_dir() {
            let entries = fs::read_dir(inner)?.collect::<Result<Vec<_>>>()?;
            files.extend(entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()));
        }
    }
    Ok(files)
}

/// The name of a file without the number of its part, and its ending with the dot: `snap_080.3.hdf5` is
/// `snap_080` and `.hdf5`. Files of Athena++ and Parthenon have no parts: the number in their names is that
/// of the output.
pub fn base_of(name: &str) -> (&str, &str) {
    let (stem, ending) = name.rfind('.').map_or((name, ""), |at| name.split_at(at));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match stem.rsplit_once('.') {
        _ if [".athdf", ".phdf"].contains(&ending) => (stem, ending),
        Some((base, number)) if is_number(number) && !base.is_empty() => (base, ending),
        _ => (stem, ending),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_a_part_has_no_number() {
        for (name, expected) in [
            ("snap_080.3.hdf5", ("snap_080", ".hdf5")),
            ("snap_080.hdf5", ("snap_080", ".hdf5")),
            ("box.npy", ("box", ".npy")),
            ("output_00080", ("output_00080", "")),
            (".0.hdf5", (".0", ".hdf5")),
            ("turb.out1.00005.athdf", ("turb.out1.00005", ".athdf")),
            ("turb.prim.00005.phdf", ("turb.prim.00005", ".phdf")),
        ] {
            assert_eq!(base_of(name), expected);
        }
    }

    #[test]
    fn an_input_is_another_when_a_part_changes_but_not_when_a_neighbour_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
        for name in ["snap_080.0.hdf5", "snap_080.1.hdf5", "snap_081.0.hdf5"] {
            write(name, b"one");
        }
        let identity = || input_identity(&[folder.path().join("snap_080.0.hdf5")]).expect("it is there");
        let first = identity();
        assert!(first.contains("snap_080.0.hdf5; 2 files, 6 bytes"), "{first}");
        let place = fs::canonicalize(folder.path().join("snap_080.0.hdf5")).expect("it is there");
        assert_eq!(input_paths(&first), [place]);
        write("snap_081.0.hdf5", b"more");
        assert_eq!(identity(), first);
        write("snap_080.1.hdf5", b"more");
        assert_ne!(identity(), first);
        assert!(input_identity(&[folder.path().join("none.hdf5")]).is_err());
    }

    #[test]
    fn a_plotfile_is_another_when_a_box_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
        fs::create_dir(folder.path().join("Level_0")).expect("a folder");
        write("Header", b"one");
        write("Level_0/Cell_H", b"one");
        let identity = || input_identity(&[folder.path().to_path_buf()]).expect("it is there");
        let first = identity();
        assert!(first.contains("2 files, 6 bytes"), "{first}");
        write("clumps.hdf5", b"more");
        assert_eq!(identity(), first);
        write("Level_0/Cell_H", b"more");
        assert_ne!(identity(), first);
    }

    #[test]
    fn results_in_the_folder_of_an_output_are_not_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("output_00002");
        fs::create_dir_all(output.join("group_00001")).expect("folders");
        let write = |name: &str| fs::write(output.join(name), name).expect("written");
        write("info_00002.txt");
        write("group_00001/amr_00002.out00001");
        let identity = |path: &Path| input_identity(&[path.to_path_buf()]).expect("it is there");
        let first = identity(&output);
        write("clumps.hdf5");
        write("clump_00002.txt00001");
        assert_eq!(identity(&output), first);
        assert!(identity(&output.join("info_00002.txt")).contains("2 files"));
        write("group_00001/hydro_00002.out00001");
        assert_ne!(identity(&output), first);
    }
}
