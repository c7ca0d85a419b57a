//! A file as a slice of bytes, read by the system where it is touched.
#![allow(unsafe_code)]

use crate::gate;
use crate::io::{ReadError, ReadResult};
use memmap2::Mmap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Blocks after which the pages of a file are given back: some 20 MB of them.
const BLOCKS: usize = 32;

/// A file mapped for reading; its pages are in memory only while something looks at them.
pub(super) struct Mapped {
    path: PathBuf,
    map: Mmap,
}

impl Mapped {
    /// Maps `path`.
    ///
    /// # Errors
    /// When the system cannot open or map it.
    pub(super) fn open(path: &Path) -> ReadResult<Self> {
        let _pass = gate::pass();
        let file = File::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
        // SAFETY: the map is read-only and only this struct holds it; a finished output is not
        // rewritten while it is read, which is the guard every reader of mapped files relies on.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| ReadError::io(path, "mapping", e))?;
        Ok(Self { path: path.into(), map })
    }

    /// The whole content.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Where it is, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the memory of all pages back; those that are looked at again come from the file again.
    ///
    /// Else they count as this process's own until the map is gone, a whole file on each rank that
    /// reads some of its blocks.
    fn forget(&self) {
        // SAFETY: the map is shared and never written, so a page that is dropped comes back as it was.
        #[cfg(unix)]
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}

/// Passes on one of every `step` blocks, and gives the memory of `maps`, where they come from, back now and
/// then.
pub(super) fn sparing<'a, B>(
    maps: Vec<&'a Mapped>,
    step: usize,
    sink: &'a mut dyn FnMut(&B) -> ReadResult<()>,
) -> impl FnMut(&B) -> ReadResult<()> + 'a {
    let mut n = 0;
    move |block| {
        n += 1;
        if n % (BLOCKS / step).max(1) == 0 {
            maps.iter().for_each(|map| map.forget());
        }
        sink(block)
    }
}
