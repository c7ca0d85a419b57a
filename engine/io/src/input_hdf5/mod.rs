//! HDF5 files that a user names: opened whatever their name is, and not believed.
//!
//! The header of a dataset claims a shape. What it claims must be stored somewhere, in the file itself or in those
//! that it names: otherwise the library would make room for it, and fill it with zeros.

mod virtual_files;

use crate::input_file;
use ::hdf5::plist::dataset_create::Layout;
use ::hdf5::{Attribute, Dataset, Error, File, Result};
use std::path::{Path, PathBuf};

/// The most that gzip can shrink: a claim beyond it is a lie about the size, not data.
const MOST_COMPRESSION: u64 = 1100;

/// Opens the regular file at `path`. The library itself takes names in UTF-8 only.
pub fn open(path: &Path) -> Result<File> {
    let file = input_file::open(path).map_err(|e| Error::Internal(e.to_string()))?;
    match path.to_str() {
        Some(_) => File::open(path),
        None => open_by_number(path, &file),
    }
}

#[cfg(target_os = "linux")]
fn open_by_number(_: &Path, file: &std::fs::File) -> Result<File> {
    use std::os::fd::AsRawFd;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
fn open_by_number(path: &Path, _: &std::fs::File) -> Result<File> {
    File::open(path)
}

/// What is wrong, and what was expected.
pub type Doubt = (String, String);

/// Checks that what `dataset`, of the file at `path`, claims to hold can be stored. Nothing is read or allocated.
pub fn check_claim(path: &Path, dataset: &Dataset) -> std::result::Result<(), Doubt> {
    let size = dataset.dtype().map_or(1, |kind| kind.size() as u64);
    let shape = dataset.shape();
    let claimed = shape.iter().fold(size, |n, s| n.saturating_mul(*s as u64));
    let most = match Storage::new(path, dataset)? {
        Storage::Plain(bytes) => bytes,
        Storage::Packed(bytes) => bytes.saturating_mul(MOST_COMPRESSION),
    };
    if claimed <= most {
        return Ok(());
    }
    Err((format!("shape {shape:?} is {claimed} bytes"), format!("at most {most}, by what is stored")))
}

/// Checks that the file at `path` can hold what `attribute` claims.
pub fn check_attribute(path: &Path, attribute: &Attribute) -> std::result::Result<(), Doubt> {
    let size = attribute.dtype().map_or(1, |kind| kind.size() as u64);
    let shape = attribute.shape();
    let claimed = shape.iter().fold(size, |n, s| n.saturating_mul(*s as u64));
    match file_size(path).unwrap_or(0) {
        most if claimed > most => {
            Err((format!("shape {shape:?} is {claimed} bytes"), format!("at most {most}")))
        }
        _ => Ok(()),
    }
}

/// Bytes that hold a dataset.
enum Storage {
    /// As they are.
    Plain(u64),
    /// Perhaps compressed.
    Packed(u64),
}

impl Storage {
    fn new(path: &Path, dataset: &Dataset) -> std::result::Result<Self, Doubt> {
        let failed = |e: Error| (e.to_string(), "a sound dataset".to_string());
        let list = dataset.dcpl().map_err(failed)?;
        if dataset.layout() == Layout::Virtual {
            let names = virtual_files::names(&list).map_err(failed)?;
            let sizes = names.iter().map(|name| size_of_source(path, name));
            return Ok(Self::Packed(sizes.sum::<std::result::Result<u64, Doubt>>()?));
        }
        let external = list.get_external().map_err(failed)?;
        if !external.is_empty() {
            let stored = external.iter().map(|part| {
                let behind =
                    file_size(&beside(path, &part.name)).map(|n| n.saturating_sub(part.offset as u64));
                behind.map(|n| n.min(part.size as u64)).ok_or_else(|| missing(&part.name))
            });
            return Ok(Self::Plain(stored.sum::<std::result::Result<u64, Doubt>>()?));
        }
        match dataset.filters().is_empty() {
            true => Ok(Self::Plain(dataset.storage_size())),
            false => Ok(Self::Packed(file_size(path).unwrap_or(0))),
        }
    }
}

/// The size of a file that a virtual dataset in the file at `path` names; a `%b` in the name stands for a number.
fn size_of_source(path: &Path, name: &str) -> std::result::Result<u64, Doubt> {
    if name == "." {
        return Ok(file_size(path).unwrap_or(0));
    }
    let size = |name: &str| file_size(&beside(path, name)).or_else(|| file_size(Path::new(name)));
    let sizes: Vec<u64> = match name.contains("%b") {
        true => (0..).map_while(|i: u32| size(&name.replace("%b", &i.to_string()))).collect(),
        false => size(name).into_iter().collect(),
    };
    if sizes.is_empty() { Err(missing(name)) } else { Ok(sizes.into_iter().fold(0, u64::saturating_add)) }
}

fn missing(name: &str) -> Doubt {
    (format!("its data are in {name:?}, which is not there"), "all files of the dataset".into())
}

/// A file that the one at `path` names.
fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}

fn file_size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(|data| data.is_file()).map(|data| data.len())
}
