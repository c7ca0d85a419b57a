//! Commands that read catalogues on all ranks and have one result on rank 0: `tree`, `compare`, `atlas`.
//!
//! ```text
//!   first process   results can be written, the log is open
//!   every rank      work with an engine
//!   rank 0          what the work found, and its costs ──► files, summary
//! ```

use super::driver::{DriverRequest, RunCosts, recorder};
use super::fault::CommandError;
use super::{interrupt, log, log_file, preflight};
use crate::config::{Common, Launch};
use crate::report::Recorder;
use inselberg::Engine;
use inselberg_comm::Comm;
use inselberg_io::catalogue::{self, Catalogue, Staged};
use std::path::Path;
use std::sync::Arc;

/// How such a command runs.
pub struct CatalogueRun<'a> {
    /// Ranks and threads.
    pub launch: &'a Launch,
    /// Options of all commands.
    pub common: Common,
    /// The file of the log.
    pub log: Option<&'a Path>,
}

/// A rank at work.
pub struct CatalogueRank<'a> {
    /// Its communicator.
    pub comm: &'a Comm,
    /// Its stages.
    pub recorder: &'a Recorder,
    /// Its engine.
    pub engine: Engine,
}

impl CatalogueRun<'_> {
    /// Runs the command. `prepare` runs in each process, and gets whether it is the first: only that one makes
    /// files. `work` is collective, and returns something on rank 0, which `finish` gets with the costs.
    pub fn run<P: Sync, T>(
        &self,
        world: Comm,
        prepare: impl FnOnce(bool) -> Result<P, CommandError>,
        work: impl Fn(&P, &mut CatalogueRank<'_>) -> Result<Option<T>, CommandError> + Sync,
        finish: impl Fn(&P, T, RunCosts) -> Result<(), CommandError> + Sync,
    ) -> Result<(), CommandError> {
        let Self { launch, common, log } = *self;
        let request = DriverRequest { launch, common, traced: false };
        let (ranks, driver) = request.start(world)?;
        let prepared = ranks.prepare(|is_first| {
            let prepared = prepare(is_first)?;
            if is_first {
                log::begin(log.map(log_file::opened).transpose()?, common.verbose);
            }
            Ok(prepared)
        })?;
        ranks.prepare(|_| interrupt::guard_once())?;
        ranks.run(|comm| {
            comm.before_end(interrupt::wipe);
            let (_threads, pool) = driver.start(comm.rank())?;
            let recorder = Arc::new(recorder(common, launch, comm));
            let engine = Engine::of_program(comm.clone(), pool.clone(), recorder.clone());
            let mut rank = CatalogueRank { comm, recorder: &recorder, engine };
            let found = work(&prepared, &mut rank)?;
            let costs = RunCosts::new(&recorder, &pool, None, launch, comm)?;
            found.map_or(Ok(()), |found| finish(&prepared, found, costs))
        })
    }
}

/// A folder with tables, and a page where the program draws.
pub struct ResultFolder<'a> {
    /// The folder.
    pub path: &'a Path,
    /// The first file of tables in it.
    pub tables: &'static str,
}

impl ResultFolder<'_> {
    /// Checks that it can be written, and that it is neither an input nor the log.
    pub fn check(&self, inputs: &[&Path], log: Option<&Path>, force: bool) -> Result<(), CommandError> {
        for input in inputs {
            let mut files = vec![("input", *input), ("output", self.path)];
            files.extend(log.map(|log| ("log", log)));
            preflight::distinct(&files)?;
        }
        match cfg!(feature = "plot") {
            true => preflight::report(self.path, force)?,
            false => preflight::folder(self.path)?,
        }
        preflight::replaceable(&self.path.join(self.tables), force)
    }

    /// Stages the tables, and the page.
    pub fn stage(
        &self,
        tables: &Catalogue,
        #[cfg(feature = "plot")] page: impl FnOnce() -> Result<String, String>,
    ) -> Result<Staged, CommandError> {
        let place = inselberg_io::staging::hidden::place(self.path);
        let place = place.map_err(|error| CommandError::about(self.path, error))?;
        let tables = catalogue::stage(&self.path.join(self.tables), tables)?;
        let mut staged = Staged::default();
        staged.extend(tables.in_place(place));
        #[cfg(feature = "plot")]
        {
            let page = page().map_err(|problem| CommandError::about(self.path, problem))?;
            staged.extend(super::pictures::stage_html(self.path, &page)?);
        }
        Ok(staged)
    }
}
