//! `info_NNNNN.txt`: the header of the output, in `name = value` lines.

use crate::input_file;
use crate::{Cosmology, ExtraCosmology, ReadError, ReadResult, Units};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

/// The values from the info file. Unknown lines are skipped.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Info {
    pub(super) n_cpus: usize,
    pub(super) levelmin: u8,
    pub(super) levelmax: u8,
    /// Side of a coarse cell in code length units.
    pub(super) boxlen: f64,
    pub(super) time: f64,
    pub(super) units: Units,
    pub(super) cosmology: Option<Cosmology>,
}

impl Info {
    /// Reads `path`. RAMSES states no more than matter, a cosmological constant and curvature: `extra` has
    /// the rest.
    ///
    /// # Errors
    /// It cannot be read, a necessary line is missing or a value is invalid.
    pub(super) fn read(path: &Path, extra: &ExtraCosmology) -> ReadResult<Self> {
        let bytes = input_file::read(path).map_err(|e| ReadError::io(path, "reading", e))?;
        let text = String::from_utf8_lossy(&bytes);
        Self::from_lines(&InfoLines::parse(path, &text), extra)
    }

    fn from_lines(lines: &InfoLines, extra: &ExtraCosmology) -> ReadResult<Self> {
        let n_dim: u32 = lines.get("ndim")?;
        if n_dim != 3 {
            return Err(lines.error("ndim", format!("{n_dim}"), "3: only three dimensions are read"));
        }
        let info = Self {
            n_cpus: lines.get("ncpu")?,
            levelmin: lines.get("levelmin")?,
            levelmax: lines.get("levelmax")?,
            boxlen: lines.positive("boxlen")?,
            time: lines.get("time")?,
            units: Units {
                length: lines.positive("unit_l")?,
                density: lines.positive("unit_d")?,
                time: lines.positive("unit_t")?,
            },
            cosmology: cosmology(lines, extra)?,
        };
        if info.n_cpus == 0 {
            return Err(lines.error("ncpu", "0", "at least one CPU"));
        }
        Ok(info)
    }
}

/// RAMSES writes all of these in every run: `aexp` = `H0` = 1 means no cosmology.
fn cosmology(lines: &InfoLines, extra: &ExtraCosmology) -> ReadResult<Option<Cosmology>> {
    if !lines.has("aexp") || !lines.has("H0") || !lines.has("omega_m") {
        return Ok(None);
    }
    let found = Cosmology {
        aexp: lines.positive("aexp")?,
        h0: lines.get("H0")?,
        omega_m: lines.get("omega_m")?,
        omega_l: lines.or_zero("omega_l")?,
        omega_k: lines.or_zero("omega_k")?,
        omega_b: lines.or_zero("omega_b")?,
        ..Cosmology::default()
    };
    if found.aexp == 1.0 && found.h0 == 1.0 {
        return Ok(None);
    }
    let all = found.with_extra(lines.path, &ExtraCosmology::NONE, extra)?;
    // What RAMSES takes for curvature is the rest to 1.
    Ok(Some(Cosmology { omega_k: all.omega_k - all.omega_r - all.omega_nu, ..all }))
}

struct InfoLines<'a> {
    path: &'a Path,
    values: HashMap<&'a str, &'a str>,
}

impl<'a> InfoLines<'a> {
    fn parse(path: &'a Path, text: &'a str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Self { path, values: pairs.map(|(name, value)| (name.trim(), value.trim())).collect() }
    }

    fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn get<T: FromStr>(&self, name: &str) -> ReadResult<T> {
        let value = self
            .values
            .get(name)
            .ok_or_else(|| self.error(name, "no such line", format!("a line \"{name} = value\"")))?;
        // Fortran may write D for the exponent of a double.
        value
            .replace(['D', 'd'], "E")
            .parse()
            .map_err(|_| self.error(name, format!("\"{value}\""), kind_name::<T>()))
    }

    fn positive(&self, name: &str) -> ReadResult<f64> {
        match self.get::<f64>(name)? {
            x if x > 0.0 && x.is_finite() => Ok(x),
            x => Err(self.error(name, format!("{x}"), "a positive number")),
        }
    }

    fn or_zero(&self, name: &str) -> ReadResult<f64> {
        if self.has(name) { self.get(name) } else { Ok(0.0) }
    }

    fn error(&self, line: &str, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, format!("line \"{line}\""), problem, expected)
    }
}

fn kind_name<T>() -> &'static str {
    match std::any::type_name::<T>() {
        "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        _ => "a whole number of at least 0",
    }
}
