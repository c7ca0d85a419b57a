//! Files with the labels of clumps or haloes, by the ending of their name: an image, or regions.

use super::labels::{LabelsOf, stage_labels};
use super::regions::{RegionFormat, regions};
use crate::error::{Error, ErrorKind};
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::{Attribute, Catalogue, CataloguePart, PartTable, Table};
use inselberg_io::staging::{Staged, stage_file};
use std::path::Path;

/// A format of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelFormat {
    /// `.fits`: the label of each pixel.
    Image,
    /// `.reg`, `.crtf`: an ellipse with each label.
    Regions(RegionFormat),
}

impl LabelFormat {
    /// By the ending of a file's name.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_string_lossy().to_lowercase();
        match ending.as_str() {
            "fits" => Some(Self::Image),
            other => RegionFormat::of_ending(other).map(Self::Regions),
        }
    }

    fn needed(path: &Path) -> Result<Self, Error> {
        Self::of_path(path).ok_or_else(|| {
            let name = path.display();
            wrong(&format!("labels to {name}; expected a name that ends in .fits, .reg or .crtf"))
        })
    }
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

fn no_cells() -> Error {
    wrong("labels without a table of cells; expected one from `with_cells`")
}

/// Collective: stages the labels of a part of a catalogue, on rank 0.
///
/// # Errors
/// The name has another ending, the catalogue has no cells of one size (image) or is not of a FITS image
/// (regions), the file cannot be written, or another rank fails.
pub fn stage_labels_of_part(
    path: &Path,
    part: &CataloguePart,
    of: LabelsOf,
    comm: &Comm,
) -> Result<Staged, Error> {
    match LabelFormat::needed(path)? {
        LabelFormat::Image => {
            let cells = part.table("cells").ok_or_else(no_cells)?;
            stage_labels(path, &part.attributes, &cells.table, of, comm)
        }
        LabelFormat::Regions(format) => {
            let is_wanted = |part: &&PartTable| part.table.name == of.table();
            let tables = part.tables.iter().filter(is_wanted).cloned().collect();
            let wanted = CataloguePart { attributes: part.attributes.clone(), tables };
            let whole = wanted.gather_on(Rank(0), comm)?;
            let staged =
                whole.map(|whole| stage_regions(path, &whole.attributes, whole.table(of.table()), format));
            staged.unwrap_or_else(|| Ok(Staged::default()))
        }
    }
}

/// As [`stage_labels_of_part`], of a whole catalogue.
///
/// # Errors
/// As [`stage_labels_of_part`].
pub fn stage_labels_of_catalogue(path: &Path, whole: &Catalogue, of: LabelsOf) -> Result<Staged, Error> {
    match LabelFormat::needed(path)? {
        LabelFormat::Image => {
            let cells = whole.table("cells").ok_or_else(no_cells)?;
            stage_labels(path, &whole.attributes, cells, of, &Comm::solo())
        }
        LabelFormat::Regions(format) => {
            stage_regions(path, &whole.attributes, whole.table(of.table()), format)
        }
    }
}

fn stage_regions(
    path: &Path,
    attributes: &[(String, Attribute)],
    table: Option<&Table>,
    format: RegionFormat,
) -> Result<Staged, Error> {
    let text = table.and_then(|table| regions(attributes, table, format));
    let text = text.ok_or_else(|| wrong("no sizes on the sky for regions; expected a FITS image"))?;
    Ok(stage_file(path, |out| out.write_all(text.as_bytes()))?)
}
