//! Which format does a path have?

use crate::{
    ExtraCosmology, FieldDefaults, InputFacts, ReadError, ReadResult, Reader, Snapshot, amrex, dataset_path,
    foreign, input_file, nearest, ramses, uniform,
};
#[cfg(feature = "hdf5")]
use crate::{hdf5_file, mesh_blocks};
use std::path::Path;

/// Every format that [`open`] tries, in this order.
#[cfg(feature = "hdf5")]
pub const READERS: &[Reader] = &[
    ramses::READER,
    amrex::READER,
    mesh_blocks::ATHENA,
    mesh_blocks::PARTHENON,
    uniform::NPY,
    uniform::DATASET,
    uniform::FITS,
];

/// Every format that [`open`] tries, in this order.
#[cfg(not(feature = "hdf5"))]
pub const READERS: &[Reader] = &[ramses::READER, amrex::READER, uniform::NPY, uniform::FITS];

/// Opens a snapshot in any known format.
///
/// # Errors
/// The path does not exist, no reader recognises it, or its headers are broken.
pub fn open(path: &Path) -> ReadResult<Box<dyn Snapshot>> {
    read_headers(path).map(|facts| open_from(&facts))
}

/// Reads everything that opening a snapshot needs, so that other ranks need not read it.
///
/// # Errors
/// As for [`open`].
pub fn read_headers(path: &Path) -> ReadResult<InputFacts> {
    read_headers_with(path, &FieldDefaults::default())
}

/// The same, with values for what the snapshot does not state.
///
/// # Errors
/// As for [`open`], or the snapshot states one of these, or its format fixes it.
pub fn read_headers_with(path: &Path, defaults: &FieldDefaults) -> ReadResult<InputFacts> {
    if !dataset_path::file_of(path).exists() {
        return Err(ReadError::absent(path, nearest::absent(path, "a snapshot or an array")));
    }
    let reader = READERS.iter().position(|r| (r.recognises)(path, defaults));
    let reader = reader.ok_or_else(|| unknown_format(path))?;
    if READERS[reader].name != ramses::READER.name {
        defaults.refuse_hydro_names(path, READERS[reader].name)?;
    }
    if let (Some(_), true) = (&defaults.stokes, READERS[reader].name != uniform::FITS.name) {
        let what = format!(
            "a Stokes plane is wanted of an input of {}; expected a FITS image",
            READERS[reader].name
        );
        return Err(ReadError::absent(path, what));
    }
    let known = (READERS[reader].read_headers)(path, defaults)?;
    let facts = InputFacts { of_particles: false, reader, known };
    if defaults.cosmology != ExtraCosmology::NONE {
        defaults.cosmology.check(path, open_from(&facts).header().cosmology.as_ref())?;
    }
    Ok(facts)
}

/// Whether a reader of cells recognises `path`, with these values for what it does not state.
pub fn recognises(path: &Path, defaults: &FieldDefaults) -> bool {
    READERS.iter().any(|reader| (reader.recognises)(path, defaults))
}

/// Opens the snapshot from the result of [`read_headers`], here or on another rank. Reads nothing.
///
/// # Panics
/// The facts come from another program.
pub fn open_from(facts: &InputFacts) -> Box<dyn Snapshot> {
    (READERS[facts.reader].open)(&facts.known)
}

/// Why no reader recognises `path`: it is of another code, damaged, or of no known kind.
fn unknown_format(path: &Path) -> ReadError {
    let refusal = foreign::refusal(path, known_formats);
    if let Some(refusal) = refusal.or_else(|| foreign::own_refusal(path)).or_else(|| damaged_hdf5(path)) {
        return refusal;
    }
    let problem = match input_file::other_kind(path) {
        Some(kind) => format!("it is {kind}"),
        None => "not an output of a known format".into(),
    };
    ReadError::absent(path, format!("{problem}; expected {}", known_formats()))
}

/// The error of a file that begins as HDF5 and cannot be opened.
#[cfg(feature = "hdf5")]
fn damaged_hdf5(path: &Path) -> Option<ReadError> {
    hdf5_file::is_hdf5(path).then(|| hdf5_file::Hdf5File::open(path).err()).flatten()
}

/// This build reads no HDF5.
#[cfg(not(feature = "hdf5"))]
fn damaged_hdf5(_: &Path) -> Option<ReadError> {
    None
}

fn known_formats() -> String {
    let known: Vec<_> = READERS.iter().map(|r| format!("{} ({})", r.name, r.looks)).collect();
    known.join(" or ")
}
