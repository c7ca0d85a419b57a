//! The work of a rank: what every search does, in its order.

use super::driver::{RankTask, RunSummary, SnapshotJob, recorder};
use super::fault::CommandError;
#[cfg(feature = "plot")]
use super::pictures;
#[cfg(feature = "plot")]
use crate::config::ShownResults;
use crate::report::Recorder;
use inselberg::stage::Stage;
use inselberg::{Engine, Error, FoundCatalogue};
use inselberg_comm::{Comm, Rank};
use inselberg_io::catalogue::Catalogue;
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::ops::DerefMut;
use std::path::Path;
use std::sync::Arc;

/// A job whose result is a catalogue.
pub trait Search: SnapshotJob {
    /// What the library finds.
    type Found: DerefMut<Target = FoundCatalogue>;
    /// Its summary.
    type Summary: RunSummary;

    /// The tables by which maps show single objects, if any.
    #[cfg(feature = "plot")]
    const ZOOMED: &'static [&'static str];

    /// Pictures and the report.
    #[cfg(feature = "plot")]
    fn shown(&self) -> &ShownResults;

    /// The tables that results beside the catalogue are made from; empty without such results.
    fn lists(&self) -> &'static [&'static str];

    /// Whether task graphs are kept.
    fn keeps_task_graphs(&self) -> bool {
        false
    }

    /// Collective: searches.
    fn find(&self, input: &Self::Input, engine: &mut Engine) -> Result<Self::Found, Error>;

    /// Collective: stages the catalogue and what is written with it.
    fn stage_catalogue(&self, found: &Self::Found) -> Result<Staged, Error> {
        self.catalogue().map_or_else(|| Ok(Staged::default()), |path| found.stage(path))
    }

    /// Collective: the summary.
    fn summary(
        &self,
        input: &Self::Input,
        found: &Self::Found,
        run: &SearchRun<'_>,
    ) -> Result<Self::Summary, CommandError>;

    /// Collective: stages further results, except pictures. Rank 0 has the lists.
    fn stage_others(
        &self,
        input: &Self::Input,
        found: &Self::Found,
        lists: Option<&Catalogue>,
        run: &SearchRun<'_>,
    ) -> Result<Staged, CommandError>;

    /// Collective: stages what tells of the run itself.
    fn stage_traces(&self, _: &SearchRun<'_>) -> Result<Staged, CommandError> {
        Ok(Staged::default())
    }

    /// What the search says of itself in pictures and reports.
    #[cfg(feature = "plot")]
    fn about<'a>(
        &'a self,
        input: &Self::Input,
        found: &Self::Found,
        summary: &'a Self::Summary,
    ) -> pictures::RunAbout<'a>;
}

/// The run of a search on one rank.
pub struct SearchRun<'a> {
    /// The ranks.
    pub comm: &'a Comm,
    /// The threads of this one.
    pub pool: &'a ThreadPool,
    /// The times of its stages.
    pub recorder: &'a Recorder,
}

impl SearchRun<'_> {
    /// Whether this is rank 0, which gets all files.
    pub fn is_first(&self) -> bool {
        self.comm.rank() == Rank(0)
    }
}

/// Collective: the work of one rank.
pub fn on_rank<S: Search>(
    job: &S,
    task: &RankTask<'_>,
    input: &S::Input,
    pool: &ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let recorder = Arc::new(recorder(task.common, job.launch(), comm).keep_dot(job.keeps_task_graphs()));
    let mut engine = Engine::of_program(comm.clone(), pool.clone(), recorder.clone());
    let run = SearchRun { comm, pool, recorder: &recorder };
    let failed = |error| CommandError::of_call(path_of(job), &error);
    let mut found = job.find(input, &mut engine).map_err(failed)?;
    found.add_attributes(task.attributes.clone());
    #[cfg(feature = "plot")]
    let maps = match job.shown().has_maps() {
        true => Some(pictures::maps(path_of(job), job.shown(), &mut found, S::ZOOMED, comm)?),
        false => None,
    };
    let catalogue = job.stage_catalogue(&found).map_err(failed)?;
    let summary = job.summary(input, &found, &run)?;
    let lists = match job.lists() {
        [] => None,
        tables => {
            let _lists = Stage::within("lists", comm);
            found.gather_tables(tables).map_err(failed)?
        }
    };
    let mut staged = job.stage_others(input, &found, lists.as_ref(), &run)?;
    #[cfg(feature = "plot")]
    if let Some(maps) = maps {
        let _picture = Stage::within("picture", comm);
        let about = job.about(input, &found, &summary);
        staged.extend(pictures::stage(job.shown(), maps, lists.as_ref(), about, comm)?);
    }
    staged.extend(job.stage_traces(&run)?);
    // The catalogue stands for all results, so it gets its name last.
    staged.extend(catalogue);
    if run.is_first() { (task.hand_in)(staged, &summary) } else { Ok(()) }
}

/// The input, for messages.
fn path_of(job: &impl SnapshotJob) -> &Path {
    &job.inputs()[0]
}
