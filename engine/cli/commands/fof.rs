//! `inselberg fof`.

use super::driver::{ProcessSetup, RankTask, SnapshotJob};
use super::estimate::Estimate;
use super::fault::CommandError;
use super::grouped::grouped;
use super::particle_summary::ParticleSummary;
#[cfg(feature = "plot")]
use super::pictures;
use super::results::{self, ResultFile, ResultKind};
use super::search::{Search, SearchRun, on_rank};
use super::viewers::ViewerFolders;
use super::{fof_run, memory, tracked};
#[cfg(feature = "plot")]
use crate::config::ShownResults;
use crate::config::{FofJob, Launch};
use crate::report::{Count, group_counts};
use inselberg::fof::FofRequest;
use inselberg::{Engine, Error, FofGroups, OpenParticles};
use inselberg_comm::Comm;
use inselberg_io::InputFacts;
use inselberg_io::catalogue;
use inselberg_io::catalogue::{Attribute, Catalogue, SoapPlace, VtkCells};
use inselberg_io::particles::{ParticleHeader, file_of};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::path::{Path, PathBuf};

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

    fn results(&self) -> Vec<ResultFile<'_>> {
        ResultFile::named([
            ("--output", "catalogue", ResultKind::Catalogue, self.output.as_ref()),
            ("--group-ids", "group IDs", ResultKind::Table, self.group_ids.as_ref()),
            ("--soap", "SOAP", ResultKind::Soap, self.soap.as_ref()),
            ("--yt", "folder for yt", ResultKind::Yt("groups"), self.yt.as_ref()),
            ("--vtk", "folder for VTK", ResultKind::Vtk("groups"), self.vtk.as_ref()),
            ("--plot", "plot", ResultKind::Picture, self.shown.plot.as_ref()),
            ("--report", "report", ResultKind::Report, self.shown.report.as_ref()),
        ])
    }

    fn counts(
        &self,
        attributes: &[(String, Attribute)],
    ) -> (Vec<Count>, &'static [(&'static str, &'static str)]) {
        (group_counts(attributes), &fof_run::SHOWN)
    }

    fn follows(&self, attributes: &[(String, Attribute)]) -> bool {
        tracked::follows(&self.fof.tracks, attributes)
    }

    fn read_headers(&self, comm: &Comm) -> Result<InputFacts, CommandError> {
        fof_run::read_headers(&self.inputs, &self.defaults, comm)
    }

    fn open(&self, facts: &InputFacts, process: &ProcessSetup) -> Result<OpenParticles, CommandError> {
        let input = OpenParticles::from_headers(facts.clone());
        let request = fof_run::checked(self, &input)?;
        check_memory(self, input.reader().about(), &request, process.ranks.process().1)?;
        // Only the first process makes files.
        if process.is_first {
            let inputs: Vec<&Path> = self.inputs.iter().map(|path| file_of(path)).collect();
            results::check(&self.results(), &inputs, process.force)?;
        }
        Ok(input)
    }

    fn estimate(&self, input: &OpenParticles) -> Result<Estimate, CommandError> {
        let request = fof_run::checked(self, input)?;
        let (n, column_bytes) = particles_read(input.reader().about(), &request);
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
        on_rank(self, task, input, &pool, comm)
    }
}

impl Search for FofJob {
    type Found = FofGroups;
    type Summary = ParticleSummary;

    #[cfg(feature = "plot")]
    const ZOOMED: &'static [&'static str] = &["Groups"];

    #[cfg(feature = "plot")]
    fn shown(&self) -> &ShownResults {
        &self.shown
    }

    fn lists(&self) -> &'static [&'static str] {
        let is_needed =
            self.soap.is_some() || self.yt.is_some() || self.vtk.is_some() || self.shown.has_maps();
        match (is_needed, self.fof.tracks.on) {
            (false, _) => &[],
            (true, false) => &["Groups", "members"],
            (true, true) => &["clumps", "Groups", "members"],
        }
    }

    fn find(&self, input: &OpenParticles, engine: &mut Engine) -> Result<FofGroups, Error> {
        engine.fof_particles(input, &self.types, &self.fof)
    }

    fn stage_catalogue(&self, groups: &FofGroups) -> Result<Staged, Error> {
        let ids = self.group_ids.as_ref().map(|path| groups.stage_group_ids(path));
        let mut staged = ids.transpose()?.unwrap_or_default();
        if let Some(path) = &self.output {
            staged.extend(groups.stage(path)?);
        }
        Ok(staged)
    }

    fn summary(
        &self,
        input: &OpenParticles,
        groups: &FofGroups,
        run: &SearchRun<'_>,
    ) -> Result<ParticleSummary, CommandError> {
        fof_run::summary(self, input.reader().about(), groups, run)
    }

    fn stage_others(
        &self,
        input: &OpenParticles,
        _: &FofGroups,
        lists: Option<&Catalogue>,
        _: &SearchRun<'_>,
    ) -> Result<Staged, CommandError> {
        let mut staged = Staged::default();
        let Some(lists) = lists else { return Ok(staged) };
        if let Some(path) = &self.soap {
            staged.extend(catalogue::stage_soap(&SoapPlace::new(path), lists, Some(input.reader()))?);
        }
        let folders = ViewerFolders { yt: self.yt.as_deref(), vtk: self.vtk.as_deref() };
        staged.extend(folders.stage(lists, VtkCells::None)?);
        Ok(staged)
    }

    #[cfg(feature = "plot")]
    fn about<'a>(
        &'a self,
        _: &OpenParticles,
        _: &FofGroups,
        summary: &'a ParticleSummary,
    ) -> pictures::RunAbout<'a> {
        summary.about(&self.inputs)
    }
}

/// Checks that there is enough memory for the least that a search takes.
fn check_memory(
    job: &FofJob,
    about: &ParticleHeader,
    request: &FofRequest,
    n_processes: usize,
) -> Result<(), CommandError> {
    let (n, column_bytes) = particles_read(about, request);
    memory::check_search(job.inputs[0].display(), n / n_processes as u64, column_bytes)
}

/// The number of particles that are read, and the bytes of each. Species that neither link nor are attached
/// are not read.
fn particles_read(about: &ParticleHeader, request: &FofRequest) -> (u64, u64) {
    let takes_part = |kind: u8| request.linking[usize::from(kind)] || request.attaching[usize::from(kind)];
    let read: Vec<_> = about.species.iter().filter(|s| s.may_be(takes_part)).collect();
    let double = read.iter().any(|s| s.is_double);
    let each = (if double { 24 } else { 12 }) + if read.iter().any(|s| s.has_ids) { 8 } else { 0 };
    (read.iter().map(|s| s.n).sum(), each)
}
