//! The report of `inselberg tree`.

use super::driver::RunCosts;
use super::fault::CommandError;
use super::pictures::{about_program, stage_html};
use crate::report::page::{TreeReport, tree_page};
use crate::report::{Count, UnitChoice};
use inselberg_io::catalogue::Catalogue;
use inselberg_io::catalogue::merger_tree::MergerTreeTables;
use inselberg_io::staging::Staged;
use std::path::{Path, PathBuf};

/// The description of a tree.
pub struct TreeAbout<'a> {
    /// The catalogues, by time.
    pub inputs: Vec<&'a PathBuf>,
    /// Notes for readers.
    pub warnings: Vec<String>,
    /// Counts by name.
    pub counts: Vec<Count>,
    /// The costs of the run.
    pub costs: &'a RunCosts,
    /// The units, if chosen.
    pub units: Option<UnitChoice>,
}

/// Stages the report of a tree in a folder.
///
/// # Errors
/// When it cannot be drawn or written.
pub fn stage_report(folder: &Path, whole: &Catalogue, about: TreeAbout<'_>) -> Result<Staged, CommandError> {
    let wrong = |problem: String| CommandError::about(folder, problem);
    let tree = MergerTreeTables::new(whole).map_err(wrong)?;
    let mut facts = vec![("Catalogues", about.inputs.len().to_string())];
    let ends = [about.inputs.first(), about.inputs.last()];
    for (name, path) in ["First", "Last"].into_iter().zip(ends) {
        facts.extend(path.map(|path| (name, path.display().to_string())));
    }
    facts.extend(about_program());
    let text = tree_page(&TreeReport {
        title: format!("Merger tree of {} catalogues", about.inputs.len()),
        facts,
        warnings: about.warnings,
        counts: about.counts,
        tree: &tree,
        attributes: &whole.attributes,
        units: about.units.unwrap_or(UnitChoice::Physical),
        stages: &about.costs.stages,
        ranks: about.costs.ranks.as_ref(),
        peak_memory: about.costs.peak_memory,
    });
    stage_html(folder, &text.map_err(wrong)?)
}
