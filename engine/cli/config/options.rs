//! The table of all options.

use super::atlas_options::ATLAS;
use super::compare_options::COMPARE;
use super::fof_options::FOF;
use super::input_options::FILES;
use super::library::library_options;
use super::observer_options::OBSERVERS;
use super::opt::Opt;
use super::phew_options::PHEW;
use super::report_options::REPORTS;
use super::run_options::{COMMON, RUN};
use super::study_options::STUDY;
use super::synth_options::SYNTH;
use super::tree_options::TREE;
use super::view_options::VIEW;
use super::viewer_options::VIEWERS;
use super::void_options::VOIDS;
use super::{Command, CommandInfo};
use std::sync::LazyLock;

/// Every option, in the order of the help and of the reference file: files first, then parameters of the
/// library.
pub static OPTIONS: LazyLock<Vec<Opt>> = LazyLock::new(|| {
    let of_program = [FOF, PHEW, VIEWERS, OBSERVERS, VIEW, REPORTS, RUN, SYNTH, COMMON];
    let first = [STUDY, FILES, VOIDS, TREE, COMPARE, ATLAS].concat();
    first.into_iter().chain(library_options()).chain(of_program.concat()).collect()
});

/// Options of a command that a study sets itself or replaces.
const NOT_STUDIED: [&str; 32] = [
    "dry-run",
    "log",
    "verbose",
    "force",
    "tracks-from",
    "output",
    "basename",
    "group-ids",
    "ramses-text",
    "soap",
    "yt",
    "vtk",
    "vtk-cells",
    "dendrogram",
    "labels-fits",
    "regions",
    "labels-of",
    "ytree",
    "consistent-trees",
    "plot",
    "plot-axis",
    "plot-region",
    "plot-scale",
    "plot-limits",
    "plot-min-cells",
    "plot-min-particles",
    "report",
    "units",
    "trace",
    "task-graph",
    "diagnostics",
    "count-work",
];

/// The options that `command` passes on to the command that it runs, in order.
pub fn passed_on(command: Command) -> impl Iterator<Item = &'static Opt> {
    let runs = CommandInfo::of(command).runs.map(|runs| runs.command);
    let is_own = move |name: &str| options_of(command).any(|own| own.name == name);
    let suits = move |o: &&Opt| runs.is_some_and(|runs| o.commands.contains(&runs)) && !o.positional;
    OPTIONS.iter().filter(suits).filter(move |o| !is_own(o.name) && !NOT_STUDIED.contains(&o.name))
}

/// The options of `command`, in order.
pub fn options_of(command: Command) -> impl Iterator<Item = &'static Opt> {
    OPTIONS.iter().filter(move |o| o.belongs_to(command))
}
