//! Is the committed header that of the source? After a change: `INSELBERG_WRITE_HEADER=1 cargo test -p
//! inselberg-capi header`

use std::path::Path;

/// The header without the sections for those who read the Rust source.
fn header(folder: &Path) -> String {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    let sources = ["abi", "abi_results", "abi_trees", "box_of", "given", "handle", "views"];
    let builder = cbindgen::Builder::new().with_config(config);
    let builder =
        sources.iter().fold(builder, |builder, name| builder.with_src(folder.join(format!("src/{name}.rs"))));
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    let made = String::from_utf8(made).expect("plain text");
    let mut kept: Vec<String> = Vec::new();
    let mut is_safety = false;
    for line in made.lines() {
        let is_begin = line.trim() == "// # Safety";
        if is_begin {
            kept.pop_if(|line| line.trim() == "//");
        }
        is_safety = is_begin || (is_safety && line.trim().starts_with("//"));
        if !is_safety {
            kept.push(line.replace('`', ""));
        }
    }
    kept.join("\n") + "\n"
}

#[test]
fn the_header_is_that_of_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (made, path) = (header(folder), folder.join("include/inselberg.h"));
    if std::env::var_os("INSELBERG_WRITE_HEADER").is_some() {
        std::fs::write(&path, made).expect("written");
        return;
    }
    let committed = std::fs::read_to_string(&path).expect("the header");
    assert!(
        made == committed,
        "include/inselberg.h is not that of the source; INSELBERG_WRITE_HEADER=1 writes it"
    );
}
