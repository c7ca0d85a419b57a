//! `hydro_file_descriptor.txt` and `part_file_descriptor.txt`: names of the columns.
//!
//! There are two styles: `ivar, name, type` lines under `# version: 1`, and the older `variable # 1: name`
//! lines under `nvar = N`. An output without a descriptor is valid. A descriptor with fewer columns than the
//! files is truncated or from another output. This is an error, since every later name would be wrong.

use crate::input_file;
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Letters of the types that RAMSES writes.
pub(super) const TYPES: &str = "dfiqhb";

/// One column: its name and, in the newer style, its type letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DescribedColumn {
    pub(super) name: String,
    pub(super) letter: Option<char>,
    /// Its line, from 1.
    line: usize,
}

/// A complete descriptor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Descriptor {
    #[serde(with = "crate::facts::path")]
    path: PathBuf,
    columns: Vec<DescribedColumn>,
    n_lines: usize,
}

impl Descriptor {
    /// Reads the columns of a descriptor in file order.
    ///
    /// # Errors
    /// The file cannot be read, a line fits neither style or is truncated, or `nvar` is not the number of
    /// columns.
    pub(super) fn read(path: &Path) -> ReadResult<Self> {
        let bytes = input_file::read(path).map_err(|e| ReadError::io(path, "reading", e))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut found = Self { path: path.into(), columns: Vec::new(), n_lines: 0 };
        let mut stated = None;
        for line in text.split_inclusive('\n') {
            found.n_lines += 1;
            let words = line.trim();
            if words.is_empty() || words.starts_with('#') {
                continue;
            }
            let number = found.columns.len() + 1;
            let bad = |expected: String| {
                let place = format!("line {}", found.n_lines);
                ReadError::content(path, place, format!("{words:?}"), expected)
            };
            if let Some(rest) = words.strip_prefix("nvar") {
                let n = rest.trim().strip_prefix('=').and_then(|n| n.trim().parse::<usize>().ok());
                stated = Some((n.ok_or_else(|| bad("\"nvar = N\"".into()))?, found.n_lines));
                continue;
            }
            let column = parse_line(words, number, found.n_lines).ok_or_else(|| {
                bad(format!(
                    "\"{number}, name, type\" with a type of {TYPES}, or \"variable # {number}: name\""
                ))
            })?;
            // A type at the end shows that the line is complete; a name could continue.
            if column.letter.is_none() && !line.ends_with('\n') {
                return Err(bad("a complete line with a line break".into()));
            }
            found.columns.push(column);
        }
        if let Some((n, line)) = stated {
            found.check_count(n, &format!("as line {line} states"))?;
        }
        Ok(found)
    }

    /// The columns in file order.
    pub(super) fn columns(&self) -> &[DescribedColumn] {
        &self.columns
    }

    /// Checks that there are `n` columns; `whose` names the source of this number.
    ///
    /// # Errors
    /// There are more or fewer.
    pub(super) fn check_count(&self, n: usize, whose: &str) -> ReadResult<()> {
        let found = self.columns.len();
        let expected = format!("{n} columns, {whose}");
        match self.columns.get(n) {
            Some(first) => {
                let place = format!("line {}", first.line);
                Err(ReadError::content(&self.path, place, format!("column {} of {found}", n + 1), expected))
            }
            None if found < n => {
                let problem = format!("the file ends after {found} columns");
                Err(ReadError::content(&self.path, self.end(), problem, expected))
            }
            None => Ok(()),
        }
    }

    /// Checks that every one of `names` is among the columns.
    ///
    /// # Errors
    /// One is not.
    pub(super) fn check_names<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> ReadResult<()> {
        match names.find(|name| self.columns.iter().all(|column| column.name != *name)) {
            None => Ok(()),
            Some(name) => {
                let problem = format!("the file ends without a column {name}");
                Err(ReadError::content(&self.path, self.end(), problem, "a line for each column"))
            }
        }
    }

    fn end(&self) -> String {
        format!("line {}", self.n_lines.max(1))
    }
}

fn parse_line(text: &str, number: usize, line: usize) -> Option<DescribedColumn> {
    let (found, name, letter) = match text.strip_prefix("variable") {
        Some(rest) => {
            let (number, name) = rest.trim().strip_prefix('#')?.split_once(':')?;
            (number, name.trim(), None)
        }
        None => {
            let parts: Vec<_> = text.split(',').map(str::trim).collect();
            let [number, name, letter] = parts[..] else { return None };
            let is_type = letter.len() == 1 && TYPES.contains(letter);
            (number, name, Some(letter.chars().next().filter(|_| is_type)?))
        }
    };
    let right = found.trim().parse() == Ok(number) && !name.is_empty() && !name.contains(char::is_control);
    right.then(|| DescribedColumn { name: name.to_string(), letter, line })
}
