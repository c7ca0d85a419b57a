//! Paths of datasets in files: `box.hdf5:/path/to/positions`, and of parts of FITS files: `cube.fits[SCI]`.

use std::path::Path;

/// The file of an input, without the place of a dataset or part in it.
pub fn file_of(path: &Path) -> &Path {
    split_dataset(path).or_else(|| split_part(path)).map_or(path, |(file, _)| file)
}

/// `cube.fits[SCI]` as the file and the part. Only after endings of FITS, since other names may have
/// brackets.
pub(crate) fn split_part(path: &Path) -> Option<(&Path, &str)> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let at = bytes.iter().rposition(|byte| *byte == b'[')?;
    let part = std::str::from_utf8(&bytes[at + 1..]).ok()?.strip_suffix(']')?;
    let name = bytes[..at].to_ascii_lowercase();
    let is_fits = [".fits", ".fit", ".fts", ".fz", ".fits.gz", ".fit.gz", ".fts.gz"]
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()));
    is_fits.then(|| prefix(path, at))?.map(|file| (file, part))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_files_are_split_off() {
        let parts =
            |path: &'static str| split_part(Path::new(path)).map(|(file, part)| (file.to_str(), part));
        assert_eq!(parts("a/cube.fits[1]"), Some((Some("a/cube.fits"), "1")));
        assert_eq!(parts("CUBE.FIT[SCI,2]"), Some((Some("CUBE.FIT"), "SCI,2")));
        for whole in ["cube.fits", "run[1].npy", "run.npy[1]", "cube.fits[1", "[1]", "a[2]/cube.fits"] {
            assert_eq!(parts(whole), None, "{whole}");
        }
        assert_eq!(file_of(Path::new("cube.fits[1]")), Path::new("cube.fits"));
    }
}
