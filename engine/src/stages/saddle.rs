//! The contacts between patches that can merge anything: a forest a task, then one of all.

use super::cells_of;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::forest::{Edge, PairCache, Scratch, reduce};
use inselberg_kernels::phew::label::PeakSet;
use inselberg_kernels::phew::saddle;
use inselberg_kernels::phew::tests::TestCells;
use rayon::prelude::*;
use std::ops::Range;

/// Edges of the local forests of all tasks, in falling order: a superset of the forest.
pub fn run(
    mesh: &Mesh,
    tests: &TestCells,
    peaks: &PeakSet,
    labels: &[PeakIdx],
    tasks: &[Range<usize>],
) -> Vec<Edge> {
    let local = |room: &mut (PairCache, Scratch), task: &Range<usize>| {
        saddle::contacts(mesh, tests, labels, task.clone(), &mut room.0);
        let mut edges = room.0.take();
        let cells = cells_of(mesh, tests, task);
        room.1.expect(PeakIdx::new(peaks.before(cells.start))..PeakIdx::new(peaks.before(cells.end)));
        reduce(&mut edges, &mut room.1);
        edges
    };
    let forests: Vec<Vec<Edge>> = tasks.par_iter().map_init(Default::default, local).collect();
    let mut edges = forests.concat();
    edges.par_sort_unstable_by(Edge::order);
    edges
}
