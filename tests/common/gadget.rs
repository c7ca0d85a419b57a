//! Gadget-like snapshots written by hand, and groups found by hand.

use hdf5::{File, Group, H5Type, Location};
use ndarray::{ArrayView1, ArrayView2};
use std::fs;
use std::path::{Path, PathBuf};

/// Particles of one kind.
#[derive(Debug, Clone, Default)]
pub struct Kind {
    pub position: Vec<[f64; 3]>,
    pub velocity: Vec<[f32; 3]>,
    pub mass: Vec<f64>,
    pub id: Vec<u64>,
    pub density: Vec<f32>,
}

/// How they are written.
#[derive(Debug, Clone)]
pub struct Style {
    pub single: bool,
    pub ids: Ids,
    pub masses: MassesIn,
    pub gzip: bool,
    pub box_is_list: bool,
    pub six_kinds: bool,
    pub files: usize,
    /// Further numbers of the header.
    pub header: Vec<(&'static str, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ids {
    U64,
    U32,
    I32,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MassesIn {
    Dataset,
    Table,
    Nowhere,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            single: false,
            ids: Ids::U64,
            masses: MassesIn::Dataset,
            gzip: false,
            box_is_list: false,
            six_kinds: false,
            files: 1,
            header: vec![("Time", 0.0)],
        }
    }
}

pub fn side() -> f64 {
    10.0
}

/// Clumps of particles and some between them, in a box of side 10: the same for the same `salt`. Coordinates
/// are such that single precision holds them.
pub fn clumps(n: usize, salt: u64) -> Kind {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let centres: Vec<[f64; 3]> = (0..6).map(|_| [10.0 * next(), 10.0 * next(), 10.0 * next()]).collect();
    let mut kind = Kind::default();
    for i in 0..n {
        let position = if i.is_multiple_of(4) {
            [10.0 * next(), 10.0 * next(), 10.0 * next()]
        } else {
            let centre = centres[i % centres.len()];
            centre.map(|c| (c + 0.8 * (next() - 0.5)).rem_euclid(10.0))
        };
        kind.position.push(position.map(|x| f64::from(x as f32)));
        kind.velocity.push([i as f32, 1.0, -(i as f32)]);
        kind.mass.push(0.5);
        kind.id.push((i as u64 * 7919 + salt) % 1_000_003);
        kind.density.push((i % 97) as f32);
    }
    kind
}

/// Writes `kinds` by number into `folder`; the path of each file.
pub fn write(folder: &Path, kinds: &[(usize, &Kind)], style: &Style) -> Vec<PathBuf> {
    let name = |file: usize| match style.files {
        1 => "snap_007.hdf5".into(),
        _ => format!("snap_007.{file}.hdf5"),
    };
    let paths: Vec<PathBuf> = (0..style.files).map(|file| folder.join(name(file))).collect();
    for (file, path) in paths.iter().enumerate() {
        apart(path, |beside| write_file(beside, file, kinds, style));
    }
    paths
}

/// Changes an existing file.
pub fn edit(path: &Path, change: impl FnOnce(&File) -> hdf5::Result<()>) {
    apart(path, |beside| {
        fs::copy(path, beside).expect("copied");
        let file = File::open_rw(beside)?;
        change(&file)?;
        file.close()
    });
}

/// Lets `make` write a file next to `path` and copies it to `path`. A program that another test starts
/// meanwhile inherits the open file with its lock, so the file that is read later must be another one.
fn apart(path: &Path, make: impl FnOnce(&Path) -> hdf5::Result<()>) {
    let folder = tempfile::tempdir().expect("a folder");
    let beside = folder.path().join("file.hdf5");
    make(&beside).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    fs::copy(&beside, path).expect("copied");
}

fn write_file(path: &Path, file: usize, kinds: &[(usize, &Kind)], style: &Style) -> hdf5::Result<()> {
    let out = File::create(path)?;
    let n_kinds = if style.six_kinds { 6 } else { 7 };
    let rows = |n: usize| n * file / style.files..n * (file + 1) / style.files;
    let (mut here, mut total, mut table) = (vec![0u32; n_kinds], vec![0u32; n_kinds], vec![0.0; n_kinds]);
    for (number, kind) in kinds {
        here[*number] = rows(kind.id.len()).len() as u32;
        total[*number] = kind.id.len() as u32;
        if style.masses == MassesIn::Table {
            table[*number] = kind.mass[0];
        }
    }
    let header = out.create_group("Header")?;
    put(&header, "NumPart_ThisFile", &here)?;
    put(&header, "NumPart_Total", &total)?;
    put(&header, "NumPart_Total_HighWord", &vec![0u32; n_kinds])?;
    put(&header, "MassTable", &table)?;
    if style.box_is_list {
        put(&header, "BoxSize", &[side(); 3])?;
    } else {
        header.new_attr::<f64>().create("BoxSize")?.write_scalar(&side())?;
    }
    header.new_attr::<i32>().create("NumFilesPerSnapshot")?.write_scalar(&(style.files as i32))?;
    // Without expansion this alone says that the box is periodic.
    out.create_group("Config")?.new_attr::<i32>().create("PERIODIC")?.write_scalar(&1)?;
    for (name, value) in &style.header {
        header.new_attr::<f64>().create(*name)?.write_scalar(value)?;
    }
    for (number, kind) in kinds {
        let group = out.create_group(&format!("PartType{number}"))?;
        write_kind(&group, kind, rows(kind.id.len()), *number, style)?;
    }
    Ok(())
}

fn write_kind(
    group: &Group,
    kind: &Kind,
    rows: std::ops::Range<usize>,
    number: usize,
    style: &Style,
) -> hdf5::Result<()> {
    let position = &kind.position[rows.clone()];
    if style.single {
        let single: Vec<[f32; 3]> = position.iter().map(|x| x.map(|x| x as f32)).collect();
        vectors(group, "Coordinates", &single, style.gzip)?;
    } else {
        vectors(group, "Coordinates", position, style.gzip)?;
    }
    vectors(group, "Velocities", &kind.velocity[rows.clone()], style.gzip)?;
    let ids = &kind.id[rows.clone()];
    match style.ids {
        Ids::U64 => list(group, "ParticleIDs", ids)?,
        Ids::U32 => list(group, "ParticleIDs", &ids.iter().map(|id| *id as u32).collect::<Vec<_>>())?,
        Ids::I32 => list(group, "ParticleIDs", &ids.iter().map(|id| *id as i32).collect::<Vec<_>>())?,
        Ids::None => {}
    }
    if style.masses == MassesIn::Dataset {
        list(group, "Masses", &kind.mass[rows.clone()].iter().map(|m| *m as f32).collect::<Vec<_>>())?;
    }
    if number == 0 {
        list(group, "Density", &kind.density[rows])?;
    }
    Ok(())
}

pub fn put<T: H5Type>(at: &Location, name: &str, values: &[T]) -> hdf5::Result<()> {
    at.new_attr::<T>().shape([values.len()]).create(name)?.write(ArrayView1::from(values))
}

pub fn list<T: H5Type>(group: &Group, name: &str, values: &[T]) -> hdf5::Result<()> {
    group.new_dataset::<T>().shape([values.len()]).create(name)?.write(ArrayView1::from(values))
}

pub fn vectors<T: H5Type>(group: &Group, name: &str, values: &[[T; 3]], gzip: bool) -> hdf5::Result<()> {
    let mut builder = group.new_dataset::<T>();
    if gzip {
        builder = builder.chunk([values.len().clamp(1, 100), 3]).shuffle().deflate(4);
    }
    builder.shape([values.len(), 3]).create(name)?.write(ArrayView2::from(values))
}
