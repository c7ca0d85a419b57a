//! Options of files for observers: the image of labels, and regions.

use super::Command::{Phew, Recut};
use super::ConfigError;
use super::Heading::Viewers;
use super::opt::{Opt, OptionKind, ROW};
use super::values::CheckedValues;
use inselberg::phew::image::{LabelFormat, LabelsOf};
use std::path::{Path, PathBuf};

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
    /// Regions.
    pub regions: Option<PathBuf>,
    /// What both are of.
    pub of: LabelsOf,
}

impl ObserverFiles {
    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.labels.iter().chain(&self.regions).map(PathBuf::as_path)
    }
}

pub(super) fn observer_files(raw: &CheckedValues<'_>) -> Result<ObserverFiles, ConfigError> {
    let (labels, regions) = (raw.path("labels-fits"), raw.path("regions"));
    let refused =
        |name: &str, path: &Path, expected: &str| Err(raw.unfit(name, &path.display().to_string(), expected));
    match (labels.as_deref(), regions.as_deref()) {
        (Some(path), _) if LabelFormat::of_path(path) != Some(LabelFormat::Image) => {
            refused("labels-fits", path, "a name that ends in .fits")
        }
        (_, Some(path)) if !matches!(LabelFormat::of_path(path), Some(LabelFormat::Regions(_))) => {
            refused("regions", path, "a name that ends in .reg or .crtf")
        }
        (None, None) if raw.is_flag("labels-of") => {
            Err(raw.unfit("labels-of", &raw.shown("labels-of"), "--labels-fits or --regions as well"))
        }
        _ => {
            let of = raw.text_or_default("labels-of").parse().expect("one of the choices");
            Ok(ObserverFiles { labels, regions, of })
        }
    }
}
