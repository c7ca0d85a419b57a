//! PHEW on the graph of particles and their neighbours.
//!
//! The steps are those of [`super::segment`], with links in place of touching cells. A particle stands for the cell of the
//! deepest level that holds it, so numbers of peaks, the forest and the hierarchy follow unchanged.

use crate::error::{ParticleGraphError, RunError};
use crate::executor::{Executor, ScratchPool};
use crate::graph::{GraphField, LinkGraph, LinkRun, OwnParticles, ParticleGraph, ParticleGraphConfig, build};
use crate::particle_mesh::{MeshUse, ParticleSnapshot, grow};
use crate::phew::balance::Balance;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::bound::{self, BoundInput};
use crate::phew::forest::{CellPlaces, PlacedContacts};
use crate::phew::ghost_labels::{self, Root};
use crate::phew::grown_peaks::GrownPeaks;
use crate::phew::hierarchy::structures;
use crate::phew::known_peaks::PeakColumns;
use crate::phew::label;
use crate::phew::member_places::{GraphPlaces, MemberPlaces};
use crate::phew::min_particles::leave_out_small;
use crate::phew::params::{PhewConfig, PotentialChoice, ThresholdUnits};
use crate::phew::peak_comm::{PeakComm, RootSlots};
use crate::phew::peaks::{PeakProminence, Peaks};
use crate::phew::prominence::{GraphParts, PartCells, PartScale, ParticleMass, PatchElders};
use crate::phew::region_trees::PeakRegions;
use crate::phew::run::{ChosenField, CutPeaks, FieldSource, PhewOutcome, listing_attributes};
use crate::phew::sums::PatchTotals;
use crate::phew::tables::{PatchIds, particles_table};
use crate::phew::test_links::TestLinks;
use crate::stage::Stage;
use crate::tables::input_attributes;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::Attribute;
use inselberg_kernels::geom::cell_centre;
use inselberg_kernels::graph::{KEY_LEVEL, cell_of, contacts, raise_neighbours};
use inselberg_kernels::ids::{CellIdx, PeakIdx, PeakSlot, TestIdx};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::global::CellAt;
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::props::sums::{CellView, N_SUMS, SUMS};
use inselberg_kernels::props::{Gathered, PatchSums, SumScales};
use inselberg_kernels::sum::Quantum;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The patches of a graph.
#[derive(Debug)]
pub struct GraphSegmentation {
    /// The patch of each test particle, by the slot of its peak in `known`.
    pub labels: Vec<PeakSlot>,
    /// The peaks known on this rank.
    pub known: PeakComm,
    /// The own peaks with their tree.
    pub peaks: Peaks,
    /// The distribution of the work over the ranks.
    pub balance: Balance,
}

impl CellPlaces for LinkGraph {
    fn cell_at(&self, particle: CellIdx) -> CellAt {
        CellAt { level: KEY_LEVEL.into(), ijk: cell_of(self.particles[particle.at()].position) }
    }
}

/// Collective: segments the test particles into patches and grows their merge tree.
///
/// The result depends neither on the number of threads nor on how ranks share the particles.
///
/// # Errors
/// When another rank fails.
pub fn segment(
    own: &OwnParticles,
    tests: &LinkGraph,
    comm: &Comm,
    executor: &Executor,
) -> Result<GraphSegmentation, CommError> {
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
    Ok(GraphSegmentation { labels, known, peaks, balance })
}

/// The densest particle that each test particle is linked to, or itself. Ghosts point to themselves: their owners know
/// all their links.
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
fn own_roots(tests: &LinkGraph, roots: &PeakSet, classes: &[Root]) -> Vec<TestIdx> {
    let at_roots = (0..tests.rho.len()).map(TestIdx::new).filter(|particle| roots.is_peak(*particle));
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

/// PHEW on the graph of particles and their neighbours. Density and saddle threshold of `config`, and a threshold of
/// differences, are in units of the mean density of matter where the input states it, else of the
/// particles. Its field is ignored.
///
/// Collective. The catalogue is the same bit for bit for any number of ranks and threads.
///
/// # Errors
/// As [`run`](crate::phew::run::run), and as [`build`]; when `config` asks for what needs cells.
pub fn run_on_graph(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    check(snapshot, config)?;
    let field = GraphField::Density { threshold: config.thresholds.density };
    let ParticleGraph { own, tests, n, greatest } = build(snapshot.input(), graph, field, comm, executor)?;
    let units = ThresholdUnits { density: own.units.threshold, of: own.units.of_threshold, mass: 1.0 };
    let thresholds = config.thresholds.in_code_units(units);
    let GraphSegmentation { labels, known, mut peaks, balance } = segment(&own, &tests, comm, executor)?;
    let n_tests: u64 = tests.runs.iter().map(|run| run.of.len() as u64).sum();
    let found = Stage::run("sums", n_tests, comm, executor.observer(), || {
        prominences(&own, &tests, &labels, &known, &peaks, comm)
    })?;
    peaks.prominence = Some(found);
    let mut structures = Stage::run("hierarchy", n_tests, comm, executor.observer(), || {
        structures(&peaks, &thresholds, config.rules, config.bound.central, comm)
    })?;

    let stage = Stage::begin("tables", 0, comm, executor.observer());
    let field = ChosenField::of_graph(&config.field);
    let source = FieldSource {
        header: snapshot.header(),
        has_units: snapshot.has_units(),
        field: &field.field.name,
        mass_unit: units.mass,
        n_leaves: n,
        densest: greatest,
        attributes: &attributes(snapshot, graph, units.density),
        input: input_attributes(snapshot),
    };
    let ids = match config.needs_patch_ids() {
        true => PatchIds::new(&known, &structures, comm)?,
        false => PatchIds::default(),
    };
    let places = MemberPlaces::Graph(GraphPlaces { own: &own, tests: &tests, labels: &labels });
    if config.min_particles > 0 {
        leave_out_small(&mut structures, config.min_particles, snapshot, &places, &ids, comm)?;
    }
    let found = CutPeaks { peaks: &peaks, structures: &structures, n_tests, may_lose_mass: true };
    let mut catalogue = found.catalogue(&source, &thresholds, (config.rules, config.bound.central), comm)?;
    catalogue.attributes.extend(listing_attributes(config));
    if config.with_particles {
        catalogue.tables.push(particles_table(snapshot, &places, &ids, comm)?);
    }
    drop(stage);
    let of_bound = BoundInput { snapshot, test_field: None, places, ids: &ids, structures: &structures };
    bound::add_to(&mut catalogue, &of_bound, &config.bound, comm, executor)?;
    let (part, leaves) = match config.keep_leaves {
        true => {
            let purpose =
                MeshUse { keep_leaves: true, threshold: config.thresholds.density, ..MeshUse::default() };
            let mesh = grow(snapshot.input(), &graph.mesh, purpose, comm, executor)?;
            (Some(mesh.part), mesh.leaves)
        }
        false => (None, None),
    };
    let (densest, thresholds) = (greatest, SearchThresholds::new(thresholds));
    Ok(PhewOutcome { catalogue, part, balance, densest, field, structures, peaks, thresholds, units, leaves })
}

/// Collective: how far each own peak stands out from the shot noise of the particles.
///
/// # Errors
/// When another rank fails.
fn prominences(
    own: &OwnParticles,
    tests: &LinkGraph,
    labels: &[PeakSlot],
    known: &PeakComm,
    peaks: &Peaks,
    comm: &Comm,
) -> Result<Vec<PeakProminence>, CommError> {
    let elders = PatchElders::new(peaks, known, comm)?;
    let view = |particle: TestIdx| {
        let (mass, rho) = (tests.particles[particle.at()].mass, tests.rho[particle.at()]);
        [mass * own.units.density(), own.volume(mass, rho)]
    };
    let particles = GraphParts::new(tests, labels, &view, comm)?;
    let scale = PartScale { quanta: particles.quanta, particles: ParticleMass::Counted };
    elders.prominences(peaks, particles.sums(&elders), &scale, &particles, comm)
}

/// Local: checks what a graph cannot do, before anything is read.
fn check(snapshot: &ParticleSnapshot, config: &PhewConfig) -> Result<(), RunError> {
    config.check()?;
    let needs = |what: &'static str| Err(ParticleGraphError::NeedsCells { what }.into());
    match () {
        () if config.rules == Rules::Ramses => return needs("a run by RAMSES's rules"),
        () if config.with_cells => return needs("the table of cells"),
        () if config.bound.unbinding() == Some(PotentialChoice::Ramses) => {
            return needs("RAMSES's unbinding");
        }
        () if config.bound.gas => return needs("properties of gas"),
        () if !config.selection.is_all() => return needs("a region or a range of levels"),
        () => {}
    }
    snapshot.check_velocities(&config.bound)?;
    bound::check(snapshot, &config.bound)
}

/// What a catalogue says of its graph.
fn attributes(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    threshold_unit: f64,
) -> Vec<(&'static str, Attribute)> {
    let mut list = vec![
        ("mean_density", Attribute::Real(threshold_unit)),
        ("graph_neighbours", Attribute::Int(graph.neighbours as i64)),
        ("graph_kernel", Attribute::Text(graph.kernel().into())),
    ];
    list.extend(snapshot.assumed_units());
    list
}
