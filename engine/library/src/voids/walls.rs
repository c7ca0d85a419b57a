//! Which particles are at walls or in cores, and how dense is it there?
//!
//! A member is at the wall if it is linked to a particle of another void. It is in the core if it lies within
//! a quarter of the effective radius of the centre, as in VIDE. Zones have walls and cores too. A rank needs
//! the centres of voids, but other ranks hold some of their rows. So it asks for them:
//!
//! ```text
//!     own members -> their voids    question  ->  holder of the row: centre and radius
//!     sums of each rank             answer    <-  holder
//!                                   sums      ->  holder: their total
//! ```

use super::config::radius_of;
use crate::exchange::bundle::SendBuffers;
use crate::graph::LinkRun;
use crate::phew::hierarchy::Structures;
use crate::phew::particle_graph::SegmentedGraph;
use crate::phew::tables::PatchIds;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::ids::TestIdx;
use inselberg_kernels::props::Structure;
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The core of a void in effective radii.
const CORE: f64 = 0.25;

/// Zones and voids.
const KINDS: [usize; 2] = [0, 1];

/// The particles of a graph and their zones.
pub struct WallInput<'a> {
    /// The particles and their patches.
    pub graph: &'a SegmentedGraph,
    /// The zone and the void of each patch.
    pub ids: &'a PatchIds,
}

/// Densities in code units of a zone or void; NaN where nothing is summed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallDensities {
    /// Mass of the members in the core per volume of the core.
    pub core: f64,
    /// Mass of the members at the wall per volume of these members.
    pub wall: f64,
}

/// A sphere in code units.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct CoreSphere {
    id: u64,
    centre: [f64; 3],
    radius: f64,
}

/// Sums over the members of a zone or void on one rank.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct WallSums {
    /// Mass in the core, mass at the wall, volume at the wall.
    sums: [FixedSum; 3],
}

/// Sums on the way to the holder of the row.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SentSums {
    sums: WallSums,
    id: u64,
    unused: u64,
}

/// The densities of the listed zones (0) and voids (1) whose rows this rank holds, in their order.
pub type DensitiesByKind = [Vec<WallDensities>; 2];

/// Collective: the densities of the rows of this rank. Three exchanges.
///
/// # Errors
/// When another rank fails.
pub fn densities(
    input: &WallInput,
    structures: &Structures,
    comm: &Comm,
) -> Result<DensitiesByKind, CommError> {
    let spheres = spheres(input, structures, comm)?;
    let quanta = input.quanta(comm)?;
    let sums = KINDS.map(|kind| input.sums(kind, &spheres[kind], &quanta));
    let mut buffers = SendBuffers::<2>::default();
    for kind in KINDS {
        for (id, sums) in &sums[kind] {
            let sent = SentSums { sums: *sums, id: *id, unused: 0 };
            buffers.put(structures.holder(*id, comm), kind, &[sent]);
        }
    }
    let mut totals = KINDS.map(|_| FxHashMap::<u64, WallSums>::default());
    for bundle in buffers.exchange(comm)? {
        for kind in KINDS {
            for sent in bundle.records::<SentSums>(kind) {
                totals[kind].entry(sent.id).or_default().merge(&sent.sums);
            }
        }
    }
    let value = |sums: &WallSums, i: usize| quanta[i].value(sums.sums[i]);
    let side = input.graph.own.units.side;
    let of_row = |kind: usize, row: &Structure| {
        let sums = totals[kind].get(&row.id).copied().unwrap_or_default();
        let [core, wall, wall_volume] = [0, 1, 2].map(|i| value(&sums, i));
        let core_volume = super::config::volume_of(CORE * radius_of(row.mass));
        WallDensities {
            core: core * input.graph.own.units.heaviest / core_volume,
            wall: wall * input.graph.own.units.heaviest / (wall_volume * side.powi(3)),
        }
    };
    let rows = [&structures.clumps, &structures.haloes];
    Ok(KINDS.map(|kind| rows[kind].iter().map(|row| of_row(kind, row)).collect()))
}

/// Collective: the cores of the zones and voids that own members are in, as far as these are listed.
fn spheres(
    input: &WallInput,
    structures: &Structures,
    comm: &Comm,
) -> Result<[FxHashMap<u64, CoreSphere>; 2], CommError> {
    let mut questions = SendBuffers::<2>::default();
    for kind in KINDS {
        let mut ids: Vec<u64> = input.own_tests().map(|test| input.id(kind, test)).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids.into_iter().filter(|id| *id > 0) {
            questions.put(structures.holder(id, comm), kind, &[id]);
        }
    }
    let rows = [&structures.clumps, &structures.haloes];
    let mut answers = SendBuffers::<2>::default();
    for bundle in questions.exchange(comm)? {
        for kind in KINDS {
            for id in bundle.records::<u64>(kind) {
                if let Ok(place) = rows[kind].binary_search_by_key(&id, |row| row.id) {
                    let row = &rows[kind][place];
                    let radius = CORE * radius_of(row.mass);
                    answers.put(bundle.from, kind, &[CoreSphere { id, centre: row.centre_of_mass, radius }]);
                }
            }
        }
    }
    let received = answers.exchange(comm)?;
    let of_kind = |kind: usize| {
        let spheres = received.iter().flat_map(|bundle| bundle.each::<CoreSphere>(kind));
        spheres.map(|sphere| (sphere.id, sphere)).collect()
    };
    Ok(KINDS.map(of_kind))
}

impl WallSums {
    fn merge(&mut self, other: &Self) {
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| *sum += more);
    }
}

impl WallInput<'_> {
    fn own_tests(&self) -> impl Iterator<Item = TestIdx> {
        self.graph.tests.runs.iter().flat_map(|run| run.of.iter().copied())
    }

    /// The zone (kind 0) or void (kind 1) of a test particle.
    fn id(&self, kind: usize, test: TestIdx) -> u64 {
        let of_patch = [&self.ids.clump, &self.ids.halo][kind];
        of_patch[self.graph.labels[test.at()].at()]
    }

    /// Volume in units of the box.
    fn volume(&self, test: TestIdx) -> f64 {
        let mass = self.graph.tests.particles[test.at()].mass * self.graph.own.units.density();
        mass * self.graph.tests.rho[test.at()] / self.graph.own.units.mean_density
    }

    /// Collective: sums of two masses in units of the heaviest particle, and of volumes in units of the box.
    fn quanta(&self, comm: &Comm) -> Result<[Quantum; 3], CommError> {
        let most = self.own_tests().map(|test| self.volume(test)).fold(0.0, f64::max);
        let most = comm.all_max(&[most])?[0];
        let n = comm.all_reduce_counts(&[self.own_tests().count() as u64], Reduce::Sum)?[0];
        Ok([1.0, 1.0, most].map(|bound| Quantum::for_terms(bound, n)))
    }

    /// Whether each test particle has a link to another zone or void.
    fn at_walls(&self, kind: usize) -> Vec<AtomicBool> {
        let at_wall: Vec<AtomicBool> =
            self.graph.tests.rho.par_iter().map(|_| AtomicBool::new(false)).collect();
        let link = |a: TestIdx, b: TestIdx| {
            if self.id(kind, a) != self.id(kind, b) {
                at_wall[a.at()].store(true, Relaxed);
                at_wall[b.at()].store(true, Relaxed);
            }
        };
        self.graph.tests.runs.par_iter().for_each(|run| {
            for (of, list) in run.of.iter().zip(run.list.chunks_exact(self.graph.tests.k)) {
                list.iter().filter(|other| !other.is_none()).for_each(|other| link(*of, *other));
            }
        });
        self.graph.tests.from_ghosts.iter().for_each(|[own, ghost]| link(*own, *ghost));
        at_wall
    }

    /// The sums over own members, per zone or void. Zones and voids that are not listed have sums over walls
    /// only.
    fn sums(
        &self,
        kind: usize,
        spheres: &FxHashMap<u64, CoreSphere>,
        quanta: &[Quantum; 3],
    ) -> FxHashMap<u64, WallSums> {
        let at_wall = self.at_walls(kind);
        let of_run = |run: &LinkRun| {
            let mut sums: FxHashMap<u64, WallSums> = FxHashMap::default();
            for test in &run.of {
                let id = self.id(kind, *test);
                let in_core = spheres.get(&id).is_some_and(|sphere| self.is_inside(*test, sphere));
                let is_wall = at_wall[test.at()].load(Relaxed);
                if id > 0 && (in_core || is_wall) {
                    sums.entry(id).or_default().merge(&self.terms(*test, in_core, is_wall, quanta));
                }
            }
            sums
        };
        let mut sums: FxHashMap<u64, WallSums> = FxHashMap::default();
        let of_runs: Vec<_> = self.graph.tests.runs.par_iter().map(of_run).collect();
        for (id, part) in of_runs.into_iter().flatten() {
            sums.entry(id).or_default().merge(&part);
        }
        sums
    }

    /// What a member adds to the sums.
    fn terms(&self, test: TestIdx, in_core: bool, is_wall: bool, quanta: &[Quantum; 3]) -> WallSums {
        let mass = self.graph.tests.particles[test.at()].mass;
        let of_core = if in_core { mass } else { 0.0 };
        let [wall, volume] = if is_wall { [mass, self.volume(test)] } else { [0.0; 2] };
        let terms = [of_core, wall, volume];
        WallSums { sums: std::array::from_fn(|i| quanta[i].quantize(terms[i])) }
    }

    fn is_inside(&self, test: TestIdx, sphere: &CoreSphere) -> bool {
        let side = self.graph.own.units.side;
        let centre = sphere.centre.map(|x| x / side);
        let apart =
            self.graph.own.domain.displacement(centre, self.graph.tests.particles[test.at()].position);
        let [x, y, z] = apart.map(|x| x * side);
        x * x + y * y + z * z <= sphere.radius * sphere.radius
    }
}
