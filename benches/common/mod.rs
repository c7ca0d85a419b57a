//! Shared by the benches: the synthetic field in memory, and its thresholds.
#![allow(dead_code, reason = "each bench uses its part")]

use inselberg::field::{AmrField, LevelOcts};
use inselberg::phew::Rules;
use inselberg::phew::pass::PassContext;
use inselberg::phew::region::TaskRegion;
use inselberg::phew::segment::Task;
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::ALONE;
use inselberg_cli::synth::{FieldParams, SynthField, THRESHOLD};
use inselberg_io::{OctBlock, Snapshot};
use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::label::RootSet;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::phew::test_cells::TestCells;

/// Thresholds of every bench.
pub const CUT: Cut = Cut {
    density: THRESHOLD,
    persistence: Persistence::Ratio(3.0),
    saddle: Some(200.0),
    halo_relevance: None,
};

/// A field with about that many test cells, some 15 of them a patch.
pub fn synthetic(test_cells: f64) -> SynthField {
    let params = FieldParams { test_cells: test_cells as u64, ..FieldParams::default() };
    SynthField::new(&params).expect("a field")
}

/// Every oct of a snapshot with its density.
pub fn collect(snapshot: &dyn Snapshot) -> Vec<LevelOcts> {
    collect_field(snapshot, "density")
}

/// Every oct of a snapshot with a field.
pub fn collect_field(snapshot: &dyn Snapshot, field: &str) -> Vec<LevelOcts> {
    let mut levels: Vec<LevelOcts> = Vec::new();
    for piece in 0..snapshot.header().n_pieces {
        let mut append = |block: &OctBlock| {
            levels.resize_with(levels.len().max(usize::from(block.level) + 1), LevelOcts::default);
            let octs = &mut levels[usize::from(block.level)];
            octs.position.extend_from_slice(&block.position);
            octs.split.extend_from_slice(&block.split);
            octs.values.extend_from_slice(&block.values[0]);
            Ok(())
        };
        snapshot.octs(piece, &[field], &mut append).expect("octs");
    }
    levels
}

/// The task of segmenting a field with the thresholds of every bench.
pub fn task_of<'a>(field: &'a AmrField, extra: &'a TestFields) -> Task<'a> {
    Task {
        field,
        links: &ALONE,
        extra,
        density_threshold: THRESHOLD,
        side: 1.0,
        origin: [0.0; 3],
        rules: Rules::Paper,
    }
}

/// The passes of a rank alone by the paper's rules.
pub fn pass<'a>(
    mesh: &'a Mesh,
    test_cells: &'a TestCells<'a>,
    roots: &'a RootSet,
    tasks: &'a [TaskRegion],
) -> PassContext<'a> {
    PassContext { mesh, test_cells, roots, tasks, own: &[], rules: Rules::Paper }
}

/// Sorts.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
