//! Paths of datasets in files: `box.hdf5:/path/to/positions`.

use std::path::Path;

/// The file of an input, without the place of a dataset in it.
pub fn file_of(path: &Path) -> &Path {
    split_dataset(path).map_or(path, |(file, _)| file)
}

/// `box.hdf5:/a/b` as the file and the place in it.
pub(crate) fn split_dataset(path: &Path) -> Option<(&Path, &str)> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let at = bytes.windows(2).position(|pair| pair == b":/")?;
    let place = std::str::from_utf8(&bytes[at + 2..]).ok()?;
    let file = prefix(path, at)?;
    (at > 0).then_some((file, place))
}

/// The first bytes of a path.
#[cfg(unix)]
fn prefix(path: &Path, n: usize) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes().get(..n)?;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// The first bytes of a path.
#[cfg(not(unix))]
fn prefix(path: &Path, n: usize) -> Option<&Path> {
    path.to_str()?.get(..n).map(Path::new)
}
