//! The contacts between patches that can merge anything: a forest a task, then one of all.

use super::cells_of;
use super::properties::Patches;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::forest::{Edge, PairCache, Scratch, reduce};
use inselberg_kernels::phew::saddle;
use rayon::prelude::*;
use std::ops::Range;

/// Edges of the local forests of all tasks, in falling order: a superset of the forest. Peaks are named by
/// slots.
pub fn run(patches: &Patches) -> Vec<Edge> {
    let (mesh, tests) = (patches.mesh, patches.tests);
    let local = |room: &mut (PairCache, Scratch), task: &Range<usize>| {
        saddle::contacts(mesh, tests, patches.labels, task.clone(), &mut room.0);
        let mut edges = room.0.take();
        let cells = cells_of(mesh, tests, task);
        let [first, end] = [cells.start, cells.end].map(|c| PeakIdx::new(patches.slots_before(c)));
        room.1.expect(first..end);
        reduce(&mut edges, &mut room.1);
        edges
    };
    let forests: Vec<Vec<Edge>> = patches.tasks.par_iter().map_init(Default::default, local).collect();
    let mut edges = forests.concat();
    edges.par_sort_unstable_by(Edge::order);
    edges
}
