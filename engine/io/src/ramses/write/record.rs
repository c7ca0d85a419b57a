//! Writes Fortran records.

use super::{Dialect, RamsesWriteResult, failed};
use crate::staging::hidden;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes the records of one file.
pub(super) struct RecordWriter {
    path: PathBuf,
    file: BufWriter<File>,
    single: bool,
    longest_part: usize,
    buffer: Vec<u8>,
}

impl RecordWriter {
    pub(super) fn create(path: &Path, dialect: &Dialect) -> RamsesWriteResult<Self> {
        let file = hidden::making(|| File::create(path)).map_err(failed(path))?;
        Ok(Self {
            path: path.into(),
            file: BufWriter::new(file),
            single: dialect.single_precision,
            longest_part: dialect.longest_part.max(1),
            buffer: Vec::new(),
        })
    }

    pub(super) fn ints(&mut self, values: impl IntoIterator<Item = i32>) -> RamsesWriteResult<()> {
        self.record(values.into_iter().map(i32::to_le_bytes))
    }

    pub(super) fn longs(&mut self, values: impl IntoIterator<Item = i64>) -> RamsesWriteResult<()> {
        self.record(values.into_iter().map(i64::to_le_bytes))
    }

    /// Reals in the precision of the dialect.
    pub(super) fn reals(&mut self, values: impl IntoIterator<Item = f64>) -> RamsesWriteResult<()> {
        if self.single {
            return self.record(values.into_iter().map(|x| (x as f32).to_le_bytes()));
        }
        self.record(values.into_iter().map(f64::to_le_bytes))
    }

    pub(super) fn bytes(&mut self, bytes: impl IntoIterator<Item = u8>) -> RamsesWriteResult<()> {
        self.record(bytes.into_iter().map(|b| [b]))
    }

    /// Gives the rest to the system.
    pub(super) fn finish(mut self) -> RamsesWriteResult<()> {
        self.file.flush().map_err(failed(&self.path))
    }

    fn record<const N: usize>(&mut self, items: impl Iterator<Item = [u8; N]>) -> RamsesWriteResult<()> {
        self.buffer.clear();
        items.for_each(|item| self.buffer.extend(item));
        self.write_parts().map_err(failed(&self.path))
    }

    fn write_parts(&mut self) -> std::io::Result<()> {
        let n_parts = self.buffer.len().div_ceil(self.longest_part).max(1);
        for i in 0..n_parts {
            let end = self.buffer.len().min((i + 1) * self.longest_part);
            let part = &self.buffer[i * self.longest_part..end];
            let n = i32::try_from(part.len()).map_err(std::io::Error::other)?;
            let (lead, trail) = (if i + 1 < n_parts { -n } else { n }, if i > 0 { -n } else { n });
            self.file.write_all(&lead.to_le_bytes())?;
            self.file.write_all(part)?;
            self.file.write_all(&trail.to_le_bytes())?;
        }
        Ok(())
    }
}
