//! Text of a plotfile, line by line, with errors that name the line.

use crate::{ReadError, ReadResult, input_file};
use std::path::{Path, PathBuf};

/// The most bytes of a header: one of ten million boxes is smaller.
const MOST: u64 = 1 << 31;

/// The lines of a text file.
pub(super) struct Lines {
    path: PathBuf,
    text: String,
    at: usize,
    number: usize,
}

impl Lines {
    /// Reads the file.
    pub fn read(path: &Path) -> ReadResult<Self> {
        let size = std::fs::metadata(path).map_err(|e| ReadError::io(path, "opening", e))?.len();
        if size > MOST {
            return Err(ReadError::content(path, "size", format!("{size} bytes"), format!("at most {MOST}")));
        }
        let bytes = input_file::read(path).map_err(|e| ReadError::io(path, "reading", e))?;
        let text =
            String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Ok(Self { path: path.into(), text, at: 0, number: 0 })
    }

    /// The next line, which holds `what`.
    pub fn next(&mut self, what: &str) -> ReadResult<&str> {
        self.number += 1;
        if self.at >= self.text.len() {
            return Err(self.error(what, "the file ends", "a complete header"));
        }
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at += line.len() + 1;
        Ok(line.trim_end_matches('\r'))
    }

    /// Everything after the lines that were read.
    pub fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The next line as one number.
    pub fn number<T: std::str::FromStr>(&mut self, what: &str, expected: &str) -> ReadResult<T> {
        let line = self.next(what)?.trim().to_string();
        line.parse().map_err(|_| self.error(what, short(&line), expected))
    }

    /// The next line as integers, whatever brackets are around them.
    pub fn integers(&mut self, what: &str, expected: &str) -> ReadResult<Vec<i64>> {
        let line = self.next(what)?;
        match integers(line) {
            Some(numbers) => Ok(numbers),
            None => {
                let problem = short(line);
                Err(self.error(what, problem, expected))
            }
        }
    }

    /// The next line as three finite reals.
    pub fn three_reals(&mut self, what: &str) -> ReadResult<[f64; 3]> {
        let line = self.next(what)?;
        let reals: Option<Vec<f64>> =
            line.split_whitespace().map(|word| word.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let problem = short(line);
        reals
            .and_then(|reals| reals.try_into().ok())
            .ok_or_else(|| self.error(what, problem, "three finite numbers"))
    }

    /// An error in the line that was read last.
    pub fn error(&self, what: &str, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(&self.path, format!("line {} ({what})", self.number), problem, expected)
    }
}

/// The integers of a text of digits, signs, brackets, commas and blanks.
pub(super) fn integers(text: &str) -> Option<Vec<i64>> {
    let words = text.split(|c: char| "(), \t".contains(c)).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

/// The beginning of a line, for messages.
pub(super) fn short(line: &str) -> String {
    let start: String = line.chars().take(60).flat_map(char::escape_debug).collect();
    if line.chars().nth(60).is_some() { format!("\"{start}...\"") } else { format!("\"{start}\"") }
}
