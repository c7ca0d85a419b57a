//! PHEW on the graph of particles, by the command line: ranks, new thresholds, and what is refused.

use crate::common::compare::assert_same_table;
use crate::common::room::{Room, done};
use inselberg_io::catalogue::{Attribute, Catalogue, read};
use std::path::Path;

const FLAG: &str = "--particle-graph";
/// The side of the box of 5000 particles of `synth particles`.
const SIDE: &str = "17.099760055541992";

fn particles(room: &Room) -> String {
    let npy = room.path("box.npy");
    done(&["synth", "particles", "-o", &npy, "--number", "5000"]);
    npy
}

fn on(room: &Room, npy: &str, name: &str, more: &[&str]) -> Catalogue {
    let to = room.path(name);
    let args =
        ["phew", npy, FLAG, "--box", SIDE, "-o", &to, "--density-threshold", "40", "--neighbours", "20"];
    done(&[&args[..], more].concat());
    read(Path::new(&to)).expect("a catalogue")
}

fn assert_same_clumps(a: &Catalogue, b: &Catalogue, what: &str) {
    for name in ["clumps", "haloes", "tree"] {
        assert_same_table(a.table(name).expect(name), b.table(name).expect(name), what);
    }
}

#[test]
fn ranks_and_new_thresholds_change_nothing() {
    let room = Room::new();
    let npy = particles(&room);
    let one = on(&room, &npy, "one.csv", &["--relevance-threshold", "2", "--saddle-threshold", "90"]);
    assert!(one.table("clumps").expect("clumps").n_rows() > 3);
    assert_eq!(one.attribute("graph_neighbours"), Some(&Attribute::Int(20)));
    let three = ["--relevance-threshold", "2", "--saddle-threshold", "90", "--ranks", "3"];
    assert_same_clumps(&one, &on(&room, &npy, "three.csv", &three), "3 ranks");
    let recut = room.path("recut.csv");
    let new = ["--relevance-threshold", "5", "--saddle-threshold", "200"];
    done(&[&["recut", &room.path("one.csv"), "-o", &recut][..], &new].concat());
    let fresh = on(&room, &npy, "fresh.csv", &new);
    assert_same_clumps(&fresh, &read(Path::new(&recut)).expect("a catalogue"), "recut");
}

/// Every particle above the threshold is an element of the graph, so both options count the same.
#[test]
fn few_particles_are_few_elements() {
    let room = Room::new();
    let npy = particles(&room);
    let few = |name: &str, option: &str, ranks: &str| {
        on(&room, &npy, name, &["--relevance-threshold", "2", option, "40", "--ranks", ranks])
    };
    let all = on(&room, &npy, "all.csv", &["--relevance-threshold", "2"]);
    let elements = few("elements.csv", "--min-cells", "1");
    let n = |of: &Catalogue| of.table("haloes").expect("haloes").n_rows();
    assert!(0 < n(&elements) && n(&elements) < n(&all), "{} of {}", n(&elements), n(&all));
    for ranks in ["1", "3"] {
        assert_same_clumps(&elements, &few("particles.csv", "--min-particles", ranks), ranks);
    }
}

#[test]
fn what_does_not_suit_a_graph_is_refused() {
    let room = Room::new();
    let npy = particles(&room);
    let to = room.path("c.csv");
    let base = ["phew", &npy, "-o", &to, "--density-threshold", "80"];
    let refuses = |more: &[&str], parts: &[&str]| room.refuses(&[&base[..], more].concat(), parts);
    refuses(&[FLAG], &["box.npy", "(--box)"]);
    refuses(&[FLAG, "--box", SIDE, "--neighbours", "255"], &["--neighbours", "1 to 254"]);
    refuses(&[FLAG, "--box", SIDE, "--mesh-from-particles"], &[FLAG, "without --mesh-from-particles"]);
    refuses(&[FLAG, "--box", SIDE, "--m-refine", "4"], &["--m-refine", "without --particle-graph"]);
    refuses(&[FLAG, "--box", SIDE, "--field", "cic"], &["--field", "auto with --particle-graph"]);
    refuses(&[FLAG, "--box", SIDE, "--with-cells"], &["table of cells", "expected a mesh"]);
    refuses(&[FLAG, "--box", SIDE, "--levels", "3:5"], &["levels", "expected a mesh"]);
    refuses(&["--neighbours", "8"], &["--neighbours", "--particle-graph alone"]);
}
