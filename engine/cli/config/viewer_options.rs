//! Options of files for other programs, and their checks.

use super::Command::{Convert, Fof, Phew, Voids};
use super::ConfigError;
use super::Heading::{Results, Viewers};
use super::opt::{OUTPUT, Opt, OptionKind, ROW};
use super::values::CheckedValues;
use inselberg_io::catalogue::VtkCells;
use inselberg_io::params::{Quantity, QuantityUnit};
use std::path::{Path, PathBuf};

/// Options of `phew`, `fof` and `convert` for files of other programs.
pub(super) const VIEWERS: &[Opt] = &[
    Opt {
        name: "soap",
        key: "soap",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "soap.hdf5",
        commands: &[Phew, Fof],
        help: "Also write properties in the layout of SOAP, for swiftsimio: a file .hdf5, or a folder",
        doc: "A folder gets halo_properties.hdf5. With --with-members it also gets membership.hdf5, in the \
              order of a snapshot that stores particles by type. Needs --unbind for phew, and --properties \
              for fof. After unbinding, clumps and groups without bound particles are left out. \
              docs/haloes.md lists the datasets.",
        ..ROW
    },
    Opt {
        name: "catalogue",
        key: "input",
        positional: true,
        kind: OptionKind::Path,
        example: "clumps.hdf5",
        commands: &[Convert],
        help: "A catalogue from `inselberg phew`, `recut`, `fof`, `voids` or `tree`",
        ..ROW
    },
    Opt {
        name: "to",
        key: "to",
        heading: Results,
        kind: OptionKind::Choice(&["yt", "vtk", "fits", "ecsv", "dendrogram", "ytree", "consistent-trees"]),
        example: "vtk",
        commands: &[Convert],
        help: "The program or format to write for",
        doc: "yt: a halo catalogue for yt.load. vtk: files for ParaView and PyVista, with --vtk-cells. fits: all tables in one file. ecsv: \
              one file per table. TOPCAT and astropy read both. dendrogram: a file for astrodendro, from \
              cells of one size. For merger trees, ytree: files for ytree.load; consistent-trees: its input. \
              docs/viewers.md has examples.",
        ..ROW
    },
    Opt {
        example: "vtk",
        commands: &[Convert],
        help: "The file to write (.fits, .ecsv, .hdf5 for dendrogram), or the folder for others",
        ..OUTPUT
    },
    Opt {
        name: "min-value",
        key: "min_value",
        heading: Viewers,
        kind: OptionKind::Quantity,
        example: "80",
        commands: &[Convert],
        help: "Dendrogram: density that cells must exceed; default: the catalogue's density threshold",
        ..ROW
    },
    Opt {
        name: "min-delta",
        key: "min_delta",
        heading: Viewers,
        kind: OptionKind::Quantity,
        default: "0",
        commands: &[Convert],
        help: "Dendrogram: least density difference between the peak of a leaf and its merger",
        ..ROW
    },
    Opt {
        name: "min-cells",
        key: "min_cells",
        heading: Viewers,
        kind: OptionKind::Count,
        default: "0",
        commands: &[Convert],
        help: "Dendrogram: least number of cells of a leaf where it merges",
        doc: "astrodendro's min_npix. Unlike the option of `phew`, it does not leave out whole haloes.",
        ..ROW
    },
    Opt {
        name: "yt",
        key: "yt",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "yt",
        commands: &[Phew, Fof, Voids],
        help: "Also write a catalogue for yt into this folder: clumps.0.h5, groups.0.h5 or voids.0.h5",
        doc: "It has members if bound members or all particles are listed too. Needs units. The folder must \
              not contain other files of yt with such a name.",
        ..ROW
    },
    Opt {
        name: "vtk",
        key: "vtk",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "vtk",
        commands: &[Phew],
        help: "Also write files for ParaView into this folder: clumps.vtkhdf and cells.vtkhdf",
        doc: "Cells need --with-cells, which is implied. Values are in code units.",
        ..ROW
    },
    Opt {
        name: "vtk",
        key: "vtk",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "vtk",
        commands: &[Fof, Voids],
        help: "Also write a file for ParaView into this folder: groups.vtkhdf or voids.vtkhdf",
        ..ROW
    },
    Opt {
        name: "dendrogram",
        key: "dendrogram",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "dendrogram.hdf5",
        commands: &[Phew],
        help: "Also write the dendrogram of the cells for astrodendro: a .hdf5 file",
        doc: "All cells must have one size. Its min_value is the density threshold, its min_delta the \
              relevance difference, if given. \
              `convert --to dendrogram` takes other limits.",
        ..ROW
    },
    Opt {
        name: "vtk-cells",
        key: "vtk_cells",
        heading: Viewers,
        kind: OptionKind::Choice(&["tree", "voxels", "none"]),
        default: "tree",
        commands: &[Phew, Convert],
        help: "The cells in files for ParaView",
        doc: "tree: all leaf cells as a tree of cells (HyperTreeGrid). voxels: the test cells as cubes (UnstructuredGrid), which every filter \
              takes, with more bytes per cell. none: no cells.",
        ..ROW
    },
];

/// The formats of `inselberg convert`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConvertFormat {
    /// A folder with a halo catalogue of yt.
    Yt,
    /// A folder with files of VTK.
    Vtk(VtkCells),
    /// A FITS file.
    Fits,
    /// ECSV files.
    Ecsv,
    /// A folder with a merger tree for ytree.
    Ytree,
    /// A folder with lists for consistent-trees.
    ConsistentTrees,
    /// A dendrogram for astrodendro.
    Dendrogram(DendrogramRequest),
}

/// A dendrogram of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DendrogramRequest {
    /// Cells must be denser; `None`: than the density threshold of the catalogue.
    pub value: Option<Quantity>,
    /// Least height of a leaf.
    pub delta: Quantity,
    /// Least number of cells of a leaf.
    pub cells: u64,
}

/// `inselberg convert`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertJob {
    /// The catalogue.
    pub input: PathBuf,
    /// The file or folder to write.
    pub output: PathBuf,
    /// The format.
    pub to: ConvertFormat,
}

/// Any height will do.
const NO_HEIGHT: Quantity = Quantity { value: 0.0, unit: QuantityUnit::Own };

pub(super) fn convert(raw: &CheckedValues<'_>) -> Result<ConvertJob, ConfigError> {
    let input = raw.needed_path("catalogue")?;
    let word = raw.text("to").ok_or_else(|| raw.missing("to"))?;
    let output = raw.needed_path("output")?;
    let to = match word.as_str() {
        "yt" => ConvertFormat::Yt,
        "vtk" => ConvertFormat::Vtk(vtk_cells(raw)),
        "fits" => ConvertFormat::Fits,
        "dendrogram" => ConvertFormat::Dendrogram(DendrogramRequest {
            value: raw.density("min-value", |_| true, "a finite density")?,
            delta: raw
                .density("min-delta", |x| x >= 0.0, "a finite difference, 0 or more")?
                .unwrap_or(NO_HEIGHT),
            cells: raw.count_or_default("min-cells", |_| true, "a number of cells")?,
        }),
        "ytree" => ConvertFormat::Ytree,
        "consistent-trees" => ConvertFormat::ConsistentTrees,
        _ => ConvertFormat::Ecsv,
    };
    if !matches!(to, ConvertFormat::Vtk(_)) && raw.is_flag("vtk-cells") {
        return Err(raw.unfit("vtk-cells", &raw.shown("vtk-cells"), "it with --to vtk alone"));
    }
    let of_dendrograms = ["min-value", "min-delta", "min-cells"];
    if let Some(name) = of_dendrograms.into_iter().find(|name| raw.is_flag(name))
        && !matches!(to, ConvertFormat::Dendrogram(_))
    {
        return Err(raw.unfit(name, &raw.shown(name), "it with --to dendrogram alone"));
    }
    let is_file = matches!(to, ConvertFormat::Fits | ConvertFormat::Ecsv);
    if is_file && !ends_in(&output, &word) {
        return Err(raw.unfit(
            "output",
            &output.display().to_string(),
            &format!("a name that ends in .{word}"),
        ));
    }
    Ok(ConvertJob { input, output, to })
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|given| given.eq_ignore_ascii_case(ending))
}

/// The cells that files for ParaView get: a word of `--vtk-cells`, whose row refuses other words.
fn vtk_cells(raw: &CheckedValues<'_>) -> VtkCells {
    match raw.text_or_default("vtk-cells").as_str() {
        "voxels" => VtkCells::Voxels,
        "none" => VtkCells::None,
        _ => VtkCells::Tree,
    }
}

/// The file of the dendrogram of cells.
pub(super) fn dendrogram_of_phew(raw: &CheckedValues<'_>) -> Result<Option<PathBuf>, ConfigError> {
    let path = raw.path("dendrogram");
    match path.as_ref().filter(|path| !ends_in(path, "hdf5") && !ends_in(path, "h5")) {
        None => Ok(path),
        Some(other) => {
            let expected = "a name that ends in .hdf5 or .h5";
            Err(raw.unfit("dendrogram", &other.display().to_string(), expected))
        }
    }
}

/// The folder for VTK with the cells that it gets.
pub(super) fn vtk_of_phew(raw: &CheckedValues<'_>) -> Result<Option<(PathBuf, VtkCells)>, ConfigError> {
    match raw.path("vtk") {
        None if raw.is_flag("vtk-cells") => {
            Err(raw.unfit("vtk-cells", &raw.shown("vtk-cells"), "--vtk as well"))
        }
        folder => Ok(folder.map(|folder| (folder, vtk_cells(raw)))),
    }
}
