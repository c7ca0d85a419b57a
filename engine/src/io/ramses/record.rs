//! Fortran unformatted records: a length, that many bytes, the length again.
//!
//! Every length is checked at both ends and against the file before its bytes are looked at, so
//! whatever a header claims, nothing is allocated or touched beyond the file. Records of more
//! than 2 GiB come as several parts whose markers are negative where the record goes on (leading
//! marker) or went on (trailing marker); they are read as one.

use super::map::Mapped;
use crate::io::{ReadError, ReadResult};
use std::path::Path;

/// Walks the records of one file in order.
pub(super) struct Records<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    number: usize,
    block: Option<(usize, usize)>,
}

/// The bytes of one record: one slice of the file, or several where it came in parts.
#[derive(Default, Clone)]
pub(super) struct Record<'a> {
    first: &'a [u8],
    /// Further parts and where in the record each starts.
    rest: Vec<(usize, &'a [u8])>,
    len: usize,
}

/// A record of 32-bit integers.
pub(super) struct Ints<'a>(Record<'a>);

/// A record of reals, 4 or 8 bytes each as the code was built.
#[derive(Clone)]
pub(super) struct Reals<'a> {
    record: Record<'a>,
    single: bool,
}

impl<'a> Records<'a> {
    /// Starts at the first record of `file`.
    pub(super) fn new(file: &'a Mapped) -> Self {
        Self { path: file.path(), bytes: file.bytes(), at: 0, number: 0, block: None }
    }

    /// The file, for messages.
    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// Size of the file in bytes.
    pub(super) fn file_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no record is left.
    pub(super) fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Says in later messages that the records are those of `domain` at `level`.
    pub(super) fn enter_block(&mut self, level: usize, domain: usize) {
        self.block = Some((level, domain));
    }

    /// The next record, of any length. `what` names its content in messages.
    pub(super) fn next(&mut self, what: &'static str) -> ReadResult<Record<'a>> {
        self.number += 1;
        let (first, mut more) = self.part(what, true)?;
        let mut record = Record { first, rest: Vec::new(), len: first.len() };
        while more {
            let (part, again) = self.part(what, false)?;
            record.rest.push((record.len, part));
            record.len += part.len();
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
        Ok(self.ints(what, 1)?.get(0))
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
        let record = self.next(what)?;
        let n = match record.len {
            4 => i64::from(i32::from_le_bytes(record.bytes(0))),
            8 => i64::from_le_bytes(record.bytes(0)),
            n => return Err(self.error(what, format!("{n} bytes"), "an integer of 4 or 8 bytes")),
        };
        usize::try_from(n).map_err(|_| self.error(what, format!("{n}"), "a count of at least 0"))
    }

    /// Passes over `n` records.
    pub(super) fn skip(&mut self, what: &'static str, n: usize) -> ReadResult<()> {
        (0..n).try_for_each(|_| self.next(what).map(drop))
    }

    /// An error about the record that was read last.
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
        ReadError::content(self.path, place, problem, expected)
    }

    /// One part of a record, and whether the record goes on after it.
    fn part(&mut self, what: &'static str, is_first: bool) -> ReadResult<(&'a [u8], bool)> {
        let left = self.bytes.len() - self.at;
        let lead = self.marker(self.at).ok_or_else(|| self.ended(what, left))?;
        self.check_byte_order(what, lead)?;
        let n = lead.unsigned_abs() as usize;
        let start = self.at + 4;
        let torn = || self.error(what, format!("torn: the file has {left} bytes from here on"), whole(n));
        let trail = start.checked_add(n).and_then(|end| self.marker(end)).ok_or_else(torn)?;
        if i64::from(trail) != if is_first { n as i64 } else { -(n as i64) } {
            let problem = format!("its markers disagree: {lead} before, {trail} after");
            return Err(self.error(what, problem, "the same length twice"));
        }
        if lead < 0 && n == 0 || lead == i32::MIN {
            return Err(self.error(what, format!("its marker is {lead}"), "a length"));
        }
        self.at = start + n + 4;
        Ok((&self.bytes[start..start + n], lead < 0))
    }

    fn marker(&self, at: usize) -> Option<i32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        Some(i32::from_le_bytes(bytes.try_into().ok()?))
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
    format!("{n} bytes and a closing marker, as its opening marker says")
}

impl Record<'_> {
    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The `N` bytes at `at`, which must lie within the length.
    #[inline]
    pub(super) fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        match self.first.get(at..at + N).and_then(|b| b.try_into().ok()) {
            Some(bytes) => bytes,
            None => self.bytes_of_parts(at),
        }
    }

    #[cold]
    fn bytes_of_parts<const N: usize>(&self, at: usize) -> [u8; N] {
        let (start, part) = self.part_at(at);
        match part.get(at - start..at - start + N).and_then(|b| b.try_into().ok()) {
            Some(bytes) => bytes,
            None => std::array::from_fn(|i| self.byte(at + i)),
        }
    }

    /// The part that holds byte `at` and where it starts.
    fn part_at(&self, at: usize) -> (usize, &[u8]) {
        match self.rest.partition_point(|&(start, _)| start <= at) {
            0 => (0, self.first),
            n => self.rest[n - 1],
        }
    }

    fn byte(&self, at: usize) -> u8 {
        let (start, part) = self.part_at(at);
        part[at - start]
    }

    /// The content as text, trimmed; anything that is not ASCII is replaced.
    pub(super) fn text(&self) -> String {
        let text: String = (0..self.len.min(256)).map(|i| char::from(self.byte(i))).collect();
        text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string()
    }
}

impl Ints<'_> {
    /// Element `i`, which must lie within the length.
    #[inline]
    pub(super) fn get(&self, i: usize) -> i32 {
        i32::from_le_bytes(self.0.bytes(4 * i))
    }

    /// All elements in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = i32> {
        (0..self.0.len / 4).map(|i| self.get(i))
    }
}

impl Reals<'_> {
    /// Element `i`, which must lie within the length.
    #[inline]
    pub(super) fn get(&self, i: usize) -> f64 {
        if self.single {
            f64::from(f32::from_le_bytes(self.record.bytes(4 * i)))
        } else {
            f64::from_le_bytes(self.record.bytes(8 * i))
        }
    }
}
