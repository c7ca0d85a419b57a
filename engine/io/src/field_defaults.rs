//! Values for what an input of cells may leave open.

use crate::{ExtraCosmology, ReadError, ReadResult};
use std::path::Path;

/// Values for what an input of cells does not state. None of them replaces a stated value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FieldDefaults {
    /// Which axes wrap around; `None`: none does.
    pub periodic: Option<[bool; 3]>,
    /// Side of a cell of a plain array; `None`: 1.
    pub spacing: Option<f64>,
    /// Lower corner of a plain array; `None`: 0.
    pub origin: Option<[f64; 3]>,
    /// Whether a plain array of two axes is an image. Without it, arrays of shape (N, 3) are positions of particles.
    pub is_image: bool,
    /// Names of the hydro variables of a RAMSES output without a descriptor, in the order of its files.
    pub hydro_names: Option<Vec<String>>,
    /// The plane that is taken of the Stokes axis of a FITS image; `None`: that of I.
    pub stokes: Option<String>,
    /// Parameters of a cosmology that the input does not state.
    pub cosmology: ExtraCosmology,
}

impl FieldDefaults {
    /// Checks that nothing is given for the input at `path`, whose format states everything.
    ///
    /// # Errors
    /// Something is.
    pub fn refuse_all(&self, path: &Path, format: &str) -> ReadResult<()> {
        self.refuse_periodic(path, format)?;
        self.refuse_grid(path, format)
    }

    /// Checks that no names of hydro variables are given.
    ///
    /// # Errors
    /// They are.
    pub fn refuse_hydro_names(&self, path: &Path, format: &str) -> ReadResult<()> {
        match self.hydro_names {
            None => Ok(()),
            Some(_) => Err(stated(path, "names of hydro variables", format)),
        }
    }

    /// Checks that no periodic axes are given.
    ///
    /// # Errors
    /// They are.
    pub fn refuse_periodic(&self, path: &Path, format: &str) -> ReadResult<()> {
        match self.periodic {
            None => Ok(()),
            Some(_) => Err(stated(path, "periodic axes", format)),
        }
    }

    /// Checks that neither spacing nor origin nor an image are given.
    ///
    /// # Errors
    /// One is.
    pub fn refuse_grid(&self, path: &Path, format: &str) -> ReadResult<()> {
        match (self.spacing, self.origin) {
            (None, None) => self.refuse_image(path, format),
            (Some(_), _) => Err(stated(path, "spacing", format)),
            (None, Some(_)) => Err(stated(path, "origin", format)),
        }
    }

    /// Checks that the input is not said to be an image.
    ///
    /// # Errors
    /// It is.
    pub fn refuse_image(&self, path: &Path, format: &str) -> ReadResult<()> {
        if !self.is_image {
            return Ok(());
        }
        let problem = format!("an image is wanted of an input of {format}");
        Err(ReadError::absent(path, format!("{problem}; expected a plain array of two axes, x and y")))
    }

    /// Checks that nothing is given that an image of two axes lacks.
    ///
    /// # Errors
    /// Something is.
    pub fn refuse_flat(&self, path: &Path) -> ReadResult<()> {
        let given = match (self.spacing, self.origin, self.periodic) {
            (Some(_), _, _) => "spacing",
            (_, Some(_), _) => "origin",
            (_, _, Some([_, _, true])) => "periodic axis z",
            _ => return Ok(()),
        };
        let what = format!("{given} given for an image of pixels, x and y; expected no {given}");
        Err(ReadError::absent(path, what))
    }
}

fn stated(path: &Path, what: &str, format: &str) -> ReadError {
    ReadError::absent(
        path,
        format!("{what} given for an input of {format}, which states it; expected no {what}"),
    )
}
