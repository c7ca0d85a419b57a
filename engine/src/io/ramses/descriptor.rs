//! `hydro_file_descriptor.txt` and `part_file_descriptor.txt`: names of the columns.
//!
//! Two styles are about: `ivar, name, type` lines under `# version: 1`, and the older
//! `variable # 1: name`.

use crate::io::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// One column: its name and, where the descriptor tells, its type letter (d f i q h b).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) letter: Option<char>,
}

/// Reads the columns of a descriptor in file order.
///
/// # Errors
/// When the file cannot be read or a line fits neither style.
pub(super) fn read(path: &Path) -> ReadResult<Vec<Column>> {
    let bytes = fs::read(path).map_err(|e| ReadError::io(path, "reading", e))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut columns = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if is_remark(line) {
            continue;
        }
        let column = parse_line(line, columns.len() + 1).ok_or_else(|| {
            let expected = format!("\"{0}, name, type\" or \"variable # {0}: name\"", columns.len() + 1);
            ReadError::content(path, format!("line {}", i + 1), format!("{line:?}"), expected)
        })?;
        columns.push(column);
    }
    Ok(columns)
}

/// Standard names of `n` hydro variables, for outputs without a descriptor.
pub(super) fn standard_hydro(n: usize) -> Vec<String> {
    const NAMES: [&str; 5] = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];
    let scalar = |i| format!("scalar_{:02}", i - NAMES.len());
    (0..n).map(|i| NAMES.get(i).map_or_else(|| scalar(i), |name| name.to_string())).collect()
}

fn is_remark(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with("nvar")
}

fn parse_line(line: &str, number: usize) -> Option<Column> {
    let (found, name, letter) = match line.trim().strip_prefix("variable") {
        Some(rest) => {
            let (number, name) = rest.trim().strip_prefix('#')?.split_once(':')?;
            (number, name.trim(), None)
        }
        None => {
            let mut parts = line.split(',').map(str::trim);
            let (number, name, letter) = (parts.next()?, parts.next()?, parts.next());
            (number, name, letter.and_then(|t| t.chars().next()))
        }
    };
    let right = found.trim().parse() == Ok(number) && !name.is_empty();
    right.then(|| Column { name: name.to_string(), letter })
}
