//! Can the data that a header claims really be stored?
//!
//! The header of a dataset claims a shape. Its data must lie in the file itself or in the files that it
//! names. Otherwise the library would allocate the claimed size and fill it with zeros.

use super::virtual_files;
use ::hdf5::plist::dataset_create::Layout;
use ::hdf5::{Attribute, Container, Dataset, Error};
use std::path::{Path, PathBuf};

/// The highest compression that gzip can reach. A larger claim is false.
const MOST_COMPRESSION: u64 = 1100;

/// The problem, and what was expected.
pub type Doubt = (String, String);

/// Checks that the claimed content of `dataset` in the file at `path` can be stored there. Nothing is read or
/// allocated.
pub fn check_claim(path: &Path, dataset: &Dataset) -> std::result::Result<(), Doubt> {
    let size = element_size(dataset)?;
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

/// Checks that the file at `path` can hold the claimed content of `attribute`.
pub fn check_attribute(path: &Path, attribute: &Attribute) -> std::result::Result<(), Doubt> {
    let size = element_size(attribute)?;
    let shape = attribute.shape();
    let claimed = shape.iter().fold(size, |n, s| n.saturating_mul(*s as u64));
    match size_of_open(path)? {
        most if claimed > most => {
            Err((format!("shape {shape:?} is {claimed} bytes"), format!("at most {most}")))
        }
        _ => Ok(()),
    }
}

/// Bytes of an element.
fn element_size(values: &Container) -> std::result::Result<u64, Doubt> {
    match values.dtype() {
        Ok(kind) => Ok(kind.size() as u64),
        Err(e) => Err((e.to_string(), "a sound type of its elements".into())),
    }
}

/// The size of the file that holds the values, which is open.
fn size_of_open(path: &Path) -> std::result::Result<u64, Doubt> {
    file_size(path).ok_or_else(|| ("the file is gone".into(), "a file that stays while it is read".into()))
}

/// Bytes that hold a dataset.
enum Storage {
    /// Uncompressed.
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
            false => Ok(Self::Packed(size_of_open(path)?)),
        }
    }
}

/// The size of a file that a virtual dataset in the file at `path` names; a `%b` in the name stands for a
/// number.
fn size_of_source(path: &Path, name: &str) -> std::result::Result<u64, Doubt> {
    if name == "." {
        return size_of_open(path);
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
    path.parent().expect("a file is in a folder").join(name)
}

fn file_size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(|data| data.is_file()).map(|data| data.len())
}
