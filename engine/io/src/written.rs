//! Did this program write a file? A command replaces only such files.
//!
//! Every file that is written has a mark: words near its beginning or end, or a root attribute of an HDF5
//! file. A text whose layout has no room for words has a tab at the end of its first line.

use crate::catalogue::marks;
use crate::input_file;
#[cfg(feature = "hdf5")]
use crate::staging::mark::ATTRIBUTE;
use crate::staging::mark::{MARK, TAB};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Bytes of the first line that are searched for its end.
const LINE: u64 = 1 << 16;

/// Whether this program wrote the file at `path`, which may be damaged.
pub fn is_own(path: &Path) -> bool {
    let texts = [marks(), vec![MARK]].concat();
    input_file::has_text_at_an_end(path, &texts) || ends_in_tab(path) || has_attribute(path)
}

/// Whether there is a file at `path` that is not empty and that this program did not write.
pub fn is_foreign(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() > 0) && !is_own(path)
}

/// Whether the first line of a file ends in a tab.
fn ends_in_tab(path: &Path) -> bool {
    let mut line = Vec::new();
    let file = input_file::open(path);
    let read = file.and_then(|file| BufReader::new(file.take(LINE)).read_until(b'\n', &mut line));
    read.is_ok() && line.ends_with(format!("{TAB}\n").as_bytes())
}

#[cfg(feature = "hdf5")]
fn has_attribute(path: &Path) -> bool {
    use crate::hdf5_file::{Hdf5File, is_hdf5};
    let file = is_hdf5(path).then(|| Hdf5File::open(path).ok()).flatten();
    file.is_some_and(|file| file.has_attribute("/", ATTRIBUTE))
}

#[cfg(not(feature = "hdf5"))]
fn has_attribute(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_or_a_tab_mark_a_file_and_nothing_else_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let long = "x".repeat(3 << 20);
        for (text, is_ours) in [
            (format!("{{\"creator\": \"{MARK} 0.1\"}}"), true),
            (format!("{long}{MARK}"), true),
            ("# inselberg catalogue 1\n".into(), true),
            ("index ncell\t\n1 2\n".into(), true),
            ("index\tncell\n1\t2\t\n".into(), false),
            ("one line\t".into(), false),
            ("inselberg phew output_00080\n".into(), false),
            (long, false),
        ] {
            fs::write(&path, &text).expect("written");
            assert_eq!((is_own(&path), is_foreign(&path)), (is_ours, !is_ours), "{:.40}", text);
        }
        fs::write(&path, "").expect("written");
        assert!(!is_foreign(&path) && !is_foreign(folder.path()) && !is_foreign(Path::new("/no/such")));
    }
}
