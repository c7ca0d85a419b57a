//! Saddles: the contacts between patches that can merge anything. One forest per task, then one of all tasks.
//!
//! Contacts are found between *roots*. Over several ranks the roots that are ghosts are not peaks yet: while
//! the workers find contacts, the rank exchanges to which peaks its ghosts ascend. Tasks whose contacts are
//! all between own peaks reduce them to their forest at once. Between slots the forest is the same: own peaks
//! are in the same order in both, and contacts between roots of one patch drop out.
//!
//! The same pass refines the positions of roots, while the cells around them are in the cache.

use crate::argsort::sorted;
use crate::chunks::zeros;
use crate::executor::{Executor, ScratchPool, TaskResults, cell_stage};
use crate::phew::known_peaks::at_roots;
use crate::phew::pass::{OfTask, PassContext};
use inselberg_comm::CommError;
use inselberg_kernels::ids::{CellIdx, PeakIdx, PeakSlot, RootIdx};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::block::Block;
use inselberg_kernels::phew::contact_dedup::ContactDedup;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, TiedForest, reduce, reduce_with_ties};
use inselberg_kernels::phew::saddle;
use inselberg_kernels::props::refine::PatchRefiner;
use inselberg_tasks::TaskFns;
use parking_lot::Mutex;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// Returns the slot of each root. It is called once, on the thread of the rank, and may wait for other ranks.
pub type FindSlots<'a> = Box<dyn FnOnce() -> Result<Vec<PeakSlot>, CommError> + 'a>;

/// The contacts between roots, and the positions of roots.
#[derive(Debug)]
pub struct ContactResults {
    /// The forests of all tasks between slots, which contain the forest. Under RAMSES's rules also the edges
    /// that tie with those.
    pub forests: Vec<TiedForest>,
    /// The refined position of each root in units of the level-0 cell, folded into the box. For ghosts it is
    /// not correct, because another rank has their surroundings.
    pub refined: Vec<[f64; 3]>,
}

/// The contacts on a single rank, where every root is its own slot.
pub fn run(pass: PassContext, labels: &[RootIdx], executor: &Executor) -> ContactResults {
    let mut refined = zeros(pass.roots.len());
    let rho = densities(&pass);
    let tasks = SaddleTasks::new(pass, labels, &rho, &mut refined);
    let sizes = pass.n_cells();
    let (plan, [find]) =
        executor.plan("saddles", &sizes, |planner| [cell_stage(planner, "saddles", &sizes, FIND)]);
    let forests = TaskResults::new(sizes.len());
    let body = |i| forests.put(i, tasks.contacts(i, |edges| tasks.forest(i, edges)));
    executor.run("saddles", &plan, TaskFns::new(&plan).on(find, body));
    ContactResults { forests: forests.all(), refined }
}

/// The contacts on one of several ranks, and the slot of each root as `find_slots` returns it while the
/// workers find contacts. `is_own` says which roots are own peaks.
///
/// # Errors
/// The error of `find_slots`.
pub fn run_shared(
    pass: PassContext,
    labels: &[RootIdx],
    is_own: impl Fn(RootIdx) -> bool + Sync,
    find_slots: FindSlots<'_>,
    executor: &Executor,
) -> Result<(ContactResults, Vec<PeakSlot>), CommError> {
    let mut refined = zeros(pass.roots.len());
    let rho = densities(&pass);
    let tasks = SaddleTasks::new(pass, labels, &rho, &mut refined);
    let sizes = &pass.n_cells();
    let (plan, [find, ask, thin]) = executor.plan("saddles over ranks", sizes, |planner| {
        let find = cell_stage(planner, "saddles", sizes, FIND);
        let ask = executor.call(planner, "names of ghosts", find);
        let thin = cell_stage(planner, "forests with ghosts", sizes, 1);
        planner.pairwise(thin, find);
        planner.after(thin, ask);
        [find, ask, thin]
    });
    let (closed, open, thinned) =
        (TaskResults::new(sizes.len()), TaskResults::new(sizes.len()), TaskResults::new(sizes.len()));
    let mut find_slots = Some(find_slots);
    let slots: OnceLock<Result<SlotsOfRoots, CommError>> = OnceLock::new();
    let is_between_own = |edge: &ContactEdge| edge.peaks.iter().all(|peak| is_own(peak.to_root()));
    let bodies = TaskFns::new(&plan)
        .on_caller(ask, |_| {
            let find_slots = find_slots.take().expect("the stage has one task");
            let found = find_slots().map(|slots| SlotsOfRoots::new(slots, &is_own, &rho));
            assert!(slots.set(found).is_ok(), "the stage has one task");
        })
        .on(find, |i| {
            let (forest, with_ghosts) = tasks.contacts(i, |edges| match edges.iter().all(is_between_own) {
                true => (tasks.forest(i, edges), Vec::new()),
                false => (TiedForest::default(), edges.to_vec()),
            });
            closed.put(i, forest);
            open.put(i, Mutex::new(with_ghosts));
        })
        .on(thin, |i| {
            let open = open.get(i).expect("a task finds its contacts before it thins them");
            let edges = std::mem::take(&mut *open.lock());
            thinned.put(
                i,
                match slots.get().expect("slots are exchanged before forests are thinned") {
                    Ok(of) => tasks.thinned(&between_slots(edges, &of.slots), &of.rho),
                    // The error is returned after the run.
                    Err(_) => TiedForest::default(),
                },
            );
        });
    executor.run("saddles", &plan, bodies);
    let SlotsOfRoots { slots, .. } = slots.into_inner().expect("the stage that exchanges slots has run")?;
    let renamed = closed.all().into_par_iter().map(|TiedForest { edges, ties, flat }| TiedForest {
        edges: between_slots(edges, &slots),
        ties: between_slots(ties, &slots),
        // Slots of own peaks are in the order of their roots.
        flat: flat.into_iter().map(|tie| tie.map(|peak| slot_of(peak, &slots))).collect(),
    });
    let mut forests: Vec<TiedForest> = renamed.collect();
    forests.extend(thinned.all());
    Ok((ContactResults { forests, refined }, slots))
}

/// The densities of the roots, which tell flat ties; none by the paper's rules, which have no ties.
fn densities(pass: &PassContext) -> Vec<f64> {
    match pass.rules {
        Rules::Paper => Vec::new(),
        Rules::Ramses => at_roots(pass).rho,
    }
}

/// The slots of roots.
struct SlotsOfRoots {
    /// The slot of each root.
    slots: Vec<PeakSlot>,
    /// The density of each own peak by its slot, NaN for others.
    rho: Vec<f64>,
}

impl SlotsOfRoots {
    /// `rho` are the densities of the roots.
    fn new(slots: Vec<PeakSlot>, is_own: impl Fn(RootIdx) -> bool, rho: &[f64]) -> Self {
        let n_slots = slots.iter().map(|slot| slot.at() + 1).max().unwrap_or(0);
        let mut of_slots = vec![f64::NAN; n_slots];
        for (i, (slot, rho)) in slots.iter().zip(rho).enumerate() {
            if is_own(RootIdx::new(i)) {
                of_slots[slot.at()] = *rho;
            }
        }
        Self { slots, rho: of_slots }
    }
}

/// Rough cost of finding the contacts of a cell, in nanoseconds. The plan weighs its tasks by it.
const FIND: u64 = 60;

/// The data that the tasks of the pass share.
struct SaddleTasks<'a> {
    pass: PassContext<'a>,
    labels: &'a [RootIdx],
    /// The densities of the roots.
    rho: &'a [f64],
    dedups: ScratchPool<ContactDedup>,
    forests: ScratchPool<ForestScratch>,
    refined: Vec<Mutex<OfTask<'a, [f64; 3]>>>,
}

impl<'a> SaddleTasks<'a> {
    /// `refined` has one entry per root.
    fn new(
        pass: PassContext<'a>,
        labels: &'a [RootIdx],
        rho: &'a [f64],
        refined: &'a mut [[f64; 3]],
    ) -> Self {
        Self {
            pass,
            labels,
            rho,
            dedups: ScratchPool::default(),
            forests: ScratchPool::default(),
            refined: pass.by_task(refined, |n_roots| n_roots).into_iter().map(Mutex::new).collect(),
        }
    }

    /// Calls `work` with the contacts between roots that the cells of a task have. Refines the roots of the
    /// task.
    fn contacts<R>(&self, task: u32, work: impl FnOnce(&[ContactEdge]) -> R) -> R {
        let PassContext { mesh, test_cells, tasks, roots, rules, .. } = self.pass;
        let labels: &[PeakIdx] = bytemuck::cast_slice(self.labels);
        let mut refined = self.refined[task as usize].lock();
        let mut positions = refined.in_order();
        let mut put = |position| {
            let place = positions.next().expect("a task has a position per root");
            *place = mesh.domain().fold(position);
        };
        let mut refiner = PatchRefiner::new(mesh, test_cells, roots, rules);
        let refine = |brick: usize, block: &Block<CellIdx>| refiner.for_each(brick, block, &mut put);
        self.dedups.with(|dedup| {
            saddle::contacts(mesh, test_cells, labels, tasks[task as usize].supers(), dedup, refine);
            let result = work(dedup.edges());
            dedup.clear();
            result
        })
    }

    /// The forest of the contacts of a task between own peaks, most of which are its own roots.
    fn forest(&self, task: u32, edges: &[ContactEdge]) -> TiedForest {
        let PassContext { mesh, test_cells, roots, tasks, .. } = self.pass;
        let of_run = |run| {
            let Range { start, end } = roots.indices(run);
            PeakIdx::from_root(start)..PeakIdx::from_root(end)
        };
        let expected = tasks[task as usize].cells(mesh, test_cells).map(of_run);
        self.reduced(edges, expected, self.rho)
    }

    /// The forest of any contacts between slots. `rho` are the densities of own peaks, NaN for others.
    fn thinned(&self, edges: &[ContactEdge], rho: &[f64]) -> TiedForest {
        self.reduced(edges, std::iter::empty(), rho)
    }

    fn reduced(
        &self,
        edges: &[ContactEdge],
        expected: impl Iterator<Item = Range<PeakIdx>>,
        rho: &[f64],
    ) -> TiedForest {
        self.forests.with(|scratch| {
            scratch.expect(expected);
            match self.pass.rules {
                Rules::Paper => TiedForest { edges: reduce(edges, scratch), ..TiedForest::default() },
                Rules::Ramses => reduce_with_ties(edges, rho, scratch),
            }
        })
    }
}

/// Edges between roots as edges between their slots. Edges within one slot are dropped, because they are not
/// contacts.
fn between_slots(edges: Vec<ContactEdge>, slots: &[PeakSlot]) -> Vec<ContactEdge> {
    let rename = |edge: ContactEdge| {
        ContactEdge::new(edge.saddle, edge.peaks.map(|peak| slot_of(peak, slots)), edge.cells)
    };
    edges.into_iter().map(rename).filter(|edge| edge.peaks[0] != edge.peaks[1]).collect()
}

fn slot_of(root: PeakIdx, slots: &[PeakSlot]) -> PeakIdx {
    PeakIdx::from_slot(slots[root.to_root().at()])
}

/// All edges in falling order.
pub fn in_falling_order(edges: Vec<ContactEdge>) -> Vec<ContactEdge> {
    let key = |i: usize| {
        let [a, b] = edges[i].peaks.map(|peak| u128::from(peak.0));
        u128::from(!edges[i].saddle.to_bits()) << 64 | a << 32 | b
    };
    let order = sorted(edges.len(), key, |a, b| edges[a].order(&edges[b]));
    order.into_par_iter().map(|i| edges[i]).collect()
}
