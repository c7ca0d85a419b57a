//! Files for observers, of a search or of a new cut: the image of labels, and regions for DS9 and CARTA.

use super::fault::CommandError;
use crate::config::ObserverFiles;
use inselberg::Clumps;
use inselberg::phew::image::stage_labels_of_catalogue;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::staging::Staged;
use std::path::Path;

/// Collective: the files of a search, on rank 0.
pub fn stage_of_phew(input: &Path, files: &ObserverFiles, clumps: &Clumps) -> Result<Staged, CommandError> {
    let mut staged = Staged::default();
    for path in files.paths() {
        let labels = clumps.stage_labels(path, files.of);
        staged.extend(labels.map_err(|error| CommandError::of_call(input, &error))?);
    }
    Ok(staged)
}

/// The files of a whole catalogue.
pub fn stage_of_catalogue(
    input: &Path,
    files: &ObserverFiles,
    whole: &Catalogue,
) -> Result<Staged, CommandError> {
    if files.labels.is_some() && whole.table("cells").is_none() {
        let expected = "those of `inselberg phew --with-cells` of a FITS image";
        return Err(CommandError::about(
            input,
            format!("no cells that can be cut again; expected {expected}"),
        ));
    }
    let mut staged = Staged::default();
    for path in files.paths() {
        let labels = stage_labels_of_catalogue(path, whole, files.of);
        staged.extend(labels.map_err(|error| CommandError::of_call(input, &error))?);
    }
    Ok(staged)
}
