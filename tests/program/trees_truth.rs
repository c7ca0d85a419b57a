//! Merger trees of a synthetic series against its true history. The table of docs/trees.md is this test with
//! more members: `INSELBERG_TRUTH_MEMBERS=1e6 cargo test --release --test program trees_truth --
//! --nocapture`.

use crate::common::room::{Room, done};
use crate::merger_truth::{BranchNumbers, Comparison, check_conservation, compare};
use inselberg::progress::Silent;
use inselberg::trees::linker::TreeLinker;
use inselberg_comm::Comm;
use inselberg_io::catalogue::{Catalogue, read};
use inselberg_kernels::trees::history::HistoryParams;
use std::path::{Path, PathBuf};

const OUTPUTS: usize = 20;

/// The true tree and the found one of a series by these rules.
fn trees(room: &Room, members: &str, seed: &str, rules: &str) -> [Catalogue; 2] {
    let series = room.path("series");
    done(&[
        "synth",
        "series",
        "-o",
        &series,
        "--outputs",
        &OUTPUTS.to_string(),
        "--members",
        members,
        "--seed",
        seed,
        "--rules",
        rules,
    ]);
    let inputs: Vec<String> = (1..=OUTPUTS).map(|i| format!("{series}/clumps_{i:05}.hdf5")).collect();
    let mut linker = TreeLinker::new(HistoryParams::default(), &Comm::solo()).expect("parameters");
    let inputs: Vec<PathBuf> = inputs.into_iter().map(PathBuf::from).collect();
    linker.add_files(&inputs, &Comm::solo(), &Silent).expect("a series");
    [read(Path::new(&format!("{series}/truth.hdf5"))).expect("a catalogue"), linker.catalogue()]
}

/// Number of members per catalogue.
fn members() -> String {
    std::env::var("INSELBERG_TRUTH_MEMBERS").unwrap_or_else(|_| "5e4".into())
}

fn compared(rules: &str) -> Comparison {
    let room = Room::new();
    let [truth, found] = trees(&room, &members(), "7", rules);
    check_conservation(&truth);
    check_conservation(&found);
    let comparison = compare(&truth, &found);
    eprintln!("{rules} rules\n{}", comparison.text());
    comparison.wrong.iter().take(10).for_each(|(to, ought, is)| {
        eprintln!("object {} of output {}: true progenitor {ought:?}, found {is:?}", to.1, to.0);
    });
    comparison
}

#[test]
fn links_are_true() {
    let comparison = compared("gentle");
    let large = comparison.from(100);
    assert!(large.links[0] > 500 && large.completeness() >= 0.99 && large.purity() >= 0.99, "{large:?}");
    let [right, orphan, wrong] = large.ends;
    assert!(right + orphan > 10 && wrong * 20 <= right + orphan + wrong, "{large:?}");
    assert!(comparison.same_branches >= 0.95, "{}", comparison.same_branches);
    // Statistics of branches and mass jumps within a hundredth.
    let [a, b] = &comparison.branches;
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    assert!((mean(&a.lengths) / mean(&b.lengths) - 1.0).abs() < 0.01);
    let lists: [fn(&BranchNumbers) -> &Vec<f64>; 2] = [|n| &n.slopes, |n| &n.jumps];
    for of in lists {
        let spread = |list: &[f64]| mean(&list.iter().map(|x| x.abs()).collect::<Vec<_>>());
        assert!((spread(of(a)) - spread(of(b))).abs() < 0.01);
    }
}

/// Cores exchange particles, haloes are hidden for longer than a gap, and satellites lose most of their
/// particles.
#[test]
fn links_of_rough_haloes_are_true() {
    let comparison = compared("hard");
    let (all, large) = (comparison.from(20), comparison.from(100));
    assert!(large.links[0] > 300 && large.completeness() >= 0.99 && large.purity() >= 0.99, "{large:?}");
    assert!(all.completeness() >= 0.95 && all.purity() >= 0.95, "{all:?}");
}
