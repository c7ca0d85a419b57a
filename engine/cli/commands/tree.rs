//! `inselberg tree`.

use super::catalogue_run::{CatalogueRank, CatalogueRun};
use super::driver::RunCosts;
use super::fault::CommandError;
use super::glob::expanded;
use super::{log, out, preflight};
use crate::config::{Common, TreeJob};
use crate::report::{Count, table_json, table_text};
use inselberg::SeriesOrder;
use inselberg::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::catalogue::{self, Attribute, Catalogue, Staged, WriteResult};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Links the objects of catalogues on all ranks, and writes the tree.
pub fn tree(job: &TreeJob, common: Common, world: Comm) -> Result<(), CommandError> {
    let run = CatalogueRun { launch: &job.launch, common, log: job.log.as_deref() };
    run.run(
        world,
        |is_first| prepared(job, common, is_first),
        |inputs: &Vec<PathBuf>, rank| linked(job, inputs, rank),
        |inputs, found, costs| finish(job, common, inputs, found, costs),
    )
}

/// The catalogues, whose results can be written.
fn prepared(job: &TreeJob, common: Common, is_first: bool) -> Result<Vec<PathBuf>, CommandError> {
    let inputs = expanded(&job.inputs)?;
    if let [only] = inputs.as_slice() {
        let problem = "one catalogue; expected two or more, of consecutive outputs";
        return Err(CommandError::about(only, problem));
    }
    if is_first {
        check_results(job, &inputs, common)?;
        job.ytree.as_deref().map_or(Ok(()), catalogue::check_viewer)?;
    }
    Ok(inputs)
}

/// What rank 0 has of a tree: the order of its catalogues, all tables, and the staged file.
type LinkedTree = (SeriesOrder, Catalogue, Staged);

/// Collective: links the objects, and stages the tree.
fn linked(
    job: &TreeJob,
    inputs: &[PathBuf],
    rank: &mut CatalogueRank<'_>,
) -> Result<Option<LinkedTree>, CommandError> {
    let failed = |error| CommandError::of_call(&inputs[0], &error);
    let mut tree = rank.engine.trees(&job.params).map_err(failed)?;
    let order = tree.add_files(inputs).map_err(failed)?;
    let _write = Stage::begin("write", 0, rank.comm, rank.recorder);
    let staged = job.output.as_ref().map(|path| tree.stage(path, &[]).map_err(failed));
    let staged = staged.transpose()?.unwrap_or_default();
    Ok(tree.catalogue().map(|whole| (order, whole, staged)))
}

/// Writes all results, and says what they are.
fn finish(
    job: &TreeJob,
    common: Common,
    inputs: &[PathBuf],
    (order, whole, mut staged): LinkedTree,
    costs: RunCosts,
) -> Result<(), CommandError> {
    for (folder, stage) in converters(job) {
        staged.extend(stage(folder, &whole)?);
    }
    let summary = TreeSummary { inputs, order, attributes: &whole.attributes, costs };
    #[cfg(feature = "plot")]
    if let Some(folder) = &job.report {
        let about = super::tree_report::TreeAbout {
            inputs: summary.order.places.iter().map(|i| &inputs[*i]).collect(),
            warnings: summary.order_note().into_iter().collect(),
            counts: summary.counts(),
            costs: &summary.costs,
            units: job.units,
        };
        staged.extend(super::tree_report::stage_report(folder, &whole, about)?);
    }
    log::text(&summary.text());
    out::finish(common, staged, || summary.text(), || summary.json())
}

/// Checks that the results can be written.
fn check_results(job: &TreeJob, inputs: &[PathBuf], common: Common) -> Result<(), CommandError> {
    let files = [("tree", &job.output), ("log", &job.log)];
    let files: Vec<(&str, &Path)> =
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?))).collect();
    let with_files = |name, path| [vec![(name, path)], files.clone()].concat();
    inputs.iter().try_for_each(|input| preflight::distinct(&with_files("input", input)))?;
    if let Some(path) = &job.output {
        catalogue::check_output(path)?;
        preflight::replaceable(path, common.force)?;
    }
    if let Some(folder) = &job.report {
        preflight::distinct(&with_files("report", folder))?;
        preflight::report(folder, common.force)?;
    }
    for (folder, _) in converters(job) {
        preflight::distinct(&with_files("folder", folder))?;
        preflight::folder(folder)?;
    }
    Ok(())
}

/// Stages a catalogue in a folder.
type StageIn = fn(&Path, &Catalogue) -> WriteResult<Staged>;

/// The folders for other programs, and their writers.
fn converters(job: &TreeJob) -> Vec<(&Path, StageIn)> {
    let all: [(&Option<PathBuf>, StageIn); 2] =
        [(&job.ytree, catalogue::stage_ytree), (&job.consistent_trees, catalogue::stage_consistent_trees)];
    all.into_iter().filter_map(|(folder, stage)| Some((folder.as_deref()?, stage))).collect()
}

/// The summary of a tree.
struct TreeSummary<'a> {
    inputs: &'a [PathBuf],
    order: SeriesOrder,
    attributes: &'a [(String, Attribute)],
    costs: RunCosts,
}

impl TreeSummary<'_> {
    fn counts(&self) -> Vec<Count> {
        const NAMES: [(&str, &str); 7] = [
            ("snapshots", "n_snapshots"),
            ("nodes", "n_nodes"),
            ("orphan nodes", "n_orphan_nodes"),
            ("tracks", "n_tracks"),
            ("mergers", "n_mergers"),
            ("disrupted", "n_disrupted"),
            ("lost", "n_lost"),
        ];
        let count = |attribute: &str| match self.attributes.iter().find(|(name, _)| name == attribute) {
            Some((_, Attribute::Int(n))) => Some(*n),
            _ => None,
        };
        NAMES.into_iter().map(|(name, attribute)| (name, count(attribute))).collect()
    }

    fn order_note(&self) -> Option<String> {
        let by = self.order.sorted_by?;
        Some(format!("the catalogues were not in order; they are sorted by {by}"))
    }

    fn text(&self) -> String {
        let table = table_text(&self.counts(), "members", &self.costs.stages, self.costs.peak_memory);
        let sorted = self.order_note().map_or(String::new(), |note| format!("note: {note}\n\n"));
        format!("{sorted}{table}{}", self.costs.tables_text())
    }

    fn json(&self) -> serde_json::Value {
        let mut summary = table_json(&self.counts(), "members", &self.costs.stages, self.costs.peak_memory);
        let inputs: Vec<_> =
            self.order.places.iter().map(|i| self.inputs[*i].display().to_string()).collect();
        summary["catalogues"] = inputs.into();
        summary["sorted_by"] = json!(self.order.sorted_by);
        self.costs.add_tables(&mut summary);
        summary
    }
}
