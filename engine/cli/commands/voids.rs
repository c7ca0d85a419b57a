//! `inselberg voids`.

use super::driver::{AssumedUnits, ProcessSetup, RankTask, SnapshotJob};
use super::estimate::Estimate;
use super::fault::CommandError;
use super::fof_run::read_headers;
use super::grouped::grouped;
use super::memory;
use super::particle_summary::ParticleSummary;
#[cfg(feature = "plot")]
use super::pictures;
use super::results::{self, ResultFile, ResultKind};
use super::search::{Search, SearchRun, on_rank};
use super::viewers::ViewerFolders;
#[cfg(feature = "plot")]
use crate::config::ShownResults;
use crate::config::{Launch, VoidsJob};
use crate::report::{Count, counts_of};
use inselberg::{Engine, Error, OpenParticles, Voids};
use inselberg_comm::Comm;
use inselberg_io::InputFacts;
use inselberg_io::catalogue::{Attribute, Catalogue, VtkCells};
use inselberg_io::particles::{Species, file_of};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use std::path::{Path, PathBuf};

impl SnapshotJob for VoidsJob {
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
            ("--yt", "folder for yt", ResultKind::Yt("voids"), self.yt.as_ref()),
            ("--vtk", "folder for VTK", ResultKind::Vtk("voids"), self.vtk.as_ref()),
            ("--plot", "plot", ResultKind::Picture, self.shown.plot.as_ref()),
            ("--report", "report", ResultKind::Report, self.shown.report.as_ref()),
        ])
    }

    fn counts(
        &self,
        attributes: &[(String, Attribute)],
    ) -> (Vec<Count>, &'static [(&'static str, &'static str)]) {
        (counts(attributes), &SHOWN)
    }

    fn read_headers(&self, comm: &Comm) -> Result<InputFacts, CommandError> {
        read_headers(&self.inputs, &self.defaults, comm)
    }

    fn open(&self, facts: &InputFacts, process: &ProcessSetup) -> Result<OpenParticles, CommandError> {
        let input = OpenParticles::from_headers(facts.clone());
        check(self, &input)?;
        let of_process = n_particles(self, &input) / process.ranks.process().1 as u64;
        memory::check_mesh(self.inputs[0].display(), least_memory(of_process, self.graph.neighbours))?;
        // Only the first process makes files.
        if process.is_first {
            let inputs: Vec<&Path> = self.inputs.iter().map(|path| file_of(path)).collect();
            results::check(&self.results(), &inputs, process.force)?;
        }
        Ok(input)
    }

    fn estimate(&self, input: &OpenParticles) -> Result<Estimate, CommandError> {
        let n = n_particles(self, input);
        let input = format!("{}, {} particles take part", input.format(), grouped(n));
        Ok(Estimate { input, least: least_memory(n, self.graph.neighbours), most: None })
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

impl Search for VoidsJob {
    type Found = Voids;
    type Summary = ParticleSummary;

    #[cfg(feature = "plot")]
    const ZOOMED: &'static [&'static str] = &["voids"];

    #[cfg(feature = "plot")]
    fn shown(&self) -> &ShownResults {
        &self.shown
    }

    fn lists(&self) -> &'static [&'static str] {
        let is_used = self.yt.is_some() || self.vtk.is_some() || self.shown.has_maps();
        if is_used { &["voids", "zones"] } else { &[] }
    }

    fn find(&self, input: &OpenParticles, engine: &mut Engine) -> Result<Voids, Error> {
        engine.voids(input, &self.graph, &self.voids)
    }

    fn summary(
        &self,
        input: &OpenParticles,
        voids: &Voids,
        run: &SearchRun<'_>,
    ) -> Result<ParticleSummary, CommandError> {
        let assumed = AssumedUnits::new(Some(input.reader().about()));
        let counts = counts(voids.attributes());
        ParticleSummary::new(counts, &SHOWN, voids.warnings(), assumed, &self.launch, run)
    }

    fn stage_others(
        &self,
        _: &OpenParticles,
        _: &Voids,
        lists: Option<&Catalogue>,
        _: &SearchRun<'_>,
    ) -> Result<Staged, CommandError> {
        let folders = ViewerFolders { yt: self.yt.as_deref(), vtk: self.vtk.as_deref() };
        lists.map_or_else(|| Ok(Staged::default()), |lists| folders.stage(lists, VtkCells::None))
    }

    #[cfg(feature = "plot")]
    fn about<'a>(
        &'a self,
        _: &OpenParticles,
        _: &Voids,
        summary: &'a ParticleSummary,
    ) -> pictures::RunAbout<'a> {
        summary.about(&self.inputs)
    }
}

/// Whether the input meets the needs of the job.
fn check(job: &VoidsJob, input: &OpenParticles) -> Result<(), CommandError> {
    let graph = job.graph.config().map_err(|error| CommandError::of_call(&job.inputs[0], &error))?;
    let found = input.on_mesh(&graph.mesh).map(drop);
    found.map_err(|error| CommandError::of_input(&job.inputs[0], &error))
}

/// The number of particles that take part. A plain array has no types.
fn n_particles(job: &VoidsJob, input: &OpenParticles) -> u64 {
    let species = &input.reader().about().species;
    let takes_part = |species: &Species| species.may_be(|kind| job.graph.types.contains(&kind));
    species.iter().filter(|species| takes_part(species)).map(|species| species.n).sum()
}

/// Bytes of particles, densities and links. All particles take part, unless a threshold leaves some out.
fn least_memory(n: u64, neighbours: usize) -> u64 {
    n * (150 + 4 * neighbours as u64)
}

/// The counts of a catalogue of voids.
pub fn counts(attributes: &[(String, Attribute)]) -> Vec<Count> {
    counts_of(attributes, &COUNTS)
}

/// The counts of the objects found, each with its words.
const SHOWN: [(&str, &str); 2] = [("zones", "zones"), ("voids", "voids")];

/// Counts of the summary, and their attributes.
const COUNTS: [(&str, &str); 6] = [
    ("particles", "n_particles"),
    ("test particles", "n_test_particles"),
    ("minima", "n_minima"),
    ("zones", "n_zones"),
    ("voids", "n_voids"),
    ("levels", "n_levels"),
];
