//! The commands of README.md, docs/ and the tutorials run as a reader would run them. `CLONE` is the repository.
//!
//! In a `console` block of a page, a line that begins with `$ ` is a command. Other lines are output that is
//! shown: the command prints them in this order. It may print other lines between them, for which a page may
//! have `...`. A block that cannot run has a comment before it, `<!-- not run: REASON -->`. Attributes of the
//! catalogues that appear are explained on some page. Blocks of a page run one after another in a folder of
//! their own, with [inputs](crate::documented_inputs) under the names that pages use.

use crate::documented_inputs::{Inputs, copy};
use crate::pages::{name, pages, read, root, spans};
use inselberg_io::catalogue;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const FENCE: &str = "```";
const CONSOLE: &str = "```console";
const MARKER: &str = "<!-- not run: ";

/// A command of a page, with the line on which it begins.
#[derive(Debug, PartialEq)]
struct Step {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// The commands of all blocks without a marker.
fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut lines = (1..).zip(page.lines());
    let mut before = "";
    while let Some((at, line)) = lines.next() {
        if !line.starts_with(FENCE) {
            before = line;
            continue;
        }
        let block: Vec<_> = lines.by_ref().take_while(|(_, line)| *line != FENCE).collect();
        if line == CONSOLE && !is_marked(before).map_err(|why| format!("line {at}: {why}"))? {
            steps.extend(steps_of_block(&block)?);
        }
        before = "";
    }
    Ok(steps)
}

fn is_marked(before: &str) -> Result<bool, &'static str> {
    let Some(rest) = before.strip_prefix(MARKER) else { return Ok(false) };
    let reason = rest.strip_suffix("-->").ok_or("the marker does not end on its line")?;
    if reason.trim().is_empty() { Err("the marker has no reason") } else { Ok(true) }
}

fn steps_of_block(block: &[(usize, &str)]) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for &(line, text) in block {
        match (text.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { line, command: command.into(), shown: Vec::new() }),
            (None, Some(step)) if step.shown.is_empty() && step.command.ends_with('\\') => {
                step.command = format!("{}\n{text}", step.command);
            }
            (None, Some(step)) => step.shown.push(text.into()),
            (None, None) => return Err(format!("line {line}: a block begins with a command, `$ ...`")),
        }
    }
    Ok(steps)
}

/// Whether the shown lines are lines of the output, in this order. White space within lines does not count.
fn lacks(output: &str, shown: &[String]) -> Option<String> {
    let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    let mut printed = output.lines().map(words);
    shown.iter().find(|line| *line != "..." && !printed.any(|own| own == words(line))).cloned()
}

/// Runs a command in the folder, with the program as `inselberg`.
fn run(command: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_inselberg")).parent().expect("a folder of programs");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(program.to_path_buf()).chain(std::env::split_paths(&path));
    Command::new("bash")
        .args(["-euo", "pipefail", "-c", command])
        .current_dir(folder)
        .env("HOME", folder)
        .env("CLONE", root())
        .env("PATH", std::env::join_paths(folders).expect("folders without colons"))
        .output()
        .expect("bash starts")
}

/// What is wrong with a step, if anything.
fn complaint(step: &Step, folder: &Path) -> Option<String> {
    let out = run(&step.command, folder);
    let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    if !out.status.success() {
        return Some(format!("line {}: `{}` ended with {}: {text}", step.line, step.command, out.status));
    }
    let lacking = lacks(&text, &step.shown)?;
    Some(format!("line {}: `{}` does not print `{lacking}` here, but: {text}", step.line, step.command))
}

/// Names of attributes of the catalogues in a folder.
fn attributes(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let catalogues = entries.filter(|path| path.is_file()).filter_map(|path| catalogue::read(&path).ok());
    catalogues.flat_map(|catalogue| catalogue.attributes).map(|(name, _)| name).collect()
}

/// Whether a code span of a page is the name, or has `...` in place of its beginning, or `...` or `*` in
/// place of its end.
fn is_explained(name: &str, spans: &BTreeSet<String>) -> bool {
    let has_part =
        |span: &String| match (span.strip_prefix("..."), span.strip_suffix("...").or(span.strip_suffix('*')))
        {
            (Some(end), _) if end.len() > 4 => name.ends_with(end),
            (_, Some(begin)) if begin.len() > 3 => name.starts_with(begin),
            _ => false,
        };
    spans.contains(name) || spans.iter().any(has_part)
}

/// Code spans of all pages.
fn all_spans() -> BTreeSet<String> {
    let texts: Vec<String> = pages().iter().map(|page| read(page)).collect();
    texts.iter().flat_map(|text| spans(text)).map(String::from).collect()
}

/// What the pages that ran contained, and what is wrong with them.
#[derive(Default)]
struct Tally {
    n_steps: usize,
    n_attributes: usize,
    complaints: Vec<String>,
}

impl Tally {
    /// Runs the commands of a page in a folder of their own.
    fn run(&mut self, page: &Path, inputs: &Inputs, explained: &BTreeSet<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        copy(inputs.folder(), folder.path());
        let steps = steps(&read(page)).unwrap_or_else(|why| panic!("{}: {why}", name(page)));
        for why in steps.iter().filter_map(|step| complaint(step, folder.path())) {
            self.complaints.push(format!("{}: {why}", name(page)));
        }
        let attributes = attributes(folder.path());
        for attribute in attributes.iter().filter(|name| !is_explained(name, explained)) {
            self.complaints.push(format!("{}: docs/ lack the attribute `{attribute}`", name(page)));
        }
        self.n_steps += steps.len();
        self.n_attributes += attributes.len();
    }
}

/// Runs all commands of some pages and returns how many there are.
fn run_pages(wanted: impl Fn(&Path) -> bool) -> usize {
    let (inputs, explained) = (Inputs::new(), all_spans());
    let mut tally = Tally::default();
    for page in pages().iter().filter(|page| wanted(page)) {
        tally.run(page, &inputs, &explained);
    }
    assert!(tally.complaints.is_empty(), "{}", tally.complaints.join("\n"));
    assert!(tally.n_attributes > 50, "{}", tally.n_attributes);
    tally.n_steps
}

/// The first pages that a reader opens, and one tutorial.
fn is_first(page: &Path) -> bool {
    ["README.md", "docs/using.md", "docs/tutorials/cube.md"].iter().any(|first| page.ends_with(first))
}

#[test]
fn commands_of_the_first_pages_run() {
    assert!(run_pages(is_first) > 20);
}

#[test]
#[ignore = "a minute; part of the long share"]
fn commands_of_all_other_pages_run() {
    assert!(run_pages(|page| !is_first(page)) > 30);
}

/// A command in another kind of block would not be tried.
#[test]
fn commands_stand_in_console_blocks() {
    for page in pages() {
        let text = read(&page);
        let mut inside = "";
        for (at, line) in (1..).zip(text.lines()) {
            if line.starts_with(FENCE) {
                inside = if inside.is_empty() { line } else { "" };
            }
            let is_command = line.trim_start().starts_with("inselberg ") && line.starts_with("    ");
            let in_a_shell = ["```sh", "```bash", "```shell", "```"].contains(&inside);
            assert!(
                !(inside.is_empty() && is_command),
                "{}:{at}: a command outside of a console block",
                page.display()
            );
            assert!(
                !(in_a_shell && line.contains("inselberg ")),
                "{}:{at}: not in a console block",
                page.display()
            );
        }
        steps(&text).unwrap_or_else(|why| panic!("{}: {why}", name(&page)));
    }
}

#[test]
fn blocks_become_steps() {
    let page = "Text\n\n```console\n$ one \\\n    more\nshown\n$ two\n```\n\n<!-- not run: needs Slurm -->\n```console\n$ three\n```\n```rust\n$ four\n```\n";
    let step = |line, command: &str, shown: &[&str]| Step {
        line,
        command: command.into(),
        shown: shown.iter().map(|line| line.to_string()).collect(),
    };
    assert_eq!(steps(page), Ok(vec![step(4, "one \\\n    more", &["shown"]), step(7, "two", &[])]));
    assert!(steps("<!-- not run: -->\n```console\n$ x\n```\n").is_err());
    assert!(steps("```console\nno prompt\n```\n").is_err());
}

#[test]
fn a_step_that_fails_or_prints_something_else_is_a_complaint() {
    let folder = tempfile::tempdir().expect("a folder");
    let complaint = |command: &str, shown: &[&str]| {
        let shown = shown.iter().map(|line| line.to_string()).collect();
        complaint(&Step { line: 1, command: command.into(), shown }, folder.path())
    };
    assert_eq!(complaint("printf 'a   b\\nc\\nd\\n'", &["a b", "...", "d"]), None);
    assert!(
        complaint("printf 'a\\nb\\n'", &["b", "a"]).is_some_and(|why| why.contains("does not print `a`"))
    );
    assert!(complaint("false", &[]).is_some_and(|why| why.contains("exit status: 1")));
    assert!(complaint("inselberg no-such-command", &[]).is_some_and(|why| why.contains("exit status: 2")));
}
