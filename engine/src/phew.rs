//! PHEW from a snapshot, or from cells someone else owns, to a catalogue: the recipe.

use crate::amr::AmrField;
use crate::crew::Crew;
use crate::grow::GrowError;
use crate::io::ReadError;
use crate::observe::Observer;
use crate::peaks::Peaks;
use crate::pieces::{carve, chunks, zeros};
use crate::ranks::balance::Balance;
use crate::ranks::forest::OwnTree;
use crate::ranks::labels::End;
use crate::ranks::links::TestLinks;
use crate::ranks::parcel::Outbox;
use crate::ranks::peak_comm::{KnownPeak, PeakComm, number};
use crate::ranks::pointers::Target;
use crate::ranks::{forest, labels, ties};
use crate::reserve::OutOfMemory;
use crate::stages::ascent::Climbed;
use crate::stages::properties::{Patches, TestFields};
use crate::stages::saddle::Found;
use crate::stages::sums::Summed;
use crate::stages::{self, Region, ascent, label, properties, saddle};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::{Locator, Mesh, MeshError, local};
use inselberg_kernels::phew::far::FarEdge;
use inselberg_kernels::phew::forest::Edge;
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::phew::tests::TestCells;
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::props::{Gathered, Momentum, PatchSums, PatchValues};
use rayon::prelude::*;
use std::ops::Range;

pub use inselberg_kernels::phew::Rules;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A field that the input does not have.
    #[error("the input has no field `{name}`; expected one of {known}")]
    NoField {
        /// The field.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Particles are asked for and there are none.
    #[error("the input has no particles; expected some, or a --field of its cells")]
    NoParticles,
    /// No mesh can be made from the particles.
    #[error(transparent)]
    Grow(#[from] GrowError),
    /// The input does not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// Its cells are no octree.
    #[error("the mesh of the input is broken: {0}")]
    Mesh(MeshError),
    /// Patches so much lighter than others that their masses would be zero.
    #[error(
        "densities above the threshold {threshold:e} reach to {densest:e}: beside the heaviest patch {n} others would \
         have no mass; expected a higher --density-threshold"
    )]
    LostMass {
        /// Density threshold in code units.
        threshold: f64,
        /// Greatest density.
        densest: f64,
        /// Number of such patches.
        n: u64,
    },
    /// Another rank failed, or could not be reached.
    #[error(transparent)]
    Comm(#[from] CommError),
}

impl From<MeshError> for RunError {
    fn from(error: MeshError) -> Self {
        match error {
            MeshError::OutOfMemory(n) => Self::Memory(OutOfMemory { n: n as usize, each: size_of::<f64>() }),
            error => Self::Mesh(error),
        }
    }
}

/// Which cell quantity is segmented.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChoice {
    /// Hydro `density` if there is one, else `rho` of the grav files, else dark-matter particles,
    /// deposited as [`Rules`] say.
    #[default]
    Auto,
    /// A field of the snapshot by name.
    Named(String),
    /// Dark-matter particles by cloud-in-cell, every gram kept.
    Cic,
    /// Dark-matter particles by cloud-in-cell, level by level as RAMSES deposits them, and the gas where there is any.
    CicRamses,
}

/// The thresholds of PHEW, densities in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Cells above it are test cells.
    pub density: f64,
    /// Peaks with a smaller peak-to-saddle ratio are noise.
    pub relevance: f64,
    /// Clumps that meet above it are merged into one halo; `None`: no such pass.
    pub saddle: Option<f64>,
    /// Clumps of haloes up to this mass (code units) are not listed.
    pub mass: f64,
}

/// Everything that decides what a run computes; nothing that only decides how fast.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewConfig {
    /// What is segmented.
    pub field: FieldChoice,
    /// Where it is cut.
    pub thresholds: Thresholds,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Also list every leaf cell with its clump and halo.
    pub with_cells: bool,
    /// Also list every particle with its clump and halo.
    pub with_particles: bool,
}

/// A segmented field: the patch of every test cell, and the peaks.
#[derive(Debug)]
pub struct Segmentation<'a> {
    /// The test cells, those of other ranks about the own ones among them.
    pub tests: TestCells<'a>,
    /// Where their ascents end: the own peaks, and ghosts of other ranks.
    pub ends: PeakSet,
    /// The patch of each, by its slot in `known`.
    pub labels: Vec<PeakIdx>,
    /// The peaks known on this rank.
    pub known: PeakComm,
    /// The own peaks with their tree.
    pub peaks: Peaks,
    /// How the work lay on the ranks.
    pub balance: Balance,
}

/// What [`segment`] works on.
#[derive(Debug)]
pub struct Task<'a> {
    /// The field; over several ranks that of the own cells and of those about them.
    pub field: &'a AmrField,
    /// The test cells shared with other ranks; [`ALONE`](crate::ranks::links::ALONE) on a rank alone.
    pub links: &'a TestLinks,
    /// Further values of the test cells.
    pub extra: &'a TestFields,
    /// Threshold of the test cells.
    pub density_threshold: f64,
    /// Length of a level-0 cell in code units.
    pub side: f64,
    /// Paper or RAMSES.
    pub rules: Rules,
}

/// Segments the given test cells of a field into patches and grows their merge tree.
///
/// Collective. The result depends neither on the crew, nor on how many ranks share the field. At most 80 bytes a
/// test cell beside the field.
///
/// # Errors
/// When another rank fails.
pub fn segment<'a>(
    task: &Task,
    tests: TestCells<'a>,
    comm: &Comm,
    crew: &Crew,
) -> Result<Segmentation<'a>, CommError> {
    let (mesh, rules, n) = (&task.field.mesh, task.rules, tests.len() as u64);
    let stage = Stages { comm, observer: crew.observer(), n };
    let tasks = stages::cut_tasks(mesh, &tests);
    let climbed = stage.run("ascent", || ascent::run(mesh, &tests, rules, task.links, &tasks, comm, crew));
    let Climbed { up, origins } = climbed?;
    let locator = Locator::new(mesh);
    let (ends, mut labels) = stage.run("labels", || label::run(up, crew));
    let view = View { mesh, tests: &tests, ends: &ends, tasks: &tasks, own: &task.links.own, rules };
    let patches = view.patches(&labels, &[]);
    let Contacts { edges, refined, mut known, slots, next } =
        stage.run("saddles", || match comm.n_ranks() {
            1 => alone(comm, &patches, crew),
            _ => shared(comm, (task.links, &origins), &patches, crew),
        })?;
    if !slots.is_empty() {
        labels.par_iter_mut().for_each(|label| *label = slots[label.at()]);
    }
    let patches = view.patches(&labels, &next);
    let balance = Balance::of(task.links, tests.len(), &known, edges.len(), comm)?;
    let mut summed = stage.run("sums", || Summed::of(&patches, &known.known, task.extra, comm, crew))?;
    let Grown { tree, refined, patches, momenta } = stage.run("forest", || {
        let far = match comm.n_ranks() {
            1 => None,
            _ => Some(join(comm, &mut known, &edges, &mut summed, &locator)?),
        };
        // What is not needed any more is room for what comes.
        let (patches, momenta) = summed.values(&known.own, task.side);
        let refine = || properties::refine(task.field, rules, &known, refined);
        let (tree, refined) = match far {
            // One thread grows the tree; the others need not wait.
            None => rayon::join(|| forest::grow_alone(&known, &edges, &locator, mesh.domain()), refine),
            Some(edges) => (forest::grow(comm, &known, edges, mesh.domain())?, refine()),
        };
        Ok::<_, CommError>(Grown { tree, refined, patches, momenta })
    })?;
    let global: Vec<_> = known.own.par_iter().map(|slot| known.known[slot.at()].global).collect();
    let ties = match rules {
        Rules::Paper => Vec::new(),
        Rules::Ramses => stage.run("forest", || {
            let candidates = ties::candidates(comm, &known, &edges, &locator)?;
            ties::beside(comm, candidates, &global, &tree.tree, (mesh.domain(), task.side))
        })?,
    };
    drop((edges, locator));
    let peaks = stage.run("positions", || Peaks {
        global,
        n_global: known.n_global,
        end_owners: tree.end_owners,
        space: SizedBox { domain: *mesh.domain(), side: task.side },
        density_threshold: task.density_threshold,
        level: known.own.par_iter().map(|slot| known.known[slot.at()].level as u8).collect(),
        ijk: known.own.par_iter().map(|slot| known.known[slot.at()].ijk).collect(),
        tree: tree.tree,
        ties,
        refined: scaled(refined, task.side),
        saddle_position: scaled(tree.saddle_position, task.side),
        patches,
        momenta,
    });
    Ok(Segmentation { tests, ends, labels, known, peaks, balance })
}

/// What stays while labels change from ends of ascents to slots.
struct View<'a> {
    mesh: &'a Mesh,
    tests: &'a TestCells<'a>,
    ends: &'a PeakSet,
    tasks: &'a [Region],
    own: &'a [u64],
    rules: Rules,
}

impl View<'_> {
    fn patches<'a>(&'a self, labels: &'a [PeakIdx], slots: &'a [u32]) -> Patches<'a> {
        let Self { mesh, tests, ends, tasks, own, rules } = *self;
        Patches { mesh, tests, ends, slots, labels, tasks, own, rules }
    }
}

/// What [`segment`] knows of the own peaks at its end.
struct Grown {
    tree: OwnTree,
    refined: Vec<[f64; 3]>,
    patches: Vec<PatchValues>,
    momenta: Option<Vec<[f64; 3]>>,
}

/// What [`segment`] knows once contacts are found.
struct Contacts {
    /// Between slots.
    edges: Vec<Edge>,
    /// Refined positions of own peaks, NaN where that is still to do.
    refined: Vec<[f64; 3]>,
    /// The peaks with these slots.
    known: PeakComm,
    /// The slot of each end of ascents; empty where it is its place.
    slots: Vec<PeakIdx>,
    /// The slot of the first own peak at or after each end; empty where it is its place.
    next: Vec<u32>,
}

/// The contacts of a rank alone.
fn alone(comm: &Comm, patches: &Patches, crew: &Crew) -> Result<Contacts, CommError> {
    let mut own = peaks_at(patches);
    let n_global = number(comm, &mut own)?;
    let known = PeakComm::new(comm.rank(), own, n_global, &[]);
    let Found { edges, refined } = saddle::run(patches, crew);
    Ok(Contacts { edges, refined, known, slots: Vec::new(), next: Vec::new() })
}

/// Collective: the contacts of a rank of several. To which peaks its ghosts ascend is asked of the others
/// while contacts are found.
fn shared(
    comm: &Comm,
    (links, origins): (&TestLinks, &[Target]),
    patches: &Patches,
    crew: &Crew,
) -> Result<Contacts, CommError> {
    let kinds = labels::kinds(links, patches.ends);
    let is_own = |end: PeakIdx| matches!(kinds[end.at()], End::Own(_));
    let mut known = PeakComm::default();
    let naming = || {
        comm.at("labels");
        let mut own = peaks_at(patches);
        keep_own(&mut own, is_own);
        let n_global = number(comm, &mut own)?;
        let ghosts = labels::follow(comm, links, origins, &kinds, patches.labels, &own)?;
        known = PeakComm::new(comm.rank(), own, n_global, &ghosts);
        let slots = known.slots_of(&kinds, &ghosts);
        comm.at("saddles");
        Ok(slots)
    };
    let (Found { edges, mut refined }, slots) = saddle::run_shared(patches, is_own, Box::new(naming), crew)?;
    keep_own(&mut refined, is_own);
    let next = next_own(&kinds, &known);
    Ok(Contacts { edges, refined, known, slots, next })
}

/// Of a list with an entry an end only those of own peaks.
fn keep_own<T>(of_ends: &mut Vec<T>, is_own: impl Fn(PeakIdx) -> bool) {
    let mut ends = (0..).map(PeakIdx);
    of_ends.retain(|_| ends.next().is_some_and(&is_own));
}

/// Density, level and position of every end of ascents, in the order of the cells.
fn peaks_at(patches: &Patches) -> Vec<KnownPeak> {
    let Patches { mesh, tests, ends, .. } = *patches;
    let mut peaks: Vec<KnownPeak> = zeros(ends.len());
    let runs = chunks(mesh.supers().len(), RUN);
    let n_ends = |supers: &Range<usize>| {
        let cells = tests.of_supers(mesh, supers.clone());
        ends.before(cells.end) - ends.before(cells.start)
    };
    let parts = carve(&mut peaks, runs.iter().map(n_ends));
    runs.into_par_iter().zip(parts).for_each(|(run, part)| {
        let peaks = run.flat_map(|s| peaks_of(patches, s));
        part.iter_mut().zip(peaks).for_each(|(place, peak)| *place = peak);
    });
    peaks
}

/// Those in a super-brick.
fn peaks_of<'a>(
    &Patches { mesh, tests, ends, .. }: &Patches<'a>,
    s: usize,
) -> impl Iterator<Item = KnownPeak> + 'a {
    let level = u32::from(mesh.level_of_super(s));
    mesh.bricks_of(&mesh.supers()[s]).flat_map(move |b| {
        let brick = &mesh.bricks()[b];
        ends.of_brick(tests, b).map(move |(_, bit)| {
            let rho = brick.cell(bit).map_or(0.0, |cell| tests.rho[cell.at()]);
            let ijk = local::position_of(brick.position, bit);
            KnownPeak { rho, level, ijk, ..KnownPeak::default() }
        })
    })
}

/// Super-bricks whose peaks are listed at once.
const RUN: usize = 1 << 6;

/// The slot of the first own peak at or after each end, and the number of slots.
fn next_own(kinds: &[End], known: &PeakComm) -> Vec<u32> {
    let mut next = known.n_slots() as u32;
    let mut slots = vec![next; kinds.len() + 1];
    for (slot, kind) in slots.iter_mut().zip(kinds).rev() {
        if let End::Own(index) = kind {
            next = known.own[*index as usize].0;
        }
        *slot = next;
    }
    slots
}

/// Collective: brings contacts and sums to the owners of the peaks. Sums and momenta are complete for own peaks
/// afterwards.
fn join(
    comm: &Comm,
    known: &mut PeakComm,
    edges: &[Edge],
    Summed { patches, momenta, .. }: &mut Summed,
    locator: &Locator,
) -> Result<Vec<FarEdge>, CommError> {
    const EDGES: usize = 0;
    const PEAKS: usize = 1;
    const SUMS: usize = 2;
    const MOMENTA: usize = 3;
    let mut outbox = Outbox::<4>::default();
    let mut edges = forest::send_to_owners(&mut outbox, EDGES, comm.rank(), known, edges, locator);
    known.announce(&mut outbox, PEAKS);
    known.hand_in(&mut outbox, SUMS, patches);
    if let Some(momenta) = momenta {
        known.hand_in(&mut outbox, MOMENTA, momenta);
    }
    let came = outbox.exchange(comm)?;
    known.hear(&came, PEAKS);
    known.take_in(&came, SUMS, patches, PatchSums::merge);
    if let Some(momenta) = momenta {
        known.take_in(&came, MOMENTA, momenta, Momentum::merge);
    }
    edges.extend(came.iter().flat_map(|parcel| parcel.records::<FarEdge>(EDGES)));
    Ok(edges)
}

/// Runs stages over so many cells, naming them to whom it concerns.
struct Stages<'a> {
    comm: &'a Comm,
    observer: &'a dyn Observer,
    n: u64,
}

impl Stages<'_> {
    fn run<T>(&self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        self.comm.at(stage);
        timed(self.observer, stage, self.n, work)
    }
}

/// Positions in units of the level-0 cell, in code units.
fn scaled(mut positions: Vec<[f64; 3]>, side: f64) -> Vec<[f64; 3]> {
    positions.par_iter_mut().for_each(|x| *x = x.map(|c| c * side));
    positions
}

/// Runs `work` as a stage over `cells` cells.
pub(crate) fn timed<T>(
    observer: &dyn Observer,
    stage: &'static str,
    cells: u64,
    work: impl FnOnce() -> T,
) -> T {
    observer.begin(stage, cells);
    let result = work();
    observer.end(stage, cells);
    result
}
