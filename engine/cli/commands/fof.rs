//! `inselberg fof`.

use super::driver::{ProcessSetup, RankTask, SnapshotJob, check_shown, recorder};
use super::estimate::Estimate;
use super::fault::CommandError;
use super::grouped::grouped;
use super::viewers::ViewerFolders;
use super::{fof_run, memory, preflight};
use crate::config::{FofJob, Launch};
use inselberg::fof::FofConfig;
use inselberg::stage::Stage;
use inselberg::{Engine, OpenParticles};
use inselberg_comm::{Comm, Rank};
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::catalogue::{SoapPlace, VtkCells};
use inselberg_io::particles::{ParticleHeader, file_of};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl SnapshotJob for FofJob {
    type Input = OpenParticles;

    fn launch(&self) -> &Launch {
        &self.launch
    }

    fn is_traced(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn catalogue(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn other_results(&self) -> Vec<(&'static str, &Path)> {
        let files = [
            ("--group-ids", &self.group_ids),
            ("--soap", &self.soap),
            ("--yt", &self.yt),
            ("--vtk", &self.vtk),
            ("--plot", &self.shown.plot),
            ("--report", &self.shown.report),
        ];
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?))).collect()
    }

    fn read_headers(&self, comm: &Comm) -> Result<InputFacts, CommandError> {
        fof_run::read_headers(&self.inputs, &self.defaults, comm)
    }

    fn open(&self, facts: &InputFacts, process: &ProcessSetup) -> Result<OpenParticles, CommandError> {
        let input = OpenParticles::from_headers(facts.clone());
        let config = fof_run::checked(self, &input)?;
        check_memory(self, input.reader().about(), &config, process.ranks.process().1)?;
        // Only the first process makes files.
        if process.is_first {
            check_outputs(self)?;
        }
        Ok(input)
    }

    fn estimate(&self, input: &OpenParticles) -> Result<Estimate, CommandError> {
        let config = fof_run::checked(self, input)?;
        let (n, column_bytes) = particles_read(input.reader().about(), &config);
        let input = format!("{}, {} particles take part", input.format(), grouped(n));
        Ok(Estimate { input, least: memory::search_bytes(n, column_bytes), most: None })
    }

    fn work(
        &self,
        task: &RankTask<'_>,
        input: &OpenParticles,
        pool: ThreadPool,
        comm: &Comm,
    ) -> Result<(), CommandError> {
        on_rank(self, task, input, pool, comm)
    }
}

/// Checks that there is enough memory for the least that a search takes.
fn check_memory(
    job: &FofJob,
    about: &ParticleHeader,
    config: &FofConfig,
    n_processes: usize,
) -> Result<(), CommandError> {
    let (n, column_bytes) = particles_read(about, config);
    memory::check_search(job.inputs[0].display(), n / n_processes as u64, column_bytes)
}

/// The number of particles that are read, and the bytes of each. Species that neither link nor are attached are not read.
fn particles_read(about: &ParticleHeader, config: &FofConfig) -> (u64, u64) {
    let takes_part = |kind: u8| config.linking[usize::from(kind)] || config.attaching[usize::from(kind)];
    let read: Vec<_> = about.species.iter().filter(|s| s.may_be(takes_part)).collect();
    let double = read.iter().any(|s| s.is_double);
    let each = (if double { 24 } else { 12 }) + if read.iter().any(|s| s.has_ids) { 8 } else { 0 };
    (read.iter().map(|s| s.n).sum(), each)
}

fn check_outputs(job: &FofJob) -> Result<(), CommandError> {
    let named = [
        ("catalogue", &job.output),
        ("group IDs", &job.group_ids),
        ("SOAP", &job.soap),
        ("plot", &job.shown.plot),
        ("report", &job.shown.report),
    ];
    let mut places: Vec<_> =
        named.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))).collect();
    preflight::distinct(&places)?;
    for input in &job.inputs {
        places.insert(0, ("input", file_of(input)));
        preflight::distinct(&places)?;
        folders(job).check(&places)?;
        places.remove(0);
    }
    for path in [&job.output, &job.group_ids].into_iter().flatten() {
        catalogue::check_output(path)?;
    }
    job.soap.as_deref().map_or(Ok(()), preflight::soap)?;
    check_shown(&job.shown)
}

fn folders(job: &FofJob) -> ViewerFolders<'_> {
    ViewerFolders { yt: job.yt.as_deref(), vtk: job.vtk.as_deref(), objects: "groups" }
}

/// Collective: the work of one rank.
fn on_rank(
    job: &FofJob,
    task: &RankTask<'_>,
    input: &OpenParticles,
    pool: ThreadPool,
    comm: &Comm,
) -> Result<(), CommandError> {
    let is_first = comm.rank() == Rank(0);
    let recorder = Arc::new(recorder(task.common, comm));
    let mut engine = Engine::of_program(comm.clone(), pool, recorder.clone());
    let failed = |error| CommandError::of_call(&job.inputs[0], &error);
    let mut groups = engine.fof_particles(input, &job.types, &job.fof).map_err(failed)?;
    groups.add_attributes(task.attributes.clone());
    #[cfg(feature = "plot")]
    let maps = job.shown.has_maps().then(|| fof_run::maps(job, &mut groups, comm)).transpose()?;
    let (mut of_groups, mut staged) = (Staged::default(), Staged::default());
    if let Some(path) = &job.output {
        of_groups = groups.stage(path).map_err(failed)?;
    }
    if let Some(path) = &job.group_ids {
        staged.extend(groups.stage_group_ids(path).map_err(failed)?);
    }
    let writing = Stage::begin("write", 0, comm, &*recorder);
    if let Some(path) = &job.soap {
        let whole = groups.gather(0).map_err(failed)?;
        let stage = |whole| catalogue::stage_soap(&SoapPlace::new(path), &whole, Some(input.reader()));
        staged.extend(whole.map_or(Ok(Staged::default()), stage)?);
    }
    if job.yt.is_some() || job.vtk.is_some() {
        let whole = groups.gather(0).map_err(failed)?;
        let stage = |whole| folders(job).stage(&whole, VtkCells::None);
        staged.extend(whole.map_or(Ok(Staged::default()), stage)?);
    }
    drop(writing);
    let (about, stages) = (input.reader().about(), recorder.stages());
    let summary = fof_run::FofSummary::new(about, &groups, stages, job.launch.diagnostics, comm)?;
    #[cfg(feature = "plot")]
    if let Some(maps) = maps {
        let _picture = Stage::within("picture", comm);
        let catalogue = groups.gather(0).map_err(failed)?;
        let about = fof_run::about(job, about, &groups, &summary);
        staged.extend(super::pictures::stage(&job.shown, maps, catalogue.as_ref(), about, comm)?);
    }
    // The catalogue stands for all results, so it gets its name last.
    staged.extend(of_groups);
    if is_first { (task.hand_in)(staged, &summary) } else { Ok(()) }
}
