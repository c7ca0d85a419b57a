//! Peaks refined from the block of their brick: every bit as the look-ups give it.

use crate::verify::meshes::{Field, any_field};
use inselberg::density::LeafValues;
use inselberg::density::read::read_mesh;
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::Rules;
use inselberg::phew::pass::PassContext;
use inselberg::phew::region::cut_tasks;
use inselberg::phew::test_links::ALONE;
use inselberg::phew::{ascent, label, saddle};
use inselberg::progress::Silent;
use inselberg_cli::synth::{FieldParams, SynthField, THRESHOLD};
use inselberg_kernels::props::refine::Refiner;
use proptest::prelude::*;

/// Compares all peaks of a field. How many of how many are enclosed by test cells.
fn check(amr: &AmrField, threshold: f64, rules: Rules) -> [usize; 2] {
    let (mesh, found, executor) = (&amr.mesh, test_cells::find(amr, threshold), &Executor::default());
    let tasks = cut_tasks(mesh, &found);
    let up = ascent::run(mesh, &found, rules, &ALONE, &tasks, executor);
    let (roots, labels) = label::run(up, executor);
    let pass = PassContext { mesh, test_cells: &found, roots: &roots, tasks: &tasks, own: &[], rules };
    let refined = saddle::run(pass, &labels, executor).refined;
    let mut refiner = Refiner::new(mesh, &amr.rho, rules);
    assert_eq!(refined.len(), roots.len());
    let peaks = (0..mesh.bricks().len()).flat_map(|b| roots.of_brick(&found, b));
    let mut n_enclosed = 0;
    for (given, (peak, _)) in refined.iter().zip(peaks) {
        let (level, position) = found.locate(mesh, peak);
        n_enclosed += usize::from(is_enclosed(amr, threshold, level, position));
        let expected = mesh.domain().fold(refiner.refined(level, position));
        assert_eq!(given.map(f64::to_bits), expected.map(f64::to_bits), "{level} {position:?}");
    }
    [n_enclosed, refined.len()]
}

/// Whether leaves above the threshold, no finer ones, lie at all faces and edges of a cell.
fn is_enclosed(amr: &AmrField, threshold: f64, level: u8, position: [u32; 3]) -> bool {
    let steps = (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]);
    steps.filter(|step| step.contains(&0)).all(|step| {
        let at = std::array::from_fn(|a| i64::from(position[a]) + step[a]);
        let wrapped = amr.mesh.domain().wrap(level, at);
        let leaf = wrapped.and_then(|p| amr.mesh.find_covering_leaf(level, p));
        leaf.is_some_and(|(_, leaf)| amr.rho[leaf.at()] > threshold)
    })
}

/// The leaves above a threshold alone, as meshes of particles have them, graded or not.
fn leaves_above(field: &Field, threshold: f64) -> AmrField {
    let mut amr = field.only(|leaf| leaf.rho > threshold).leaves_as_amr();
    amr.mesh.set_leaves_above(threshold);
    amr
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_give_what_look_ups_give(field in any_field(), threshold in 0.0..3.0f64) {
        let meshes = [Some(field.leaves_as_amr()), field.octs_as_amr(), Some(leaves_above(&field, threshold))];
        for amr in meshes.iter().flatten() {
            check(amr, threshold, Rules::Paper);
            check(amr, threshold, Rules::Ramses);
        }
    }
}

/// Both ways are taken: enclosed peaks need no look-up.
#[test]
fn many_peaks_are_enclosed_and_some_are_not() {
    let params = FieldParams { test_cells: 50_000, ..FieldParams::default() };
    let snapshot = SynthField::new(&params).expect("a field");
    let amr = read_mesh(&snapshot, Some("density"), LeafValues::NotNegative, &Silent).expect("a mesh");
    for rules in [Rules::Paper, Rules::Ramses] {
        let [given, all] = check(&amr, THRESHOLD, rules);
        assert!(all > 1000 && 5 * given > 4 * all && given < all, "{given} of {all} peaks under {rules:?}");
    }
}
