//! Small sound outputs of RAMSES, as several of its builds write them.

use inselberg_io::MONATOMIC;
use inselberg_io::ramses::write::{Descriptors, Dialect, Ordering, Output, Split, write};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../common/tiny.rs"]
mod tiny;

/// An output over two CPUs.
pub struct Base {
    pub root: PathBuf,
    /// Its files and what they hold.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

impl Base {
    /// The files whose name starts with `kind`, or ends with it in the case of descriptors.
    pub fn files_of(&self, kind: &str) -> Vec<usize> {
        let is_of = |path: &Path| {
            let name = name(path);
            name.starts_with(&format!("{kind}_0")) || kind == "descriptor" && name.ends_with("descriptor.txt")
        };
        (0..self.files.len()).filter(|&i| is_of(&self.files[i].0)).collect()
    }
}

pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every base, below `folder`.
pub fn all(folder: &Path) -> Vec<Base> {
    let current = Dialect::default();
    let old = Dialect { single_precision: true, descriptors: Descriptors::Old, ..Dialect::default() };
    let bare = Dialect {
        descriptors: Descriptors::Missing,
        ordering: Ordering::Bisection,
        wide_ids: true,
        wide_counts: true,
        group_size: Some(1),
        ..Dialect::default()
    };
    let kinds =
        [("current", current, [true; 3]), ("old", old, [true, false, true]), ("bare", bare, [false; 3])];
    kinds.into_iter().map(|(name, dialect, periodic)| make(&folder.join(name), &dialect, periodic)).collect()
}

fn make(folder: &Path, dialect: &Dialect, periodic: [bool; 3]) -> Base {
    fs::create_dir_all(folder).expect("a folder");
    let (header, fields) = (tiny::header([1; 3], periodic), tiny::fields());
    let (octs, particles) = (tiny::octs([1; 3], fields.len()), tiny::particles([1; 3]));
    let output = Output {
        header: &header,
        fields: &fields,
        octs: &octs,
        particles: Some(&particles),
        adiabatic_index: MONATOMIC,
    };
    let oct_owner = |level: u8, [x, y, z]: [u32; 3]| (u32::from(level) + x + y + z) as usize % 2;
    let split = Split { n_cpus: 2, oct_owner: &oct_owner, particle_owner: &|i| i % 2, ghosts: true };
    let root = write(folder, output, split, dialect).unwrap_or_else(|e| panic!("{e}"));
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    Base { root, files }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.clone(), fs::read(&path).expect("a file")));
        }
    }
}
