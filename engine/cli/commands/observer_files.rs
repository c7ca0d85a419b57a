//! Files for observers, of a search or of a new cut: the image of labels, and regions for DS9 and CARTA.

use super::fault::CommandError;
use crate::config::ObserverFiles;
use inselberg::phew::image::{regions, stage_labels};
use inselberg::{Clumps, Error};
use inselberg_comm::Comm;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::staging::{Staged, stage_file};
use std::path::Path;

/// Collective: the files of a search, on rank 0.
pub fn stage_of_phew(input: &Path, files: &ObserverFiles, clumps: &Clumps) -> Result<Staged, CommandError> {
    let failed = |error: Error| CommandError::of_call(input, &error);
    let mut staged = Staged::default();
    if let Some(path) = &files.labels {
        staged.extend(clumps.stage_labels(path, files.of).map_err(failed)?);
    }
    if files.regions.is_some()
        && let Some(lists) = clumps.gather_tables(&[files.of.table()]).map_err(failed)?
    {
        staged.extend(stage_regions(input, files, &lists)?);
    }
    Ok(staged)
}

/// The files of a whole catalogue.
pub fn stage_of_catalogue(
    input: &Path,
    files: &ObserverFiles,
    whole: &Catalogue,
) -> Result<Staged, CommandError> {
    let mut staged = Staged::default();
    if let Some(path) = &files.labels {
        let cells = whole.table("cells").ok_or_else(|| {
            let expected = "those of `inselberg phew --with-cells` of a FITS image";
            CommandError::about(input, format!("no cells that can be cut again; expected {expected}"))
        })?;
        let labels = stage_labels(path, &whole.attributes, cells, files.of, &Comm::solo());
        staged.extend(labels.map_err(|error| CommandError::of_call(input, &error))?);
    }
    staged.extend(stage_regions(input, files, whole)?);
    Ok(staged)
}

fn stage_regions(input: &Path, files: &ObserverFiles, whole: &Catalogue) -> Result<Staged, CommandError> {
    let Some((path, format)) = &files.regions else { return Ok(Staged::default()) };
    let table = whole.table(files.of.table());
    let text = table.and_then(|table| regions(&whole.attributes, table, *format)).ok_or_else(|| {
        CommandError::about(input, "no sizes on the sky for regions; expected a FITS image".to_string())
    })?;
    Ok(stage_file(path, |out| out.write_all(text.as_bytes()))?)
}
