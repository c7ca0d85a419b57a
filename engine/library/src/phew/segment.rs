//! From test cells to peaks and their tree: the steps of the paper from ascent to forest, on one rank or on
//! several.

use crate::executor::Executor;
use crate::field::AmrField;
use crate::phew::ascent;
use crate::phew::balance::Balance;
use crate::phew::contacts::Contacts;
use crate::phew::forest::PlacedContacts;
use crate::phew::grown_peaks::GrownPeaks;
use crate::phew::label;
use crate::phew::pass::PassContext;
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::Peaks;
use crate::phew::plateaus;
use crate::phew::region::cut_tasks;
use crate::phew::sums::{PatchTotals, Patches};
use crate::phew::test_fields::TestFields;
use crate::phew::test_links::TestLinks;
use crate::phew::ties::{self, TiedContacts};
use crate::stage::Stage;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakSlot;
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::label::RootSet;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::props::combine::SizedBox;

/// A segmented field: the patch of every test cell, and the peaks.
#[derive(Debug)]
pub struct Segmentation<'a> {
    /// The test cells, with the ghosts of other ranks among them.
    pub test_cells: TestCells<'a>,
    /// The roots of their ascents: own peaks, and ghosts of other ranks.
    pub roots: RootSet,
    /// The patch of each test cell, by the slot of its peak in `known`.
    pub labels: Vec<PeakSlot>,
    /// The peaks known on this rank.
    pub known: PeakComm,
    /// The own peaks with their tree.
    pub peaks: Peaks,
    /// The distribution of the work over the ranks.
    pub balance: Balance,
}

impl Segmentation<'_> {
    /// Frees the patches of cells, to make room for tables that do not need them. Keeps the peaks and their
    /// tree.
    pub fn forget_cells(&mut self) {
        (self.labels, self.roots, self.known) = Default::default();
    }
}

/// The input of [`segment`].
#[derive(Debug)]
pub struct Task<'a> {
    /// The field: own cells, and over several ranks the ghosts around them.
    pub field: &'a AmrField,
    /// The test cells shared with other ranks; [`ALONE`](crate::phew::test_links::ALONE) on a single rank.
    pub links: &'a TestLinks,
    /// Further values of the test cells.
    pub extra: &'a TestFields,
    /// Threshold of the test cells.
    pub density_threshold: f64,
    /// Length of a level-0 cell in code units.
    pub side: f64,
    /// The lower corner of the box in code units.
    pub origin: [f64; 3],
    /// Paper or RAMSES.
    pub rules: Rules,
}

/// Segments the given test cells of a field into patches and grows their merge tree.
///
/// Collective. The result depends neither on the number of threads nor on how ranks share the field. Takes at
/// most 80 bytes per test cell in addition to the field.
///
/// # Errors
/// When another rank fails.
pub fn segment<'a>(
    task: &Task,
    test_cells: TestCells<'a>,
    comm: &Comm,
    executor: &Executor,
) -> Result<Segmentation<'a>, CommError> {
    let (mesh, rules, observer) = (&task.field.mesh, task.rules, executor.observer());
    let n = test_cells.len() as u64;
    let tasks = cut_tasks(mesh, &test_cells);

    let up = Stage::run("ascent", n, comm, observer, || {
        ascent::run(mesh, &test_cells, rules, task.links, &tasks, executor)
    });
    let (roots, labels) = Stage::run("labels", n, comm, observer, || label::run(up, executor));
    let own = &task.links.own;
    let pass = PassContext { mesh, test_cells: &test_cells, roots: &roots, tasks: &tasks, own, rules };

    let Contacts { forests, refined, mut known, peaks, slots } =
        Stage::run("saddles", n, comm, observer, || {
            Contacts::find(pass, &labels, task.links, comm, executor)
        })?;
    let labels = slots.relabel(labels);
    let n_edges = forests.iter().map(|found| found.edges.len() + found.ties.len() + found.flat.len()).sum();
    let balance = Balance::new(task.links, test_cells.len(), &known, n_edges, comm)?;
    let shared = known.shared(task.links, &labels);
    let (edges, flat) =
        Stage::run("forest", n, comm, observer, || plateaus::all_that_decide(forests, &peaks, &shared));

    let patches = Patches { pass, slots: &slots, labels: &labels };
    let totals = Stage::run("sums", n, comm, observer, || {
        PatchTotals::new(patches, &peaks, task.extra, comm, executor)
    })?;

    let locator = Locator::new(mesh);
    let space = SizedBox { domain: *mesh.domain(), side: task.side, origin: task.origin };
    let candidates = match rules {
        Rules::Paper => Vec::new(),
        Rules::Ramses => {
            let contacts = TiedContacts { edges: &edges, flat: &flat, shared: &shared };
            Stage::run("forest", n, comm, observer, || ties::candidates(comm, &peaks, &contacts, &locator))?
        }
    };
    let grown = Stage::run("forest", n, comm, observer, || {
        let contacts = PlacedContacts {
            edges: &edges,
            cells: &locator,
            regions: &pass.peak_regions(|n_roots| slots.slots_before(n_roots)),
            shared: &shared,
        };
        GrownPeaks::grow(peaks, &mut known, &contacts, totals, &space, comm)
    })?;
    let ties = match rules {
        Rules::Paper => Vec::new(),
        Rules::Ramses => Stage::run("forest", n, comm, observer, || ties::beside(comm, candidates, &grown))?,
    };
    drop((edges, locator));

    let peaks = Stage::run("positions", n, comm, observer, || {
        grown.into_peaks(refined, task.density_threshold, ties)
    });
    Ok(Segmentation { test_cells, roots, labels, known, peaks, balance })
}
