//! Which column of particle files without a descriptor has the birth times?
//!
//! Behind the levels RAMSES writes what the run has of potential, birth time, metallicity and columns of
//! other builds. Nothing names them. Only stars have a birth time other than 0. Every file states the number
//! of stars of the whole output (nstar_tot), and the column that gives this number is the one.

use super::locate::{FileFamily, Files};
use super::part::ParticleFile;
use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The column with the birth times of an output without a descriptor, counted behind the levels.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum BirthColumn {
    /// There is none, or none is needed.
    NoneHere,
    /// This one, and the number of stars that the files state.
    At(usize, u64),
    /// None gives the number of stars that the files state: where, what was found and what was expected.
    Contradiction(String, String),
}

/// The stars of a file that each column would give; `None` where families are stored.
type StarCounts = Option<Vec<u64>>;

impl BirthColumn {
    /// Finds it. Reads masses and the columns behind the levels of all files, unless there are no stars.
    ///
    /// # Errors
    /// A file cannot be read, or files state different numbers of stars.
    pub(super) fn find(files: &Files, n_cpus: usize) -> ReadResult<Self> {
        let path = |piece| files.piece(FileFamily::Part, piece);
        let stated = |piece| {
            let file = SourceFile::open(&path(piece))?;
            ParticleFile::open(&file, n_cpus).map(|file| file.n_stars)
        };
        let n_stars = stated(0)?;
        if n_stars == 0 {
            return Ok(Self::NoneHere);
        }
        let counted = |piece| {
            let file = SourceFile::open(&path(piece))?;
            let particles = ParticleFile::open(&file, n_cpus)?;
            if particles.n_stars == n_stars {
                return particles.stars_by_column();
            }
            let problem = format!("{} stars in the whole output", particles.n_stars);
            let expected = format!("{n_stars}, as in {}", path(0).display());
            Err(ReadError::content(file.path(), "nstar_tot", problem, expected))
        };
        let counts: Vec<StarCounts> = (0..n_cpus).into_par_iter().map(counted).collect::<ReadResult<_>>()?;
        Ok(Self::by_counts(&counts, n_stars))
    }

    /// By the stars of each file that each column would give. Files without particles may have no columns.
    fn by_counts(counts: &[StarCounts], n_stars: u64) -> Self {
        let Some(counts) = counts.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else {
            return Self::NoneHere;
        };
        let n_columns = counts.iter().map(|counts| counts.len()).max().unwrap_or(0);
        let total = |column: usize| counts.iter().filter_map(|counts| counts.get(column)).sum::<u64>();
        let totals: Vec<u64> = (0..n_columns).map(total).collect();
        match totals.iter().position(|total| *total == n_stars) {
            Some(column) => Self::At(column, n_stars),
            None if totals.is_empty() => {
                Self::Contradiction("no column of birth times".into(), stars(n_stars))
            }
            None => {
                let found: Vec<String> = totals.iter().map(u64::to_string).collect();
                let found = format!("columns with {} values other than 0", found.join(", "));
                Self::Contradiction(found, stars(n_stars))
            }
        }
    }

    /// The column, if there is one. `path` is that of a particle file, for the message.
    ///
    /// # Errors
    /// The columns contradict the number of stars.
    pub(super) fn known(&self, path: &Path) -> ReadResult<Option<usize>> {
        match self {
            Self::NoneHere => Ok(None),
            Self::At(column, _) => Ok(Some(*column)),
            Self::Contradiction(found, expected) => {
                Err(ReadError::content(path, "columns behind the levels", found, expected))
            }
        }
    }

    /// What is assumed.
    pub(super) fn assumption(&self) -> Option<String> {
        let Self::At(column, n) = self else { return None };
        let column = column + 10;
        Some(format!(
            "there is no part_file_descriptor.txt: column {column} of particles is taken for the birth time, since it gives the number of stars that the files state, {n}"
        ))
    }
}

fn stars(n: u64) -> String {
    format!("birth times of the {n} stars that the header states (nstar_tot)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_number_of_stars_decides() {
        let of = |counts: &[&[u64]], n| {
            let counts: Vec<StarCounts> = counts.iter().map(|counts| Some(counts.to_vec())).collect();
            BirthColumn::by_counts(&counts, n)
        };
        assert!(matches!(of(&[&[50, 7], &[30, 5]], 12), BirthColumn::At(1, 12)));
        assert!(matches!(of(&[&[7, 7], &[]], 7), BirthColumn::At(0, 7)));
        assert!(matches!(of(&[&[50, 8], &[30, 5]], 12), BirthColumn::Contradiction(..)));
        assert!(matches!(BirthColumn::by_counts(&[None], 3), BirthColumn::NoneHere));
        assert!(matches!(of(&[&[]], 3), BirthColumn::Contradiction(..)));
    }
}
