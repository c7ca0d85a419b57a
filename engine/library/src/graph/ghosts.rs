//! The particles of other ranks near enough to be neighbours of own ones.

use super::particles::{GraphParticle, OwnParticles};
use crate::chunks::append;
use crate::exchange::chains::RemoteIndex;
use crate::exchange::grouped;
use crate::executor::{Executor, ScratchPool};
use crate::thread_loops::ThreadLoops;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::graph::{GraphPoints, GroupTree, NearestScratch, NearestSearch, PointBox};
use rayon::prelude::*;

/// Groups of one task.
pub const GROUPS_AT_ONCE: usize = 64;

/// The own particles and the ghosts of a rank, in one order.
#[derive(Debug)]
pub struct NearParticles {
    /// All of them.
    pub particles: Vec<GraphParticle>,
    /// Their positions.
    pub points: GraphPoints,
    /// The owner of each and its place there. Empty on a single rank, where both are known.
    origin: Vec<RemoteIndex>,
    /// The own particles that are ghosts on other ranks, by rank, in the order of their places.
    pub served: Vec<(Rank, Vec<u32>)>,
    rank: u32,
}

impl NearParticles {
    /// The owner of a particle and its place there.
    #[inline]
    pub fn origin(&self, i: usize) -> RemoteIndex {
        self.origin.get(i).copied().unwrap_or(RemoteIndex { rank: self.rank, index: i as u32 })
    }

    /// The place of a particle among the own ones; `None` for a ghost.
    #[inline]
    pub fn own(&self, i: usize) -> Option<usize> {
        let origin = self.origin(i);
        (origin.rank == self.rank).then_some(origin.index as usize)
    }
}

/// A box in which neighbours may lie, for another rank.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Query {
    bounds: PointBox,
    reach: f64,
}

/// A particle with its place on its owner.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GhostCopy {
    particle: GraphParticle,
    place: u64,
}

/// Collective: ghosts that include all neighbours of own particles on other ranks. Two exchanges; none on a
/// single rank.
///
/// # Errors
/// When another rank fails.
pub fn find(
    own: &OwnParticles,
    k: usize,
    comm: &Comm,
    executor: &Executor,
) -> Result<NearParticles, CommError> {
    let rank = comm.rank().0;
    let points = points_of(&own.particles, own.domain.periodic[0]);
    if comm.n_ranks() == 1 {
        let mut particles = Vec::new();
        append(&mut particles, &own.particles);
        return Ok(NearParticles { particles, points, origin: Vec::new(), served: Vec::new(), rank });
    }
    let tree = GroupTree::new(&points, &ThreadLoops);
    let queries = queries(own, &points, &tree, k, comm, executor);
    let asked = comm.exchange(grouped(&queries, |(to, query)| (*to, *query)))?;
    let served: Vec<(Rank, Vec<u32>)> =
        asked.into_par_iter().map(|(from, asked)| (from, within(&points, &tree, &asked))).collect();
    let ghost = |i: &u32| GhostCopy { particle: own.particles[*i as usize], place: u64::from(*i) };
    let parts = served.iter().map(|(to, list)| (*to, list.iter().map(ghost).collect())).collect();
    let received: Vec<(Rank, Vec<GhostCopy>)> = comm.exchange(parts)?;
    let mut all: Vec<(GraphParticle, RemoteIndex)> =
        own.particles.iter().zip(0..).map(|(p, index)| (*p, RemoteIndex { rank, index })).collect();
    for (from, ghosts) in received {
        let origin = |ghost: &GhostCopy| RemoteIndex { rank: from.0, index: ghost.place as u32 };
        all.extend(ghosts.iter().map(|ghost| (ghost.particle, origin(ghost))));
    }
    all.par_sort_by(|a, b| a.0.order(&b.0));
    let particles: Vec<GraphParticle> = all.iter().map(|(particle, _)| *particle).collect();
    let points = points_of(&particles, own.domain.periodic[0]);
    Ok(NearParticles { particles, points, origin: all.into_iter().map(|(_, o)| o).collect(), served, rank })
}

fn points_of(particles: &[GraphParticle], periodic: bool) -> GraphPoints {
    GraphPoints::new(particles.len(), |i| particles[i].position, periodic, &ThreadLoops)
}

/// The boxes whose particles this rank asks others for, by rank.
fn queries(
    own: &OwnParticles,
    points: &GraphPoints,
    tree: &GroupTree,
    k: usize,
    comm: &Comm,
    executor: &Executor,
) -> Vec<(Rank, Query)> {
    if points.len() <= k {
        return everywhere(points, comm);
    }
    let search = NearestSearch { points, tree, k };
    let runs = crate::chunks::chunks(tree.n_groups(), GROUPS_AT_ONCE);
    let scratches = ScratchPool::<NearestScratch>::default();
    let of_run = |run: std::ops::Range<usize>| {
        scratches.with(|scratch| {
            let mut found = Vec::new();
            for group in run {
                let bounds = *tree.bounds(group);
                // Most groups are far from the edge of the rank: a rough bound suffices.
                if others_within(own, &bounds.around(search.rough_reach(group)), comm.rank()).is_empty() {
                    continue;
                }
                let reach = search.reach(group, scratch);
                let others = others_within(own, &bounds.around(reach), comm.rank());
                found.extend(others.into_iter().map(|to| (to, Query { bounds, reach })));
            }
            found
        })
    };
    let found = executor.map("reach", runs, ExactSizeIterator::len, of_run);
    let mut all: Vec<(Rank, Query)> = found.into_iter().flatten().collect();
    all.sort_by_key(|(to, _)| *to);
    all
}

/// Queries for all particles, of a rank with too few of its own.
fn everywhere(points: &GraphPoints, comm: &Comm) -> Vec<(Rank, Query)> {
    let query = Query { bounds: PointBox { low: [0.0; 3], high: [1.0; 3] }, reach: 0.0 };
    let others = (0..comm.n_ranks() as u32).map(Rank).filter(|to| *to != comm.rank() && !points.is_empty());
    others.map(|to| (to, query)).collect()
}

/// The other ranks that own any place in a box, ascending.
fn others_within(own: &OwnParticles, bounds: &PointBox, rank: Rank) -> Vec<Rank> {
    let extent = (0..3).map(|a| bounds.high[a] - bounds.low[a]).fold(0.0, f64::max);
    // Cells between half and all of the extent: at most four along an axis.
    let level = (1.0 - extent.min(1.0).log2()).floor().clamp(0.0, 20.0) as u8;
    let n = 1i64 << level;
    let cells = |a: usize| {
        let cell = |x: f64| (x * n as f64).floor() as i64;
        match (cell(bounds.low[a]), cell(bounds.high[a])) {
            (low, high) if high - low + 1 >= n => 0..n,
            (low, high) => low..high + 1,
        }
    };
    let mut found = Vec::new();
    for (x, y, z) in cells(0).flat_map(|x| cells(1).flat_map(move |y| cells(2).map(move |z| (x, y, z)))) {
        if let Some(cell) = own.domain.wrap(level, [x, y, z])
            && !own.splits.owns_all(rank, level, cell)
        {
            found.extend(own.splits.owners_within(level, cell).filter(|owner| *owner != rank));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The particles within the reach of any query, ascending.
fn within(points: &GraphPoints, tree: &GroupTree, queries: &[Query]) -> Vec<u32> {
    let mut wanted = vec![false; points.len()];
    let mut stack = Vec::new();
    for query in queries {
        tree.runs_within(&query.bounds, query.reach, points.periodic, &mut stack, |run| {
            wanted[run].fill(true);
        });
    }
    (0..points.len() as u32).filter(|i| wanted[*i as usize]).collect()
}
