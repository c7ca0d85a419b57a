//! Whether the pages agree with the code: commands, folders, terms and links.

use crate::common::program;
use crate::pages::{files, folders, name, pages, read, root, spans, table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The commands that the help lists.
fn commands() -> BTreeSet<String> {
    let help = program().arg("--help").output().expect("the program starts").stdout;
    let help = String::from_utf8(help).expect("text");
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    list.filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn the_table_of_commands_is_that_of_the_help() {
    let using = read(&root().join("docs/using.md"));
    let first_words = |row: &Vec<String>| {
        let usage = spans(&row[0]).next().unwrap_or_else(|| panic!("no command in {row:?}"));
        usage.split_whitespace().next().expect("a word").to_string()
    };
    let rows = table(&using, "| command | what it does |");
    let listed: Vec<_> = rows.iter().map(first_words).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), commands(), "docs/using.md");
    assert_eq!(listed.len(), commands().len(), "docs/using.md has a command twice");
}

/// Paths of the code map. A name may be in the folder of an earlier path of its row, or in that path.
fn mapped_paths(map: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for row in map.lines().filter(|line| line.starts_with('|')) {
        let mut found: Vec<PathBuf> = Vec::new();
        for span in spans(row).filter(|span| is_path(span)) {
            found.push(find(span, &found).unwrap_or_else(|| panic!("{span} does not exist: {row}")));
        }
        paths.append(&mut found);
    }
    paths
}

/// Whether a code span names a file or a folder, not a command or a crate.
fn is_path(span: &str) -> bool {
    !span.contains(' ') && [".rs", ".md", ".py", "/"].iter().any(|end| span.ends_with(end))
}

fn find(span: &str, before: &[PathBuf]) -> Option<PathBuf> {
    let beside = before.iter().flat_map(|path| path.ancestors().take(2)).map(|folder| folder.join(span));
    std::iter::once(root().join(span)).chain(beside).find(|path| path.exists())
}

fn architecture() -> String {
    read(&root().join("docs/architecture.md"))
}

#[test]
fn the_code_map_names_what_exists() {
    let paths = mapped_paths(&architecture());
    assert!(paths.len() > 80, "{}", paths.len());
}

/// Those of the repository, and those in crates whose folders stand alone.
fn rooms() -> Vec<PathBuf> {
    let inside = ["engine/library/src", "engine/cli", "engine/io/src", "kernels/src"];
    let mut rooms = folders(root());
    rooms.extend(inside.iter().flat_map(|inside| folders(&root().join(inside))));
    rooms
}

#[test]
fn the_code_map_has_every_folder() {
    let paths = mapped_paths(&architecture());
    let lacking: Vec<_> =
        rooms().into_iter().filter(|room| !paths.iter().any(|path| path.starts_with(room))).collect();
    assert!(lacking.is_empty(), "docs/architecture.md lacks {lacking:?}");
}

/// The terms of the glossary; a row may have several.
fn terms() -> Vec<String> {
    let glossary = read(&root().join("docs/glossary.md"));
    let rows = table(&glossary, "| term | meaning |");
    rows.iter().flat_map(|row| row[0].split(", ").map(String::from).collect::<Vec<_>>()).collect()
}

/// Words in lower case, as in names of the code.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(['_', '-', '\n'], " ")
}

#[test]
fn the_glossary_is_sorted() {
    let rows = table(&read(&root().join("docs/glossary.md")), "| term | meaning |");
    for pair in rows.windows(2) {
        assert!(pair[0][0] < pair[1][0], "docs/glossary.md: {} before {}", pair[0][0], pair[1][0]);
    }
}

#[test]
fn terms_of_the_glossary_are_used() {
    let code =
        ["kernels/src", "comm/src", "engine/library/src", "engine/io/src", "engine/tasks/src", "engine/cli"];
    let code = code.iter().flat_map(|folder| files(&root().join(folder), "rs"));
    let pages = pages().into_iter().filter(|page| !page.ends_with("glossary.md"));
    let texts: Vec<String> = pages.chain(code).map(|path| plain(&read(&path))).collect();
    for term in terms() {
        let used = texts.iter().any(|text| text.contains(&plain(&term)));
        assert!(used, "docs/glossary.md: {term} is used nowhere");
    }
}

/// Tables whose names are words of everyday use.
const PLAIN_TABLES: [&str; 3] = ["cells", "particles", "snapshots"];

/// The tables that docs/catalogue.md lists hold things that the glossary explains.
#[test]
fn tables_of_catalogues_are_terms() {
    let page = read(&root().join("docs/catalogue.md"));
    let tables: BTreeSet<_> = spans(&page).filter_map(|span| span.strip_prefix('/')).collect();
    assert!(tables.len() > 8, "{tables:?}");
    let terms = terms();
    for table in tables.into_iter().filter(|table| !PLAIN_TABLES.contains(table)) {
        let lower = table.to_lowercase();
        let singular = ["es", "s", ""].map(|end| lower.strip_suffix(end).unwrap_or(&lower).to_string());
        let is_term = terms.iter().any(|term| singular.iter().any(|word| term.ends_with(word.as_str())));
        assert!(is_term, "docs/glossary.md lacks a term for the table {table}");
    }
}

/// The text without blocks of code, whose brackets are no links.
fn prose(text: &str) -> String {
    let mut in_block = false;
    let is_prose = |line: &&str| {
        let is_fence = line.starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence && !line.starts_with("    ")
    };
    text.lines().filter(is_prose).collect::<Vec<_>>().join("\n")
}

/// The targets of links and pictures to files of the repository.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(String::from).collect()
}

/// Names of headings as links have them: GitHub's rule.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#'));
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    headings
        .map(|title| title.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

/// What is wrong with a link, if anything.
fn broken(page: &Path, link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_path_buf() } else { page.parent()?.join(file) };
    if !target.exists() {
        return Some(format!("{}: {link} leads nowhere", name(page)));
    }
    let has_anchor = anchor.is_empty() || anchors(&read(&target)).contains(anchor);
    (!has_anchor).then(|| format!("{}: no heading for {link}", name(page)))
}

#[test]
fn links_lead_somewhere() {
    let pages = files(root(), "md");
    assert!(pages.len() > 40, "{}", pages.len());
    let broken: Vec<String> = pages
        .iter()
        .flat_map(|page| {
            links(&read(page)).into_iter().filter_map(|link| broken(page, &link)).collect::<Vec<_>>()
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_link_to_nothing_is_found() {
    let page = root().join("docs/using.md");
    assert_eq!(broken(&page, "haloes.md#ramsess-own-rules"), None);
    assert_eq!(broken(&page, "#before-a-long-run"), None);
    assert!(broken(&page, "haloes.md#no-such-heading").is_some());
    assert!(broken(&page, "no-such-page.md").is_some());
    assert_eq!(links("[a](x.md) `b`\n```\n[c](y.md)\n```\n[d](https://e)"), ["x.md"]);
}

#[test]
fn the_table_of_stages_is_that_of_the_library() {
    let rows = table(&read(&root().join("docs/scaling.md")), "| stage | what is done |");
    assert_eq!(rows, inselberg::stage::STAGES.map(|(name, what)| [name, what].map(String::from).to_vec()));
}
