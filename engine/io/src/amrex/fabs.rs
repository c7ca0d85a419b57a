//! `Cell_H`: the boxes of a level, and where the values of each are.

use super::header::cell_box;
use super::lines::{Lines, integers, short};
use crate::ReadResult;
use crate::stored_array::RealFormat;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The boxes of a level and their files.
pub(super) struct LevelFabs {
    pub fabs: Vec<FabPlace>,
    /// Names of the files, beside `Cell_H`.
    pub files: Vec<String>,
    /// Cells around each box whose values are stored as well.
    pub ghosts: [u32; 3],
    /// The type of the values, where the files have no headers of their own.
    pub real: Option<RealFormat>,
}

/// A box and the place of its values.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct FabPlace {
    /// Its lowest cell, in the numbers of the plotfile.
    pub low: [i64; 3],
    pub size: [u32; 3],
    /// The index of its file.
    pub file: u32,
    /// Bytes before its values or their header.
    pub offset: u64,
}

impl LevelFabs {
    /// Reads the file at `path`, which must have this number of fields.
    ///
    /// # Errors
    /// It cannot be read or is broken.
    pub fn read(path: &Path, n_fields: usize) -> ReadResult<Self> {
        let mut lines = Lines::read(path)?;
        let version: u32 = lines.number("version", "1 to 4")?;
        if !(1..=4).contains(&version) {
            return Err(lines.error("version", format!("{version}"), "1 to 4"));
        }
        lines.next("how it was written")?;
        let n: usize = lines.number("number of fields", "a number")?;
        if n != n_fields {
            let expected = format!("{n_fields}, as in Header");
            return Err(lines.error("number of fields", format!("{n}"), expected));
        }
        let ghosts = ghosts(&mut lines)?;
        let boxes = boxes(&mut lines)?;
        let (mut fabs, mut files) = (Vec::new(), Vec::<String>::new());
        let n: usize = lines.number("number of boxes on disk", "a number")?;
        if n != boxes.len() {
            let expected = format!("{}, the boxes of the level", boxes.len());
            return Err(lines.error("number of boxes on disk", format!("{n}"), expected));
        }
        for (low, size) in boxes {
            let (name, offset) = on_disk(&mut lines)?;
            // Boxes of one file mostly follow each other.
            let file = files.iter().rposition(|known| *known == name).unwrap_or_else(|| {
                files.push(name);
                files.len() - 1
            });
            fabs.push(FabPlace { low, size, file: file as u32, offset });
        }
        let real = if version == 1 { None } else { Some(written_real(&lines)?) };
        Ok(Self { fabs, files, ghosts, real })
    }
}

fn ghosts(lines: &mut Lines) -> ReadResult<[u32; 3]> {
    const WHAT: &str = "ghost cells";
    let all = lines.integers(WHAT, "a number, or one per axis")?;
    let each = match all[..] {
        [n] => [n; 3],
        [x, y, z] => [x, y, z],
        _ => return Err(lines.error(WHAT, format!("{all:?}"), "a number, or one per axis")),
    };
    match each.iter().all(|n| (0..1 << 16).contains(n)) {
        true => Ok(each.map(|n| n as u32)),
        false => Err(lines.error(WHAT, format!("{each:?}"), "0 or some")),
    }
}

/// `(2 0`, a box per line, `)`.
fn boxes(lines: &mut Lines) -> ReadResult<Vec<([i64; 3], [u32; 3])>> {
    let what = "number of boxes";
    let line = lines.next(what)?.trim_start().to_string();
    let n = match (line.starts_with('('), integers(&line).as_deref()) {
        (true, Some(&[n, _])) if n >= 0 => n,
        _ => return Err(lines.error(what, short(&line), "( and two numbers")),
    };
    let mut boxes = Vec::new();
    for _ in 0..n {
        let numbers = lines.integers("box", "nine integers")?;
        if numbers.len() != 9 {
            let problem = format!("{} numbers", numbers.len());
            return Err(lines.error("box", problem, "nine: a box in three dimensions"));
        }
        boxes.push(cell_box(&numbers).map_err(|(problem, expected)| lines.error("box", problem, expected))?);
    }
    match lines.next("end of the boxes")?.trim() {
        ")" => Ok(boxes),
        other => {
            let problem = short(other);
            Err(lines.error("end of the boxes", problem, ")"))
        }
    }
}

/// `FabOnDisk: Cell_D_00000 0`.
fn on_disk(lines: &mut Lines) -> ReadResult<(String, u64)> {
    let what = "place of a box";
    let line = lines.next(what)?;
    let mut words = line.split_whitespace();
    let found = (|| {
        (words.next()? == "FabOnDisk:").then_some(())?;
        Some((words.next()?.to_string(), words.next()?.parse().ok()?))
    })();
    match found {
        Some(found) => Ok(found),
        None => {
            let problem = short(line);
            Err(lines.error(what, problem, "FabOnDisk: FILE OFFSET"))
        }
    }
}

/// The type of the values, behind the extremes of the fields.
fn written_real(lines: &Lines) -> ReadResult<RealFormat> {
    let rest = lines.rest();
    let text = rest.find("((").map_or("", |at| rest[at..].split('\n').next().unwrap_or(""));
    let numbers = integers(text).unwrap_or_default();
    RealFormat::described(&numbers).ok_or_else(|| {
        lines.error("type of the values", short(text), "IEEE reals of 32 or 64 bits in either byte order")
    })
}
