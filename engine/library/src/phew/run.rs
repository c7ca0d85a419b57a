//! The recipes: a source in, a catalogue out. Each source ends in peaks ([`super::segmented_leaves`],
//! [`super::particle_graph`]), and from there on the way is the same ([`super::from_peaks`]).

use crate::error::{ParticleGraphError, RunError};
use crate::executor::Executor;
use crate::graph::{GraphField, ParticleGraphConfig};
use crate::particle_mesh::{MeshUse, ParticleMeshConfig, ParticleSnapshot, grow};
use crate::particles::HalfChoice;
use crate::partition::LocalField;
use crate::phew::balance::Balance;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::bound;
use crate::phew::found_again::{FoundAgain, MembersByIdentity};
use crate::phew::from_peaks::{FoundClumps, Source, from_peaks};
use crate::phew::hierarchy::Structures;
use crate::phew::image;
use crate::phew::input::Input;
pub(crate) use crate::phew::input::choose_source;
pub use crate::phew::input::{ChosenField, check_default_thresholds};
use crate::phew::params::{PotentialChoice, ThresholdUnits};
use crate::phew::particle_graph::{SegmentedGraph, graph_attributes};
use crate::phew::peaks::Peaks;
use crate::phew::phew_params::{PhewParams, PhewRequest};
use crate::phew::segmented_leaves::LeafField;
use crate::phew::test_fields::TestFields;
use crate::projection::RootLeaves;
use crate::stage::Stage;
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::CataloguePart;
use inselberg_kernels::phew::Rules;

/// The results of a run.
#[derive(Debug)]
pub struct PhewOutcome {
    /// The part of the catalogue on this rank; one rank alone has all of it.
    pub catalogue: CataloguePart,
    /// The field that was segmented and which of its cells are this rank's own, for pictures. `None` for a
    /// graph of particles, unless pictures are wanted.
    pub part: Option<LocalField>,
    /// The distribution of the work over the ranks.
    pub balance: Balance,
    /// The greatest density of any leaf on all ranks.
    pub densest: f64,
    /// The density that was segmented.
    pub field: ChosenField,
    /// Clumps and haloes of this rank.
    pub structures: Structures,
    /// The peaks of this rank, from which other thresholds cut other clumps. Lifted where the density
    /// threshold is below 0.
    pub peaks: Peaks,
    /// The thresholds, in code units.
    pub thresholds: SearchThresholds,
    /// The units in which they were given.
    pub units: ThresholdUnits,
    /// All leaves of a mesh from particles, where they are kept.
    pub leaves: Option<RootLeaves>,
    /// The particles of clumps, until halves of all particles have been searched for them.
    members: Option<MembersByIdentity>,
}

/// PHEW on a snapshot.
///
/// Collective over `comm`. The catalogue is the same bit for bit for any number of ranks and threads and for
/// any split of the snapshot into files.
///
/// # Errors
/// When thresholds contradict each other or the rules. When the input cannot be read, lacks what `request`
/// asks for, or holds values that are not allowed, and when another rank fails. The caller passes an error of
/// one rank on to the others ([`Comm::abort`]).
pub fn run(
    snapshot: &dyn Snapshot,
    request: &PhewRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    if request.params.subsamples > 0 {
        return Err(RunError::SubsamplesOfCells);
    }
    bound::check(snapshot, &request.params.bound)?;
    let mut input = Input::from_snapshot(snapshot, request, comm, executor)?;
    if image::is_fits(&snapshot.attributes()) {
        input.image_attributes = request.params.image.attributes();
    }
    run_on_leaves(input, &request.params, comm, executor)
}

/// PHEW on the mesh that particles refine. Density and saddle threshold of `request`, and a threshold of
/// differences, are in units of the mean density of the particles on it. Its field is ignored. The table of
/// cells lists only cells denser than the threshold.
///
/// Collective, and with the promises of [`run`].
///
/// # Errors
/// As [`run`], and as [`grow`](crate::particle_mesh::grow).
pub fn run_on_particles(
    snapshot: &ParticleSnapshot,
    mesh: &ParticleMeshConfig,
    request: &PhewRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let bound = &request.params.bound;
    if bound.unbinding() == Some(PotentialChoice::Ramses) {
        return Err(RunError::UnbindingOnParticleMesh);
    }
    if bound.gas {
        return Err(RunError::GasOnParticleMesh);
    }
    snapshot.check_velocities(bound)?;
    bound::check(snapshot, bound)?;
    let search = |snapshot: &ParticleSnapshot, request: &PhewRequest| {
        let input = Input::from_particles(snapshot, mesh, request, comm, executor)?;
        run_on_leaves(input, &request.params, comm, executor)
    };
    with_halves((snapshot, request), (1, mesh), search, comm, executor)
}

/// Collective: a search of all particles and, where that is wanted, of halves of them. A half with fewer than
/// `least` particles is not searched.
fn with_halves(
    (snapshot, request): (&ParticleSnapshot, &PhewRequest),
    (least, mesh): (u64, &ParticleMeshConfig),
    search: impl Fn(&ParticleSnapshot, &PhewRequest) -> Result<PhewOutcome, RunError>,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let mut outcome = search(snapshot, request)?;
    let Some(members) = outcome.members.take() else { return Ok(outcome) };
    let n_rounds = request.params.subsamples;
    let of_half = request.clone().with(PhewParams::of_half);
    let mut found_again = FoundAgain::new(members);
    for choice in (0..n_rounds).map(HalfChoice::of_round) {
        let half = snapshot.half(choice, (least, mesh), comm, executor.observer())?;
        let Some(half) = half else { continue };
        let found = search(&half, &of_half)?;
        let _matching = Stage::begin("matching", 0, comm, executor.observer());
        let members = found.members.expect("a search of a half has members");
        found_again.count(choice, &members, &found.structures, comm)?;
    }
    found_again.add_to(&mut outcome.catalogue, n_rounds, comm)?;
    Ok(outcome)
}

/// Collective: from a density on leaves to the catalogue.
fn run_on_leaves(
    mut input: Input,
    params: &PhewParams,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let (snapshot, part, thresholds) = (input.snapshot, &input.part, input.thresholds);
    let leaves = LeafField {
        part,
        side: snapshot.header().boxlen,
        origin: snapshot.header().origin,
        threshold: thresholds.searched().density,
        rules: params.rules,
        selected: input.selected.as_ref(),
        deposited: input.deposited.as_ref(),
    };
    let columns = &input.columns;
    let mut segmented = leaves.segment(
        |tests, links| {
            let are_pixels = image::has_axes(&snapshot.attributes());
            Ok(TestFields { are_pixels, ..columns.by_test_cell(part, tests, links) })
        },
        comm,
        executor,
    )?;
    let made = std::mem::take(&mut input.mesh_attributes);
    let of_leaves = (input.n_leaves, input.densest);
    let of_image = std::mem::take(&mut input.image_attributes);
    let mut source = Source {
        test_field: input.test_field(),
        counted: input.selected.as_ref().filter(|_| snapshot.has_particles()),
        ..Source::of_snapshot(snapshot, made, &input.field.field.name, input.units.mass, of_leaves)
    };
    if image::is_fits(&source.attributes) {
        params.image.replace_cards(&mut source.attributes);
    }
    source.attributes.extend(of_image);
    let found = from_peaks(&mut segmented, &source, &thresholds, (params, false), comm, executor)?;
    let FoundClumps { catalogue, structures, members, .. } = found;
    let (peaks, balance) = segmented.into_peaks();
    let Input { mut part, field, units, leaves, densest, .. } = input;
    part.raise();
    thresholds.lower_values(&mut part.field.rho);
    let (part, densest) = (Some(part), thresholds.lowered(densest));
    Ok(PhewOutcome {
        catalogue,
        part,
        balance,
        densest,
        field,
        structures,
        peaks,
        thresholds,
        units,
        leaves,
        members,
    })
}

/// PHEW on the graph of particles and their neighbours. Density and saddle threshold of `request`, and a
/// threshold of differences, are in units of the mean density of matter where the input states it, else of
/// the particles. Its field is ignored.
///
/// Collective. The catalogue is the same bit for bit for any number of ranks and threads.
///
/// # Errors
/// As [`run`], and as [`build`](crate::graph::build); when `request` asks for what needs cells.
pub fn run_on_graph(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    request: &PhewRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    check_graph(snapshot, &request.params)?;
    let search = |snapshot: &ParticleSnapshot, request: &PhewRequest| {
        search_graph(snapshot, graph, request, comm, executor)
    };
    let least = graph.neighbours as u64 + 1;
    with_halves((snapshot, request), (least, &graph.mesh), search, comm, executor)
}

/// Collective: from the graph to the catalogue.
fn search_graph(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    request: &PhewRequest,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let params = &request.params;
    let threshold = params.thresholds().density;
    let mut segmented =
        SegmentedGraph::new(snapshot, graph, GraphField::Density { threshold }, comm, executor)?;
    segmented.find_prominences(comm, executor)?;
    let units = segmented.units();
    let thresholds = SearchThresholds::new(params.thresholds().in_code_units(units));
    let field = ChosenField::of_graph(&request.field);
    let (made, densest) = (graph_attributes(snapshot, graph, units.density), segmented.greatest);
    let source = Source::of_snapshot(snapshot, made, &field.field.name, units.mass, (segmented.n, densest));
    let found = from_peaks(&mut segmented, &source, &thresholds, (params, false), comm, executor)?;
    let FoundClumps { catalogue, structures, members, .. } = found;
    let (peaks, balance) = segmented.into_peaks();
    let purpose = MeshUse { keep_leaves: true, threshold, ..MeshUse::default() };
    let mesh = params.keep_density.then(|| grow(snapshot.input(), &graph.mesh, purpose, comm, executor));
    let (part, leaves) = mesh.transpose()?.map(|mesh| (mesh.part, mesh.leaves)).unzip();
    let leaves = leaves.flatten();
    Ok(PhewOutcome {
        catalogue,
        part,
        balance,
        densest,
        field,
        structures,
        peaks,
        thresholds,
        units,
        leaves,
        members,
    })
}

/// Local: checks what a graph cannot do, before anything is read.
fn check_graph(snapshot: &ParticleSnapshot, params: &PhewParams) -> Result<(), RunError> {
    params.check_search()?;
    let needs = |what: &'static str| Err(ParticleGraphError::NeedsCells { what }.into());
    match () {
        () if params.rules == Rules::Ramses => return needs("a run by RAMSES's rules"),
        () if params.with_cells => return needs("the table of cells"),
        () if params.bound.unbinding() == Some(PotentialChoice::Ramses) => {
            return needs("RAMSES's unbinding");
        }
        () if params.bound.gas => return needs("properties of gas"),
        () if !params.selection.is_all() => return needs("a region or a range of levels"),
        () => {}
    }
    snapshot.check_velocities(&params.bound)?;
    bound::check(snapshot, &params.bound)
}
