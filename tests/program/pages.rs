//! README.md, docs/ and the tutorials as text, for tests that compare them with the program.

use std::path::{Path, PathBuf};

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// The path of a page in the repository.
pub fn name(page: &Path) -> String {
    page.strip_prefix(root()).expect("a page of the repository").display().to_string()
}

/// README.md, the pages of docs/ and the tutorials.
pub fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs"), "md");
    pages.retain(|page| {
        page.parent().is_some_and(|folder| folder.ends_with("docs") || folder.ends_with("tutorials"))
    });
    pages.push(root().join("README.md"));
    pages
}

/// All files with this ending in a folder and the folders in it, but for hidden and built ones.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found
}

/// The folders in a folder, but for hidden and built ones.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = all.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
        !name.starts_with('.') && !["target", "inselberg-out", "__pycache__"].contains(&name)
    });
    paths.sort();
    paths
}

/// The rows of the table with this header, cell by cell.
pub fn table(text: &str, header: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip_while(|line| *line != header).skip(2);
    let rows: Vec<_> = lines.take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "no table {header}");
    rows
}

fn cells(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
}

/// The texts between backquotes.
pub fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
