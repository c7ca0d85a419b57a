//! PHEW from a snapshot, or from cells someone else owns, to a catalogue: the recipe.

use crate::chunks::{carve, chunks, zeros};
use crate::exchange::bundle::SendBuffers;
use crate::exchange::chains::RemoteIndex;
use crate::executor::Executor;
use crate::field::AmrField;
use crate::phew::ascent::Ascents;
use crate::phew::balance::Balance;
use crate::phew::forest::OwnTree;
use crate::phew::ghost_labels::End;
use crate::phew::peak_comm::{KnownPeak, PeakComm, number};
use crate::phew::peaks::Peaks;
use crate::phew::properties::{Patches, TestFields};
use crate::phew::region::Region;
use crate::phew::saddle::ContactResults;
use crate::phew::sums::PatchTotals;
use crate::phew::test_links::TestLinks;
use crate::phew::{ascent, label, properties, saddle};
use crate::phew::{forest, ghost_labels, ties};
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::{Locator, Mesh, local};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::forest::ContactEdge;
use inselberg_kernels::phew::global::GlobalEdge;
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::props::{Gathered, Momentum, PatchSums, PatchValues};
use rayon::prelude::*;
use std::ops::Range;

/// A segmented field: the patch of every test cell, and the peaks.
#[derive(Debug)]
pub struct Segmentation<'a> {
    /// The test cells, those of other ranks about the own ones among them.
    pub test_cells: TestCells<'a>,
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
    /// The test cells shared with other ranks; [`ALONE`](crate::phew::test_links::ALONE) on a rank alone.
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
    test_cells: TestCells<'a>,
    comm: &Comm,
    executor: &Executor,
) -> Result<Segmentation<'a>, CommError> {
    let (mesh, rules, n) = (&task.field.mesh, task.rules, test_cells.len() as u64);
    let observer = executor.observer();
    let tasks = crate::phew::region::cut_tasks(mesh, &test_cells);
    let ascents = Stage::run("ascent", n, comm, observer, || {
        ascent::run(mesh, &test_cells, rules, task.links, &tasks, comm, executor)
    });
    let Ascents { up, origins } = ascents?;
    let locator = Locator::new(mesh);
    let (ends, mut labels) = Stage::run("labels", n, comm, observer, || label::run(up, executor));
    let view =
        View { mesh, test_cells: &test_cells, ends: &ends, tasks: &tasks, own: &task.links.own, rules };
    let patches = view.patches(&labels, &[]);
    let Contacts { edges, refined, mut known, slots, next } =
        Stage::run("saddles", n, comm, observer, || match comm.n_ranks() {
            1 => alone(comm, &patches, executor),
            _ => shared(comm, (task.links, &origins), &patches, executor),
        })?;
    if !slots.is_empty() {
        labels.par_iter_mut().for_each(|label| *label = slots[label.at()]);
    }
    let patches = view.patches(&labels, &next);
    let balance = Balance::new(task.links, test_cells.len(), &known, edges.len(), comm)?;
    let mut patch_totals = Stage::run("sums", n, comm, observer, || {
        PatchTotals::new(&patches, &known.known, task.extra, comm, executor)
    })?;
    let OwnPeaks { tree, refined, patches, momenta } = Stage::run("forest", n, comm, observer, || {
        let far = match comm.n_ranks() {
            1 => None,
            _ => Some(join(comm, &mut known, &edges, &mut patch_totals, &locator)?),
        };
        // What is not needed any more is room for what comes.
        let (patches, momenta) = patch_totals.values(&known.own, task.side);
        let refine = || properties::refine(task.field, rules, &known, refined);
        let (tree, refined) = match far {
            // One thread grows the tree; the others need not wait.
            None => rayon::join(|| forest::grow_alone(&known, &edges, &locator, mesh.domain()), refine),
            Some(edges) => (forest::grow(comm, &known, edges, mesh.domain())?, refine()),
        };
        Ok::<_, CommError>(OwnPeaks { tree, refined, patches, momenta })
    })?;
    let global: Vec<_> = known.own.par_iter().map(|slot| known.known[slot.at()].global).collect();
    let ties = match rules {
        Rules::Paper => Vec::new(),
        Rules::Ramses => Stage::run("forest", n, comm, observer, || {
            let candidates = ties::candidates(comm, &known, &edges, &locator)?;
            ties::beside(comm, candidates, &global, &tree.tree, (mesh.domain(), task.side))
        })?,
    };
    drop((edges, locator));
    let peaks = Stage::run("positions", n, comm, observer, || Peaks {
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
    Ok(Segmentation { test_cells, ends, labels, known, peaks, balance })
}

/// What stays while labels change from ends of ascents to slots.
struct View<'a> {
    mesh: &'a Mesh,
    test_cells: &'a TestCells<'a>,
    ends: &'a PeakSet,
    tasks: &'a [Region],
    own: &'a [u64],
    rules: Rules,
}

impl View<'_> {
    fn patches<'a>(&'a self, labels: &'a [PeakIdx], slots: &'a [u32]) -> Patches<'a> {
        let Self { mesh, test_cells, ends, tasks, own, rules } = *self;
        Patches { mesh, test_cells, ends, slots, labels, tasks, own, rules }
    }
}

/// What [`segment`] knows of the own peaks at its end.
struct OwnPeaks {
    tree: OwnTree,
    refined: Vec<[f64; 3]>,
    patches: Vec<PatchValues>,
    momenta: Option<Vec<[f64; 3]>>,
}

/// What [`segment`] knows once contacts are found.
struct Contacts {
    /// Between slots.
    edges: Vec<ContactEdge>,
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
fn alone(comm: &Comm, patches: &Patches, executor: &Executor) -> Result<Contacts, CommError> {
    let mut own = peaks_at(patches);
    let n_global = number(comm, &mut own)?;
    let known = PeakComm::new(comm.rank(), own, n_global, &[]);
    let ContactResults { edges, refined } = saddle::run(patches, executor);
    Ok(Contacts { edges, refined, known, slots: Vec::new(), next: Vec::new() })
}

/// Collective: the contacts of a rank of several. To which peaks its ghosts ascend is asked of the others
/// while contacts are found.
fn shared(
    comm: &Comm,
    (links, origins): (&TestLinks, &[RemoteIndex]),
    patches: &Patches,
    executor: &Executor,
) -> Result<Contacts, CommError> {
    let kinds = ghost_labels::kinds(links, patches.ends);
    let is_own = |end: PeakIdx| matches!(kinds[end.at()], End::Own(_));
    let mut known = PeakComm::default();
    let naming = || {
        let _labels = Stage::within("labels", comm);
        let mut own = peaks_at(patches);
        keep_own(&mut own, is_own);
        let n_global = number(comm, &mut own)?;
        let ghosts = ghost_labels::follow(comm, links, origins, &kinds, patches.labels, &own)?;
        known = PeakComm::new(comm.rank(), own, n_global, &ghosts);
        let slots = known.slots_of(&kinds, &ghosts);
        Ok(slots)
    };
    let (ContactResults { edges, mut refined }, slots) =
        saddle::run_shared(patches, is_own, Box::new(naming), executor)?;
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
    let Patches { mesh, test_cells, ends, .. } = *patches;
    let mut peaks: Vec<KnownPeak> = zeros(ends.len());
    let runs = chunks(mesh.supers().len(), RUN);
    let n_ends = |supers: &Range<usize>| {
        let cells = test_cells.of_supers(mesh, supers.clone());
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
    &Patches { mesh, test_cells, ends, .. }: &Patches<'a>,
    s: usize,
) -> impl Iterator<Item = KnownPeak> + 'a {
    let level = u32::from(mesh.level_of_super(s));
    mesh.bricks_of(&mesh.supers()[s]).flat_map(move |b| {
        let brick = &mesh.bricks()[b];
        ends.of_brick(test_cells, b).map(move |(_, bit)| {
            let rho = brick.cell(bit).map_or(0.0, |cell| test_cells.rho[cell.at()]);
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
    edges: &[ContactEdge],
    PatchTotals { patches, momenta, .. }: &mut PatchTotals,
    locator: &Locator,
) -> Result<Vec<GlobalEdge>, CommError> {
    const EDGES: usize = 0;
    const PEAKS: usize = 1;
    const SUMS: usize = 2;
    const MOMENTA: usize = 3;
    let mut buffers = SendBuffers::<4>::default();
    let mut edges = forest::send_to_owners(&mut buffers, EDGES, comm.rank(), known, edges, locator);
    known.announce(&mut buffers, PEAKS);
    known.send(&mut buffers, SUMS, patches);
    if let Some(momenta) = momenta {
        known.send(&mut buffers, MOMENTA, momenta);
    }
    let received = buffers.exchange(comm)?;
    known.receive(&received, PEAKS);
    known.merge_received(&received, SUMS, patches, PatchSums::merge);
    if let Some(momenta) = momenta {
        known.merge_received(&received, MOMENTA, momenta, Momentum::merge);
    }
    edges.extend(received.iter().flat_map(|bundle| bundle.records::<GlobalEdge>(EDGES)));
    Ok(edges)
}

/// Positions in units of the level-0 cell, in code units.
fn scaled(mut positions: Vec<[f64; 3]>, side: f64) -> Vec<[f64; 3]> {
    positions.par_iter_mut().for_each(|x| *x = x.map(|c| c * side));
    positions
}
