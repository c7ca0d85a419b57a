//! Catalogues as RAMSES itself prints them: `clump_NNNNN.txt00001` and `halo_NNNNN.txt00001`.
//!
//! Names, header lines and the width of every column are RAMSES's, so that scripts made for its files read
//! ours. Only a tab at the end of the header tells ours from those of RAMSES. `index` is the rank of the peak
//! by falling density over all peaks of the run, as on one RAMSES process. There is one file for clumps and
//! one for haloes.

use super::{Catalogue, Table, Values, WriteError, WriteResult, check_shape};
use crate::staging::hidden;
use crate::staging::mark::TAB;
use crate::staging::{Staged, stage_file};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

const CLUMP_HEADER: &str = "   index  halo   lev   parent      ncell    peak_x             peak_y             \
peak_z             rho-               rho+               rho_av             mass_cl            relevance   ";
const HALO_HEADER: &str = "     index      ncell    peak_x             peak_y             \
peak_z             rho+               mass      ";

/// Width of a real and digits after its point: `1PE18.9E2`.
const REAL_WIDTH: usize = 18;
const REAL_DIGITS: usize = 9;

/// Writes both files for output `output_number` into `folder`, which is created if absent.
///
/// Requires in the tables `clumps` and `haloes` the columns `id`, `peak_rank`, `n_cells`,
/// `peak_position_refined` (else `peak_position`), `density_peak` and `mass`; in `clumps` also `halo`,
/// `level`, `parent`, `density_min`, `density_mean` and `relevance`. A parent of 0 is the clump itself.
///
/// # Errors
/// A table or column is missing, a clump names a halo or parent that is in neither table, or the
/// folder cannot be written; a file then keeps its old content.
pub fn write_ramses_text(folder: &Path, catalogue: &Catalogue, output_number: u32) -> WriteResult<()> {
    stage_ramses_text(folder, catalogue, output_number)?.commit()
}

/// The names of both files.
pub fn ramses_text_names(output_number: u32) -> [String; 2] {
    ["halo", "clump"].map(|kind| file_name(kind, output_number))
}

fn file_name(kind: &str, output_number: u32) -> String {
    format!("{kind}_{output_number:05}.txt00001")
}

/// As [`write_ramses_text`], but the caller commits the files: for files that belong together.
///
/// # Errors
/// As [`write_ramses_text`].
pub fn stage_ramses_text(folder: &Path, catalogue: &Catalogue, output_number: u32) -> WriteResult<Staged> {
    check_shape(folder, catalogue)?;
    let clumps = TableRows::new(folder, catalogue, "clumps")?;
    let haloes = TableRows::new(folder, catalogue, "haloes")?;
    let clump_lines = clump_lines(&clumps, &haloes)?;
    let halo_lines = halo_lines(&haloes)?;
    let place = hidden::place(folder).map_err(WriteError::io(folder, "creating the folder"))?;
    let mut staged = stage(folder, "halo", output_number, HALO_HEADER, &halo_lines)?;
    staged.extend(stage(folder, "clump", output_number, CLUMP_HEADER, &clump_lines)?);
    Ok(staged.in_place(place))
}

/// A real as Fortran's `1PE18.9E2` prints it: stars where it does not fit.
pub fn fortran_real(value: f64) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return format!("{name:>REAL_WIDTH$}");
    }
    let text = format!("{value:.REAL_DIGITS$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    if exponent.len() > 2 {
        return "*".repeat(REAL_WIDTH);
    }
    format!("{:>REAL_WIDTH$}", format!("{digits}E{sign}{exponent:0>2}"))
}

/// An integer in `width` columns: stars where it does not fit.
fn fortran_integer(value: u64, width: usize) -> String {
    let text = value.to_string();
    if text.len() > width { "*".repeat(width) } else { format!("{text:>width$}") }
}

fn clump_lines(clumps: &TableRows, haloes: &TableRows) -> WriteResult<Vec<String>> {
    let (rank_of_clump, rank_of_halo) = (clumps.ranks()?, haloes.ranks()?);
    let (rank, halo, parent) =
        (clumps.counts("peak_rank")?, clumps.counts("halo")?, clumps.counts("parent")?);
    let (level, cells) = (clumps.counts("level")?, clumps.counts("n_cells")?);
    let position = clumps.position()?;
    let reals = ["density_min", "density_peak", "density_mean", "mass", "relevance"];
    let reals: Vec<_> = reals.iter().map(|name| clumps.reals(name)).collect::<Result<_, _>>()?;
    let find = |name: &str, wanted: u64, first: &HashMap<u64, u64>, then: &HashMap<u64, u64>| {
        let found = first.get(&wanted).or_else(|| then.get(&wanted));
        found.copied().ok_or_else(|| clumps.unknown(name, wanted))
    };
    let line = |row: usize| -> WriteResult<String> {
        let halo = find("halo", halo[row], &rank_of_halo, &rank_of_clump)?;
        let parent = match parent[row] {
            0 => rank[row],
            id => find("parent", id, &rank_of_clump, &rank_of_halo)?,
        };
        let integers = [(rank[row], 8), (halo, 8), (level[row], 2), (parent, 10), (cells[row], 10)];
        Ok(format_line(&integers, position[row].iter().copied().chain(reals.iter().map(|c| c[row]))))
    };
    clumps.by_rank()?.into_iter().map(line).collect()
}

fn halo_lines(haloes: &TableRows) -> WriteResult<Vec<String>> {
    let (rank, cells, position) =
        (haloes.counts("peak_rank")?, haloes.counts("n_cells")?, haloes.position()?);
    let (peak, mass) = (haloes.reals("density_peak")?, haloes.reals("mass")?);
    let line = |row: usize| {
        let reals = position[row].iter().copied().chain([peak[row], mass[row]]);
        format_line(&[(rank[row], 10), (cells[row], 10)], reals)
    };
    Ok(haloes.by_rank()?.into_iter().map(line).collect())
}

fn format_line(integers: &[(u64, usize)], reals: impl Iterator<Item = f64>) -> String {
    let integers = integers.iter().map(|(value, width)| fortran_integer(*value, *width));
    integers.chain(reals.map(fortran_real)).collect::<Vec<_>>().join(" ")
}

fn stage(folder: &Path, kind: &str, number: u32, header: &str, lines: &[String]) -> WriteResult<Staged> {
    stage_file(&folder.join(file_name(kind, number)), |out: &mut dyn Write| {
        writeln!(out, "{header}{TAB}")?;
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    })
}

/// A table with the folder for the messages.
struct TableRows<'a> {
    folder: &'a Path,
    table: &'a Table,
}

impl<'a> TableRows<'a> {
    fn new(folder: &'a Path, catalogue: &'a Catalogue, name: &str) -> WriteResult<Self> {
        let missing = || WriteError::content(folder, name, "no such table", "a PHEW catalogue");
        catalogue.table(name).ok_or_else(missing).map(|table| Self { folder, table })
    }

    fn counts(&self, name: &str) -> WriteResult<&'a [u64]> {
        match self.table.column(name).map(|c| &c.values) {
            Some(Values::U64(v)) => Ok(v),
            _ => Err(self.missing(name, "a column of counts")),
        }
    }

    fn reals(&self, name: &str) -> WriteResult<&'a [f64]> {
        match self.table.column(name).map(|c| &c.values) {
            Some(Values::F64(v)) => Ok(v),
            _ => Err(self.missing(name, "a column of reals")),
        }
    }

    fn position(&self) -> WriteResult<&'a [[f64; 3]]> {
        let refined = self.table.column("peak_position_refined");
        match refined.or_else(|| self.table.column("peak_position")).map(|c| &c.values) {
            Some(Values::F64x3(v)) => Ok(v),
            _ => Err(self.missing("peak_position", "a column of vectors")),
        }
    }

    /// From identifiers to ranks of peaks.
    fn ranks(&self) -> WriteResult<HashMap<u64, u64>> {
        let ids = self.counts("id")?.iter().copied();
        Ok(ids.zip(self.counts("peak_rank")?.iter().copied()).collect())
    }

    /// Rows in the order RAMSES prints them.
    fn by_rank(&self) -> WriteResult<Vec<usize>> {
        let rank = self.counts("peak_rank")?;
        let mut rows: Vec<usize> = (0..rank.len()).collect();
        rows.sort_by_key(|row| rank[*row]);
        Ok(rows)
    }

    fn missing(&self, name: &str, expected: &str) -> WriteError {
        WriteError::content(self.folder, format!("{}/{name}", self.table.name), "not there", expected)
    }

    fn unknown(&self, name: &str, wanted: u64) -> WriteError {
        let place = format!("{}/{name}", self.table.name);
        WriteError::content(self.folder, place, format!("{wanted} is not listed"), "a clump or halo")
    }
}
