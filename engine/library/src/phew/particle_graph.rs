//! PHEW on the graph of particles and their neighbours.
//!
//! The steps are those of [`super::segment`], with links in place of touching cells. A particle stands for
//! the cell of the deepest level that holds it, so numbers of peaks, the forest and the hierarchy follow
//! unchanged.

use crate::error::RunError;
use crate::executor::{Executor, ScratchPool};
use crate::graph::{GraphField, LinkGraph, LinkRun, OwnParticles, ParticleGraph, ParticleGraphConfig, build};
use crate::particle_mesh::ParticleSnapshot;
use crate::phew::balance::Balance;
use crate::phew::forest::{CellPlaces, PlacedContacts};
use crate::phew::from_peaks::Segmented;
use crate::phew::ghost_labels::{self, Root};
use crate::phew::grown_peaks::GrownPeaks;
use crate::phew::known_peaks::PeakColumns;
use crate::phew::label;
use crate::phew::member_places::{GraphPlaces, MemberPlaces};
use crate::phew::params::ThresholdUnits;
use crate::phew::peak_comm::{PeakComm, RootSlots};
use crate::phew::peaks::Peaks;
use crate::phew::prominence::{GraphParts, PartCells, PartScale, ParticleMass, PatchElders};
use crate::phew::region_trees::PeakRegions;
use crate::phew::sums::PatchTotals;
use crate::phew::tables::PatchIds;
use crate::phew::test_links::TestLinks;
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::{Attribute, PartTable};
use inselberg_kernels::geom::cell_centre;
use inselberg_kernels::graph::{KEY_LEVEL, cell_of, contacts, raise_neighbours};
use inselberg_kernels::ids::{CellIdx, PeakIdx, PeakSlot, TestIdx};
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::global::CellAt;
use inselberg_kernels::phew::label::RootSet;
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::props::sums::{CellView, N_SUMS, SUMS};
use inselberg_kernels::props::{Gathered, PatchSums, SumScales};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A graph of particles whose peaks are known.
pub struct SegmentedGraph {
    /// All particles of this rank.
    pub own: OwnParticles,
    /// The test particles.
    pub tests: LinkGraph,
    /// Number of particles on all ranks.
    pub n: u64,
    /// The greatest value of any particle.
    pub greatest: f64,
    /// The patch of each test particle, by the slot of its peak in `known`.
    pub labels: Vec<PeakSlot>,
    /// The peaks known on this rank.
    pub known: PeakComm,
    /// The own peaks with their tree.
    pub peaks: Peaks,
    /// The distribution of the work over the ranks.
    pub balance: Balance,
}

impl SegmentedGraph {
    /// Collective: the graph of the particles of a snapshot, and the peaks of `field` on it.
    ///
    /// # Errors
    /// As [`build`], and when another rank fails.
    pub fn new(
        snapshot: &ParticleSnapshot,
        graph: &ParticleGraphConfig,
        field: GraphField,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, RunError> {
        let ParticleGraph { own, tests, n, greatest } =
            build(snapshot.input(), graph, field, comm, executor)?;
        let (labels, known, peaks, balance) = segment(&own, &tests, comm, executor)?;
        Ok(Self { own, tests, n, greatest, labels, known, peaks, balance })
    }

    /// The units in which thresholds are given.
    pub fn units(&self) -> ThresholdUnits {
        ThresholdUnits { density: self.own.units.threshold, of: self.own.units.of_threshold, mass: 1.0 }
    }

    /// Collective: finds how far each own peak stands out from the shot noise of the particles.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn find_prominences(&mut self, comm: &Comm, executor: &Executor) -> Result<(), CommError> {
        let _sums = Stage::begin("sums", self.n_tests(), comm, executor.observer());
        let Self { own, tests, labels, known, peaks, .. } = self;
        let elders = PatchElders::new(peaks, known, comm)?;
        let view = |particle: TestIdx| {
            let (mass, rho) = (tests.particles[particle.at()].mass, tests.rho[particle.at()]);
            [mass * own.units.density(), own.volume(mass, rho)]
        };
        let particles = GraphParts::new(tests, labels, &view, comm)?;
        let scale = PartScale { quanta: particles.quanta, particles: ParticleMass::Counted };
        let found = elders.prominences(peaks, particles.sums(&elders), &scale, &particles, comm)?;
        peaks.prominence = Some(found);
        Ok(())
    }

    /// The peaks, and the distribution of the work over the ranks.
    pub fn into_peaks(self) -> (Peaks, Balance) {
        (self.peaks, self.balance)
    }
}

impl Segmented for SegmentedGraph {
    fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    fn known(&self) -> &PeakComm {
        &self.known
    }

    fn n_tests(&self) -> u64 {
        self.tests.runs.iter().map(|run| run.of.len() as u64).sum()
    }

    fn sums_its_density(&self) -> bool {
        true
    }

    fn places(&self) -> MemberPlaces<'_> {
        MemberPlaces::Graph(GraphPlaces { own: &self.own, tests: &self.tests, labels: &self.labels })
    }

    fn cells(&self, _: &PatchIds, _: &Comm) -> Result<Option<PartTable>, CommError> {
        Ok(None)
    }
}

/// What a catalogue says of its graph. `unit` is that of density thresholds.
pub fn graph_attributes(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    unit: f64,
) -> Vec<(&'static str, Attribute)> {
    let mut list = vec![
        ("mean_density", Attribute::Real(unit)),
        ("graph_neighbours", Attribute::Int(graph.neighbours as i64)),
        ("graph_kernel", Attribute::Text(graph.kernel().into())),
    ];
    list.extend(snapshot.assumed_units());
    list
}

impl CellPlaces for LinkGraph {
    fn cell_at(&self, particle: CellIdx) -> CellAt {
        CellAt { level: KEY_LEVEL.into(), ijk: cell_of(self.particles[particle.at()].position) }
    }
}

/// The patch of each test particle, the known and the own peaks, and the distribution of the work.
type GraphPatches = (Vec<PeakSlot>, PeakComm, Peaks, Balance);

/// Collective: segments the test particles into patches and grows their merge tree.
///
/// The result depends neither on the number of threads nor on how ranks share the particles.
///
/// # Errors
/// When another rank fails.
fn segment(
    own: &OwnParticles,
    tests: &LinkGraph,
    comm: &Comm,
    executor: &Executor,
) -> Result<GraphPatches, CommError> {
    let (n, observer) = (tests.rho.len() as u64, executor.observer());
    let links = TestLinks { shared: tests.shared.clone(), own: Vec::new() };
    let up = Stage::run("ascent", n, comm, observer, || ascend(tests, &links, executor));
    let (roots, labels) = Stage::run("labels", n, comm, observer, || label::run(up, executor));
    let (mut known, peaks, labels, positions) = Stage::run("labels", n, comm, observer, || {
        let classes = ghost_labels::classify(&links, &roots);
        let particles = own_roots(tests, &roots, &classes);
        let mut peaks = peaks_at(tests, &particles);
        let n_global = peaks.give_names(comm)?;
        let ghosts = ghost_labels::follow(comm, &links, &classes, &labels, &peaks)?;
        let (known, peaks) = PeakComm::new(comm.rank(), peaks, n_global, &ghosts);
        let slots = known.slots_of(&classes, &ghosts, &peaks.name);
        let labels = RootSlots::new(slots, &classes, &known).relabel(labels);
        let positions: Vec<[f64; 3]> = particles.iter().map(|p| tests.particles[p.at()].position).collect();
        Ok::<_, CommError>((known, peaks, labels, positions))
    })?;
    let edges = Stage::run("saddles", n, comm, observer, || find_contacts(tests, &labels, executor));
    let balance = Balance::new(&links, tests.rho.len(), &known, edges.len(), comm)?;
    let sums = ParticleSums { own, tests, labels: &labels, peaks: &peaks };
    let totals = Stage::run("sums", n, comm, observer, || sums.totals(comm))?;
    let space = SizedBox { domain: own.domain, side: own.units.side, origin: [0.0; 3] };
    let grown = Stage::run("forest", n, comm, observer, || {
        let regions = &PeakRegions::of_list(peaks.len());
        let shared = &known.shared(&links, &labels);
        let contacts = PlacedContacts { edges: &edges, cells: tests, regions, shared };
        GrownPeaks::grow(peaks, &mut known, &contacts, totals, &space, comm)
    })?;
    let density_threshold = tests.field.threshold(&own.units);
    let peaks = grown.into_peaks(positions, density_threshold, Vec::new());
    Ok((labels, known, peaks, balance))
}

/// The densest particle that each test particle is linked to, or itself. Ghosts point to themselves: their
/// owners know all their links.
fn ascend(tests: &LinkGraph, links: &TestLinks, executor: &Executor) -> Vec<AtomicU32> {
    let up: Vec<AtomicU32> = (0..tests.rho.len() as u32).into_par_iter().map(AtomicU32::new).collect();
    let sizes: Vec<usize> = tests.runs.iter().map(|run| run.of.len()).collect();
    executor.each("ascent", &sizes, |i| {
        raise_neighbours(&tests.runs[i as usize].neighbours(tests.k), &tests.rho, &up);
    });
    for [own, ghost] in &tests.from_ghosts {
        let run = LinkRun { of: vec![*own], list: vec![*ghost] };
        raise_neighbours(&run.neighbours(1), &tests.rho, &up);
    }
    links.ghosts().for_each(|ghost| up[ghost.at()].store(ghost.0, Relaxed));
    up
}

/// The particles of the own peaks, in their order.
fn own_roots(tests: &LinkGraph, roots: &RootSet, classes: &[Root]) -> Vec<TestIdx> {
    let at_roots = (0..tests.rho.len()).map(TestIdx::new).filter(|particle| roots.is_root(*particle));
    let own = at_roots.zip(classes).filter(|(_, class)| matches!(class, Root::Own(_)));
    own.map(|(particle, _)| particle).collect()
}

/// The peaks at these particles. They have no names yet.
fn peaks_at(tests: &LinkGraph, particles: &[TestIdx]) -> PeakColumns {
    PeakColumns {
        rho: particles.iter().map(|particle| tests.rho[particle.at()]).collect(),
        level: vec![KEY_LEVEL; particles.len()],
        ijk: particles.iter().map(|particle| cell_of(tests.particles[particle.at()].position)).collect(),
        name: Vec::new(),
    }
}

/// The contacts between patches: their maximum spanning forest, in falling order.
fn find_contacts(tests: &LinkGraph, labels: &[PeakSlot], executor: &Executor) -> Vec<ContactEdge> {
    let labels: &[PeakIdx] = bytemuck::cast_slice(labels);
    let scratches = ScratchPool::<ForestScratch>::default();
    let of_run = |run: &LinkRun| {
        scratches.with(|scratch| contacts(&run.neighbours(tests.k), &tests.rho, labels, scratch))
    };
    let runs: Vec<&LinkRun> = tests.runs.iter().collect();
    let edges = executor.map("saddles", runs, |run| run.of.len(), of_run);
    reduce(&edges.concat(), &mut ForestScratch::default())
}

/// What is summed over patches. Lengths are in units of the box.
struct ParticleSums<'a> {
    own: &'a OwnParticles,
    tests: &'a LinkGraph,
    labels: &'a [PeakSlot],
    /// By slot.
    peaks: &'a PeakColumns,
}

impl ParticleSums<'_> {
    /// What a test particle adds to its patch.
    fn view(&self, particle: TestIdx) -> CellView {
        let (of, rho) = (&self.tests.particles[particle.at()], self.tests.rho[particle.at()]);
        let peak = self.peaks.ijk[self.labels[particle.at()].at()];
        let mass = of.mass * self.own.units.density();
        // The sums know a field and a measure. The specific volume is volume per mass, so both change places.
        let (volume, mass) = match self.tests.field {
            GraphField::Density { .. } => (self.own.volume(of.mass, rho), mass),
            GraphField::SpecificVolume { .. } => (mass, mass * rho / self.own.units.mean_density),
        };
        CellView {
            volume,
            mass,
            from_peak: self.own.domain.displacement(cell_centre(KEY_LEVEL, peak), of.position),
            velocity: [0.0; 3],
        }
    }

    /// Collective: the sums over the own test particles of every patch, by slot.
    fn totals(&self, comm: &Comm) -> Result<PatchTotals, CommError> {
        let own: Vec<TestIdx> = self.tests.runs.iter().flat_map(|run| run.of.iter().copied()).collect();
        let bounds = |particle: &TestIdx| {
            let view = self.view(*particle);
            [view.volume, view.mass]
        };
        let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        let most = own.par_iter().map(bounds).reduce(|| [0.0; 2], larger);
        let most = comm.all_max(&most)?;
        let n = comm.all_reduce_counts(&[own.len() as u64], Reduce::Sum)?[0];
        let quanta = SumScales { volume: most[0], mass: most[1], length: 1.0, velocity: 0.0 }.quanta(n);
        let parts: Vec<FxHashMap<PeakSlot, PatchSums>> =
            own.par_chunks(PARTICLES_AT_ONCE).map(|run| self.of_run(run, &quanta)).collect();
        let mut sums: Vec<PatchSums> = vec![PatchSums::default(); self.peaks.len()];
        for (slot, part) in parts.into_iter().flatten() {
            sums[slot.at()].merge(&part);
        }
        Ok(PatchTotals::of_patches(quanta, sums))
    }

    fn of_run(&self, run: &[TestIdx], quanta: &[Quantum; N_SUMS]) -> FxHashMap<PeakSlot, PatchSums> {
        let mut sums: FxHashMap<PeakSlot, PatchSums> = FxHashMap::default();
        for particle in run {
            let view = self.view(*particle);
            let patch = sums.entry(self.labels[particle.at()]).or_default();
            patch.merge(&PatchSums {
                n_cells: 1,
                rho_min: self.tests.rho[particle.at()],
                sums: std::array::from_fn(|i| quanta[i].quantize((SUMS[i].term)(&view))),
            });
        }
        sums
    }
}

/// Particles that one task sums.
const PARTICLES_AT_ONCE: usize = 1 << 14;
