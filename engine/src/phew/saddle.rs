//! The contacts between patches that can merge anything: a forest a task, then one of all.
//!
//! Contacts are found between *ends* of ascents, of which the ghosts are not yet peaks: which peak a ghost's
//! ascent comes to is asked of other ranks while the contacts are found. Where only own peaks are in contact
//! the forest of a task does not wait for that. It is the same as between slots: the own peaks are in the same
//! order in both, and contacts between ends that turn out to be of one patch drop out.
//!
//! While the surroundings of a brick are at hand its ends are refined as well, where that takes no more.

use crate::argsort::sorted;
use crate::chunks::zeros;
use crate::executor::{Executor, ScratchPool, TaskResults, cell_stage};
use crate::phew::properties::{OfTask, Patches};
use inselberg_kernels::ids::{CellIdx, PeakIdx};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::block::Block;
use inselberg_kernels::phew::contact_dedup::ContactDedup;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce, reduce_with_ties};
use inselberg_kernels::phew::saddle;
use inselberg_kernels::props::refine::PatchRefiner;
use inselberg_tasks::TaskFns;
use parking_lot::Mutex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// What gives the ends of ascents their slots. Called once, in the thread of the rank; may wait for others.
pub type Naming<'a, E> = Box<dyn FnOnce() -> Result<Vec<PeakIdx>, E> + 'a>;

/// What is found between ends of ascents and about them.
#[derive(Debug)]
pub struct ContactResults {
    /// Edges of the local forests of all tasks, in falling order: a superset of the forest. Under RAMSES's rules also
    /// those that tie with them.
    pub edges: Vec<ContactEdge>,
    /// The refined position of each end in units of the level-0 cell, NaN where that takes more than its patch.
    pub refined: Vec<[f64; 3]>,
}

/// Contacts between ends that are slots. For a rank alone.
pub fn run(patches: &Patches, executor: &Executor) -> ContactResults {
    let mut refined = zeros(patches.ends.len());
    let local = Local::new(patches, &mut refined);
    let sizes = &local.n_cells;
    let (plan, [find]) =
        executor.plan("saddles", sizes, |planner| [cell_stage(planner, "saddles", sizes, FIND)]);
    let forests = TaskResults::new(local.n_cells.len());
    let body = |i| forests.put(i, local.contacts(i, |edges| local.forest(i, edges)));
    executor.run("saddles", &plan, TaskFns::new(&plan).on(find, body));
    ContactResults { edges: in_order(forests.joined()), refined }
}

/// The same over ranks: edges between the slots that `naming` gives to the ends while the workers find
/// contacts, and these slots. `is_own` says which ends are own peaks.
///
/// # Errors
/// That of `naming`.
pub fn run_shared<E>(
    patches: &Patches,
    is_own: impl Fn(PeakIdx) -> bool + Sync,
    naming: Naming<'_, E>,
    executor: &Executor,
) -> Result<(ContactResults, Vec<PeakIdx>), E> {
    let mut refined = zeros(patches.ends.len());
    let local = Local::new(patches, &mut refined);
    let sizes = &local.n_cells;
    let (plan, [find, ask, thin]) = executor.plan("saddles over ranks", sizes, |planner| {
        let find = cell_stage(planner, "saddles", sizes, FIND);
        let ask = executor.call(planner, "names of ghosts", find);
        let thin = cell_stage(planner, "forests with ghosts", sizes, 1);
        planner.pairwise(thin, find);
        planner.after(thin, ask);
        [find, ask, thin]
    });
    let n = local.n_cells.len();
    let (closed, open, thinned) = (TaskResults::new(n), TaskResults::new(n), TaskResults::new(n));
    let (mut naming, mut error) = (Some(naming), None);
    let slots: OnceLock<Vec<PeakIdx>> = OnceLock::new();
    let bodies = TaskFns::new(&plan)
        .on_caller(ask, |_| match naming.take().map(|name| name()) {
            Some(Err(failed)) => error = Some(failed),
            named => {
                let _ = slots.set(named.and_then(Result::ok).unwrap_or_default());
            }
        })
        .on(find, |i| {
            local.contacts(i, |edges| match edges.iter().all(|edge| edge.peaks.iter().all(|p| is_own(*p))) {
                true => closed.put(i, local.forest(i, edges)),
                false => open.put(i, Mutex::new(edges.to_vec())),
            })
        })
        .on(thin, |i| {
            if let (Some(edges), Some(slots)) = (open.get(i), slots.get()) {
                let edges = renamed(std::mem::take(&mut *edges.lock()), slots);
                thinned.put(i, local.thinned(&edges));
            }
        });
    // After an error the workers finish, to no use, what they can without names.
    executor.run("saddles", &plan, bodies);
    if let Some(error) = error {
        return Err(error);
    }
    let slots = slots.into_inner().unwrap_or_default();
    let mut edges = renamed(closed.joined(), &slots);
    edges.extend(thinned.all().into_iter().flatten());
    Ok((ContactResults { edges: in_order(edges), refined }, slots))
}

/// Nanoseconds that finding the contacts of a cell takes, about.
const FIND: u64 = 60;

/// The tasks by themselves.
struct Local<'a> {
    patches: &'a Patches<'a>,
    n_cells: Vec<usize>,
    pairs: ScratchPool<ContactDedup>,
    scratch: ScratchPool<ForestScratch>,
    refiner: PatchRefiner<'a>,
    refined: Vec<Mutex<OfTask<'a, [f64; 3]>>>,
}

impl<'a> Local<'a> {
    /// `refined` has one entry an end.
    fn new(patches: &'a Patches<'a>, refined: &'a mut [[f64; 3]]) -> Self {
        let Patches { mesh, test_cells, ends, tasks, rules, .. } = *patches;
        Self {
            patches,
            n_cells: tasks.iter().map(|task| task.n_cells(mesh, test_cells)).collect(),
            pairs: ScratchPool::default(),
            scratch: ScratchPool::default(),
            refiner: PatchRefiner { mesh, test_cells, peaks: ends, rules },
            refined: patches.by_task(refined).into_iter().map(Mutex::new).collect(),
        }
    }

    /// Does something with the contacts of the cells of a task, between ends; and refines its ends.
    fn contacts<R>(&self, task: u32, work: impl FnOnce(&[ContactEdge]) -> R) -> R {
        let Patches { mesh, test_cells, labels, tasks, .. } = self.patches;
        let mut refined = self.refined[task as usize].lock();
        let mut places = refined.in_order();
        let mut put = |position: Option<[f64; 3]>| {
            if let Some(place) = places.next() {
                *place = position.unwrap_or([f64::NAN; 3]);
            }
        };
        let refine = |brick: usize, patch: &Block<CellIdx>| self.refiner.for_each(brick, patch, &mut put);
        self.pairs.with(|pairs| {
            saddle::contacts(mesh, test_cells, labels, tasks[task as usize].supers(), pairs, refine);
            let done = work(pairs.edges());
            pairs.clear();
            done
        })
    }

    /// The forest of contacts of a task, most of which are between its own ends.
    fn forest(&self, task: u32, edges: &[ContactEdge]) -> Vec<ContactEdge> {
        let Patches { mesh, test_cells, ends, tasks, .. } = self.patches;
        self.reduced(edges, tasks[task as usize].cells(mesh, test_cells).map(|run| ends.indices(run)))
    }

    /// The forest of any contacts.
    fn thinned(&self, edges: &[ContactEdge]) -> Vec<ContactEdge> {
        self.reduced(edges, std::iter::empty())
    }

    fn reduced(
        &self,
        edges: &[ContactEdge],
        expected: impl Iterator<Item = Range<PeakIdx>>,
    ) -> Vec<ContactEdge> {
        self.scratch.with(|scratch| {
            scratch.expect(expected);
            match self.patches.rules {
                Rules::Paper => reduce(edges, scratch),
                Rules::Ramses => reduce_with_ties(edges, scratch),
            }
        })
    }
}

/// Edges between ends as edges between the slots of these, but for those within one.
fn renamed(edges: Vec<ContactEdge>, slots: &[PeakIdx]) -> Vec<ContactEdge> {
    let rename =
        |edge: ContactEdge| ContactEdge::new(edge.saddle, edge.peaks.map(|p| slots[p.at()]), edge.cells);
    edges.into_iter().map(rename).filter(|edge| edge.peaks[0] != edge.peaks[1]).collect()
}

fn in_order(edges: Vec<ContactEdge>) -> Vec<ContactEdge> {
    let falling = |i: usize| u128::from(!edges[i].saddle.to_bits());
    let places = sorted(edges.len(), falling, |a, b| edges[a].order(&edges[b]));
    places.into_par_iter().map(|i| edges[i]).collect()
}
