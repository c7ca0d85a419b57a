//! `Header`: the fields, the box and the levels of a plotfile.

use super::lines::{Lines, integers, short};
use crate::block_grid::RootGrid;
use crate::{ReadError, ReadResult};
use std::path::Path;

/// The most fields, levels and boxes that a header may claim.
const MOST_FIELDS: usize = 1 << 12;
const MOST_LEVELS: usize = 30;
const MOST_BOXES: usize = 1 << 27;
/// How much sides of cells may differ from those of the box, relative to them: some codes write few digits.
const SIDES: f64 = 1e-3;

/// What `Header` says.
pub(super) struct PlotHeader {
    pub fields: Vec<String>,
    pub time: f64,
    /// The grid of level 0 of the plotfile.
    pub root: RootGrid,
    pub levels: Vec<PlotLevel>,
}

/// A level of a plotfile.
pub(super) struct PlotLevel {
    /// Its level in the mesh, above that of the root grid.
    pub up: u8,
    /// How often its cells divide those of the next coarser level along an axis: 2 or 4; 1 for the coarsest.
    pub ratio: u32,
    /// The lowest cell of the domain.
    pub low: [i64; 3],
    /// Cells of the domain.
    pub size: [u32; 3],
    /// Number of boxes.
    pub n_boxes: usize,
    /// The beginning of its files' names: `Level_0/Cell`.
    pub path: String,
}

impl PlotHeader {
    /// Reads the header at `path`.
    ///
    /// # Errors
    /// It cannot be read, is broken, or describes something else than Cartesian cells in three dimensions,
    /// refined by 2 or 4.
    pub fn read(path: &Path) -> ReadResult<Self> {
        let mut lines = Lines::read(path)?;
        lines.next("version")?;
        let n: usize = lines.number("number of fields", "a number of fields")?;
        if n == 0 || n > MOST_FIELDS {
            return Err(lines.error("number of fields", format!("{n}"), format!("1 to {MOST_FIELDS}")));
        }
        let mut fields: Vec<String> = Vec::new();
        for _ in 0..n {
            let name = lines.next("name of a field")?.trim().to_string();
            fields.push(unique(&fields, name));
        }
        match lines.number("dimension", "3")? {
            3 => {}
            n @ (1 | 2) => {
                let n: i64 = n;
                return Err(lines.error("dimension", format!("{n}-D"), "3: only three dimensions are read"));
            }
            n => return Err(lines.error("dimension", format!("{n}"), "3")),
        }
        let time: f64 = lines.number("time", "a number")?;
        if !time.is_finite() {
            return Err(lines.error("time", format!("{time}"), "a finite number"));
        }
        let finest: usize = lines.number("finest level", "a level")?;
        if finest >= MOST_LEVELS {
            return Err(lines.error("finest level", format!("{finest}"), format!("below {MOST_LEVELS}")));
        }
        let (low, high) =
            (lines.three_reals("low end of the box")?, lines.three_reals("high end of the box")?);
        let ratios = ratios(&mut lines, finest)?;
        let domains = domains(&mut lines, finest + 1)?;
        check_domains(&lines, &domains, &ratios)?;
        lines.next("steps")?;
        let root = RootGrid::new(path, domains[0].1, low, high)?;
        for (_, size) in &domains {
            check_sides(&mut lines, *size, low, high)?;
        }
        check_coordinates(&mut lines)?;
        lines.next("boundary width")?;
        let mut levels = Vec::new();
        let mut up = 0;
        for (level, (ratio, (low, size))) in ratios.into_iter().zip(domains).enumerate() {
            up += ratio.ilog2() as u8;
            let (n_boxes, path) = boxes_and_path(&mut lines, level)?;
            levels.push(PlotLevel { up, ratio, low, size, n_boxes, path });
        }
        Ok(Self { fields, time, root, levels })
    }
}

/// `name`, or a similar one if it is taken.
fn unique(taken: &[String], mut name: String) -> String {
    while taken.contains(&name) {
        name.push('_');
    }
    name
}

/// The ratio of each level to the next coarser one; 1 for the coarsest.
fn ratios(lines: &mut Lines, finest: usize) -> ReadResult<Vec<u32>> {
    const WHAT: &str = "refinement ratios";
    let line = lines.next(WHAT)?.to_string();
    let Some(all) = integers(&line) else {
        return Err(lines.error(WHAT, short(&line), "a number per level"));
    };
    // Some codes write a ratio per axis, in brackets; some list levels that they may reach later.
    let each: Option<Vec<i64>> = match line.contains('(') {
        true => {
            all.chunks(3).take(finest).map(|of| of.iter().all(|n| *n == of[0]).then_some(of[0])).collect()
        }
        false => Some(all.iter().copied().take(finest).collect()),
    };
    let Some(each) = each else {
        return Err(lines.error(WHAT, format!("{all:?}"), "the same ratio along all axes"));
    };
    if each.len() < finest {
        return Err(lines.error(WHAT, format!("{} numbers", all.len()), format!("{finest}")));
    }
    let ratio = |ratio: i64| match ratio {
        2 | 4 => Ok(ratio as u32),
        _ => Err(lines.error(WHAT, format!("ratio {ratio}"), "2 or 4")),
    };
    std::iter::once(Ok(1)).chain(each.into_iter().map(ratio)).collect()
}

/// Lowest cell and cells of the domain of each level.
fn domains(lines: &mut Lines, n: usize) -> ReadResult<Vec<([i64; 3], [u32; 3])>> {
    const WHAT: &str = "domains";
    let numbers = lines.integers(WHAT, "a box per level")?;
    if numbers.len() < 9 * n || !numbers.len().is_multiple_of(9) {
        let problem = format!("{} numbers", numbers.len());
        return Err(lines.error(WHAT, problem, format!("{n} boxes of 9 numbers")));
    }
    numbers
        .chunks(9)
        .take(n)
        .map(|numbers| cell_box(numbers).map_err(|(problem, expected)| lines.error(WHAT, problem, expected)))
        .collect()
}

/// Lowest cell and size of a box of cells: low, high (included), and 0 for an index of cells along each axis.
pub(super) fn cell_box(numbers: &[i64]) -> Result<([i64; 3], [u32; 3]), (String, String)> {
    let [low, high, nodes] = [0, 3, 6].map(|i| [numbers[i], numbers[i + 1], numbers[i + 2]]);
    if nodes != [0; 3] {
        return Err((format!("a box of type {nodes:?}"), "values at the centres of cells".into()));
    }
    let is_sound = |x: i64| x.abs() <= i64::from(u32::MAX);
    let size: [i64; 3] = std::array::from_fn(|a| high[a].saturating_sub(low[a]).saturating_add(1));
    if !(0..3).all(|a| is_sound(low[a]) && is_sound(high[a]) && (1..=1 << 31).contains(&size[a])) {
        return Err((format!("a box from {low:?} to {high:?}"), "its low end below its high end".into()));
    }
    Ok((low, size.map(|n| n as u32)))
}

fn check_domains(lines: &Lines, domains: &[([i64; 3], [u32; 3])], ratios: &[u32]) -> ReadResult<()> {
    for (level, pair) in domains.windows(2).enumerate() {
        let ([(low, size), (fine_low, fine_size)], ratio) = ([pair[0], pair[1]], ratios[level + 1]);
        let fits = |a: usize| {
            fine_low[a] == low[a] * i64::from(ratio)
                && u64::from(fine_size[a]) == u64::from(size[a]) * u64::from(ratio)
        };
        if !(0..3).all(fits) {
            let problem = format!("level {} has {fine_size:?} cells from {fine_low:?}", level + 1);
            let expected = format!("{ratio} times {size:?} from {low:?}");
            return Err(lines.error("domains", problem, expected));
        }
    }
    Ok(())
}

/// Checks that the sides of the cells of a level, on the next line, are those of its domain in the box.
fn check_sides(lines: &mut Lines, size: [u32; 3], low: [f64; 3], high: [f64; 3]) -> ReadResult<()> {
    const WHAT: &str = "sides of cells";
    let sides = lines.three_reals(WHAT)?;
    let expected: [f64; 3] = std::array::from_fn(|a| (high[a] - low[a]) / f64::from(size[a]));
    match (0..3).all(|a| (sides[a] - expected[a]).abs() <= SIDES * expected[a].abs()) {
        true => Ok(()),
        false => {
            let expected = format!("{expected:?}, by the ends of the box and {size:?} cells");
            Err(lines.error(WHAT, format!("{sides:?}"), expected))
        }
    }
}

fn check_coordinates(lines: &mut Lines) -> ReadResult<()> {
    match lines.number("coordinate system", "0: Cartesian")? {
        0_i64 => Ok(()),
        system => {
            let name = match system {
                1 => "cylindrical".into(),
                2 => "spherical".into(),
                other => format!("number {other}"),
            };
            Err(lines.error("coordinate system", name, "0: only Cartesian coordinates are read"))
        }
    }
}

fn boxes_and_path(lines: &mut Lines, level: usize) -> ReadResult<(usize, String)> {
    let what = "level, number of boxes and time";
    let words: Vec<String> = lines.next(what)?.split_whitespace().map(String::from).collect();
    let first: Option<Vec<usize>> = words.iter().take(2).map(|word| word.parse().ok()).collect();
    let n = match first.as_deref() {
        Some(&[at, n]) if at == level && n <= MOST_BOXES => n,
        _ => return Err(lines.error(what, words.join(" "), format!("level {level} and a number of boxes"))),
    };
    lines.next("steps")?;
    for _ in 0..3 * n {
        lines.next("ends of a box")?;
    }
    Ok((n, lines.next("path of a level")?.trim().to_string()))
}

/// Whether the file at `path` looks like the header of a plotfile.
pub(super) fn looks_like_header(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let Ok(file) = crate::input_file::open(path) else { return false };
    if file.take(4096).read_to_end(&mut start).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&start);
    let mut lines = text.lines();
    let is_version = lines.next().is_some_and(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()));
    is_version && lines.next().is_some_and(|line| line.trim().parse::<usize>().is_ok())
}

/// An error of the header at `path` about a level.
pub(super) fn bad_level(path: &Path, level: usize, problem: String, expected: &str) -> ReadError {
    ReadError::content(path, format!("level {level}"), problem, expected)
}
