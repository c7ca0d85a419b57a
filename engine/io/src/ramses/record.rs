//! Fortran unformatted records: a length, that many bytes, the length again.
//!
//! Every length is checked at both ends and against the file before its bytes are read. So nothing is
//! allocated or read beyond the file, whatever a header claims. Records of more than 2 GiB have several
//! parts. A negative leading marker means that the record continues, a negative trailing marker that it
//! continued. All parts are read as one record.

use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult};
use std::ops::Range;
use std::path::Path;

/// Bytes per read of markers: several small records, or the end of one and the beginning of the next.
const AHEAD: usize = 4096;
/// The most bytes of a text; the rest is ignored.
const MOST_TEXT: usize = 256;

/// Iterates over the records of one file.
pub(super) struct Records<'a> {
    file: &'a SourceFile,
    at: usize,
    /// The bytes of the last read, and their offset.
    ahead: (usize, Vec<u8>),
    number: usize,
    block: Option<(usize, usize)>,
}

/// One record. Only the bytes of the last load are in memory.
#[derive(Clone)]
pub(super) struct FortranRecord<'a> {
    file: &'a SourceFile,
    first: RecordPiece,
    /// Further parts.
    rest: Vec<RecordPiece>,
    len: usize,
    /// Loaded bytes, and their offset in the record.
    loaded: (usize, Vec<u8>),
}

/// A part of a record: its offsets in the record and in the file, and its length.
#[derive(Clone, Copy)]
struct RecordPiece {
    start: usize,
    at: usize,
    len: usize,
}

/// A record of 32-bit integers.
pub(super) struct Ints<'a>(FortranRecord<'a>);

/// A record of reals, 4 or 8 bytes each as the code was built.
#[derive(Clone)]
pub(super) struct Reals<'a> {
    record: FortranRecord<'a>,
    single: bool,
}

impl<'a> Records<'a> {
    /// Starts at the first record of `file`.
    pub(super) fn new(file: &'a SourceFile) -> Self {
        Self { file, at: 0, ahead: (0, Vec::new()), number: 0, block: None }
    }

    /// The file, for messages.
    pub(super) fn path(&self) -> &'a Path {
        self.file.path()
    }

    /// Size of the file in bytes.
    pub(super) fn file_len(&self) -> usize {
        self.file.len()
    }

    /// Whether no record is left.
    pub(super) fn at_end(&self) -> bool {
        self.at >= self.file.len()
    }

    /// Names `domain` and `level` in later messages.
    pub(super) fn enter_block(&mut self, level: usize, domain: usize) {
        self.block = Some((level, domain));
    }

    /// The next record, of any length. `what` names its content in messages.
    pub(super) fn next(&mut self, what: &'static str) -> ReadResult<FortranRecord<'a>> {
        self.number += 1;
        let (first, mut more) = self.part(what, 0)?;
        let (file, loaded) = (self.file, (0, Vec::new()));
        let mut record = FortranRecord { file, first, rest: Vec::new(), len: first.len, loaded };
        while more {
            let (part, again) = self.part(what, record.len)?;
            record.rest.push(part);
            record.len += part.len;
            more = again;
        }
        Ok(record)
    }

    /// The next record as `n` 32-bit integers.
    pub(super) fn ints(&mut self, what: &'static str, n: usize) -> ReadResult<Ints<'a>> {
        let record = self.next(what)?;
        if n.checked_mul(4) != Some(record.len) {
            let expected = format!("{n} integers of 4 bytes");
            return Err(self.error(what, format!("{} bytes", record.len), expected));
        }
        Ok(Ints(record))
    }

    /// The `n` integers of the next record.
    pub(super) fn list(&mut self, what: &'static str, n: usize) -> ReadResult<Vec<i32>> {
        let mut ints = self.ints(what, n)?;
        ints.load(0..n)?;
        Ok((0..n).map(|i| ints.get(i)).collect())
    }

    /// The next record as a text, trimmed; anything that is not ASCII is replaced.
    pub(super) fn text(&mut self, what: &'static str) -> ReadResult<String> {
        let mut record = self.next(what)?;
        record.load(0..record.len.min(MOST_TEXT))?;
        let text: String = record.loaded.1.iter().copied().map(char::from).collect();
        Ok(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string())
    }

    /// The next record as `n` reals of 4 or of 8 bytes.
    pub(super) fn reals(&mut self, what: &'static str, n: usize) -> ReadResult<Reals<'a>> {
        let record = self.next(what)?;
        let single = n.checked_mul(4) == Some(record.len);
        if !single && n.checked_mul(8) != Some(record.len) {
            let expected = format!("{n} reals of 4 or 8 bytes");
            return Err(self.error(what, format!("{} bytes", record.len), expected));
        }
        Ok(Reals { record, single })
    }

    /// The next record as one 32-bit integer.
    pub(super) fn int(&mut self, what: &'static str) -> ReadResult<i32> {
        Ok(self.list(what, 1)?[0])
    }

    /// The next record as one integer that is at least `least` and fits memory.
    pub(super) fn count(&mut self, what: &'static str, least: i32) -> ReadResult<usize> {
        let n = self.int(what)?;
        if n < least {
            return Err(self.error(what, format!("{n}"), format!("at least {least}")));
        }
        Ok(n as usize)
    }

    /// The next record as one count of 4 or of 8 bytes.
    pub(super) fn wide_count(&mut self, what: &'static str) -> ReadResult<usize> {
        let mut record = self.next(what)?;
        record.load(0..record.len.min(8))?;
        let n = match record.len {
            4 => i64::from(i32::from_le_bytes(record.bytes(0))),
            8 => i64::from_le_bytes(record.bytes(0)),
            n => return Err(self.error(what, format!("{n} bytes"), "an integer of 4 or 8 bytes")),
        };
        usize::try_from(n).map_err(|_| self.error(what, format!("{n}"), "a count of at least 0"))
    }

    /// Skips `n` records.
    pub(super) fn skip(&mut self, what: &'static str, n: usize) -> ReadResult<()> {
        (0..n).try_for_each(|_| self.next(what).map(drop))
    }

    /// Skips all remaining records and counts them.
    pub(super) fn count_rest(&mut self, what: &'static str) -> ReadResult<usize> {
        let before = self.number;
        while !self.at_end() {
            self.next(what)?;
        }
        Ok(self.number - before)
    }

    /// An error about the last record.
    pub(super) fn error(
        &self,
        what: &str,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) -> ReadError {
        let place = match self.block {
            Some((level, domain)) => {
                format!("record {} ({what}, level {level}, domain {domain})", self.number)
            }
            None => format!("record {} ({what})", self.number),
        };
        ReadError::content(self.path(), place, problem, expected)
    }

    /// The part of a record that begins at its byte `start`, and whether the record continues after it.
    fn part(&mut self, what: &'static str, start: usize) -> ReadResult<(RecordPiece, bool)> {
        let left = self.file.len() - self.at;
        let lead = self.marker(self.at)?.ok_or_else(|| self.ended(what, left))?;
        self.check_byte_order(what, lead)?;
        let len = lead.unsigned_abs() as usize;
        let at = self.at + 4;
        let Some(trail) = self.marker(at + len)? else {
            return Err(self.error(
                what,
                format!("torn: the file has {left} bytes from here on"),
                whole(len),
            ));
        };
        if i64::from(trail) != if start == 0 { len as i64 } else { -(len as i64) } {
            let problem = format!("its markers disagree: {lead} before, {trail} after");
            return Err(self.error(what, problem, "the same length twice"));
        }
        if lead < 0 && len == 0 || lead == i32::MIN {
            return Err(self.error(what, format!("its marker is {lead}"), "a length"));
        }
        self.at = at + len + 4;
        Ok((RecordPiece { start, at, len }, lead < 0))
    }

    /// The marker at offset `at`, if the file is long enough.
    fn marker(&mut self, at: usize) -> ReadResult<Option<i32>> {
        if at + 4 > self.file.len() {
            return Ok(None);
        }
        let (first, bytes) = &mut self.ahead;
        if at < *first || at + 4 > *first + bytes.len() {
            bytes.resize(AHEAD.min(self.file.len() - at), 0);
            *first = at;
            self.file.read_at(bytes, at)?;
        }
        Ok(Some(i32::from_le_bytes(bytes[at - *first..][..4].try_into().expect("four bytes"))))
    }

    fn ended(&self, what: &str, left: usize) -> ReadError {
        let problem = match left {
            0 => "the file ends before it".to_string(),
            n => format!("the file ends within its marker ({n} bytes left)"),
        };
        self.error(what, problem, "one more record")
    }

    /// Every RAMSES file starts with a record of one 4-byte integer.
    fn check_byte_order(&self, what: &str, lead: i32) -> ReadResult<()> {
        if self.number != 1 || lead != 4_i32.swap_bytes() {
            return Ok(());
        }
        let problem = "its marker is 4 with the bytes reversed: written on a machine of other byte order";
        Err(self.error(what, problem, "little-endian records"))
    }
}

fn whole(n: usize) -> String {
    format!("{n} bytes and a closing marker, as its opening marker states")
}

impl FortranRecord<'_> {
    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Loads the bytes in `range`, which must lie within the length, in place of the previous ones.
    pub(super) fn load(&mut self, range: Range<usize>) -> ReadResult<()> {
        let (begin, bytes) = &mut self.loaded;
        *begin = range.start;
        bytes.resize(range.len(), 0);
        for part in std::iter::once(&self.first).chain(&self.rest) {
            let (from, to) = (range.start.max(part.start), range.end.min(part.start + part.len));
            if from < to {
                let into = &mut bytes[from - range.start..to - range.start];
                self.file.read_at(into, part.at + from - part.start)?;
            }
        }
        Ok(())
    }

    /// The `N` bytes at `at`, which must be loaded.
    #[inline]
    pub(super) fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let (begin, bytes) = &self.loaded;
        let at = at - begin;
        bytes[at..at + N].try_into().expect("as many bytes as asked for")
    }
}

impl Ints<'_> {
    /// Reads the elements in `range`, which must lie within the length.
    pub(super) fn load(&mut self, range: Range<usize>) -> ReadResult<()> {
        self.0.load(4 * range.start..4 * range.end)
    }

    /// Element `i`, which must be loaded.
    #[inline]
    pub(super) fn get(&self, i: usize) -> i32 {
        i32::from_le_bytes(self.0.bytes(4 * i))
    }
}

impl Reals<'_> {
    /// Reads the elements in `range`, which must lie within the length.
    pub(super) fn load(&mut self, range: Range<usize>) -> ReadResult<()> {
        let width = if self.single { 4 } else { 8 };
        self.record.load(width * range.start..width * range.end)
    }

    /// Element `i`, which must be loaded.
    #[inline]
    pub(super) fn get(&self, i: usize) -> f64 {
        if self.single {
            f64::from(f32::from_le_bytes(self.record.bytes(4 * i)))
        } else {
            f64::from_le_bytes(self.record.bytes(8 * i))
        }
    }
}
