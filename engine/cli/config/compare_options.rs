//! `inselberg compare`: its options and their checks.

use super::Command::Compare;
use super::ConfigError;
use super::Heading::Input;
use super::launch::{Launch, launch};
use super::opt::{OUTPUT, Opt, OptionKind, ROW};
use super::values::CheckedValues;
use inselberg::CompareParams;
use std::path::PathBuf;

/// The options of `compare`.
pub(super) const COMPARE: &[Opt] = &[
    Opt {
        name: "catalogues",
        key: "input",
        positional: true,
        heading: Input,
        kind: OptionKind::Paths,
        example: "clumps.hdf5",
        commands: &[Compare],
        help: "Two catalogues of one snapshot: of inselberg, of Gadget-4's SUBFIND or of Rockstar",
        doc: "Members of `phew --unbind --with-members` and `fof --properties bound --with-members` are in the \
              catalogue. Those of fof_subhalo_tab_080.hdf5 are in snapshot_080.hdf5, beside it or in \
              ../snapdir_080.",
        ..ROW
    },
    Opt {
        example: "cmp",
        commands: &[Compare],
        help: "Also write into this folder: index.html, one page with plots, and matches.csv",
        doc: "matches.csv has a table per level: pairs of objects, and objects of both catalogues without a \
              partner. The page needs no other files.",
        ..OUTPUT
    },
];

/// `inselberg compare`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareJob {
    /// Both catalogues.
    pub inputs: [PathBuf; 2],
    /// The folder of the page and the table.
    pub output: Option<PathBuf>,
    /// The parameters.
    pub params: CompareParams,
    /// Ranks and threads.
    pub launch: Launch,
    /// The file of the log.
    pub log: Option<PathBuf>,
}

pub(super) fn compare(raw: &CheckedValues<'_>) -> Result<CompareJob, ConfigError> {
    let inputs = raw.paths("catalogues");
    let n = inputs.len();
    let Ok(inputs) = <[PathBuf; 2]>::try_from(inputs) else {
        return Err(match n {
            0 => raw.missing("catalogues"),
            _ => raw.unfit("catalogues", &format!("{n} catalogues"), "two"),
        });
    };
    Ok(CompareJob {
        inputs,
        output: raw.path("output"),
        params: raw.params()?,
        launch: launch(raw)?,
        log: raw.path("log"),
    })
}
