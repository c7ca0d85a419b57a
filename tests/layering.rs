//! What the crate docs say is absent, is absent.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files at or under a place of the repository.
fn sources(place: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root().join(place), &mut found);
    assert!(!found.is_empty(), "{place}: no sources");
    found.sort();
    found
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder");
        entries.for_each(|entry| collect(&entry.expect("an entry").path(), found));
    } else if path.extension().is_some_and(|e| e == "rs") {
        found.push(path.into());
    }
}

/// Code of a file by line number, comments and what is after `#[cfg(test)]` left out.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("a text");
    let lines = text.lines().map(str::trim).enumerate();
    let code = lines.take_while(|(_, l)| *l != "#[cfg(test)]").filter(|(_, l)| !l.starts_with("//"));
    code.map(|(n, l)| (n + 1, l.split(" // ").next().unwrap_or(l).to_string())).collect()
}

/// No code at or under `place`, save in the files `but`, has any of the `words`.
fn lacks(place: &str, but: &[&str], words: &[&str]) {
    for path in sources(place) {
        if but.iter().any(|b| path.starts_with(root().join(b))) {
            continue;
        }
        for (n, line) in code(&path) {
            if let Some(word) = words.iter().find(|w| has_word(&line, w)) {
                panic!("{}:{n}: `{word}` does not belong there: {line}", path.display());
            }
        }
    }
}

/// Whether `word` is in `line` and is no part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_name);
        let after = line[at + word.len()..].chars().next().is_some_and(is_name);
        !(before && word.starts_with(is_name) || after && word.ends_with(is_name))
    })
}

#[test]
fn words_are_found_whole() {
    assert!(has_word("use std::fs;", "std::fs") && has_word("println!(\"\")", "println!"));
    assert!(
        !has_word("eprintln!(\"\")", "println!") && !has_word("use crate::catalogued;", "crate::catalogue")
    );
}

#[test]
fn kernels_are_plain_functions() {
    let machine =
        ["std::thread", "std::fs", "std::time", "std::env", "std::net", "std::io", "std::process", "rayon"];
    lacks("kernels/src", &[], &machine);
    lacks("kernels/src", &[], &["inselberg", "inselberg_comm", "println!", "eprintln!"]);
}

#[test]
fn ranks_know_no_cells_and_no_engine() {
    lacks("comm/src", &[], &["inselberg", "inselberg_kernels", "Cell", "CellIdx", "PeakIdx", "Mesh", "rho"]);
    lacks("comm/src", &[], &["std::fs", "println!", "eprintln!"]);
}

#[test]
fn manifests_of_the_lower_crates_name_no_other() {
    for (of, not) in [("kernels", "comm"), ("comm", "kernels")] {
        let text = std::fs::read_to_string(root().join(of).join("Cargo.toml")).expect("a manifest");
        let dependencies = text.split("[dependencies]").nth(1).unwrap_or("");
        assert!(!dependencies.contains(&format!("inselberg-{not}")), "{of} depends on {not}");
        assert!(!dependencies.contains("inselberg ="), "{of} depends on the engine");
        assert!(!dependencies.contains("rayon"), "{of} depends on threads");
    }
}

#[test]
fn what_comes_in_and_goes_out_knows_nothing_of_the_work() {
    let work =
        ["crate::stages", "crate::phew", "crate::run", "crate::recut", "crate::structures", "crate::report"];
    lacks("engine/src/io", &[], &work);
    lacks(
        "engine/src/io",
        &[],
        &["crate::catalogue", "crate::tables", "inselberg_kernels", "inselberg_comm"],
    );
    lacks("engine/src/catalogue", &[], &work);
    lacks(
        "engine/src/catalogue",
        &["engine/src/catalogue/part"],
        &["crate::io", "crate::tables", "inselberg_kernels", "inselberg_comm"],
    );
    lacks("engine/src/catalogue/part", &[], &["crate::io", "crate::tables", "inselberg_kernels"]);
}

#[test]
fn stages_do_not_know_where_their_results_go() {
    let later = ["crate::catalogue", "crate::tables", "crate::report", "crate::run", "crate::config"];
    for place in ["engine/src/stages", "engine/src/ranks", "engine/src/domains", "engine/src/structures"] {
        lacks(place, &[], &later);
    }
    lacks("engine/src/ranks", &[], &["crate::io", "crate::stages", "crate::structures"]);
    lacks("engine/src/domains", &[], &["crate::ranks", "crate::structures"]);
    lacks("engine/src/synth", &[], &["crate::stages", "crate::catalogue", "crate::phew", "crate::run"]);
}

#[test]
fn only_the_command_line_prints_and_exits() {
    let front = ["engine/src/cli", "engine/src/main.rs"];
    lacks("engine/src", &front, &["println!", "eprintln!", "print!", "eprint!", "dbg!"]);
    lacks("engine/src", &front, &["process::exit", "std::env", "stdout()", "anyhow"]);
}

#[test]
fn one_file_knows_hwloc() {
    lacks("engine/src", &["engine/src/topology/hwloc.rs"], &["hwloc2"]);
}

#[test]
fn unsafe_code_is_in_the_named_files_only() {
    let named = [
        "engine/src/catalogue/hdf5/raw_chunk.rs",
        "engine/src/input_hdf5/virtual_files.rs",
        "comm/src/backend/mpi.rs",
        "engine/src/cli/allocator.rs",
        "engine/src/cli/signals.rs",
        "engine/src/pages/mod.rs",
        "engine/src/pages/linux.rs",
    ];
    for place in ["engine/src", "kernels/src", "comm/src", "tests", "benches"] {
        lacks(place, &[&named[..], &["tests/layering.rs"]].concat(), &["unsafe", "allow(unsafe_code)"]);
    }
}

#[test]
fn no_file_is_long() {
    for place in ["engine", "kernels", "comm", "tests", "benches"] {
        for path in sources(place) {
            let n = std::fs::read_to_string(&path).expect("a text").lines().count();
            assert!(n <= 600, "{}: {n} lines; expected at most 600", path.display());
        }
    }
}
