//! `inselberg tree`: its options and their checks.

use super::Command::Tree;
use super::ConfigError;
use super::Heading::{Input, Viewers};
use super::launch::{Launch, launch};
use super::opt::{OUTPUT, Opt, OptionKind, ROW};
use super::report_options;
use super::values::CheckedValues;
use crate::report::UnitChoice;
use inselberg::TreeParams;
use std::path::PathBuf;

/// The options of `tree`.
pub(super) const TREE: &[Opt] = &[
    Opt {
        name: "catalogues",
        key: "input",
        positional: true,
        heading: Input,
        kind: OptionKind::Paths,
        example: "clumps_*.hdf5",
        commands: &[Tree],
        help: "Two or more catalogues with members, of `inselberg phew` or `inselberg fof`",
        doc: "Catalogues of one run, by `phew --unbind --with-members` or `fof --properties bound \
              --with-members`. A quoted pattern, such as 'clumps_*.hdf5', is expanded by the program. \
              Catalogues that state their time are sorted by it.",
        ..ROW
    },
    Opt {
        example: "tree.hdf5",
        commands: &[Tree],
        help: "The tree to write; the ending of its name sets the format",
        doc: "It is written under a hidden name and then renamed, so it is complete or absent.",
        ..OUTPUT
    },
    Opt {
        name: "ytree",
        key: "ytree",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "ytree",
        commands: &[Tree],
        help: "Also write the tree for ytree into this folder: tree.h5, tree_0000.h5",
        doc: "Needs units. In ytree, a.set_selector(\"max_field_value\", \"main_line\") follows our main branches.",
        ..ROW
    },
    Opt {
        name: "consistent-trees",
        key: "consistent_trees",
        heading: Viewers,
        kind: OptionKind::Path,
        example: "lists",
        commands: &[Tree],
        help: "Also write the input of consistent-trees into this folder: out_N.list and scales.list",
        doc: "Needs units and a cosmology. Orphans are left out.",
        ..ROW
    },
];

/// `inselberg tree`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeJob {
    /// The catalogues, or patterns of their names.
    pub inputs: Vec<PathBuf>,
    /// The tree.
    pub output: Option<PathBuf>,
    /// The folder for ytree.
    pub ytree: Option<PathBuf>,
    /// The folder for consistent-trees.
    pub consistent_trees: Option<PathBuf>,
    /// The folder of the report.
    pub report: Option<PathBuf>,
    /// The units of the report, if chosen.
    pub units: Option<UnitChoice>,
    /// The parameters of the links.
    pub params: TreeParams,
    /// Ranks and threads.
    pub launch: Launch,
    /// The file of the log.
    pub log: Option<PathBuf>,
}

pub(super) fn tree(raw: &CheckedValues<'_>) -> Result<TreeJob, ConfigError> {
    let inputs = raw.paths("catalogues");
    if inputs.is_empty() {
        return Err(raw.missing("catalogues"));
    }
    let output = raw.path("output");
    if output.is_none() && !raw.switch("diagnostics") {
        return Err(raw.missing("output"));
    }
    Ok(TreeJob {
        inputs,
        output,
        ytree: raw.path("ytree"),
        consistent_trees: raw.path("consistent-trees"),
        report: raw.path("report"),
        units: report_options::units(raw),
        params: raw.params()?,
        launch: launch(raw)?,
        log: raw.path("log"),
    })
}
