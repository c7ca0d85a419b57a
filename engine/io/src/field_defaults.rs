//! Values for facts that an input of cells may not state.

use crate::params;

use crate::{ExtraCosmology, ReadError, ReadResult};
use std::path::Path;

params! {
    /// Values for facts that an input of cells does not state. They never replace a stated value.
    pub struct FieldDefaults of "cells" {
        /// Periodic axes of an input that does not state them: xyz, some of these letters, or none.
        ///
        /// For AMReX, Athena++ and plain arrays of cells. The default is none.
        pub periodic: Option<[bool; 3]> = None, "periodic" = of_whole(
            ParamKind::Text("AXES"),
            "",
            |axes, text, _| assign(axes, axes_of(text).map(Some)),
            |axes| axes.map(|axes| match axes {
                [false, false, false] => "none".into(),
                _ => ['x', 'y', 'z'].into_iter().zip(axes).filter(|(_, is_in)| *is_in).map(|(axis, _)| axis).collect(),
            }),
            "none, or some of the letters xyz",
        ).topic(Topic::Cells).example("xyz");
        /// Side of a cell of a plain array of cells.
        ///
        /// The default is 1.
        pub spacing: Option<f64> = None, "spacing" =
            real("", |x: &Option<f64>| x.is_none_or(|x| x > 0.0), "a finite side above 0").topic(Topic::Cells).example("0.1");
        /// Lower corner of a plain array of cells.
        ///
        /// The default is 0,0,0.
        pub origin: Option<[f64; 3]> = None, "origin" = of_whole(
            ParamKind::Text("X,Y,Z"),
            "",
            |origin, text, _| assign(origin, corner_of(text).map(Some)),
            |origin| origin.map(|at| at.map(|x| x.to_string()).join(",")),
            "three finite numbers, as in -0.5,-0.5,0",
        ).topic(Topic::Cells).example("-0.5,-0.5,-0.5");
        /// Names of the hydro variables of a RAMSES output without a descriptor, in their order.
        ///
        /// One name per variable of the hydro files. With 11 or more, gas with and without a magnetic field
        /// look alike, so properties of gas and unbinding need them. RAMSES's names are density, velocity_x,
        /// pressure, B_x_left, B_x_right and so on.
        pub hydro_names: Option<Vec<String>> = None, "hydro_names" = of_whole(
            ParamKind::Text("NAME,..."),
            "",
            |names, text, _| assign(names, names_of(text).map(Some)),
            |names| names.as_ref().map(|names| names.join(",")),
            "different names, separated by commas",
        ).topic(Topic::Cells).example("density,velocity_x,velocity_y,velocity_z,pressure");
        /// The plane to take of the Stokes axis of a FITS image or cube.
        ///
        /// The default is I.
        pub stokes: Option<String> = None, "stokes" =
            text("", "I|Q|U|V|XX|...", "a plane of the Stokes axis").topic(Topic::Cells).example("I");
        /// A plain array of two axes is an image, not positions of particles.
        ///
        /// Its pixels have 8 neighbours and an area.
        pub is_image: bool = false, "image" = flag("false").topic(Topic::Cells);
    }
    with {
        /// Parameters of a cosmology that the input does not state.
        cosmology: ExtraCosmology,
    }
}

fn axes_of(text: &str) -> Option<[bool; 3]> {
    match text {
        "none" => Some([false; 3]),
        axes if !axes.is_empty() && axes.chars().all(|c| "xyz".contains(c)) => {
            Some(['x', 'y', 'z'].map(|axis| axes.contains(axis)))
        }
        _ => None,
    }
}

fn corner_of(text: &str) -> Option<[f64; 3]> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|word| word.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
    numbers.and_then(|numbers| numbers.try_into().ok())
}

fn names_of(text: &str) -> Option<Vec<String>> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
    let is_good = |i: usize| !names[i].is_empty() && !names[..i].contains(&names[i]);
    (0..names.len()).all(is_good).then_some(names)
}

impl FieldDefaults {
    /// Checks that nothing is given for the input at `path`, whose format states everything.
    ///
    /// # Errors
    /// Something is.
    pub(crate) fn refuse_all(&self, path: &Path, format: &str) -> ReadResult<()> {
        self.refuse_periodic(path, format)?;
        self.refuse_grid(path, format)
    }

    /// Checks that no names of hydro variables are given.
    ///
    /// # Errors
    /// They are.
    pub(crate) fn refuse_hydro_names(&self, path: &Path, format: &str) -> ReadResult<()> {
        match self.hydro_names {
            None => Ok(()),
            Some(_) => Err(stated(path, "names of hydro variables", format)),
        }
    }

    /// Checks that no periodic axes are given.
    ///
    /// # Errors
    /// They are.
    pub(crate) fn refuse_periodic(&self, path: &Path, format: &str) -> ReadResult<()> {
        match self.periodic {
            None => Ok(()),
            Some(_) => Err(stated(path, "periodic axes", format)),
        }
    }

    /// Checks that neither spacing nor origin nor an image are given.
    ///
    /// # Errors
    /// One is.
    pub(crate) fn refuse_grid(&self, path: &Path, format: &str) -> ReadResult<()> {
        match (self.spacing, self.origin) {
            (None, None) => self.refuse_image(path, format),
            (Some(_), _) => Err(stated(path, "spacing", format)),
            (None, Some(_)) => Err(stated(path, "origin", format)),
        }
    }

    /// Checks that the input is not marked as an image.
    ///
    /// # Errors
    /// It is.
    pub(crate) fn refuse_image(&self, path: &Path, format: &str) -> ReadResult<()> {
        if !self.is_image {
            return Ok(());
        }
        let problem = format!("an image is wanted of an input of {format}");
        Err(ReadError::absent(path, format!("{problem}; expected a plain array of two axes, x and y")))
    }

    /// Checks that no value is given that an image of two axes cannot have.
    ///
    /// # Errors
    /// Something is.
    pub(crate) fn refuse_flat(&self, path: &Path) -> ReadResult<()> {
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
