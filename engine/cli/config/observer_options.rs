//! Options of files for observers: the image of labels, and regions.

use super::Command::{Phew, Recut};
use super::ConfigError;
use super::Heading::Viewers;
use super::opt::{Opt, OptionKind, ROW};
use super::values::CheckedValues;
use inselberg::phew::image::{LabelsOf, RegionFormat};
use std::path::PathBuf;

/// Options of `phew` and `recut` for observers.
pub(super) const OBSERVERS: &[Opt] = &[
    Opt {
        name: "labels-fits",
        key: "labels_fits",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "labels.fits",
        commands: &[Phew, Recut],
        help: "Also write the clump of each pixel as a FITS image with the coordinates of the input",
        doc: "32-bit integers, 0 for none. Needs --with-cells, which is implied for phew; recut needs a \
              catalogue of a FITS image with cells.",
        ..ROW
    },
    Opt {
        name: "regions",
        key: "regions",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "clouds.reg",
        commands: &[Phew, Recut],
        help: "Also write ellipses at half maximum for DS9 (.reg) or CARTA (.reg, .crtf)",
        doc: "Of FITS images, on the sky where the frame is known, else in pixels.",
        ..ROW
    },
    Opt {
        name: "labels-of",
        key: "labels_of",
        heading: Viewers,
        kind: OptionKind::Choice(&["clumps", "haloes"]),
        default: "clumps",
        commands: &[Phew, Recut],
        help: "What labels and regions are of",
        ..ROW
    },
];

/// The files for observers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObserverFiles {
    /// The image of labels.
    pub labels: Option<PathBuf>,
    /// Regions, and their format.
    pub regions: Option<(PathBuf, RegionFormat)>,
    /// What both are of.
    pub of: LabelsOf,
}

pub(super) fn observer_files(raw: &CheckedValues<'_>) -> Result<ObserverFiles, ConfigError> {
    let (labels, regions) = (raw.path("labels-fits"), raw.path("regions"));
    let ending = |path: &PathBuf| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if let Some(other) = labels.as_ref().filter(|path| ending(path).as_deref() != Some("fits")) {
        let expected = "a name that ends in .fits";
        return Err(raw.unfit("labels-fits", &other.display().to_string(), expected));
    }
    if labels.is_none() && regions.is_none() && raw.is_flag("labels-of") {
        return Err(raw.unfit("labels-of", &raw.shown("labels-of"), "--labels-fits or --regions as well"));
    }
    let with_format = |path: PathBuf| match ending(&path).and_then(|of| RegionFormat::of_ending(&of)) {
        Some(format) => Ok((path, format)),
        None => {
            let expected = "a name that ends in .reg or .crtf";
            Err(raw.unfit("regions", &path.display().to_string(), expected))
        }
    };
    let of = match raw.text_or_default("labels-of").as_str() {
        "haloes" => LabelsOf::Haloes,
        _ => LabelsOf::Clumps,
    };
    Ok(ObserverFiles { labels, regions: regions.map(with_format).transpose()?, of })
}
