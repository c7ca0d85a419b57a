//! `hydro_*` and `grav_*`: values of every cell, in the oct order of the amr file.

use super::amr::AmrHeader;
use super::locate::FileFamily;
use super::record::{Reals, Records};
use crate::ReadResult;
use crate::source_file::SourceFile;
use std::ops::Range;
use std::path::Path;

/// The most values per cell that a header may claim.
const MOST_VARS: usize = 1 << 12;

/// A file of cell values after its header, before its first block.
pub(super) struct CellFile<'a> {
    records: Records<'a>,
    /// Values per cell.
    pub(super) n_vars: usize,
    /// Ratio of specific heats; 0 in a file that is not of gas.
    pub(super) gamma: f64,
    n_levels: usize,
    n_boundaries: usize,
    n_cpus: usize,
    /// The requested variables (from 0) and their columns.
    wanted: Vec<(usize, usize)>,
}

/// One requested column of a block: one record for each of the eight cells of the octs.
pub(super) struct CellColumn<'a> {
    pub(super) column: usize,
    pub(super) cells: Vec<Reals<'a>>,
}

impl CellColumn<'_> {
    /// Reads the values of the octs in `range`.
    pub(super) fn load(&mut self, range: Range<usize>) -> ReadResult<()> {
        self.cells.iter_mut().try_for_each(|cells| cells.load(range.clone()))
    }
}

impl<'a> CellFile<'a> {
    /// Reads the header of `file`.
    ///
    /// # Errors
    /// When a record is broken or the run was not three-dimensional.
    pub(super) fn open(file: &'a SourceFile, kind: FileFamily) -> ReadResult<Self> {
        let mut records = Records::new(file);
        let n_cpus = records.count("ncpu", 1)?;
        let n_vars = records.count("nvar", 1)?;
        if n_vars > MOST_VARS {
            let expected = format!("at most {MOST_VARS}");
            return Err(records.error("nvar", format!("{n_vars} values a cell"), expected));
        }
        if kind == FileFamily::Hydro {
            match records.int("ndim")? {
                3 => {}
                n => return Err(records.error("ndim", format!("{n}"), "3")),
            }
        }
        let n_levels = records.count("nlevelmax", 1)?;
        let n_boundaries = records.count("nboundary", 0)?;
        let gamma = match kind {
            FileFamily::Hydro => {
                let mut gamma = records.reals("gamma", 1)?;
                gamma.load(0..1)?;
                gamma.get(0)
            }
            _ => 0.0,
        };
        Ok(Self { records, n_vars, gamma, n_levels, n_boundaries, n_cpus, wanted: Vec::new() })
    }

    /// Also requests variable `var` (from 0) as `column`.
    pub(super) fn want(&mut self, var: usize, column: usize) {
        self.wanted.push((var, column));
    }

    /// Checks that the file has the layout of its amr file at `amr_path`.
    pub(super) fn check(&self, amr: &AmrHeader, amr_path: &Path, n_vars: usize) -> ReadResult<()> {
        let by_amr = format!("as in {}", amr_path.display());
        let checks = [
            ("ncpu", self.n_cpus, amr.n_cpus, by_amr.as_str()),
            ("nlevelmax", self.n_levels, amr.n_levels, &by_amr),
            ("nboundary", self.n_boundaries, amr.n_boundaries, &by_amr),
            ("nvar", self.n_vars, n_vars, "as in the first file"),
        ];
        for (what, found, expected, whose) in checks {
            if found != expected {
                let expected = format!("{what} = {expected}, {whose}");
                return Err(self.records.error("header", format!("{what} = {found}"), expected));
            }
        }
        Ok(())
    }

    /// Skips the block of `domain` at `level`, where the amr file has `n` octs. Returns its requested columns
    /// if `wanted`.
    pub(super) fn block(
        &mut self,
        (level, domain): (usize, usize),
        n: usize,
        amr_path: &Path,
        wanted: bool,
    ) -> ReadResult<Vec<CellColumn<'a>>> {
        self.records.enter_block(level, domain);
        let found = self.records.int("ilevel")?;
        if found != level as i32 {
            return Err(self.records.error("ilevel", format!("{found}"), format!("{level}")));
        }
        let found = self.records.count("ncache", 0)?;
        if found != n {
            let expected = format!("{n}, the octs of {}", amr_path.display());
            return Err(self.records.error("ncache", format!("{found} octs"), expected));
        }
        match (n, wanted) {
            (0, _) => Ok(Vec::new()),
            (n, true) => self.read_block(n),
            (_, false) => self.records.skip("values", 8 * self.n_vars).map(|()| Vec::new()),
        }
    }

    fn read_block(&mut self, n: usize) -> ReadResult<Vec<CellColumn<'a>>> {
        let empty = |&(_, column)| CellColumn { column, cells: Vec::with_capacity(8) };
        let mut values: Vec<_> = self.wanted.iter().map(empty).collect();
        for _cell in 0..8 {
            for var in 0..self.n_vars {
                let record = self.records.reals("values", n)?;
                let into = values.iter_mut().zip(&self.wanted).filter(|(_, w)| w.0 == var);
                into.for_each(|(column, _)| column.cells.push(record.clone()));
            }
        }
        Ok(values)
    }
}

/// Names of the `n` values per cell of a grav file, if this is a layout of some RAMSES version.
pub(super) fn grav_names(n: usize) -> Option<&'static [&'static str]> {
    const NAMES: [&str; 5] = ["rho", "potential", "force_x", "force_y", "force_z"];
    (3..=5).contains(&n).then(|| &NAMES[5 - n..])
}
