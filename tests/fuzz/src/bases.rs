//! Small sound outputs of RAMSES, as several of its builds write them.

use inselberg_io::ramses::write::{Descriptors, Dialect, Ordering, Output, Split, write};
use inselberg_io::{Cosmology, Family, FieldInfo, Header, OctBlock, ParticleBlock, Units};
use std::fs;
use std::path::{Path, PathBuf};

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
    let header = header(periodic);
    let hydro = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];
    let grav = ["rho", "potential", "force_x", "force_y", "force_z"];
    let field = |family| move |name: &str| FieldInfo { family, name: name.into() };
    let fields: Vec<_> = hydro.map(field("hydro")).into_iter().chain(grav.map(field("grav"))).collect();
    let (octs, particles) = (octs(fields.len()), particles());
    let output = Output { header: &header, fields: &fields, octs: &octs, particles: Some(&particles) };
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

fn header(periodic: [bool; 3]) -> Header {
    Header {
        format: "RAMSES",
        number: Some(7),
        time: 0.25,
        boxlen: 2.0,
        coarse: [1; 3],
        periodic,
        levelmin: 2,
        levelmax: 4,
        units: Units { length: 3.0e24, density: 1.0e-30, time: 1.0e17 },
        cosmology: Some(Cosmology {
            aexp: 0.5,
            h0: 70.0,
            omega_m: 0.3,
            omega_l: 0.7,
            omega_k: 0.0,
            omega_b: 0.05,
        }),
        n_pieces: 1,
    }
}

/// Levels 1 and 2 everywhere, and one cell of level 2 split.
fn octs(n_fields: usize) -> Vec<OctBlock> {
    let corner = |i: u32| [i & 1, i >> 1 & 1, i >> 2 & 1];
    let positions = [vec![[0; 3]], (0..8).map(corner).collect(), vec![[3; 3]]];
    let splits = [vec![0xff], vec![0, 0, 0, 0, 0, 0, 0, 0x80], vec![0]];
    let block = |(i, (position, split)): (usize, (Vec<[u32; 3]>, Vec<u8>))| {
        let value = |f: usize, o: usize, c: usize| (1 + i * 5 + f + (o * 7 + c * 3) % 11) as f64;
        let column = |f| (0..position.len()).map(|o| std::array::from_fn(|c| value(f, o, c))).collect();
        let values = (0..n_fields).map(column).collect();
        OctBlock { level: i as u8 + 1, position, split, values }
    };
    positions.into_iter().zip(splits).enumerate().map(block).collect()
}

fn particles() -> ParticleBlock {
    use Family::{Cloud, DarkMatter, Debris, Other, Star, Tracer};
    let family = vec![DarkMatter, DarkMatter, Star, Cloud, Debris, Other, Tracer, DarkMatter];
    ParticleBlock {
        first: 0,
        position: (0..8).map(|i| [0.25 * f64::from(i), 0.1 * f64::from(i), 1.0]).collect(),
        velocity: (0..8).map(|i| [f64::from(i), 0.5, -f64::from(i)]).collect(),
        mass: family.iter().map(|f| if *f == Tracer { 0.0 } else { 0.125 }).collect(),
        id: family.iter().zip(1..).map(|(f, id)| if *f == Cloud { -id } else { id }).collect(),
        family,
    }
}
