//! Which files belong to an output?

use crate::facts::OnePath;
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The families of per-CPU files that the reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum FileFamily {
    Amr,
    Hydro,
    Grav,
    Part,
}

impl FileFamily {
    /// The start of its file names, and the family name of its fields.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Amr => "amr",
            Self::Hydro => "hydro",
            Self::Grav => "grav",
            Self::Part => "part",
        }
    }
}

/// The files of one output, from one listing of its folder and I/O groups.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub(super) struct Files {
    root: PathBuf,
    number: u32,
    by_name: HashMap<String, PathBuf>,
}

/// [`Files`] in compact form: an output may have a hundred thousand.
#[derive(Serialize, Deserialize)]
struct Listed {
    root: OnePath,
    number: u32,
    /// Names of files in the folder itself.
    here: Vec<String>,
    /// Files in its I/O groups.
    in_groups: Vec<OnePath>,
}

impl From<Files> for Listed {
    fn from(Files { root, number, by_name }: Files) -> Self {
        let is_here = |(_, path): &(&String, &PathBuf)| path.parent() == Some(&root);
        let (here, in_groups): (Vec<_>, Vec<_>) = by_name.iter().partition(is_here);
        Self {
            number,
            here: here.into_iter().map(|(name, _)| name.clone()).collect(),
            in_groups: in_groups.into_iter().map(|(_, path)| OnePath(path.clone())).collect(),
            root: OnePath(root),
        }
    }
}

impl From<Listed> for Files {
    fn from(Listed { root: OnePath(root), number, here, in_groups }: Listed) -> Self {
        let mut by_name: HashMap<String, PathBuf> =
            here.into_iter().map(|name| (name.clone(), root.join(name))).collect();
        let named = in_groups.into_iter().filter_map(|OnePath(path)| Some((file_name(&path)?, path)));
        by_name.extend(named);
        Self { root, number, by_name }
    }
}

/// Whether `path` is an output folder or the info file of one.
pub(super) fn looks_like_output(path: &Path) -> bool {
    if path.is_dir() {
        return list(path).is_ok_and(|files| files.keys().any(|f| info_number(f).is_some()));
    }
    file_name(path).is_some_and(|f| info_number(&f).is_some())
}

/// The files of the simulation in the output at `path`, its folder or its info file; `None` if it is no
/// output.
pub(crate) fn output_files(path: &Path) -> Option<std::io::Result<Vec<PathBuf>>> {
    let root = match path.is_dir() {
        true => path.to_path_buf(),
        false if looks_like_output(path) => root_of_info(path),
        false => return None,
    };
    let is_of_output = |(name, path): (String, PathBuf)| is_of_simulation(&name).then_some(path);
    Some(list(&root).map(|files| files.into_iter().filter_map(is_of_output).collect()))
}

/// Whether RAMSES itself wrote a file of this name: `info_00080.txt`, `hydro_file_descriptor.txt`,
/// `amr_00080.out00001`.
fn is_of_simulation(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_piece = name.rsplit_once(".out").is_some_and(|(_, piece)| is_number(piece));
    let is_header = ["info_", "header_"].iter().any(|start| name.starts_with(start));
    is_piece || name.ends_with(".txt") && (is_header || name.ends_with("_file_descriptor.txt"))
}

impl Files {
    /// Finds the output by `path`, its folder or its info file.
    ///
    /// # Errors
    /// The folder cannot be listed, or its output number is unclear.
    pub(super) fn find(path: &Path) -> ReadResult<Self> {
        let (root, number) = match file_name(path).and_then(|f| info_number(&f)) {
            Some(number) if path.is_file() => (root_of_info(path), Some(number)),
            _ => (path.to_path_buf(), None),
        };
        let by_name = list(&root).map_err(|e| ReadError::io(&root, "listing the folder", e))?;
        let number = match number {
            Some(number) => number,
            None => number_of(&root, &by_name)?,
        };
        Ok(Self { root, number, by_name })
    }

    /// The output's folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The output's number.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// `info_NNNNN.txt`.
    pub(super) fn info(&self) -> PathBuf {
        self.path_of(&format!("info_{:05}.txt", self.number))
    }

    /// The descriptor of a family of files, if any.
    pub(super) fn descriptor(&self, kind: FileFamily) -> Option<&Path> {
        self.by_name.get(&format!("{}_file_descriptor.txt", kind.name())).map(PathBuf::as_path)
    }

    /// The file of CPU `piece + 1`.
    pub(super) fn piece(&self, kind: FileFamily, piece: usize) -> PathBuf {
        self.path_of(&self.piece_name(kind, piece))
    }

    /// Whether any file of the family exists.
    pub(super) fn has(&self, kind: FileFamily) -> bool {
        let start = format!("{}_{:05}.out", kind.name(), self.number);
        self.by_name.keys().any(|name| name.starts_with(&start))
    }

    /// Checks that the family has a file for each of `n_cpus`.
    pub(super) fn check_complete(&self, kind: FileFamily, n_cpus: usize) -> ReadResult<()> {
        let missing = (0..n_cpus).find(|&i| !self.by_name.contains_key(&self.piece_name(kind, i)));
        let Some(piece) = missing else { return Ok(()) };
        Err(ReadError::content(
            &self.piece(kind, piece),
            format!("file {} of {n_cpus}", piece + 1),
            "missing",
            format!("one {} file for each of the {n_cpus} CPUs of the output", kind.name()),
        ))
    }

    fn piece_name(&self, kind: FileFamily, piece: usize) -> String {
        format!("{}_{:05}.out{:05}", kind.name(), self.number, piece + 1)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.by_name.get(name).cloned().unwrap_or_else(|| self.root.join(name))
    }
}

/// Files of a folder and of its I/O groups, by name.
fn list(root: &Path) -> std::io::Result<HashMap<String, PathBuf>> {
    let mut files = HashMap::new();
    let mut groups = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        match file_name(&path) {
            Some(name) if name.starts_with("group_") && path.is_dir() => groups.push(path),
            Some(name) => drop(files.insert(name, path)),
            None => {}
        }
    }
    groups.sort();
    for group in groups {
        for entry in fs::read_dir(group)? {
            let path = entry?.path();
            if let Some(name) = file_name(&path) {
                files.entry(name).or_insert(path);
            }
        }
    }
    Ok(files)
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_string())
}

/// NNNNN of `info_NNNNN.txt`.
fn info_number(name: &str) -> Option<u32> {
    name.strip_prefix("info_")?.strip_suffix(".txt")?.parse().ok()
}

/// The output folder of an info file, which may lie in an I/O group of it.
fn root_of_info(info: &Path) -> PathBuf {
    let folder = match info.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let in_group = file_name(folder).is_some_and(|n| n.starts_with("group_"));
    match folder.parent() {
        Some(root) if in_group && root.as_os_str().is_empty() => ".".into(),
        Some(root) if in_group => root.into(),
        _ => folder.into(),
    }
}

/// The number of the info file in the folder. The name of the folder decides among several.
fn number_of(root: &Path, files: &HashMap<String, PathBuf>) -> ReadResult<u32> {
    let numbers: Vec<u32> = files.keys().filter_map(|name| info_number(name)).collect();
    let by_folder = file_name(root).and_then(|n| n.rsplit('_').next()?.parse().ok());
    match (&numbers[..], by_folder) {
        ([number], _) => Ok(*number),
        (several, Some(number)) if several.contains(&number) => Ok(number),
        (none_or_several, _) => Err(ReadError::content(
            root,
            "info_*.txt",
            format!("{} such files", none_or_several.len()),
            "one info file, which gives the output's number",
        )),
    }
}
